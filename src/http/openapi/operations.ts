/** What the document says of each route beside what the route itself says: a sentence, its body and its answer. */
import type { z } from 'zod';
import { credentials, refreshToken } from '../routes/auth.js';
import { newToken, newUser, userChanges } from '../routes/users.js';
import { type JsonSchema, list, ref } from './components.js';

export interface OperationDoc {
  summary: string;
  /** Of the answer's body; `text`: plain text; without: no body. */
  answer?: JsonSchema | 'text';
  /** As JSON Schema, or the shape that reads it. */
  body?: JsonSchema | z.ZodType;
  /** It is a change of the schema: its headers say who may repeat it, and what it became. */
  changes?: true;
}

const counts: JsonSchema = {
  type: 'object',
  properties: { total_count: { type: 'integer' }, filter_count: { type: 'integer' } },
};
const data = (schema: JsonSchema): JsonSchema => ({ type: 'object', properties: { data: schema }, required: ['data'] });
const page = (schema: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { data: list(schema), meta: counts },
  required: ['data'],
});
const oneOrMany = (schema: JsonSchema): JsonSchema => ({ oneOf: [schema, list(schema)] });

const metaOnly: JsonSchema = { type: 'object', properties: { meta: ref('CollectionMeta') } };
const newTokenAnswer: JsonSchema = { allOf: [ref('Token'), { properties: { token: { type: 'string' } } }] };

