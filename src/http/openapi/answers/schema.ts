import { z } from 'zod';
import { ACTIONS } from '../../../schema/policy.js';
import { LEVELS } from '../../../schema/findings/model.js';
import * as model from '../../../schema/model/model.js';
import { objectDocument } from '../../../schema/model/object-document.js';
import { fieldType, schemaChanges } from '../../../schema/normal-form/shapes.js';
import { SNAPSHOT_VERSION, VENDOR } from '../../../schema/snapshot/snapshot.js';

const text = z.string();

const collectionMeta = model.collectionMetaDocument.meta({ id: 'CollectionMeta' });

const shownMeta = collectionMeta
  .extend({ system: z.literal(true).optional().describe('Only for tables of the service') })
  .meta({ id: 'ShownCollectionMeta' });

export const collection = model.collectionDocument
  .extend({
    meta: shownMeta,
    schema: model.tableDocument.omit({ extras: true }).extend({ sql: text }).nullable().describe('Null for a folder'),
  })
  .meta({ id: 'Collection' });

export const field = model.fieldDocument
  .extend({
    type: fieldType,
    meta: model.fieldMetaDocument.meta({ id: 'FieldMeta' }),
    schema: model.columnDocument
      .meta({ id: 'Column' })
      .nullable()
      .describe('Null for an alias field, which has no column'),
  })
  .meta({ id: 'Field' });

export const relation = model.relationDocument
  .extend({ schema: model.foreignKeyDocument.meta({ id: 'ForeignKey' }).nullable() })
  .meta({ id: 'Relation' });

export const object = objectDocument.meta({ id: 'Object' });
export const objectName = objectDocument.pick({ kind: true, id: true });

export const snapshot = z
  .strictObject({
    version: z.literal(SNAPSHOT_VERSION),
    service: text,
    vendor: z.literal(VENDOR),
    collections: z.array(model.collectionDocument.extend({ meta: collectionMeta })),
    fields: z.array(field),
    relations: z.array(model.relation),
    objects: z.array(object).optional().describe('Only with OBJECTS=on'),
  })
  .meta({ id: 'Snapshot' });

const statistics = z.strictObject({
  bytes: z.number().nullable(),
  rows: z.number().nullable().describe('An estimate. Null if unknown'),
  age: z
    .number()
    .nullable()
    .describe('Seconds since the last ANALYZE. Null if the rows were counted since the statistics began'),
  uses: z.number().nullable().optional().describe('Number of scans and written rows, if counted'),
});

const safer = z.strictObject({
  text,
  request: z
    .strictObject({ method: text, path: text, body: z.unknown().optional() })
    .optional()
    .describe('The request to send instead. Absent if it takes more than one'),
});

export const finding = z
  .strictObject({
    code: text.describe('Stable. docs/findings has a page for each'),
    level: z.enum(LEVELS),
    action: z
      .enum(ACTIONS.filter((action) => action !== 'off'))
      .optional()
      .describe(
        'The action of the policy. Absent if the policy was evaluated earlier, for example for a change request',
      ),
    collection: text.optional(),
    field: text.optional(),
    object: z.strictObject({ kind: text, name: text }).optional().describe('A constraint or an index'),
    message: text,
    event: z.int().min(0).optional().describe('Index in the events of the plan'),
    statement: z.int().min(0).optional().describe('Index in the statements of the plan'),
    why: text,
    safer: safer.optional(),
    aliases: z.array(text).describe('The name of the rule in other tools: `squawk:ban-char-field`'),
    statistics: statistics
      .nullable()
      .optional()
      .describe('The statistics that the level is based on. Null if there are none'),
    places: z
      .array(z.strictObject({ collection: text, field: text.optional() }))
      .optional()
      .describe('All objects that it applies to, if there are several'),
  })
  .meta({ id: 'Finding' });

/** A document, and what a client should know after the change. */
export const withWarnings = <S extends z.ZodType>(shape: S) =>
  z.strictObject({ data: shape, warnings: z.array(finding).optional() });

export const renamedCollection = withWarnings(collection);
export const renamedField = withWarnings(field);

export const diff = z
  .strictObject({ hash: text, diff: schemaChanges, warnings: z.array(finding).optional() })
  .meta({ id: 'Diff' });

const bytes = z.int().min(0);

export const dependent = z
  .strictObject({
    kind: text.describe('`view`, `function`, `trigger`, `policy`, `foreign key` of an unmanaged table …'),
    name: text,
    by: z.enum(['catalog', 'text']).describe('`text`: a function whose body contains the name'),
  })
  .meta({ id: 'Dependent' });

export const databaseTable = z
  .strictObject({
    rows: z.number().nullable().describe('Estimated from the PostgreSQL statistics. Null if there are none yet'),
    bytes: z
      .strictObject({ table: bytes.nullable(), indexes: bytes.nullable(), total: bytes.nullable() })
      .describe(
        'Size on disk, with all partitions. It is estimated by the statistics if another session has locked the table, and null if there are none yet',
      ),
    analyzed_at: z.iso.datetime().nullable().describe('When the statistics were collected'),
    indexes: z.array(
      z.strictObject({
        name: text,
        definition: text.nullable().describe('Null if another session has locked the table'),
        bytes: bytes.nullable(),
        scans: z.int().min(0).nullable().describe('Number of uses since the statistics were last reset'),
        primary: z.boolean(),
        unique: z.boolean(),
        valid: z.boolean().describe('True if it is complete and PostgreSQL uses it'),
      }),
    ),
    constraints: z.array(
      z.strictObject({
        name: text,
        kind: z.enum(['primary key', 'unique', 'foreign key', 'check', 'exclusion', 'not null', 'trigger']),
        definition: text.nullable().describe('Null if another session has locked the table'),
        valid: z.boolean().describe('False if rows that existed before it were not checked'),
      }),
    ),
    dependents: z.array(dependent).describe('Objects that depend on it and that no snapshot contains'),
  })
  .meta({ id: 'DatabaseTable' });

export const sample = z
  .strictObject({
    rows: z
      .array(z.record(z.string(), text.nullable()))
      .nullable()
      .describe(
        'Values by field. Null if the table is locked or missing, or the database role cannot read all of its rows',
      ),
    hidden: z.array(text).describe('Fields whose values are not shown'),
  })
  .meta({ id: 'Sample' });
