/** /relations: identified by their many side. */
import { listedCollection } from '../request/listed-collection.js';
import { z } from 'zod';
import { emptyTexts } from '../../kernel/bytes.js';
import { existingRelation } from '../../schema/operations/relations.js';
import { collectionsInOrder, relationsInOrder } from '../../schema/model/order.js';
import { keyTarget, relationDocument, type RelationDocument } from '../../schema/snapshot/documents.js';
import type { CollectionNode, State } from '../../schema/model/state.js';
import { unwrap } from '../answer/answer.js';
import { schemaChangeQuery } from '../change/change.js';
import { changeRoute } from '../change/change-route.js';
import type { HttpDeps } from '../deps.js';
import { listQueryOf, membersOf, pick, RELATION_MEMBERS } from '../documents/list.js';
import { documentRoute, listRoute } from '../documents/reading-routes.js';
import type { Call, Route } from '../route.js';

const ALL = '/relations';
const OF = '/relations/:collection';
const ONE = '/relations/:collection/:field';

const listQuery = listQueryOf(RELATION_MEMBERS);
const oneQuery = z.strictObject({ fields: membersOf(RELATION_MEMBERS).optional() });
const changeQuery = oneQuery.extend(schemaChangeQuery);
const deleteQuery = z.strictObject(schemaChangeQuery);

/** For readers; changes are for admins. */
export function relationRoutes(deps: HttpDeps): Route[] {
  return [...readingRoutes(deps), ...changingRoutes(deps)];
}

const shownOf = (state: State, node: CollectionNode): RelationDocument[] =>
  relationsInOrder(node).map((relation) => relationDocument(relation, keyTarget(state, node, relation.many_field)));

function* textsOf(state: State, nodes: readonly CollectionNode[]): Generator<string, void, void> {
  for (const node of nodes) {
    yield '';
    for (const relation of shownOf(state, node)) yield JSON.stringify(relation);
  }
}

function* allTexts(state: State): Generator<string, void, void> {
  yield* textsOf(state, yield* emptyTexts(collectionsInOrder(state)));
}

interface RelationRequest {
  collection: string;
  field: string;
  /** The selected members; undefined for all. */
  fields?: readonly string[] | undefined;
}

/** Throws `Refused` if the relation does not exist. */
function documentOf(state: State, { collection, field, fields }: RelationRequest): Partial<RelationDocument> {
  const relation = unwrap(existingRelation(state, collection, field));
  return pick(relationDocument(relation, keyTarget(state, listedCollection(state, collection), field)), fields);
}

const readingRoutes = (deps: HttpDeps): Route[] => [
  listRoute(deps, { path: ALL, query: listQuery, key: () => 'relations', texts: allTexts }),
  listRoute(deps, {
    path: OF,
    query: listQuery,
    key: (call) => `relations of ${JSON.stringify(namesOf(call).collection)}`,
    texts: (state, call) => textsOf(state, [listedCollection(state, namesOf(call).collection)]),
  }),
  documentRoute(deps, {
    path: ONE,
    query: oneQuery,
    key: (call) => `relation ${JSON.stringify(namesOf(call))}`,
    text(state, call) {
      listedCollection(state, namesOf(call).collection);
      return JSON.stringify(documentOf(state, namesOf(call)));
    },
  }),
];

function changingRoutes(deps: HttpDeps): Route[] {
  const textOf = (state: State, request: RelationRequest): string => JSON.stringify(documentOf(state, request));
  return [
    changeRoute(deps, {
      method: 'post',
      path: ALL,
      query: changeQuery,
      name: 'create-relation',
      input: ({ body }) => ({ body }),
      shows: (state, { relation: { many_collection: collection, many_field: field } }, { query }) => [
        textOf(state, { collection, field, fields: query.fields }),
      ],
    }),
    changeRoute(deps, {
      method: 'patch',
      path: ONE,
      query: changeQuery,
      name: 'update-relation',
      input: (call) => ({ ...namesOf(call), body: call.body }),
      shows: (state, _, call) => [textOf(state, { ...namesOf(call), fields: call.query.fields })],
    }),
    changeRoute(deps, { method: 'delete', path: ONE, query: deleteQuery, name: 'delete-relation', input: namesOf }),
  ];
}

function namesOf({ params }: Call<unknown>): { collection: string; field: string } {
  return { collection: params['collection'] ?? '', field: params['field'] ?? '' };
}
