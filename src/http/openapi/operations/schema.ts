import { z } from 'zod';
import * as taken from '../../../schema/normal-form/shapes.js';
import { EXPORTS, FORMATS } from '../../answer/export.js';
import { acceptance, adoption, drift } from '../answers/operating.js';
import * as shown from '../answers/schema.js';
import { databaseTable } from '../answers/table.js';
import { acknowledge, data, oneOrMany, type OperationDocs, page } from '../operation-doc.js';
import { snapshot } from '../../../schema/normal-form/shapes.js';

const text = z.string();

const momentOrPosition = z.union([
  z.int().min(0),
  text.describe('A position (`42`, or `42-3f9a…` with the hash of its event), a time with its zone, a day, or `now`'),
]);

/** A location, as a conflict describes it. */
const mergePlace = z
  .strictObject({
    part: z.enum(['collections', 'fields', 'relations']),
    collection: text,
    field: text.optional(),
    path: z
      .array(z.union([text, z.int()]))
      .optional()
      .describe('The member; absent: all of it'),
  })
  .meta({ id: 'MergePlace' });

const merge = z
  .strictObject({
    base: z.union([momentOrPosition, snapshot]).describe('What theirs started from'),
    ours: momentOrPosition.optional().describe('The schema now, where it is left out'),
    theirs: snapshot,
    resolve: z
      .array(z.strictObject({ place: mergePlace, take: z.enum(['ours', 'theirs']) }))
      .optional()
      .describe('What was decided about conflicts of an earlier answer'),
  })
  .meta({ id: 'Merge' });

/** The media types of snapshot files. */
export const EXPORT_TYPES = [...new Set(EXPORTS.map((format) => bare(FORMATS[format].type)))].filter(
  (type) => type !== 'application/json',
);

function bare(type: string): string {
  return type.replace(/;.*/, '');
}

/** A document alone or in `{ "data": … }`. */
const wrapped = (shape: z.ZodType): z.ZodType => z.union([shape, z.strictObject({ data: shape })]);

const renamed = (shape: z.ZodType): z.ZodType =>
  z.strictObject({ data: shape, warnings: z.array(shown.finding).optional() });

const COLLECTIONS: OperationDocs = {
  'GET /collections': {
    id: 'listCollections',
    summary: 'List collections',
    answer: page(shown.collection),
    validated: true,
  },
  'POST /collections': {
    id: 'createCollections',
    summary: 'Create a collection, or several at once',
    changes: true,
    body: oneOrMany(taken.newCollection),
    answer: data(oneOrMany(shown.collection)),
  },
  'PATCH /collections': {
    id: 'updateCollections',
    summary: 'Update several collections at once',
    changes: true,
    body: z.array(taken.namedCollectionUpdate),
    answer: data(z.array(shown.collection)),
    refuses: ['NOT_FOUND', 'FORBIDDEN'],
  },
  'GET /collections/:id': {
    id: 'getCollection',
    summary: 'Retrieve a collection',
    answer: data(shown.collection),
    validated: true,
  },
  'GET /collections/:id/table': {
    id: 'getTable',
    summary: 'What PostgreSQL knows of its table: rows, bytes, indexes, constraints, what depends on it',
    answer: data(databaseTable),
  },
  'PATCH /collections/:id': {
    id: 'updateCollection',
    summary: 'Update the metadata of a collection',
    changes: true,
    body: taken.collectionUpdate,
    answer: data(shown.collection),
  },
  'POST /collections/:id/rename': {
    id: 'renameCollection',
    summary: 'Rename a collection; its items, fields and relations stay',
    changes: true,
    body: taken.rename,
    answer: renamed(shown.collection),
    refuses: ['NOT_FOUND', 'FORBIDDEN', 'ALREADY_EXISTS', 'IN_USE'],
  },
  'DELETE /collections/:id': {
    id: 'deleteCollection',
    summary: 'Delete a collection with its items, fields and relations',
    changes: true,
  },
};

const FIELDS: OperationDocs = {
  'GET /fields': { id: 'listFields', summary: 'List fields', answer: page(shown.field), validated: true },
  'GET /fields/:collection': {
    id: 'listFieldsOfCollection',
    summary: 'List the fields of a collection',
    answer: page(shown.field),
    validated: true,
  },
  'POST /fields/:collection': {
    id: 'createField',
    summary: 'Create a field',
    changes: true,
    body: taken.newField,
    answer: data(shown.field),
  },
  'PATCH /fields/:collection': {
    id: 'updateFields',
    summary: 'Update several fields at once',
    changes: true,
    body: z.array(taken.namedFieldUpdate),
    answer: data(z.array(shown.field)),
  },
  'GET /fields/:collection/:field': {
    id: 'getField',
    summary: 'Retrieve a field',
    answer: data(shown.field),
    validated: true,
  },
  'PATCH /fields/:collection/:field': {
    id: 'updateField',
    summary: 'Update a field',
    changes: true,
    body: taken.fieldUpdate,
    answer: data(shown.field),
  },
  'POST /fields/:collection/:field/rename': {
    id: 'renameField',
    summary: 'Rename a field; its values stay',
    changes: true,
    body: taken.rename,
    answer: renamed(shown.field),
    refuses: ['NOT_FOUND', 'FORBIDDEN', 'ALREADY_EXISTS', 'IN_USE'],
  },
  'DELETE /fields/:collection/:field': { id: 'deleteField', summary: 'Delete a field with its column', changes: true },
};

