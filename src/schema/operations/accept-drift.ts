/* accept-drift: records manual changes to the database in the log. The tables are not changed. */
import type { SchemaEvent } from '../model/events.js';
import { type ObjectName, objectKey } from '../model/objects.js';
import type { SchemaObject } from '../model/object-document.js';
import { invariantProblems } from '../invariants/index.js';
import { isObject, jsonEqual } from '../../kernel/json.js';
import { locate } from '../../kernel/locate.js';
import {
  invalidProblem,
  ok,
  refuse,
  unknownMembers,
  type Path,
  type Problem,
  problemsOfEach,
  renderPath,
} from '../../kernel/problem.js';
import { transition } from '../transition/transition.js';
import { OBJECTS_OFF, missingObject } from './objects.js';
import { missingCollection, missingField, type Operation } from './operation.js';
import { readObjectNames } from '../normal-form/object.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type Renames, withRenames } from '../transition/renames.js';
import type { CollectionNode, State } from '../model/state.js';
import { Draft } from '../transition/draft.js';
import { changeRelation, dropCollection, dropField } from '../transition/cascade.js';
import type { Collection, Field, NewRelation } from '../model/model.js';

/* Selects the differences to accept. */

export interface AcceptRequest {
  /**
   * The names to accept: fields by collection. Undefined accepts all. Null instead of fields accepts the whole
   * collection.
   */
  only: ReadonlyMap<string, ReadonlySet<string> | null> | undefined;
  takes(collection: string, field: string | undefined): boolean;
  /** The objects other than tables to accept. Undefined accepts all. */
  objects: readonly ObjectName[] | undefined;
}

type Named = Map<string, Set<string> | null>;

/**
 * Creates a request. Without a field, `takes` refers to the table as a whole, and is true only for collections that are
 * accepted completely.
 */
function requestOf(only: AcceptRequest['only'], objects: AcceptRequest['objects']): AcceptRequest {
  return {
    only,
    objects,
    takes(collection, field) {
      const fields = only === undefined ? null : only.get(collection);
      return fields === null || (field !== undefined && fields?.has(field) === true);
    },
  };
}

/** Translates the request to the current names of tables and columns. */
export function requestAfter({ only, objects }: AcceptRequest, { collections, fields }: Renames): AcceptRequest {
  if (only === undefined) return requestOf(only, objects);
  return requestOf(
    new Map(
      [...only].map(([name, named]) => [
        collections.get(name) ?? name,
        named && new Set([...named, ...(fields.get(name)?.values() ?? [])]),
      ]),
    ),
    objects,
  );
}

/** Reads `collections` and `fields` of the body into `only`. */
function readNamed(body: { [member: string]: unknown }, only: Named): Problem[] {
  return [
    ...elementsOf(body['collections'], ['collections'], (each, at) => nameCollection(each, at, only)),
    ...elementsOf(body['fields'], ['fields'], (each, at) => nameField(each, at, only)),
  ];
}

type Check = (element: unknown, at: Path) => Problem[];

function elementsOf(list: unknown, at: Path, check: Check): Problem[] {
  if (list === undefined) return [];
  if (!Array.isArray(list) || list.length === 0)
    return [invalidProblem(at, `${renderPath(at)} must be a non-empty array`)];
  return problemsOfEach(list, (each, index) => check(each, [...at, index]));
}

function nameCollection(name: unknown, at: Path, only: Named): Problem[] {
  if (typeof name !== 'string') return [invalidProblem(at, 'must be the name of a collection, as a string')];
  only.set(name, null);
  return [];
}

function nameField(named: unknown, at: Path, only: Named): Problem[] {
  if (!isObject(named)) return [invalidProblem(at, 'must be an object with collection and field')];
  const { collection, field } = named;
  const problems = unknownMembers(named, new Set(['collection', 'field']), at);
  if (typeof collection !== 'string')
    problems.push(invalidProblem([...at, 'collection'], 'collection is required and must be a string'));
  if (typeof field !== 'string')
    problems.push(invalidProblem([...at, 'field'], 'field is required and must be a string'));
  if (typeof collection !== 'string' || typeof field !== 'string') return problems;
  const fields = only.get(collection);
  if (fields !== null) only.set(collection, (fields ?? new Set()).add(field));
  return problems;
}

/* Creates a draft of the schema with manual changes. The caller checks it. */

/** A table of the catalog in normal form, with metadata from the log. */
export interface DriftedTable {
  collection: Collection;
  fields: Field[];
  relations: NewRelation[];
}

export interface DetectedDrift {
  renames: Renames;
  /** The tables that differ from the log, by their current names. */
  tables: DriftedTable[];
  /** The collections whose table was dropped. */
  deleted: string[];
  /** Objects other than tables that differ from the log, as they are in the database. Absent if none are managed. */
  objects?: { changed: SchemaObject[]; deleted: ObjectName[] };
  /** Requested fields that neither the log nor the database contains. */
  missing: readonly { collection: string; field: string }[];
}

interface AcceptedState {
  desired: State;
  /** Collections that may differ. */
  touched: ReadonlySet<string>;
}

/**
 * Applies the accepted differences to a draft.
 * @param drift data from the catalog. Objects that `request` does not name are unchanged.
 */