/** By method and path, as the routes name them. */
export const OPERATIONS: Readonly<Record<string, OperationDoc>> = {
  'GET /collections': { summary: 'List collections', answer: page(ref('Collection')) },
  'POST /collections': {
    changes: true,
    summary: 'Create a collection, or several at once',
    body: oneOrMany(ref('NewCollection')),
    answer: data(oneOrMany(ref('Collection'))),
  },
  'PATCH /collections': {
    changes: true,
    summary: 'Update several collections at once',
    body: list(ref('Collection')),
    answer: data(list(ref('Collection'))),
  },
  'GET /collections/:id': { summary: 'Retrieve a collection', answer: data(ref('Collection')) },
  'PATCH /collections/:id': {
    changes: true,
    summary: 'Update the metadata of a collection',
    body: metaOnly,
    answer: data(ref('Collection')),
  },
  'DELETE /collections/:id': { changes: true, summary: 'Delete a collection with its items, fields and relations' },

  'GET /fields': { summary: 'List fields', answer: page(ref('Field')) },
  'GET /fields/:collection': { summary: 'List the fields of a collection', answer: page(ref('Field')) },
  'POST /fields/:collection': {
    changes: true,
    summary: 'Create a field',
    body: ref('Field'),
    answer: data(ref('Field')),
  },
  'PATCH /fields/:collection': {
    changes: true,
    summary: 'Update several fields at once',
    body: list(ref('Field')),
    answer: data(list(ref('Field'))),
  },
  'GET /fields/:collection/:field': { summary: 'Retrieve a field', answer: data(ref('Field')) },
  'PATCH /fields/:collection/:field': {
    changes: true,
    summary: 'Update a field',
    body: ref('Field'),
    answer: data(ref('Field')),
  },
  'DELETE /fields/:collection/:field': { changes: true, summary: 'Delete a field with its column' },

  'GET /relations': { summary: 'List relations', answer: page(ref('Relation')) },
  'POST /relations': {
    changes: true,
    summary: 'Create a relation',
    body: ref('Relation'),
    answer: data(ref('Relation')),
  },
  'GET /relations/:collection': { summary: 'List the relations of a collection', answer: page(ref('Relation')) },
  'GET /relations/:collection/:field': { summary: 'Retrieve a relation', answer: data(ref('Relation')) },
  'PATCH /relations/:collection/:field': {
    changes: true,
    summary: 'Update a relation',
    body: ref('Relation'),
    answer: data(ref('Relation')),
  },
  'DELETE /relations/:collection/:field': { changes: true, summary: 'Delete a relation' },

  'GET /schema/snapshot': { summary: 'The schema as a document', answer: ref('Snapshot') },
  'POST /schema/diff': {
    summary: 'What would turn the schema into a snapshot',
    body: ref('Snapshot'),
    answer: ref('Diff'),
  },
  'GET /schema/drift': { summary: 'Where the database is not as the log says, and what would end it', answer: {} },
  'POST /schema/adopt': {
    changes: true,
    summary: 'Bring tables that exist under management, as they are',
    body: {
      oneOf: [
        { type: 'object', properties: { tables: list({ type: 'string' }) }, required: ['tables'] },
        { type: 'object', properties: { all: { const: true } }, required: ['all'] },
      ],
    },
    answer: {},
  },
  'POST /schema/apply': {
    changes: true,
    summary: 'Carry out a diff, all or nothing; 204 without a body unless dry_run asks for the plan',
    body: ref('Diff'),
    answer: ref('Plan'),
  },

  'POST /auth/login': { summary: 'Begin a session', body: credentials, answer: data(ref('Grant')) },
  'POST /auth/refresh': { summary: 'Continue a session', body: refreshToken, answer: data(ref('Grant')) },
  'POST /auth/logout': { summary: 'End a session', body: refreshToken },

  'GET /users': { summary: 'List users', answer: page(ref('User')) },
  'POST /users': { summary: 'Create a user', body: newUser, answer: data(ref('User')) },
  'GET /users/me': { summary: 'Retrieve the user whose token is used', answer: data(ref('User')) },
  'GET /users/:id': { summary: 'Retrieve a user', answer: data(ref('User')) },
  'PATCH /users/:id': { summary: 'Update a user', body: userChanges, answer: data(ref('User')) },
  'DELETE /users/:id': { summary: 'Delete a user with its tokens and sessions' },
  'GET /users/:id/tokens': { summary: 'List the static tokens of a user', answer: data(list(ref('Token'))) },
  'POST /users/:id/tokens': {
    summary: 'Create a static token; the answer is the only place that shows it',
    body: newToken,
    answer: data(newTokenAnswer),
  },
  'DELETE /users/:id/tokens/:token': { summary: 'Revoke a static token' },

  'GET /history/events': { summary: 'List events of the log', answer: page({}) },
  'GET /history/events/:position': { summary: 'Retrieve one event', answer: data({}) },
  'GET /history/batches': { summary: 'List accepted commands, newest first', answer: page({}) },
  'GET /history/collections/:id': {
    summary: 'The life of a collection, a deleted one too: its events, each with the change it made',
    answer: page({}),
  },
  'GET /history/snapshot': { summary: 'The schema as it was at a moment', answer: ref('Snapshot') },
  'GET /history/diff': {
    summary: 'What changed between two moments; from now, it is what apply needs to go back',
    answer: ref('Diff'),
  },
  'GET /history/verify': { summary: 'Recompute the hash chain of the log', answer: data({}) },
  'POST /history/acknowledge': { summary: 'Go on with a log that is not the one that was seen', answer: data({}) },
  'GET /history/export': { summary: 'The whole log, one event a line', answer: 'text' },
  'GET /history/stream': { summary: 'Events as they are accepted, as server-sent events', answer: 'text' },

  'GET /projections': { summary: 'How far each projection has come', answer: data(list({})) },
  'GET /projections/verify': { summary: 'Compare the log, the metadata rows and the catalog', answer: data({}) },
  'POST /projections/:name/rebuild': { summary: 'Make a projection anew from the log', answer: data({}) },

  'GET /metrics': { summary: 'Figures for Prometheus', answer: 'text' },
  'GET /server/ping': { summary: 'Whether the service is there', answer: 'text' },
  'GET /server/health': { summary: 'Whether the service can work; 503 when it cannot', answer: ref('Health') },
  'GET /server/info': { summary: 'What runs here, and the state of the schema', answer: data(ref('Info')) },
  'GET /server/openapi.json': { summary: 'This document', answer: {} },
  'GET /server/specs/oas': { summary: 'This document, where clients of the peer look for it', answer: {} },
};
