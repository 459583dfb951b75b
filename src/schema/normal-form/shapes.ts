/**
 * Defines request documents as schemas, for the API description. The schemas accept derived members, because clients
 * may send them back unchanged.
 */
import { OBJECT_KINDS } from '../model/objects.js';
import { objectDocument } from '../model/object-document.js';
import { z } from 'zod';
import { BACKFILL_EXPRESSIONS } from '../model/backfill.js';
import { columnExtras, tableExtras } from '../model/extras.js';
import {
  DEFERRABLES,
  collectionMetaDocument,
  columnDocument,
  fieldMeta as fieldMetaMembers,
  fieldMetaDocument,
  foreignKeyDocument,
  memberOf,
  relationMembers,
  tableSchema,
} from '../model/model.js';
import { SNAPSHOT_VERSION } from '../snapshot/snapshot.js';
import { TOP_LEVEL_META } from './collection.js';
import { FIELD_TYPES } from './types/field-types.js';

type Members = Record<string, z.ZodType>;

const optional = (members: Members): Members =>
  Object.fromEntries(Object.entries(members).map(([member, shape]) => [member, shape.optional()]));

/** Returns the members of a document in the form that requests may contain. */
const acceptedMembers = ({ shape }: z.ZodObject): Members =>
  optional(
    Object.fromEntries(
      Object.entries(shape).map(([name, member]) => [name, memberOf(member).accepts ?? (member as z.ZodType)]),
    ),
  );

const text = z.string();
const textOrNull = z.string().nullable();
const count = z.int().nullable();
export const fieldType = z.enum(FIELD_TYPES as [string, ...string[]]).meta({ id: 'FieldType' });

const collectionMeta = z
  .strictObject({ ...acceptedMembers(collectionMetaDocument), ...optional({ system: z.literal(false) }) })
  .meta({ id: 'CollectionMetaInput' });

const table = z.strictObject({
  ...optional({ name: text, schema: text, sql: text }),
  ...acceptedMembers(tableSchema.omit({ extras: true })),
});

const fieldMeta = z
  .strictObject({
    ...acceptedMembers(fieldMetaDocument),
    ...optional({ system: z.literal(false), searchable: z.boolean(), id: count }),
  })
  .meta({ id: 'FieldMetaInput' });

const column = z
  .strictObject({
    ...acceptedMembers(columnDocument),
    ...optional({ schema: textOrNull, length: count, foreign_key_schema: textOrNull, extras: columnExtras.nullable() }),
  })
  .meta({ id: 'ColumnInput' });

const backfill = z
  .union([
    z.strictObject({ value: z.unknown().describe('A literal of the type of the field, not null') }),
    z.strictObject({ field: text.describe('Another field of the row') }),
    z.strictObject({ expression: z.enum(BACKFILL_EXPRESSIONS), field: text.optional() }),
  ])
  .describe('Fills the rows in which the field is null, before NOT NULL and unique are set')
  .meta({ id: 'Backfill', examples: [{ value: 'new' }, { field: 'title' }, { expression: 'lower', field: 'title' }] });

const fieldParts = optional({ meta: fieldMeta.nullable(), schema: column.nullable() });

/** Members of `meta` are also allowed at the top level. */
const newField = z
  .strictObject({
    ...acceptedMembers(fieldMetaMembers),
    collection: text.optional(),
    field: text,
    type: fieldType,
    ...fieldParts,
  })
  .meta({ id: 'NewField', examples: [{ field: 'title', type: 'string', meta: { interface: 'input' } }] });

/** A field that is added to a collection with rows. */
export const addedField = newField.extend({ backfill: backfill.optional() }).meta({
  id: 'AddedField',
  examples: [
    {
      field: 'slug',
      type: 'string',
      schema: { is_nullable: false },
      backfill: { expression: 'lower', field: 'title' },
    },
  ],
});

export const fieldUpdate = z
  .strictObject({
    collection: text.optional(),
    field: text.optional(),
    type: fieldType.optional(),
    ...fieldParts,
    backfill: backfill.optional(),
  })
  .meta({ id: 'FieldUpdate', examples: [{ meta: { note: 'The headline' }, schema: { is_nullable: false } }] });

/** An update of one of several fields. It contains the name of the field. */
export const namedFieldUpdate = fieldUpdate.extend({ field: text }).meta({ id: 'NamedFieldUpdate' });

const objectParts = {
  comment: textOrNull.optional(),
  indexes: objectDocument.shape.indexes.describe('Only for materialized views'),
  enabled: objectDocument.shape.enabled.describe(
    'Only for triggers and rules: the sessions in which it fires, as in ALTER TABLE … ENABLE TRIGGER',
  ),
};

export const newObject = z
  .strictObject({
    kind: z.enum(OBJECT_KINDS),
    id: text.optional().describe('Derived from the definition, unless that is a list of privileges'),
    definition: objectDocument.shape.definition.describe(
      'One statement in SQL. For privileges, a list, or GRANT statements',
    ),
    ...objectParts,
  })
  .meta({
    id: 'NewObject',
    examples: [{ kind: 'view', definition: 'CREATE VIEW recent AS SELECT id, title FROM articles WHERE id > 100' }],
  });

export const objectUpdate = newObject
  .partial()
  .meta({ id: 'ObjectUpdate', examples: [{ comment: 'What the start page shows' }] });