const RELATIONS: OperationDocs = {
  'GET /relations': { id: 'listRelations', summary: 'List relations', answer: page(shown.relation), validated: true },
  'POST /relations': {
    id: 'createRelation',
    summary: 'Create a relation',
    changes: true,
    body: taken.relation,
    answer: data(shown.relation),
    refuses: ['NOT_FOUND'],
  },
  'GET /relations/:collection': {
    id: 'listRelationsOfCollection',
    summary: 'List the relations that a collection holds',
    answer: page(shown.relation),
    validated: true,
  },
  'GET /relations/:collection/:field': {
    id: 'getRelation',
    summary: 'Retrieve a relation',
    answer: data(shown.relation),
    validated: true,
  },
  'PATCH /relations/:collection/:field': {
    id: 'updateRelation',
    summary: 'Update a relation',
    changes: true,
    body: taken.relation,
    answer: data(shown.relation),
  },
  'DELETE /relations/:collection/:field': { id: 'deleteRelation', summary: 'Delete a relation', changes: true },
};

const WHOLE: OperationDocs = {
  'GET /schema/snapshot': {
    id: 'getSnapshot',
    summary: 'The schema as a document',
    answer: shown.snapshot,
    media: EXPORT_TYPES,
    validated: true,
    refuses: ['CONTENT_TOO_LARGE'],
  },
  'POST /schema/diff': {
    id: 'diffSnapshot',
    summary: 'What would turn the schema into a snapshot',
    description: 'What it answers is what apply takes. With `force`, snapshots of other services are understood too.',
    body: wrapped(taken.snapshot),
    example: { version: 1, vendor: 'postgres', collections: [], fields: [], relations: [] },
    answer: shown.diff,
    refuses: ['IN_USE', 'ALREADY_EXISTS', 'DATABASE_REFUSED'],
  },
  'POST /schema/merge': {
    id: 'mergeSnapshot',
    summary: 'What a snapshot changes since its base, as a diff of the schema as it is now',
    description:
      'A three-way merge, member by member: `base` is where the snapshot `theirs` comes from (a position, a time, or a snapshot), `ours` the schema now, or at another moment. ' +
      'What it answers is what apply takes. Where both changed the same member otherwise: 409 with every conflict, its place and the three values; `resolve` says which side to take at a place.',
    body: wrapped(merge),
    example: { base: 0, theirs: { version: 1, vendor: 'postgres', collections: [], fields: [], relations: [] } },
    answer: shown.diff,
    refuses: ['NOT_FOUND', 'MERGE_CONFLICT', 'IN_USE', 'ALREADY_EXISTS', 'DATABASE_REFUSED'],
  },
  'GET /schema/types': {
    id: 'getTypes',
    summary: 'The schema as types for programs',
    description: 'Its first line holds the hash of the schema. The same schema makes the same bytes.',
    media: ['text/plain', 'application/schema+json'],
    validated: true,
    refuses: ['NOT_FOUND'],
  },
  'POST /schema/apply': {
    id: 'applyDiff',
    summary: 'Carry out a diff, all or nothing',
    changes: true,
    body: wrapped(taken.diff.extend({ acknowledge })),
    example: {
      hash: '0'.repeat(64),
      diff: {
        collections: [{ collection: 'drafts', diff: [{ kind: 'N', rhs: { collection: 'drafts', schema: {} } }] }],
      },
    },
    refuses: ['NOT_FOUND'],
  },
  'GET /schema/drift': {
    id: 'getDrift',
    summary: 'Where the database is not as the log says, and what would end it',
    answer: drift,
  },
  'POST /schema/drift/accept': {
    id: 'acceptDrift',
    summary: 'Take what was changed in the database by hand into the log, as it is',
    changes: true,
    body: z.strictObject({
      acknowledge,
      collections: z.array(z.string()).min(1).optional(),
      fields: z
        .array(z.strictObject({ collection: z.string(), field: z.string() }))
        .min(1)
        .optional(),
    }),
    example: { collections: ['customers'] },
    answer: acceptance,
    rehearsal: acceptance,
    refuses: ['NOT_FOUND'],
  },
  'POST /schema/adopt': {
    id: 'adoptTables',
    summary: 'Bring tables that exist under management, as they are',
    changes: true,
    body: z.union([
      z.strictObject({ tables: z.array(z.string()).min(1), acknowledge }),
      z.strictObject({ all: z.literal(true), acknowledge }),
    ]),
    example: { tables: ['customers', 'orders'] },
    answer: adoption,
    rehearsal: adoption,
    refuses: ['NOT_FOUND'],
  },
};

export const SCHEMA_OPERATIONS: OperationDocs = { ...COLLECTIONS, ...FIELDS, ...RELATIONS, ...WHOLE };
