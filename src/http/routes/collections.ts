/** /collections */
import { z } from 'zod';
import type { Field } from '../../schema/model/model.js';
import { missingCollection } from '../../schema/operations/operation.js';
import { type CollectionNode, type State, locateTable } from '../../schema/model/state.js';
import { schemaChangeQuery } from '../change/change.js';
import { changeOf, changeRoute, severalChangesRoute, renameRoute } from '../change/routes.js';
import { type CollectionTexts, createCollectionTexts } from '../documents/texts.js';
import type { HttpDeps } from '../deps.js';
import { invalidQuery, refused, RejectedError } from '../errors.js';
import { largeJsonAnswer } from '../answer/answer.js';
import { SAMPLE_ROWS, readDatabaseTable, readSample } from '../../projector/catalog/table-facts.js';
import {
  arrayTexts,
  listQueryOf,
  COLLECTION_MEMBERS,
  membersOf,
  pickText,
  documentRoute,
  listRoute,
} from '../documents/list.js';
import { flag, metaMembers, purge, noQuery } from '../request/query.js';
import { isVisibleTo } from '../request/scope.js';
import * as shown from '../openapi/answers/schema.js';
import { data, oneOrMany, page } from '../openapi/answers/envelopes.js';
import * as taken from '../../schema/normal-form/shapes.js';
import { type Call, jsonBody, route, type Route } from '../route.js';

const PATH = '/collections';
const ONE = '/collections/:id';

const shownQuery = { meta: metaMembers.optional(), fields: membersOf(COLLECTION_MEMBERS).optional() };
const listQuery = listQueryOf(COLLECTION_MEMBERS);
const createQuery = z.strictObject({
  concurrentIndexCreation: flag.describe('Builds indexes after the commit'),
  ...shownQuery,
  ...schemaChangeQuery,
});
const severalQuery = z.strictObject({ ...shownQuery, ...schemaChangeQuery });
const oneQuery = z.strictObject({ ...shownQuery, id: z.string().optional() });
const changeQuery = oneQuery.extend(schemaChangeQuery);
const deleteQuery = oneQuery.pick({ id: true }).extend({ purge, ...schemaChangeQuery });

type OneQuery = z.output<typeof oneQuery>;
type CreateQuery = z.output<typeof createQuery>;

/** Readers may use the routes that read. Changes are for admins, and facts about tables for auditors. */
export function collectionRoutes(deps: HttpDeps): Route[] {
  const texts = createCollectionTexts(deps.config, deps.systemCollections);
  return [...readingRoutes(deps, texts), ...changingRoutes(deps, texts)];
}

const readingRoutes = (deps: HttpDeps, texts: CollectionTexts): Route[] => [
  listRoute(deps, {
    path: PATH,
    operationId: 'listCollections',
    summary: 'List collections',
    query: listQuery,
    answers: { 200: page(shown.collection) },
    key: () => 'collections',
    texts: (state, { caller }) => texts.all(state, (name) => isVisibleTo(caller, name)),
    pieces: (state) => texts.pieces(state),
  }),
  documentRoute(deps, {
    path: ONE,
    operationId: 'getCollection',
    summary: 'Retrieve a collection',
    query: oneQuery,
    answers: { 200: data(shown.collection) },
    key: (call) => `collection ${JSON.stringify(idOf(call))}`,
    text(state, call) {
      const text = texts.findText(state, idOf(call));
      if (text === undefined) throw new RejectedError([missingCollection(state, idOf(call))]);
      return text;
    },
  }),
  route({
    method: 'get',
    path: `${ONE}/table`,
    operationId: 'getTable',
    summary: 'Retrieve what PostgreSQL knows about its table: rows, bytes, indexes, constraints, dependents',
    access: 'auditor',
    action: 'read',
    query: noQuery,
    answers: { 200: data(shown.databaseTable) },
    handle: (call) => tableAnswer(deps, call),
  }),
  route({
    method: 'get',
    path: `${ONE}/sample`,
    operationId: 'getSample',
    summary: `Retrieve ${SAMPLE_ROWS} rows of its table, with the values as text`,
    description:
      'The rows have no order. Values of the fields in `hidden` are omitted: passwords and other hashes, concealed and binary values. Values with more than 500 characters end with `…`. 403 with `SAMPLES=off`.',
    access: 'auditor',
    action: 'read',
    collections: 'filtered',
    query: noQuery,
    answers: { 200: data(shown.sample) },
    handle: (call) => sampleAnswer(deps, call),
  }),
];

/** @throws RejectedError NOT_FOUND, including for folders */
function requireTable(state: State, name: string): CollectionNode {
  const node = state.collections.get(name);
  if (node === undefined) throw new RejectedError([missingCollection(state, name)]);
  if (node.collection.schema === null) {
    throw refused('NOT_FOUND', `Collection ${JSON.stringify(name)} is a folder and has no table.`);
  }
  return node;
}

