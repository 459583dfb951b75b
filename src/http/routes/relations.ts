/** Routes of /relations. The many side identifies a relation. */
import { listedCollection } from '../request/query.js';
import { z } from 'zod';
import { existingRelation } from '../../schema/operations/relations.js';
import { collectionsInOrder, relationsInOrder } from '../../schema/model/order.js';
import {
  keyTarget,
  relationDocument,
  relationDocumentsOf,
  type RelationDocument,
} from '../../schema/snapshot/documents.js';
import { createAttachment } from '../../kernel/attachment.js';
import type { Resumable } from '../../kernel/resumable.js';
import type { Relation } from '../../schema/model/model.js';
import type { CollectionNode, State } from '../../schema/model/state.js';
import { unwrap } from '../answer/answer.js';
import { schemaChangeQuery } from '../change/change.js';
import { changeRoute } from '../change/routes.js';
import type { HttpDeps } from '../deps.js';
import { listQueryOf, membersOf, pick, RELATION_MEMBERS, documentRoute, listRoute } from '../documents/list.js';
import * as shown from '../openapi/answers/schema.js';
import { data, page } from '../openapi/answers/envelopes.js';
import * as taken from '../../schema/normal-form/shapes.js';
import { type Call, jsonBody, type Route } from '../route.js';

const ALL = '/relations';
const OF = '/relations/:collection';
const ONE = '/relations/:collection/:field';

const listQuery = listQueryOf(RELATION_MEMBERS);
const oneQuery = z.strictObject({ fields: membersOf(RELATION_MEMBERS).optional() });
const changeQuery = oneQuery.extend(schemaChangeQuery);
const deleteQuery = z.strictObject(schemaChangeQuery);

/** Readers may use the routes that read. Changes are for admins. */
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

function* renderAll(state: State): Generator<string, void, void> {
  yield* textsOf(state, collectionsInOrder(state));
}

/**
 * The JSON of a collection's relations. The key is the array of documents, which changes with the relations and the
 * keys that they reference.
 */
const textByRelations = createAttachment<readonly Relation[], Buffer>();

function* renderPieces(state: State): Resumable<Buffer[]> {
  const pieces: Buffer[] = [];
  for (const node of collectionsInOrder(state)) {
    yield;
    if (node.relations.size === 0) continue;
    const documents = relationDocumentsOf(state, node);
    const rendered =
      textByRelations.get(documents) ??
      Buffer.from(
        shownOf(state, node)
          .map((each) => JSON.stringify(each))
          .join(','),
      );
    textByRelations.set(documents, rendered);
    pieces.push(rendered);
  }
  return pieces;
}

interface RelationRequest {
  collection: string;
  field: string;
  /** The selected members. Undefined for all. */
  fields?: readonly string[] | undefined;
}

/** Throws `RejectedError` if the relation does not exist. */
function documentOf(state: State, { collection, field, fields }: RelationRequest): Partial<RelationDocument> {
  const relation = unwrap(existingRelation(state, collection, field));
  return pick(relationDocument(relation, keyTarget(state, listedCollection(state, collection), field)), fields);
}

const readingRoutes = (deps: HttpDeps): Route[] => [
  listRoute(deps, {
    path: ALL,
    operationId: 'listRelations',
    summary: 'List relations',
    query: listQuery,
    answers: { 200: page(shown.relation) },
    key: () => 'relations',
    texts: renderAll,
    pieces: renderPieces,
  }),
  listRoute(deps, {
    path: OF,
    operationId: 'listRelationsOfCollection',
    summary: 'List the relations of a collection',
    query: listQuery,
    answers: { 200: page(shown.relation) },
    key: (call) => `relations of ${JSON.stringify(namesOf(call).collection)}`,
    texts: (state, call) => textsOf(state, [listedCollection(state, namesOf(call).collection)]),
  }),
  documentRoute(deps, {
    path: ONE,
    operationId: 'getRelation',
    summary: 'Retrieve a relation',
    query: oneQuery,
    answers: { 200: data(shown.relation) },
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
      operationId: 'createRelation',
      summary: 'Create a relation',
      query: changeQuery,
      body: jsonBody(taken.relation),
      answers: { 200: data(shown.relation) },
      errors: ['NOT_FOUND'],
      name: 'create-relation',
      input: ({ body }) => ({ body }),
      shows: (state, { relation: { many_collection: collection, many_field: field } }, { query }) => [
        textOf(state, { collection, field, fields: query.fields }),
      ],
    }),
    changeRoute(deps, {
      method: 'patch',
      path: ONE,
      operationId: 'updateRelation',
      summary: 'Update a relation',
      query: changeQuery,
      body: jsonBody(taken.relation),
      answers: { 200: data(shown.relation) },
      name: 'update-relation',
      input: (call) => ({ ...namesOf(call), body: call.body }),
      shows: (state, _, call) => [textOf(state, { ...namesOf(call), fields: call.query.fields })],
    }),
    changeRoute(deps, {
      method: 'delete',
      path: ONE,
      operationId: 'deleteRelation',
      summary: 'Delete a relation',
      query: deleteQuery,
      answers: { 204: null },
      name: 'delete-relation',
      input: namesOf,
    }),
  ];
}

function namesOf({ params }: Call<unknown>): { collection: string; field: string } {
  return { collection: params['collection'] ?? '', field: params['field'] ?? '' };
}
