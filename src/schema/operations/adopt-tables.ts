/** adopt-tables: existing tables become collections without being changed. */
import { extrasOf, type CollectionNode, type State, byName, getObject } from '../model/state.js';
import { Draft } from '../transition/draft.js';
import { type SchemaEvent, newEvent, newObjectEvent } from '../model/events.js';
import { type ObjectName, isType, objectKey, objectLabel } from '../model/objects.js';
import type { SchemaObject } from '../model/object-document.js';
import { readObjectNames } from '../normal-form/object.js';
import { OBJECTS_OFF } from './objects.js';
import { invariantProblems } from '../invariants/index.js';
import { isObject } from '../../kernel/json.js';
import type { Collection, Field, NewRelation } from '../model/model.js';
import { locate } from '../../kernel/locate.js';
import { adoptLocations, type Operation } from './operation.js';
import {
  type Problem,
  type Result,
  invalidProblem,
  ok,
  problemsOfEach,
  refuse,
  renderPath,
  findRepeated,
  unknownMembers,
} from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import { sortNeededFirst, sortPartitionsFirst } from '../model/order.js';
import { patchBetween } from '../fold/rename-events.js';
import { quoteName } from '../../kernel/text.js';

/** The tables and objects to adopt, or all unmanaged ones. */
export type AdoptRequest = { tables: string[]; objects?: ObjectName[] } | { all: true };

/** A table of the catalog in normal form. */
export interface CatalogTableDocuments {
  collection: Collection;
  fields: Field[];
}

export interface CatalogFindings {
  tables: CatalogTableDocuments[];
  /** Foreign keys among the tables to adopt, and between them and managed tables. */
  relations: NewRelation[];
  /**
   * Managed tables whose extras were updated, because their foreign keys to the tables to adopt cannot be relations.
   */
  completed: Collection[];
  /** Requested names that no table has. */
  missing: string[];
  /** Requested tables that cannot be adopted, with reasons. */
  refused: { table: string; object?: ObjectName; message: string }[];
  /**
   * The objects other than tables. Each one follows the objects that it uses. Absent if the instance manages only
   * tables.
   */
  objects?: { adopted: SchemaObject[]; missing: ObjectName[] };
}

export interface AdoptTables {
  request: AdoptRequest;
  /** Data from the catalog. It is read under the log lock, so that nothing changes before the adoption. */
  found?: CatalogFindings;
}

export interface AdoptTablesInput {
  body: unknown;
}

const MEMBERS = new Set(['tables', 'objects', 'all']);

export const adoptTables: Operation<'adopt-tables', AdoptTablesInput, AdoptTables> = {
  name: 'adopt-tables',

  parse({ body }) {
    const request = readRequest(body);
    return request.ok ? ok({ request: request.value }) : request;
  },

  *decide(state, { request, found }) {
    if (found === undefined) throw new Error('adopt-tables needs the catalog, and it was not read');
    const problems = requestProblems(state, request, found);
    if (problems.length > 0) return refuse(...problems);
    const draft = new Draft(state);
    yield* putFindings(draft, found);
    const desired = draft.toState();
    const faults = yield* invariantProblems(desired, draft.touched, state);
    if (faults.length === 0) return ok(eventsOf(found, state, desired));
    const locations = adoptLocations('all' in request ? [] : request.tables);
    return refuse(...faults.map((fault) => locate(fault, locations)));
  },
};

function* putFindings(draft: Draft, { tables, completed, relations, objects }: CatalogFindings): Resumable<void> {
  for (const { collection, fields } of tables) {
    draft.putCollection(collection);
    for (const field of fields) draft.putField(field);
    yield;
  }
  for (const collection of completed) draft.putCollection(collection);
  for (const relation of relations) draft.putRelation(relation);
  for (const object of objects?.adopted ?? []) draft.putObject(object);
}

function readRequest(body: unknown): Result<AdoptRequest> {
  const shape = 'the body must be {"tables": ["…"]}, {"objects": [{"kind": "view", "id": "…"}]} or {"all": true}';
  if (!isObject(body)) return refuse(invalidProblem([], shape));
  const problems = unknownMembers(body, MEMBERS, []);
  const { tables, all } = body;
  const isNamed = tables !== undefined || body['objects'] !== undefined;
  if (isNamed === (all !== undefined))
    problems.push(invalidProblem([], `${shape}. {"all": true} cannot be combined with names`));
  if (all !== undefined && all !== true) problems.push(invalidProblem(['all'], 'all must be true or omitted'));
  if (all === true && problems.length === 0) return ok({ all });
  return readNames(body, problems);
}

