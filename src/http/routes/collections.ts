/** /collections */
import { z } from 'zod';
import { operations } from '../../schema/operations/index.js';
import { missingCollection } from '../../schema/operations/refusals.js';
import type { State } from '../../schema/state.js';
import { type Answer, JSON_TYPE, noContent, textAnswer, unwrap } from '../answer.js';
import { change } from '../change.js';
import { type CollectionTexts, createCollectionTexts } from '../collection-texts.js';
import type { HttpDeps } from '../deps.js';
import { invalidQuery, Refused } from '../errors.js';
import { count, flag, type MetaMember, metaMembers } from '../query.js';
import { representationAnswer } from '../representation.js';
import { type Call, route, type Route } from '../route.js';

const PATH = '/collections';
const ONE = '/collections/:id';

/** `meta` is part of the interface on every route, and adds something to lists only. */
const listQuery = z.strictObject({ offset: count.default(0), limit: count.optional(), meta: metaMembers.optional() });
const createQuery = z.strictObject({ concurrentIndexCreation: flag, meta: metaMembers.optional() });
const oneQuery = z.strictObject({ meta: metaMembers.optional(), id: z.string().optional() });

type ListQuery = z.output<typeof listQuery>;
type OneQuery = z.output<typeof oneQuery>;

export function collectionRoutes(deps: HttpDeps): Route[] {
  const texts = createCollectionTexts(deps.config.schema, deps.systemCollections);
  return [...readingRoutes(deps, texts), ...changingRoutes(deps, texts)];
}

function readingRoutes({ store, rendered }: HttpDeps, texts: CollectionTexts): Route[] {
  return [
    route({
      method: 'get',
      path: PATH,
      access: 'reader',
      query: listQuery,
      async handle({ query, head, req }) {
        const state = await store.atHead(head);
        const { body, etag } = rendered.get(state, listKey(query), () => listText(texts.all(state), query));
        const found = { body, etag, type: JSON_TYPE, position: state.position };
        return representationAnswer(found, req.headers['if-none-match']);
      },
    }),
    route({
      method: 'get',
      path: ONE,
      access: 'reader',
      query: oneQuery,
      async handle(call) {
        const id = idOf(call);
        const state = await store.atHead(call.head);
        const text = texts.one(state, id);
        if (text === undefined) throw new Refused([missingCollection(id)]);
        const { body, etag } = rendered.get(state, `collection ${id}`, () => `{"data":${text}}`);
        const found = { body, etag, type: JSON_TYPE, position: state.position };
        return representationAnswer(found, call.req.headers['if-none-match']);
      },
    }),
  ];
}

function changingRoutes({ pipeline }: HttpDeps, texts: CollectionTexts): Route[] {
  const shown = (state: State, name: string): Answer => ({
    ...textAnswer(200, `{"data":${texts.one(state, name) ?? 'null'}}`, ['Content-Type', JSON_TYPE]),
    position: state.position,
  });
  return [
    route({
      method: 'post',
      path: PATH,
      access: 'admin',
      query: createQuery,
      body: 'json',
      handle(call) {
        const { body, query } = call;
        const input = { body, concurrentIndexes: query.concurrentIndexCreation };
        const command = unwrap(operations['create-collection'].parse(input));
        const name = command.collection.collection;
        const render = ({ state }: { state: State }) => shown(state, name);
        return change(pipeline, call, { name: 'create-collection', command, render });
      },
    }),
    route({
      method: 'patch',
      path: ONE,
      access: 'admin',
      query: oneQuery,
      body: 'json',
      handle(call) {
        const collection = idOf(call);
        const command = unwrap(operations['update-collection'].parse({ collection, body: call.body }));
        const render = ({ state }: { state: State }) => shown(state, collection);
        return change(pipeline, call, { name: 'update-collection', command, render });
      },
    }),
    route({
      method: 'delete',
      path: ONE,
      access: 'admin',
      query: oneQuery.omit({ meta: true }),
      handle(call) {
        const command = unwrap(operations['delete-collection'].parse({ collection: idOf(call) }));
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

function listKey({ offset, limit, meta }: ListQuery): string {
  return `collections ${offset} ${limit ?? ''} ${meta?.join() ?? ''}`;
}

function listText(all: readonly string[], { offset, limit, meta }: ListQuery): string {
  const page = all.slice(offset, limit === undefined ? undefined : offset + limit);
  const data = `"data":[${page.join(',')}]`;
  return meta === undefined ? `{${data}}` : `{${data},"meta":${JSON.stringify(counts(meta, all.length))}}`;
}

/** Nothing is filtered, so both counts are of all collections, whatever the page holds. */
function counts(members: readonly MetaMember[], total: number): Partial<Record<MetaMember, number>> {
  return Object.fromEntries(members.map((member) => [member, total]));
}
