/** /relations: named by their many side. */
import { z } from 'zod';
import type { Relation } from '../../schema/model.js';
import { operations } from '../../schema/operations/index.js';
import { noFieldsShown } from '../../schema/operations/refusals.js';
import { existingRelation } from '../../schema/operations/relations.js';
import { collectionsInOrder, relationsInOrder } from '../../schema/order.js';
import type { State } from '../../schema/state.js';
import { type Answer, jsonAnswer, noContent, unwrap } from '../answer.js';
import { change } from '../change.js';
import type { HttpDeps } from '../deps.js';
import { Refused } from '../errors.js';
import { listQuery, listText, pageKey } from '../list.js';
import { createRead } from '../read.js';
import { type Call, route, type Route } from '../route.js';

const ALL = '/relations';
const OF = '/relations/:collection';
const ONE = '/relations/:collection/:field';

const noQuery = z.strictObject({});

export function relationRoutes(deps: HttpDeps): Route[] {
  return [...readingRoutes(deps), ...changingRoutes(deps)];
}

const textsOf = (relations: readonly Relation[]): string[] => relations.map((relation) => JSON.stringify(relation));

function heldBy(state: State, collection: string): Relation[] {
  const node = state.collections.get(collection);
  if (node === undefined) throw new Refused([noFieldsShown(collection)]);
  return relationsInOrder(node);
}

function readingRoutes(deps: HttpDeps): Route[] {
  const read = createRead(deps);
  return [
    route({
      method: 'get',
      path: ALL,
      access: 'reader',
      query: listQuery,
      handle: (call) =>
        read(call, `relations ${pageKey(call.query)}`, (state) =>
          listText(textsOf(collectionsInOrder(state).flatMap(relationsInOrder)), call.query),
        ),
    }),
    route({
      method: 'get',
      path: OF,
      access: 'reader',
      query: listQuery,
      handle(call) {
        const { collection } = namesOf(call);
        const key = `relations of ${JSON.stringify(collection)} ${pageKey(call.query)}`;
        return read(call, key, (state) => listText(textsOf(heldBy(state, collection)), call.query));
      },
    }),
    route({
      method: 'get',
      path: ONE,
      access: 'reader',
      query: noQuery,
      handle(call) {
        const { collection, field } = namesOf(call);
        const key = `relation ${JSON.stringify([collection, field])}`;
        return read(call, key, (state) => {
          if (!state.collections.has(collection)) throw new Refused([noFieldsShown(collection)]);
          return JSON.stringify({ data: unwrap(existingRelation(state, collection, field)) });
        });
      },
    }),
  ];
}

function changingRoutes({ pipeline }: HttpDeps): Route[] {
  const answer = (state: State, { collection, field }: { collection: string; field: string }): Answer => ({
    ...jsonAnswer(200, { data: unwrap(existingRelation(state, collection, field)) }),
    position: state.position,
  });
  return [
    route({
      method: 'post',
      path: ALL,
      access: 'admin',
      query: noQuery,
      body: 'json',
      handle(call) {
        const command = unwrap(operations['create-relation'].parse({ body: call.body }));
        const { many_collection: collection, many_field: field } = command.relation;
        const render = ({ state }: { state: State }) => answer(state, { collection, field });
        return change(pipeline, call, { name: 'create-relation', command, render });
      },
    }),
    route({
      method: 'patch',
      path: ONE,
      access: 'admin',
      query: noQuery,
      body: 'json',
      handle(call) {
        const names = namesOf(call);
        const command = unwrap(operations['update-relation'].parse({ ...names, body: call.body }));
        const render = ({ state }: { state: State }) => answer(state, names);
        return change(pipeline, call, { name: 'update-relation', command, render });
      },
    }),
    route({
      method: 'delete',
      path: ONE,
      access: 'admin',
      query: noQuery,
      handle(call) {
        const command = unwrap(operations['delete-relation'].parse(namesOf(call)));
        const render = ({ position }: { position: number }) => noContent(position);
        return change(pipeline, call, { name: 'delete-relation', command, render });
      },
    }),
  ];
}

function namesOf({ params }: Call<unknown>): { collection: string; field: string } {
  return { collection: params['collection'] ?? '', field: params['field'] ?? '' };
}
