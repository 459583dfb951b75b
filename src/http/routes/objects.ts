/** Routes of /objects for views, functions and other objects, on instances with OBJECTS=on. */
import { z } from 'zod';
import { OBJECT_KINDS, type ObjectName } from '../../schema/model/objects.js';
import { type SchemaObject, objectDocument } from '../../schema/model/object-document.js';
import { objectNameParts, renamedId, splitQualifiedId } from '../../schema/model/object-ids.js';
import { membersOf as documentMembers } from '../../schema/model/model.js';
import { objectsInOrder } from '../../schema/model/order.js';
import { type State, type TableLocation, locateTable } from '../../schema/model/state.js';
import { existingObject } from '../../schema/operations/objects.js';
import { orderObjectMembers } from '../../schema/snapshot/documents.js';
import { parseDefinition } from '../../schema/sql-text/object-definition.js';
import * as taken from '../../schema/normal-form/shapes.js';
import { readObjectDependents } from '../../projector/catalog/table-facts.js';
import { largeJsonAnswer, unwrap } from '../answer/answer.js';
import { schemaChangeQuery } from '../change/change.js';
import { changeRoute } from '../change/routes.js';
import type { HttpDeps } from '../deps.js';
import { documentRoute, listQueryOf, listRoute, membersOf } from '../documents/list.js';
import { data, page } from '../openapi/answers/envelopes.js';
import * as shown from '../openapi/answers/schema.js';
import { noQuery } from '../request/query.js';
import { type Call, jsonBody, type Route, route } from '../route.js';

const ALL = '/objects';
const ONE = '/objects/:kind/:id';

const MEMBERS = documentMembers(objectDocument);

const listQuery = listQueryOf(MEMBERS).extend({
  kind: z.enum(OBJECT_KINDS).optional().describe('Only objects of this kind'),
  name: z
    .string()
    .optional()
    .describe('Only objects with this name. Functions with different argument types can share a name'),
  schema: z.string().optional().describe('Only objects of this PostgreSQL schema'),
  collection: z.string().optional().describe('Only objects that use this collection'),
});
const oneQuery = z.strictObject({ fields: membersOf(MEMBERS).optional() });
const changeQuery = oneQuery.extend(schemaChangeQuery);
const deleteQuery = z.strictObject(schemaChangeQuery);

type ListQuery = z.output<typeof listQuery>;

function usesTable(object: SchemaObject, table: TableLocation, schema: string): boolean {
  if (object.kind === 'privileges') {
    const { schema: place = schema, name } = splitQualifiedId(objectNameParts(object).table ?? '');
    return name === table.name && place === table.schema;
  }
  const parsed = parseDefinition(object.definition);
  if (typeof parsed === 'string') return false;
  return parsed.relations.some((each) => each.name === table.name && (each.schema ?? schema) === table.schema);
}

/** @param usual the default schema */
function isListed(object: SchemaObject, { kind, name, schema }: ListQuery, usual: string): boolean {
  if (kind !== undefined && object.kind !== kind) return false;
  const parts = objectNameParts(object);
  if (schema !== undefined && (parts.schema ?? usual) !== schema) return false;
  return name === undefined || object.id === name || parts.name === name;
}

/** @param schema the default schema */
function* textsOf(state: State, query: ListQuery, schema: string): Generator<string, void, void> {
  const { collection } = query;
  const table = collection === undefined ? undefined : locateTable(state, collection, schema);
  for (const object of objectsInOrder(state)) {
    const isShown = isListed(object, query, schema) && (table === undefined || usesTable(object, table, schema));
    yield isShown ? JSON.stringify(orderObjectMembers(object)) : '';
  }
}

const textOf = (state: State, name: { kind: string; id: string }): string =>
  JSON.stringify(orderObjectMembers(unwrap(existingObject(state, name as ObjectName))));

const nameOf = ({ params }: Call<unknown>): { kind: string; id: string } => ({
  kind: params['kind'] ?? '',
  id: params['id'] ?? '',
});

const OBJECT_ANSWER = { 200: data(shown.object) };

/** Readers may use the routes that read. Changes are for admins. */
export function objectRoutes(deps: HttpDeps): Route[] {
  const { store, pool, config } = deps;
  return [
    listRoute(deps, {
      path: ALL,
      collections: null,
      operationId: 'listObjects',
      summary: 'List objects',
      query: listQuery,
      answers: { 200: page(shown.object) },
      key: ({ query: { kind, name, schema, collection } }) =>
        `objects ${JSON.stringify([kind, name, schema, collection])}`,
      texts: (state, { query }) => textsOf(state, query, config.schema),
    }),
    documentRoute(deps, {
      path: ONE,
      collections: null,
      operationId: 'getObject',
      summary: 'Retrieve an object',
      query: oneQuery,
      answers: OBJECT_ANSWER,
      key: (call) => `object ${JSON.stringify(nameOf(call))}`,
      text: (state, call) => textOf(state, nameOf(call)),
    }),
    route({
      method: 'get',
      path: `${ONE}/dependents`,
      operationId: 'listDependents',
      summary: 'List what depends on an object in PostgreSQL: views, functions, columns, triggers',
      access: 'auditor',
      action: 'read',
      query: noQuery,
      answers: { 200: data(z.array(shown.dependent)) },
      async handle(call) {
        const object = unwrap(existingObject(await store.atHead(call.head), nameOf(call) as ObjectName));
        return largeJsonAnswer({ data: await readObjectDependents(pool, object, config.schema) });
      },
    }),
    changeRoute(deps, {
      method: 'post',
      path: ALL,
      collections: null,
      operationId: 'createObject',
      summary: 'Create an object',
      query: changeQuery,
      body: jsonBody(taken.newObject),
      answers: OBJECT_ANSWER,
      errors: ['ALREADY_EXISTS'],
      name: 'create-object',
      input: ({ body }) => ({ body, defaultSchema: config.schema }),
      shows: (state, { object }) => [textOf(state, object)],
    }),
    changeRoute(deps, {
      method: 'patch',
      path: ONE,
      collections: null,
      operationId: 'updateObject',
      summary: 'Update an object',
      query: changeQuery,
      body: jsonBody(taken.objectUpdate),
      answers: OBJECT_ANSWER,
      name: 'update-object',
      input: (call) => ({ ...nameOf(call), body: call.body }),
      shows: (state, _, call) => [textOf(state, nameOf(call))],
    }),
    changeRoute(deps, {
      method: 'post',
      path: `${ONE}/rename`,
      collections: null,
      operationId: 'renameObject',
      summary: 'Rename an object',
      query: changeQuery,
      body: jsonBody(taken.rename),
      answers: OBJECT_ANSWER,
      errors: ['ALREADY_EXISTS'],
      name: 'rename-object',
      input: (call) => ({ ...nameOf(call), body: call.body }),
      shows: (state, { to, ...object }) => [textOf(state, { kind: object.kind, id: renamedId(object, to) })],
    }),
    changeRoute(deps, {
      method: 'delete',
      path: ONE,
      collections: null,
      operationId: 'deleteObject',
      summary: 'Delete an object',
      query: deleteQuery,
      answers: { 204: null },
      name: 'delete-object',
      input: nameOf,
    }),
  ];
}
