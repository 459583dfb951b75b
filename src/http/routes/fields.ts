/** /fields */
import { z } from 'zod';
import { missingField, noFieldsListed } from '../../schema/operations/refusals.js';
import { collectionsInOrder } from '../../schema/model/order.js';
import type { FieldDocument } from '../../schema/snapshot/documents.js';
import { fieldDocumentsOf } from '../../schema/snapshot/snapshot.js';
import type { CollectionNode, State } from '../../schema/model/state.js';
import { type Answer, JSON_TYPE, noContent, textAnswer } from '../answer.js';
import { change, commandOf } from '../change.js';
import type { HttpDeps } from '../deps.js';
import { Refused } from '../errors.js';
import { listQueryOf, listTexts, pageKey } from '../list.js';
import { inManagedSchema } from '../managed-schema.js';
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

function changingRoutes({ pipeline, config: { schema } }: HttpDeps, textsOf: FieldTexts): Route[] {
  const answer = (state: State, data: string): Answer => ({
    ...textAnswer(200, `{"data":${data}}`, ['Content-Type', JSON_TYPE]),
    position: state.position,
  });
  return [
    route({
      method: 'post',
      path: OF,
      access: 'admin',
      query: changeQuery,
      body: 'json',
      async handle(call) {
        const { collection } = namesOf(call);
        const { concurrentIndexCreation: concurrentIndexes, fields } = call.query;
        const body = await inManagedSchema(call.body, schema);
        const command = await commandOf('create-field', { collection, body, concurrentIndexes });
        const { field } = command.field;
        const render = ({ state }: { state: State }) =>
          answer(state, pickText(oneText(textsOf, { state, collection, field }), fields));
        return change(pipeline, call, { name: 'create-field', command, render });
      },
    }),
    route({
      method: 'patch',
      path: OF,
      access: 'admin',
      query: changeQuery,
      body: 'json',
      async handle(call) {
        const { collection } = namesOf(call);
        const { concurrentIndexCreation: concurrentIndexes, fields } = call.query;
        const body = await inManagedSchema(call.body, schema);
        const command = await commandOf('update-fields', { collection, body, concurrentIndexes });
        const render = ({ state }: { state: State }) => {
          const texts = command.changes.map(({ field }) =>
            pickText(oneText(textsOf, { state, collection, field }), fields),
          );
          return answer(state, `[${texts.join(',')}]`);
        };
        return change(pipeline, call, { name: 'update-fields', command, render });
      },
    }),
    route({
      method: 'patch',
      path: ONE,
      access: 'admin',
      query: changeQuery,
      body: 'json',
      async handle(call) {
        const names = namesOf(call);
        const { concurrentIndexCreation: concurrentIndexes, fields } = call.query;
        const input = { ...names, body: await inManagedSchema(call.body, schema), concurrentIndexes };
        const command = await commandOf('update-fields', input);
        const render = ({ state }: { state: State }) =>
          answer(state, pickText(oneText(textsOf, { state, ...names }), fields));
        return change(pipeline, call, { name: 'update-fields', command, render });
      },
    }),
    route({
      method: 'delete',
      path: ONE,
      access: 'admin',
      query: noQuery,
      async handle(call) {
        const command = await commandOf('delete-field', namesOf(call));
        const render = ({ position }: { position: number }) => noContent(position);
        return change(pipeline, call, { name: 'delete-field', command, render });
      },
    }),
  ];
}

function namesOf({ params }: Call<unknown>): { collection: string; field: string } {
  return { collection: params['collection'] ?? '', field: params['field'] ?? '' };
}
