/** /relations: named by their many side. */
import { z } from 'zod';
import { noFieldsListed } from '../../schema/operations/refusals.js';
import { existingRelation } from '../../schema/operations/relations.js';
import { collectionsInOrder, relationsInOrder } from '../../schema/model/order.js';
import { keyTarget, relationDocument, type RelationDocument } from '../../schema/snapshot/documents.js';
import type { CollectionNode, State } from '../../schema/model/state.js';
import { type Answer, jsonAnswer, noContent, unwrap } from '../answer.js';
import { change, commandOf } from '../change.js';
import type { HttpDeps } from '../deps.js';
import { Refused } from '../errors.js';
import { listQueryOf, listTexts, pageKey } from '../list.js';
import { inManagedSchema } from '../managed-schema.js';
import { membersOf, pick, RELATION_MEMBERS } from '../members.js';
import { createRead } from '../read.js';
import { type Call, route, type Route } from '../route.js';

const ALL = '/relations';
const OF = '/relations/:collection';
const ONE = '/relations/:collection/:field';

const noQuery = z.strictObject({});
const listQuery = listQueryOf(RELATION_MEMBERS);
const oneQuery = z.strictObject({ fields: membersOf(RELATION_MEMBERS).optional() });

export function relationRoutes(deps: HttpDeps): Route[] {
  return [...readingRoutes(deps), ...changingRoutes(deps)];
}

const shownOf = (state: State, node: CollectionNode): RelationDocument[] =>
  relationsInOrder(node).map((relation) => relationDocument(relation, keyTarget(state, node, relation.many_field)));

function* textsOf(state: State, nodes: readonly CollectionNode[]): Generator<string, void, void> {
  for (const node of nodes) {
    for (const relation of shownOf(state, node)) yield JSON.stringify(relation);
  }
}

function nodeOf(state: State, collection: string): CollectionNode {
  const node = state.collections.get(collection);
  if (node === undefined) throw new Refused([noFieldsListed(collection)]);
  return node;
}

interface RelationRequest {
  collection: string;
  field: string;
  /** The members that are shown; undefined: all. */
  fields?: readonly string[] | undefined;
}

/** Throws `Refused` where there is no such relation. */
function documentOf(state: State, { collection, field, fields }: RelationRequest): Partial<RelationDocument> {
  const relation = unwrap(existingRelation(state, collection, field));
  return pick(relationDocument(relation, keyTarget(state, nodeOf(state, collection), field)), fields);
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
          listTexts(textsOf(state, collectionsInOrder(state)), call.query),
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
        return read(call, key, (state) => listTexts(textsOf(state, [nodeOf(state, collection)]), call.query));
      },
    }),
    route({
      method: 'get',
      path: ONE,
      access: 'reader',
      query: oneQuery,
      handle(call) {
        const { collection, field } = namesOf(call);
        const { fields } = call.query;
        const key = `relation ${JSON.stringify([collection, field, fields])}`;
        return read(call, key, (state) => {
          nodeOf(state, collection);
          return [JSON.stringify({ data: documentOf(state, { collection, field, fields }) })];
        });
      },
    }),
  ];
}

function changingRoutes({ pipeline, config: { schema } }: HttpDeps): Route[] {
  const answer = (state: State, request: RelationRequest): Answer => ({
    ...jsonAnswer(200, { data: documentOf(state, request) }),
    position: state.position,
  });
  return [
    route({
      method: 'post',
      path: ALL,
      access: 'admin',
      query: oneQuery,
      body: 'json',
      async handle(call) {
        const command = await commandOf('create-relation', { body: await inManagedSchema(call.body, schema) });
        const { many_collection: collection, many_field: field } = command.relation;
        const render = ({ state }: { state: State }) => answer(state, { collection, field, ...call.query });
        return change(pipeline, call, { name: 'create-relation', command, render });
      },
    }),
    route({
      method: 'patch',
      path: ONE,
      access: 'admin',
      query: oneQuery,
      body: 'json',
      async handle(call) {
        const names = namesOf(call);
        const body = await inManagedSchema(call.body, schema);
        const command = await commandOf('update-relation', { ...names, body });
        const render = ({ state }: { state: State }) => answer(state, { ...names, ...call.query });
        return change(pipeline, call, { name: 'update-relation', command, render });
      },
    }),
    route({
      method: 'delete',
      path: ONE,
      access: 'admin',
      query: noQuery,
      async handle(call) {
        const command = await commandOf('delete-relation', namesOf(call));
        const render = ({ position }: { position: number }) => noContent(position);
        return change(pipeline, call, { name: 'delete-relation', command, render });
      },
    }),
  ];
}

function namesOf({ params }: Call<unknown>): { collection: string; field: string } {
  return { collection: params['collection'] ?? '', field: params['field'] ?? '' };
}