/** @throws RejectedError NOT_FOUND, including for folders and for tables dropped by hand */
async function tableAnswer({ store, pool, config: { schema } }: HttpDeps, { params, head }: Call<unknown>) {
  const name = params['id'] ?? '';
  const state = await store.atHead(head);
  requireTable(state, name);
  const managed = [...state.collections.keys()].map((each) => locateTable(state, each, schema));
  const table = await readDatabaseTable(pool, locateTable(state, name, schema), managed);
  if (table === undefined) {
    throw refused(
      'NOT_FOUND',
      `The table of collection ${JSON.stringify(name)} is missing from the database. Check for drift.`,
    );
  }
  return largeJsonAnswer({ data: table });
}

const HIDDEN_TYPES: ReadonlySet<string> = new Set(['hash', 'binary']);
const HIDDEN_SPECIALS: ReadonlySet<string> = new Set(['hash', 'conceal', 'encrypt']);

const isHidden = ({ type, meta }: Field): boolean =>
  HIDDEN_TYPES.has(type) || (meta.special ?? []).some((special) => HIDDEN_SPECIALS.has(special));

/** @throws RejectedError FORBIDDEN with SAMPLES=off; NOT_FOUND, including for folders */
async function sampleAnswer({ store, pool, config }: HttpDeps, { params, head }: Call<unknown>) {
  if (!config.samples) throw refused('FORBIDDEN', 'This service shows no sample rows (SAMPLES=off).');
  const name = params['id'] ?? '';
  const state = await store.atHead(head);
  const columns = [...requireTable(state, name).fields.values()].filter((field) => field.schema !== null);
  const visible = columns.filter((field) => !isHidden(field)).map(({ field }) => field);
  const rows = await readSample(pool, locateTable(state, name, config.schema), visible);
  return largeJsonAnswer({ data: { rows, hidden: columns.filter(isHidden).map(({ field }) => field) } });
}

type DocumentCall = Call<{ fields?: readonly string[] | undefined }>;

function changingRoutes(deps: HttpDeps, texts: CollectionTexts): Route[] {
  const textOf = (state: State, name: string, { query: { fields } }: DocumentCall): string => {
    const text = texts.findText(state, name);
    return text === undefined ? 'null' : pickText(text, fields);
  };
  const { schema: defaultSchema } = deps.config;
  const createOne = changeOf<'create-collection', CreateQuery>({
    name: 'create-collection',
    input: ({ body, query }) => ({ body, concurrentIndexes: query.concurrentIndexCreation, defaultSchema }),
    shows: (state, { collection: { collection } }, call) => [textOf(state, collection, call)],
  });
  const createSeveral = changeOf<'create-collections', CreateQuery>({
    name: 'create-collections',
    input: ({ body, query }) => ({
      body: body as unknown[],
      concurrentIndexes: query.concurrentIndexCreation,
      defaultSchema,
    }),
    shows: (state, { creates }, call) =>
      arrayTexts(creates, ({ collection: { collection } }) => textOf(state, collection, call)),
  });
  return [
    changeRoute(deps, {
      method: 'patch',
      path: PATH,
      operationId: 'updateCollections',
      summary: 'Update several collections',
      query: severalQuery,
      body: jsonBody(z.array(taken.namedCollectionUpdate)),
      answers: { 200: data(z.array(shown.collection)) },
      errors: ['NOT_FOUND'],
      name: 'update-collections',
      input: ({ body }) => ({ body }),
      shows: (state, { updates }, call) => arrayTexts(updates, ({ collection }) => textOf(state, collection, call)),
    }),
    severalChangesRoute(deps, {
      method: 'post',
      path: PATH,
      operationId: 'createCollections',
      summary: 'Create one or several collections',
      query: createQuery,
      body: jsonBody(oneOrMany(taken.newCollection)),
      answers: { 200: data(oneOrMany(shown.collection)) },
      choose: ({ body }) => (Array.isArray(body) ? createSeveral : createOne),
    }),
    changeRoute(deps, {
      method: 'patch',
      path: ONE,
      operationId: 'updateCollection',
      summary: 'Update the metadata of a collection',
      query: changeQuery,
      body: jsonBody(taken.collectionUpdate),
      answers: { 200: data(shown.collection) },
      name: 'update-collection',
      input: (call) => ({ collection: idOf(call), body: call.body }),
      shows: (state, { collection }, call) => [textOf(state, collection, call)],
    }),
    renameRoute(deps, {
      path: `${ONE}/rename`,
      operationId: 'renameCollection',
      summary: 'Rename a collection, or move its table. It keeps its items, fields and relations',
      query: changeQuery,
      body: jsonBody(taken.collectionRename),
      answers: { 200: shown.renamedCollection },
      name: 'rename-collection',
      input: (call) => ({ collection: idOf(call), body: call.body }),
      shows: (state, { to }, call) => textOf(state, to, call),
    }),
    changeRoute(deps, {
      method: 'delete',
      path: ONE,
      operationId: 'deleteCollection',
      summary: 'Delete a collection with its items, fields and relations',
      query: deleteQuery,
      answers: { 204: null },
      name: 'delete-collection',
      input: (call) => ({ collection: idOf(call) }),
    }),
  ];
}

/**
 * Returns the collection in the path. The API also lists `id` as a query parameter, which must have the same value if
 * it is present.
 */
function idOf({ params, query }: Call<Pick<OneQuery, 'id'>>): string {
  const id = params['id'] ?? '';
  if (query.id !== undefined && query.id !== id) throw invalidQuery('id', '"id" must be the collection of the path.');
  return id;
}
