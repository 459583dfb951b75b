/** /fields */
import { z } from 'zod';
import { missingField, noFieldsListed } from '../../schema/operations/refusals.js';
import { collectionsInOrder } from '../../schema/model/order.js';
import type { FieldDocument } from '../../schema/snapshot/documents.js';
import { fieldDocumentsOf } from '../../schema/snapshot/snapshot.js';
import type { CollectionNode, State } from '../../schema/model/state.js';
import { changeRoute } from '../change-route.js';
import type { HttpDeps } from '../deps.js';
import { Refused } from '../errors.js';
import { listQueryOf, listTexts, pageKey } from '../list.js';
import { FIELD_MEMBERS, membersOf, pickText } from '../members.js';
import { flag } from '../query.js';
import { createRead } from '../read.js';
import { type Call, route, type Route } from '../route.js';

const ALL = '/fields';
const OF = '/fields/:collection';
const ONE = '/fields/:collection/:field';

const noQuery = z.strictObject({});
const shownQuery = { fields: membersOf(FIELD_MEMBERS).optional() };
const listQuery = listQueryOf(FIELD_MEMBERS);
const oneQuery = z.strictObject(shownQuery);
const changeQuery = z.strictObject({
  concurrentIndexCreation: flag.describe('Indexes are built after the commit'),
  ...shownQuery,
});

export function fieldRoutes(deps: HttpDeps): Route[] {
  const textsOf = createFieldTexts();
  return [...readingRoutes(deps, textsOf), ...changingRoutes(deps, textsOf)];
}

/** The JSON of a collection's fields by their names, in order; written once as long as they are the same. */
type FieldTexts = (state: State, node: CollectionNode) => ReadonlyMap<string, string>;

function createFieldTexts(): FieldTexts {
  const known = new WeakMap<readonly FieldDocument[], ReadonlyMap<string, string>>();
  return (state, node) => {
    const fields = fieldDocumentsOf(state, node);
    const found = known.get(fields) ?? new Map(fields.map((field) => [field.field, JSON.stringify(field)]));
    known.set(fields, found);
    return found;
  };
}

function* allTexts(textsOf: FieldTexts, state: State): Generator<string, void, void> {
  for (const node of collectionsInOrder(state)) yield* textsOf(state, node).values();
}

function nodeOf(state: State, collection: string): CollectionNode {
  const node = state.collections.get(collection);
  if (node === undefined) throw new Refused([noFieldsListed(collection)]);
  return node;
}

function oneText(
  textsOf: FieldTexts,
  { state, collection, field }: { state: State; collection: string; field: string },
) {
  const node = nodeOf(state, collection);
  const text = textsOf(state, node).get(field);
  if (text === undefined) throw new Refused([missingField(collection, field)]);
  return text;
}

function readingRoutes(deps: HttpDeps, textsOf: FieldTexts): Route[] {
  const read = createRead(deps);
  return [
    route({
      method: 'get',
      path: ALL,
      access: 'reader',
      query: listQuery,
      handle: (call) =>
        read(call, `fields ${pageKey(call.query)}`, (state) => listTexts(allTexts(textsOf, state), call.query)),
    }),
    route({
      method: 'get',
      path: OF,
      access: 'reader',
      query: listQuery,
      handle(call) {
        const { collection } = namesOf(call);
        const key = `fields of ${JSON.stringify(collection)} ${pageKey(call.query)}`;
        return read(call, key, (state) => listTexts(textsOf(state, nodeOf(state, collection)).values(), call.query));
      },
    }),
    route({
      method: 'get',
      path: ONE,
      access: 'reader',
      query: oneQuery,
      handle(call) {
        const names = namesOf(call);
        const { fields } = call.query;
        const key = `field ${JSON.stringify([names.collection, names.field, fields])}`;
        return read(call, key, (state) => [`{"data":${pickText(oneText(textsOf, { state, ...names }), fields)}}`]);
      },
    }),
  ];
}

function changingRoutes(deps: HttpDeps, textsOf: FieldTexts): Route[] {
  const textOf = (state: State, names: FieldName, members: readonly string[] | undefined): string =>
    pickText(oneText(textsOf, { state, ...names }), members);
  const update = { method: 'patch', query: changeQuery, name: 'update-fields' } as const;
  return [
    changeRoute(deps, {
      method: 'post',
      path: OF,
      query: changeQuery,
      name: 'create-field',
      input: (call) => ({ collection: namesOf(call).collection, body: call.body, ...indexing(call) }),
      shows: (state, { field }, { query }) => textOf(state, field, query.fields),
    }),
    changeRoute(deps, {
      ...update,
      path: OF,
      input: (call) => ({ collection: namesOf(call).collection, body: call.body, ...indexing(call) }),
      shows(state, { collection, changes }, { query }) {
        const texts = changes.map(({ field }) => textOf(state, { collection, field }, query.fields));
        return `[${texts.join(',')}]`;
      },
    }),
    changeRoute(deps, {
      ...update,
      path: ONE,
      input: (call) => ({ ...namesOf(call), body: call.body, ...indexing(call) }),
      shows: (state, _, call) => textOf(state, namesOf(call), call.query.fields),
    }),
    changeRoute(deps, { method: 'delete', path: ONE, query: noQuery, name: 'delete-field', input: namesOf }),
  ];
}

const indexing = ({ query }: Call<{ concurrentIndexCreation: boolean }>) => ({
  concurrentIndexes: query.concurrentIndexCreation,
});

interface FieldName {
  collection: string;
  field: string;
}

function namesOf({ params }: Call<unknown>): FieldName {
  return { collection: params['collection'] ?? '', field: params['field'] ?? '' };
}