export const newCollection = z
  .strictObject({
    /** Required, unless `schema` contains the location of a table outside the default schema. */
    collection: text.optional(),
    schema: table.extend({ extras: tableExtras.nullable().optional() }).nullable(),
    meta: collectionMeta.nullable().optional(),
    fields: z.array(newField).optional(),
    ...optional(Object.fromEntries(TOP_LEVEL_META.map((name) => [name, collectionMeta.shape[name] ?? z.unknown()]))),
    translation: z.unknown().optional(),
  })
  .meta({
    id: 'NewCollection',
    examples: [
      {
        collection: 'articles',
        schema: {},
        note: 'What we publish',
        fields: [{ field: 'title', type: 'string', interface: 'input' }],
      },
    ],
  });

export const collectionUpdate = z
  .strictObject({ collection: text.optional(), meta: collectionMeta.optional(), schema: table.nullable().optional() })
  .meta({ id: 'CollectionUpdate', examples: [{ meta: { note: 'Long reads', icon: 'article' } }] });

/** The new name of a collection or a field. */
export const rename = z.strictObject({ to: text }).meta({ id: 'Rename', examples: [{ to: 'posts' }] });

export const collectionRename = rename
  .extend({
    schema: z
      .strictObject(optional({ schema: text, name: text }))
      .optional()
      .describe('Moves the table. `schema` is a schema of DB_SCHEMAS, by default the first'),
  })
  .meta({ id: 'CollectionRename', examples: [{ to: 'billing.invoices', schema: { schema: 'billing' } }] });

export const namedCollectionUpdate = collectionUpdate
  .extend({ collection: text })
  .meta({ id: 'NamedCollectionUpdate' });

const ends: Members = { ...acceptedMembers(relationMembers), id: z.unknown().optional() };

const foreignKey = z
  .strictObject({
    ...acceptedMembers(foreignKeyDocument),
    ...optional({
      deferrable: z.enum(DEFERRABLES).nullable(),
      foreign_key_schema: textOrNull,
      foreign_key_table: textOrNull,
    }),
  })
  .meta({ id: 'ForeignKeyInput' });

/** A relation in the flat form, the nested form or both, as in responses. */
export const relation = z
  .strictObject({
    ...ends,
    collection: text.optional(),
    field: text.optional(),
    related_collection: textOrNull.optional(),
    meta: z.strictObject(ends).nullable().optional(),
    schema: foreignKey.nullable().optional(),
  })
  .meta({
    id: 'RelationInput',
    examples: [
      {
        many_collection: 'articles',
        many_field: 'author',
        one_collection: 'people',
        schema: { on_delete: 'SET NULL' },
      },
      { collection: 'articles', field: 'author', related_collection: 'people' },
    ],
  });

const renamedFrom = text.optional().describe('The former name. The object is renamed and keeps its data');

export const snapshot = z
  .strictObject({
    version: z.literal(SNAPSHOT_VERSION),
    service: text.optional(),
    vendor: text.optional(),
    collections: z
      .array(
        z.strictObject({
          collection: text,
          renamed_from: renamedFrom,
          meta: collectionMeta.nullable().optional(),
          schema: table
            .extend({ schema: text.nullable().optional(), extras: tableExtras.nullable().optional() })
            .nullable()
            .optional(),
        }),
      )
      .optional(),
    fields: z
      .array(namedFieldUpdate.omit({ backfill: true }).extend({ collection: text, renamed_from: renamedFrom }))
      .optional(),
    relations: z.array(relation).optional(),
    objects: z.array(newObject).optional().describe('Only with OBJECTS=on'),
  })
  .meta({ id: 'SnapshotInput' });

const json = z.unknown();
const path = z.array(z.union([text, z.int().min(0)])).min(1);

/** A change entry. `N` and `D` without a path are a whole new or removed document. */
const entry = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('N'), path: path.optional(), rhs: json }),
    z.strictObject({ kind: z.literal('D'), path: path.optional(), lhs: json }),
    z.strictObject({ kind: z.literal('E'), path, lhs: json, rhs: json }),
    z.strictObject({
      kind: z.literal('A'),
      path,
      index: z.int().min(0),
      item: z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('N'), rhs: json }),
        z.strictObject({ kind: z.literal('D'), lhs: json }),
      ]),
    }),
  ])
  .meta({ id: 'Change' });

const entries = z.array(entry).min(1);
const origin = {
  identity: text.optional().describe('The identity of an object that existed before'),
  restores: z.int().min(1).optional().describe('The position of its deletion. The object is restored from the trash'),
};
const collectionEntries = z.strictObject({ collection: text, diff: entries, ...origin });
const named = { collection: text, field: text, diff: entries };
const fieldEntries = z.strictObject({ ...named, ...origin, backfill: backfill.optional() });
const objectEntries = z.strictObject({ kind: z.enum(OBJECT_KINDS), id: text, diff: entries });
const relationEntries = z.strictObject({ ...named, related_collection: textOrNull.optional() });

const entryParts = {
  collections: z.array(collectionEntries),
  fields: z.array(fieldEntries),
  relations: z.array(relationEntries),
  objects: z.array(objectEntries).optional().describe('Only with OBJECTS=on. Absent if no object differs'),
};

/** The changes by collection, field and relation. */
export const schemaChanges = z.strictObject(entryParts).meta({ id: 'SchemaChanges' });

/** A diff in the form of the response, so that clients can send it back unchanged. `warnings` are ignored. */
export const diff = z
  .strictObject({
    hash: text,
    diff: z.strictObject(entryParts).partial(),
    warnings: z.unknown().optional(),
  })
  .meta({ id: 'DiffInput' });