function readNames({ tables, objects }: { [member: string]: unknown }, problems: Problem[]): Result<AdoptRequest> {
  if (tables !== undefined) problems.push(...nameProblems(tables));
  const names = readObjectNames(objects, ['objects']);
  if (!names.ok) return refuse(...problems, ...names.problems);
  if (problems.length > 0) return refuse(...problems);
  return ok({ tables: (tables ?? []) as string[], ...(names.value && { objects: names.value }) });
}

function nameProblems(tables: unknown): Problem[] {
  if (!Array.isArray(tables) || tables.length === 0) {
    return [invalidProblem(['tables'], 'tables must be an array with at least one table name')];
  }
  const wrong = problemsOfEach(tables, (name: unknown, index) =>
    typeof name === 'string' ? [] : [invalidProblem(['tables', index], 'must be the name of a table, as a string')],
  );
  if (wrong.length > 0) return wrong;
  return problemsOfEach(findRepeated(tables as string[]), (index) => [
    invalidProblem(['tables', index], `${quoteName(tables[index] ?? '')} occurs more than once in the array`),
  ]);
}

function requestProblems(state: State, request: AdoptRequest, found: CatalogFindings): Problem[] {
  if ('all' in request) return [];
  return [...tableProblems(state, request.tables, found), ...objectProblems(state, request.objects ?? [], found)];
}

function objectProblems(state: State, names: readonly ObjectName[], { objects, refused }: CatalogFindings): Problem[] {
  if (names.length > 0 && objects === undefined) return [invalidProblem(['objects'], OBJECTS_OFF)];
  const missing = new Set(objects?.missing.map(objectKey));
  const reasons = new Map(refused.flatMap(({ object, message }) => (object ? [[objectKey(object), message]] : [])));
  return problemsOfEach(names, (name, index): Problem[] => {
    const location = { path: renderPath(['objects', index]), object: name };
    if (getObject(state, name) !== undefined)
      return [{ code: 'ALREADY_EXISTS', message: `${objectLabel(name)} is already managed`, ...location }];
    if (missing.has(objectKey(name)))
      return [{ code: 'NOT_FOUND', message: `${objectLabel(name)} does not exist in the database`, ...location }];
    const reason = reasons.get(objectKey(name));
    return reason === undefined
      ? []
      : [{ code: 'INVALID_PAYLOAD', message: `${objectLabel(name)}: ${reason}`, ...location }];
  });
}

function tableProblems(state: State, tables: readonly string[], { missing, refused }: CatalogFindings): Problem[] {
  return problemsOfEach(tables, (table, index): Problem[] => {
    const location = { path: renderPath(['tables', index]), collection: table };
    if (state.collections.has(table)) {
      return [{ code: 'ALREADY_EXISTS', message: `table ${quoteName(table)} is already a collection`, ...location }];
    }
    if (missing.includes(table)) {
      return [{ code: 'NOT_FOUND', message: `table ${quoteName(table)} does not exist in the database`, ...location }];
    }
    const refusal = refused.find((each) => each.table === table && each.object === undefined);
    return refusal === undefined
      ? []
      : [{ code: 'INVALID_PAYLOAD', message: `${quoteName(table)}: ${refusal.message}`, ...location }];
  });
}

/** Returns the events in order. Partitioned tables precede their partitions, and foreign keys follow all tables. */
function eventsOf(found: CatalogFindings, state: State, desired: State): SchemaEvent[] {
  const { tables, relations, completed, objects } = found;
  const created = (object: SchemaObject) => newObjectEvent('object.created', object, { object, adopted: true });
  const adopted = objects?.adopted ?? [];
  // Types precede the tables that use them.
  const events: SchemaEvent[] = adopted.filter(isType).map(created);
  const byTable = new Map(tables.map((table) => [table.collection.collection, table]));
  const parentOf = (name: string) => extrasOf(byTable.get(name)).partition_of?.table;
  for (const name of sortNeededFirst(byTable.keys(), (each) => [parentOf(each) ?? []].flat())) {
    const { collection, fields } = byTable.get(name) as CatalogTableDocuments;
    events.push(newEvent('collection.adopted', name, null, { collection, fields }));
  }
  const inOrder = completed.toSorted((a, b) => byName(a.collection, b.collection));
  for (const collection of sortPartitionsFirst(inOrder, desired, (each) => each.collection)) {
    const name = collection.collection;
    const patch = patchBetween((state.collections.get(name) as CollectionNode).collection, collection);
    events.push(newEvent('collection.updated', name, null, { patch, adopted: true }));
  }
  const ordered = relations.toSorted(
    (a, b) => byName(a.many_collection, b.many_collection) || byName(a.many_field, b.many_field),
  );
  for (const relation of sortPartitionsFirst(ordered, desired, (each) => each.many_collection)) {
    events.push(
      newEvent('relation.created', relation.many_collection, relation.many_field, { relation, adopted: true }),
    );
  }
  return [...events, ...adopted.filter((object) => !isType(object)).map(created)];
}
