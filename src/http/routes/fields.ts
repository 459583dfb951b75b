/** /fields */
import { listedCollection, flag, purge } from '../request/query.js';
import { z } from 'zod';
import { missingField } from '../../schema/operations/operation.js';
import { createAttachment } from '../../kernel/attachment.js';
import { emptyTexts, type Texts } from '../../kernel/bytes.js';
import { collectionsInOrder } from '../../schema/model/order.js';
import { type FieldDocument, fieldDocumentOf, fieldDocumentsOf } from '../../schema/snapshot/documents.js';
import type { CollectionNode, State } from '../../schema/model/state.js';
import { schemaChangeQuery } from '../change/change.js';
import { changeRoute, renameRoute } from '../change/routes.js';
import type { HttpDeps } from '../deps.js';
import { RejectedError } from '../errors.js';
import {
  arrayTexts,
  listQueryOf,
  FIELD_MEMBERS,
  membersOf,
  pickText,
  documentRoute,
  listRoute,
} from '../documents/list.js';
import { fieldPieces } from '../documents/snapshot-pieces.js';
import * as shown from '../openapi/answers/schema.js';
import { data, page } from '../openapi/answers/envelopes.js';
import * as taken from '../../schema/normal-form/shapes.js';
import { type Call, jsonBody, type Route } from '../route.js';

const ALL = '/fields';
const OF = '/fields/:collection';
const ONE = '/fields/:collection/:field';

const shownQuery = { fields: membersOf(FIELD_MEMBERS).optional() };
const listQuery = listQueryOf(FIELD_MEMBERS);
const oneQuery = z.strictObject(shownQuery);
const changeQuery = z.strictObject({
  concurrentIndexCreation: flag.describe('Builds indexes after the commit'),
  ...shownQuery,
  ...schemaChangeQuery,
});
const renameQuery = oneQuery.extend(schemaChangeQuery);
const deleteQuery = z.strictObject({ purge, ...schemaChangeQuery });

/**
 * Readers may use the routes that read. Changes are for admins. The fields of a collection are rendered once for all
 * routes.
 */
export function fieldRoutes(deps: HttpDeps): Route[] {
  const textsOf = createFieldTexts();
  return [...readingRoutes(deps, textsOf), ...changingRoutes(deps)];
}

/** Yields the JSON of a collection's fields, in order. The texts are cached until the fields change. */
type FieldTexts = (state: State, node: CollectionNode) => Texts;

function createFieldTexts(): FieldTexts {
  const textsByFields = createAttachment<readonly FieldDocument[], readonly string[]>();
  return function* (state, node) {
    const fields = yield* emptyTexts(fieldDocumentsOf(state, node));
    const cached = textsByFields.get(fields);
    if (cached !== undefined) return yield* cached;
    const texts: string[] = [];
    for (const field of fields) {
      const text = JSON.stringify(field);
      texts.push(text);
      yield text;
    }
    textsByFields.set(fields, texts);
  };
}

function* renderAll(textsOf: FieldTexts, state: State): Generator<string, void, void> {
  for (const node of collectionsInOrder(state)) yield* textsOf(state, node);
}

function oneText({ state, collection, field: name }: { state: State; collection: string; field: string }): string {
  const node = listedCollection(state, collection);
  const field = node.fields.get(name);
  if (field === undefined) throw new RejectedError([missingField(state, collection, name)]);
  return JSON.stringify(fieldDocumentOf(state, node, field));
}

const readingRoutes = (deps: HttpDeps, textsOf: FieldTexts): Route[] => [
  listRoute(deps, {
    path: ALL,
    operationId: 'listFields',
    summary: 'List fields',
    query: listQuery,
    answers: { 200: page(shown.field) },
    key: () => 'fields',
    texts: (state) => renderAll(textsOf, state),
    pieces: fieldPieces,
  }),
  listRoute(deps, {
    path: OF,
    operationId: 'listFieldsOfCollection',
    summary: 'List the fields of a collection',
    query: listQuery,
    answers: { 200: page(shown.field) },
    key: (call) => `fields of ${JSON.stringify(namesOf(call).collection)}`,
    texts: (state, call) => textsOf(state, listedCollection(state, namesOf(call).collection)),
  }),
  documentRoute(deps, {
    path: ONE,
    operationId: 'getField',
    summary: 'Retrieve a field',
    query: oneQuery,
    answers: { 200: data(shown.field) },
    key: (call) => `field ${JSON.stringify(namesOf(call))}`,
    text: (state, call) => oneText({ state, ...namesOf(call) }),
  }),
];

function changingRoutes(deps: HttpDeps): Route[] {
  const textOf = (state: State, names: FieldName, members: readonly string[] | undefined): string =>
    pickText(oneText({ state, ...names }), members);
  const update = { method: 'patch', query: changeQuery, name: 'update-fields' } as const;
  return [
    changeRoute(deps, {
      method: 'post',
      path: OF,
      operationId: 'createField',
      summary: 'Create a field',
      query: changeQuery,
      body: jsonBody(taken.addedField),
      answers: { 200: data(shown.field) },
      name: 'create-field',
      input: (call) => ({ collection: namesOf(call).collection, body: call.body, ...indexOptions(call) }),
      shows: (state, { field }, { query }) => [textOf(state, field, query.fields)],
    }),
    changeRoute(deps, {
      ...update,
      path: OF,
      operationId: 'updateFields',
      summary: 'Update several fields',
      body: jsonBody(z.array(taken.namedFieldUpdate)),
      answers: { 200: data(z.array(shown.field)) },
      input: (call) => ({ collection: namesOf(call).collection, body: call.body, ...indexOptions(call) }),
      shows: (state, { collection, changes }, { query }) =>
        arrayTexts(changes, ({ field }) => textOf(state, { collection, field }, query.fields)),
    }),
    changeRoute(deps, {
      ...update,
      path: ONE,
      operationId: 'updateField',
      summary: 'Update a field',
      body: jsonBody(taken.fieldUpdate),
      answers: { 200: data(shown.field) },
      input: (call) => ({ ...namesOf(call), body: call.body, ...indexOptions(call) }),
      shows: (state, _, call) => [textOf(state, namesOf(call), call.query.fields)],
    }),
    renameRoute(deps, {
      path: `${ONE}/rename`,
      operationId: 'renameField',
      summary: 'Rename a field. It keeps its values',
      query: renameQuery,
      body: jsonBody(taken.rename),
      answers: { 200: shown.renamedField },
      name: 'rename-field',
      input: (call) => ({ ...namesOf(call), body: call.body }),
      shows: (state, { collection, to }, { query }) => textOf(state, { collection, field: to }, query.fields),
    }),
    changeRoute(deps, {
      method: 'delete',
      path: ONE,
      operationId: 'deleteField',
      summary: 'Delete a field with its column',
      query: deleteQuery,
      answers: { 204: null },
      name: 'delete-field',
      input: namesOf,
    }),
  ];
}

const indexOptions = ({ query }: Call<{ concurrentIndexCreation: boolean }>) => ({
  concurrentIndexes: query.concurrentIndexCreation,
});

interface FieldName {
  collection: string;
  field: string;
}

function namesOf({ params }: Call<unknown>): FieldName {
  return { collection: params['collection'] ?? '', field: params['field'] ?? '' };
}
