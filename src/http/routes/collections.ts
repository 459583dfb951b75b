/** /collections */
import { z } from 'zod';
import { missingCollection } from '../../schema/operations/refusals.js';
import type { State } from '../../schema/model/state.js';
import { type Answer, JSON_TYPE, noContent, textAnswer } from '../answer.js';
import { change, commandOf } from '../change.js';
import { type CollectionTexts, createCollectionTexts } from '../collection-texts.js';
import type { HttpDeps } from '../deps.js';
import { invalidQuery, Refused } from '../errors.js';
import { listQueryOf, listTexts, pageKey } from '../list.js';
import { inManagedSchema } from '../managed-schema.js';
import { COLLECTION_MEMBERS, membersOf, pickText } from '../members.js';
import { flag, metaMembers } from '../query.js';
import { createRead } from '../read.js';
import { type Call, route, type Route } from '../route.js';

const PATH = '/collections';
const ONE = '/collections/:id';

/** `meta` is part of the interface on every route, and adds something to lists only. */
const shownQuery = { meta: metaMembers.optional(), fields: membersOf(COLLECTION_MEMBERS).optional() };
const listQuery = listQueryOf(COLLECTION_MEMBERS);
const createQuery = z.strictObject({
  concurrentIndexCreation: flag.describe('Indexes are built after the commit'),
  ...shownQuery,
});
const severalQuery = z.strictObject(shownQuery);
const oneQuery = z.strictObject({ ...shownQuery, id: z.string().optional() });
const deleteQuery = oneQuery.pick({ id: true });

type OneQuery = z.output<typeof oneQuery>;

export function collectionRoutes(deps: HttpDeps): Route[] {
  const texts = createCollectionTexts(deps.config, deps.systemCollections);
  return [...readingRoutes(deps, texts), ...changingRoutes(deps, texts)];
}

function readingRoutes(deps: HttpDeps, texts: CollectionTexts): Route[] {
  const read = createRead(deps);
  return [
    route({
      method: 'get',
      path: PATH,
      access: 'reader',
      query: listQuery,
      handle: (call) =>
        read(call, `collections ${pageKey(call.query)}`, (state) => listTexts(texts.all(state), call.query)),
    }),
    route({
      method: 'get',
      path: ONE,
      access: 'reader',
      query: oneQuery,
      handle(call) {
        const id = idOf(call);
        const { fields } = call.query;
        return read(call, `collection ${JSON.stringify([id, fields])}`, (state) => {
          const text = texts.one(state, id);
          if (text === undefined) throw new Refused([missingCollection(id)]);
          return [`{"data":${pickText(text, fields)}}`];
        });
      },
    }),
  ];
}

/** What the answer to a change shows: collections, and which of their members. */
type DocumentCall = Call<{ fields?: readonly string[] | undefined }>;

function changingRoutes({ pipeline, config: { schema } }: HttpDeps, texts: CollectionTexts): Route[] {
  const textOf = (state: State, name: string, { query: { fields } }: DocumentCall): string => {
    const text = texts.one(state, name);
    return text === undefined ? 'null' : pickText(text, fields);
  };
  const documentAnswer = (state: State, name: string, call: DocumentCall): Answer => ({
    ...textAnswer(200, `{"data":${textOf(state, name, call)}}`, ['Content-Type', JSON_TYPE]),
    position: state.position,
  });
  const documentsAnswer = (state: State, names: readonly string[], call: DocumentCall): Answer => {
    const data = names.map((name) => textOf(state, name, call));
    const answer = textAnswer(200, `{"data":[${data.join(',')}]}`, ['Content-Type', JSON_TYPE]);
    return { ...answer, position: state.position };
  };
  const createSeveral = async (call: DocumentCall, input: { body: unknown[]; concurrentIndexes: boolean }) => {
    const command = await commandOf('create-collections', input);
    const names = command.creates.map(({ collection }) => collection.collection);
    const render = ({ state }: { state: State }) => documentsAnswer(state, names, call);
    return change(pipeline, call, { name: 'create-collections', command, render });
  };
  return [
    route({
      method: 'patch',
      path: PATH,
      access: 'admin',
      query: severalQuery,
      body: 'json',
      async handle(call) {
        const body = await inManagedSchema(call.body, schema);
        const command = await commandOf('update-collections', { body });
        const names = command.updates.map(({ collection }) => collection);
        const render = ({ state }: { state: State }) => documentsAnswer(state, names, call);
        return change(pipeline, call, { name: 'update-collections', command, render });
      },
    }),
    route({
      method: 'post',
      path: PATH,
      access: 'admin',
      query: createQuery,
      body: 'json',
      async handle(call) {
        const body = await inManagedSchema(call.body, schema);
        const concurrentIndexes = call.query.concurrentIndexCreation;
        if (Array.isArray(body)) return createSeveral(call, { body, concurrentIndexes });
        const command = await commandOf('create-collection', { body, concurrentIndexes });
        const name = command.collection.collection;
        const render = ({ state }: { state: State }) => documentAnswer(state, name, call);
        return change(pipeline, call, { name: 'create-collection', command, render });
      },
    }),
    route({
      method: 'patch',
      path: ONE,
      access: 'admin',
      query: oneQuery,
      body: 'json',
      async handle(call) {
        const collection = idOf(call);
        const body = await inManagedSchema(call.body, schema);
        const command = await commandOf('update-collection', { collection, body });
        const render = ({ state }: { state: State }) => documentAnswer(state, collection, call);
        return change(pipeline, call, { name: 'update-collection', command, render });
      },
    }),
    route({
      method: 'delete',
      path: ONE,
      access: 'admin',
      query: deleteQuery,
      async handle(call) {
        const command = await commandOf('delete-collection', { collection: idOf(call) });
        const render = ({ position }: { position: number }) => noContent(position);
        return change(pipeline, call, { name: 'delete-collection', command, render });
      },
    }),
  ];
}

/** The collection that the path names. The interface lists `id` among the query parameters too: it may repeat it. */
function idOf({ params, query }: Call<Pick<OneQuery, 'id'>>): string {
  const id = params['id'] ?? '';
  if (query.id !== undefined && query.id !== id) throw invalidQuery('id', '"id" must be the collection of the path.');
  return id;
}