export function* applyAcceptance(state: State, drift: DetectedDrift, request: AcceptRequest): Resumable<AcceptedState> {
  const { state: base, touched } = yield* withRenames(state, drift.renames);
  const meant = requestAfter(request, drift.renames);
  const draft = new Draft(base);
  for (const name of drift.deleted) {
    if (meant.takes(name, undefined)) dropCollection(draft, base, name);
    yield;
  }
  for (const table of drift.tables) {
    acceptTable(draft, base, table, meant);
    yield;
  }
  for (const object of drift.objects?.changed ?? []) draft.putObject(object);
  for (const name of drift.objects?.deleted ?? []) draft.removeObject(name);
  return { desired: draft.toState(), touched: new Set([...touched, ...draft.touched]) };
}

function acceptTable(draft: Draft, state: State, table: DriftedTable, request: AcceptRequest): void {
  const name = table.collection.collection;
  const recorded = state.collections.get(name) as CollectionNode;
  const takes = (field: string) => request.takes(name, field);
  dropMissing(draft, state, { recorded, found: table, takes });
  // Dropping a column can also remove references to it, so the collection is read again.
  const held = draft.get(name)?.collection;
  if (held !== undefined && request.takes(name, undefined) && !jsonEqual(held.schema, table.collection.schema)) {
    draft.putCollection({ ...held, schema: table.collection.schema });
  }
  for (const field of table.fields) {
    if (takes(field.field) && !jsonEqual(field, recorded.fields.get(field.field))) draft.putField(field);
  }
  dropMissingKeys(draft, { recorded, found: table, takes });
  for (const relation of table.relations) if (takes(relation.many_field)) putKey(draft, relation);
}

interface AcceptInput {
  recorded: CollectionNode;
  found: DriftedTable;
  takes: (field: string) => boolean;
}

function dropMissing(draft: Draft, state: State, { recorded, found, takes }: AcceptInput): void {
  const there = new Set(found.fields.map(({ field }) => field));
  for (const { collection, field, schema } of recorded.fields.values()) {
    if (schema !== null && !there.has(field) && takes(field)) dropField(draft, state, collection, field);
  }
}

/** Removes the foreign key of a relation if it was dropped in the database. The relation itself stays. */
function dropMissingKeys(draft: Draft, { recorded, found, takes }: AcceptInput): void {
  const there = new Set(found.relations.map(({ many_field }) => many_field));
  for (const { many_collection, many_field, schema } of recorded.relations.values()) {
    const held = draft.get(many_collection)?.relations.get(many_field);
    if (held === undefined || schema === null || there.has(many_field) || !takes(many_field)) continue;
    draft.putRelation({ ...held, schema: null });
  }
}

function putKey(draft: Draft, relation: NewRelation): void {
  const held = draft.get(relation.many_collection)?.relations.get(relation.many_field);
  if (held === undefined) draft.putRelation(relation);
  else if (!jsonEqual({ id: held.id, ...relation }, held)) changeRelation(draft, held, relation);
}

export interface AcceptDrift {
  request: AcceptRequest;
  /** Data from the catalog, read under the log lock with the tables locked. */
  found?: DetectedDrift;
}

export const acceptDrift: Operation<'accept-drift', { body: unknown }, AcceptDrift> = {
  name: 'accept-drift',

  parse({ body }) {
    if (!isObject(body))
      return refuse(invalidProblem([], 'the body must be an object: {}, or collections, fields and objects to accept'));
    const problems = unknownMembers(body, new Set(['collections', 'fields', 'objects']), []);
    const only: Named = new Map();
    problems.push(...readNamed(body, only));
    const objects = readObjectNames(body['objects'], ['objects']);
    if (!objects.ok) problems.push(...objects.problems);
    if (!objects.ok || problems.length > 0) return refuse(...problems);
    const members = [body['collections'], body['fields'], body['objects']];
    const all = members.every((member) => member === undefined);
    return ok({ request: all ? requestOf(undefined, undefined) : requestOf(only, objects.value) });
  },

  *decide(state, { request, found }) {
    if (found === undefined) throw new Error('accept-drift needs the catalog, and it was not read');
    const unknown = unknownNames(state, request, found);
    if (unknown.length > 0) return refuse(...unknown);
    const { desired, touched } = yield* applyAcceptance(state, found, request);
    const problems = yield* invariantProblems(desired, touched, state);
    if (problems.length > 0) return refuse(...problems.map((problem) => locate(problem, {})));
    const events = yield* transition(state, desired, touched);
    return ok(events.map(toAdopted));
  },
};

function unknownNames(state: State, { only, objects = [] }: AcceptRequest, found: DetectedDrift): Problem[] {
  if (objects.length > 0 && found.objects === undefined) return [invalidProblem(['objects'], OBJECTS_OFF)];
  const collections = [...(only?.keys() ?? [])].filter((name) => !state.collections.has(name));
  const unknown = [
    ...collections.map((name) => missingCollection(state, name)),
    ...objects.filter((name) => !state.objects.has(objectKey(name))).map(missingObject),
  ];
  return unknown.length > 0
    ? unknown
    : found.missing.map(({ collection, field }) => missingField(state, collection, field));
}

/** Marks the event as already true in the database. A table with a new name is marked as adopted. */
export function toAdopted(event: SchemaEvent): SchemaEvent {
  if (event.type === 'collection.created') {
    const { collection, fields } = event.data;
    return { ...event, type: 'collection.adopted', data: { collection, fields } };
  }
  // An object follows its table without a statement.
  if (event.type === 'object.renamed') return event;
  return { ...event, data: { ...event.data, adopted: true } } as SchemaEvent;
}
