/** Converts a submitted snapshot to the requested state. Members that it omits are unchanged. */
import { isObject, jsonEqual } from '../../kernel/json.js';
import { locate } from '../../kernel/locate.js';
import { MAX_PROBLEMS, type Result, invalidProblem, ok, refuse, type Problem } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import { changeProblems } from '../invariants/index.js';
import type { NewRelation, Relation } from '../model/model.js';
import { type ObjectName, objectKey, objectLabel } from '../model/objects.js';
import type { Definition, SchemaObject } from '../model/object-document.js';
import { objectNameParts, qualifiedId, searchedNames } from '../model/object-ids.js';
import {
  type CollectionNode,
  type State,
  getField,
  getRelation,
  getObject,
  contentOf,
  hasColumn,
  tableIdOf,
} from '../model/state.js';
import {
  columnType,
  mergeCollection,
  mergeField,
  mergeRelation,
  readNewCollection,
  readNewField,
  readNewRelation,
  withNamedType,
  relationSteps,
} from '../normal-form/index.js';
import { mergeObject, readNewObject } from '../normal-form/object.js';
import { type FieldDocument, collectionDocumentOf, fieldDocumentsOf } from '../snapshot/documents.js';
import { canReplace, isSameDefinition, parseDefinition } from '../sql-text/object-definition.js';
import { dropCollection, dropDefinitions, dropRelation } from '../transition/cascade.js';
import { Draft } from '../transition/draft.js';
import {
  snapshotLocations,
  type DocumentCollection,
  type Documents,
  type SnapshotParts,
  documentsOf,
  relationDocuments,
} from './submitted-documents.js';

interface DesiredStateOptions {
  /** `mirror` deletes objects that the snapshot lacks. `merge` deletes nothing. */
  mode: 'mirror' | 'merge';
  /** The submitted snapshot from another system, accepted with `force`. The documents in `parts` were derived from it. */
  imported?: unknown;
  /** Absent on an instance that manages only tables. */
  objects?: ObjectEquality;
}

export interface DesiredState {
  state: State;
  touched: ReadonlySet<string>;
}

interface Reading extends DocumentCollection {
  state: State;
  draft: Draft;
}

/** Returns the state that the snapshot describes. Problems contain the path in the snapshot. */
export function* desiredState(
  state: State,
  parts: SnapshotParts,
  options: DesiredStateOptions,
): Resumable<Result<DesiredState>> {
  const imported = options.imported !== undefined;
  const locations = snapshotLocations(imported ? options.imported : parts);
  const reading: Reading = { state, draft: new Draft(state), parts, imported, locations, problems: [] };
  const names = yield* documentsOf(reading, 'collections', ['collection']);
  const fields = yield* documentsOf(reading, 'fields', ['collection', 'field']);
  const relations = yield* relationDocuments(reading);
  if (reading.problems.length > 0) return refuse(...reading.problems);
  if (options.mode === 'mirror') yield* removeMissing(reading, names, fields, relations);
  yield* readCollections(reading, names);
  yield* readFields(reading, fields);
  removeMentions(reading, names);
  yield* readRelations(reading, relations);
  if (options.objects !== undefined) yield* readObjects(reading, { mode: options.mode, equality: options.objects });
  if (reading.problems.length > 0) return refuse(...reading.problems);
  const desired = { state: reading.draft.toState(), touched: reading.draft.touched };
  if (contentOf(desired.state) === contentOf(state)) return ok(desired);
  const problems = yield* changeProblems({ from: state, to: desired.state, touched: desired.touched });
  return problems.length > 0 ? refuse(...problems.map((problem) => locate(problem, locations))) : ok(desired);
}

function* removeMissing(reading: Reading, names: Documents, fields: Documents, relations: Documents): Resumable<void> {
  const { state, draft, parts } = reading;
  for (const [name, node] of state.collections) {
    yield;
    if (parts.collections !== undefined && !names.has(name)) {
      dropCollection(draft, state, name);
      continue;
    }
    if (parts.relations !== undefined) removeMissingRelations(reading, node, relations);
    if (parts.fields !== undefined) removeMissingFields(draft, node, fields);
  }
}

function removeMissingRelations(
  { draft }: Reading,
  { collection: { collection }, relations }: CollectionNode,
  kept: Documents,
) {
  for (const relation of relations.values()) {
    const there = draft.get(collection)?.relations.has(relation.many_field) === true;
    if (there && !kept.has(collection, relation.many_field)) dropRelation(draft, relation);
  }
}

function removeMissingFields(draft: Draft, { collection: { collection }, fields }: CollectionNode, kept: Documents) {
  for (const field of fields.keys()) {
    const there = draft.get(collection)?.fields.has(field) === true;
    if (there && !kept.has(collection, field)) draft.removeField(collection, field);
  }
}

/** One document: its current value, its reader and the target of the result. */
interface Submitted<T> {
  /** The object that problems of this document are about. */
  location: { collection: string; field?: string };
  /** The current value in the draft. Undefined if the object does not exist or was removed. */
  held: T | undefined;
  /** The value before the draft changed it. */
  base: T | undefined;
  /** Called only if needed, because an equal document changes nothing and need not be read. */
  document: () => unknown;
  fresh: (input: unknown) => Result<T>;
  merge: (existing: T, input: unknown) => Result<T>;
  put: (value: T) => void;
}

function readDocument<T>({ problems }: Reading, input: unknown, subject: Submitted<T>): void {
  const { held, base, location } = subject;
  if (held !== undefined && held === base && jsonEqual(input, subject.document())) return;
  const existing = held ?? base;
  const read = existing === undefined ? subject.fresh(input) : subject.merge(existing, input);
  if (!read.ok) problems.push(...read.problems.map((problem) => ({ ...location, ...problem })));
  else if (!jsonEqual(read.value, held)) subject.put(read.value);
}

function* readCollections(reading: Reading, documents: Documents): Resumable<void> {
  const { state, draft, imported } = reading;
  for (const { names, input, at, stepsTo } of documents.values()) {
    if (reading.problems.length >= MAX_PROBLEMS) return;
    yield;
    const [name] = names as [string];
    const node = state.collections.get(name);
    readDocument(reading, input, {
      location: { collection: name },
      held: draft.get(name)?.collection,
      base: node?.collection,
      document: () => node && collectionDocumentOf(state, node),
      fresh: (submitted) => readNewCollection(submitted, at, { imported, stepsTo }),
      merge: (existing, change) => mergeCollection(existing, change, at, { imported, stepsTo }),
      put: (collection) => draft.putCollection(collection),
    });
  }
}

function* readFields(reading: Reading, documents: Documents): Resumable<void> {
  const { state, draft, imported, problems } = reading;
  const documentsIn = documentsByName(state);
  for (const { names, input, at, stepsTo } of documents.values()) {
    if (reading.problems.length >= MAX_PROBLEMS) return;
    yield;
    const [collection, field] = names as [string, string];
    const holder = draft.get(collection);
    if (holder === undefined) {
      const message = `collection ${JSON.stringify(collection)} does not exist in the snapshot`;
      problems.push({ ...invalidProblem([...at, 'collection'], message), collection, field });
      continue;
    }
    const current = yield* documentsIn(collection);
    readDocument(reading, input, {
      location: { collection, field },
      held: holder.fields.get(field),
      base: getField(state, collection, field),
      document: () => current.get(field),
      fresh: (submitted) => readNewField(withNamedType(submitted), at, { imported, stepsTo }),
      merge: (existing, change) => mergeField(existing, withNamedType(change, existing), at, { imported, stepsTo }),
      put: (value) => draft.putField(value),
    });
  }
}

/** Removes metadata that names a removed column, as a deletion does, unless the snapshot contains that metadata. */
function removeMentions({ state, draft }: Reading, documents: Documents): void {
  for (const name of draft.touched) {
    const schema = documents.get(name)?.input['schema'];
    if (isObject(schema) && schema['extras'] !== undefined) continue;
    for (const column of findLostColumns(state.collections.get(name), draft.get(name))) {
      dropDefinitions(draft, name, column);
    }
  }
}

function findLostColumns(before: CollectionNode | undefined, after: CollectionNode | undefined): string[] {
  if (before === undefined || after === undefined) return [];
  const columns = [...before.fields.values()].filter(({ schema }) => schema !== null);
  return columns.map(({ field }) => field).filter((field) => !after.fields.get(field)?.schema);
}

/** Returns the documents of the fields of a collection by name. They are cached per collection. */
function documentsByName(state: State) {
  const fieldsByCollection = new Map<string, Map<string, FieldDocument>>();
  return function* (collection: string): Resumable<Map<string, FieldDocument>> {
    const cached = fieldsByCollection.get(collection);
    if (cached !== undefined) return cached;
    const node = state.collections.get(collection);
    const documents = node === undefined ? [] : yield* fieldDocumentsOf(state, node);
    const fields = new Map(documents.map((each) => [each.field, each]));
    fieldsByCollection.set(collection, fields);
    return fields;
  };
}

function* readRelations(reading: Reading, documents: Documents): Resumable<void> {
  const { state, draft, imported, problems } = reading;
  for (const { names, input, at, stepsTo } of documents.values()) {
    if (reading.problems.length >= MAX_PROBLEMS) return;
    yield;
    const [collection, field] = names as [string, string];
    const holder = draft.get(collection);
    if (holder === undefined) {
      const message = `collection ${JSON.stringify(collection)} does not exist in the snapshot`;
      const steps = ['many_collection'];
      const path = [...at, ...(stepsTo?.(steps) ?? relationSteps(steps, input))];
      problems.push({ ...invalidProblem(path, message), collection, field });
      continue;
    }
    const base = getRelation(state, collection, field);
    readDocument<NewRelation & { id?: number }>(reading, input, {
      location: { collection, field },
      held: holder.relations.get(field),
      base,
      document: () => base,
      fresh: (submitted) => readNewRelation(submitted, at, { imported, stepsTo }),
      merge: (existing, change) =>
        withId(existing, mergeRelation(existing as Relation, change, at, { imported, stepsTo })),
      put: (relation) => draft.putRelation(relation),
    });
  }
}

/** Relations are compared without ids. A submitted relation has none and takes the id of the existing one. */
function withId(
  existing: NewRelation & { id?: number },
  read: Result<NewRelation>,
): Result<NewRelation & { id?: number }> {
  return read.ok && existing.id !== undefined ? ok({ id: existing.id, ...read.value }) : read;
}

/* Reads the objects other than tables in a submitted snapshot. */

/** Holds the definitions that PostgreSQL found equal although their parse trees differ. */
export interface ObjectEquality {
  isSame(existing: Definition, definition: Definition): boolean;
}

export const NO_EQUALITY: ObjectEquality = { isSame: () => false };

/** Returns the definitions of a snapshot whose parse trees differ from the existing ones. */
export function* findDifferingDefinitions(state: State, body: unknown): Resumable<[string, string][]> {
  const differing: [string, string][] = [];
  const documents: unknown = isObject(body) ? body['objects'] : undefined;
  for (const document of Array.isArray(documents) ? (documents as unknown[]) : []) {
    yield;
    if (!isObject(document)) continue;
    const { kind, id, definition } = document;
    const existing = getObject(state, { kind, id } as ObjectName);
    if (typeof existing?.definition !== 'string' || typeof definition !== 'string') continue;
    if (!isSameDefinition(existing.definition, definition)) differing.push([existing.definition, definition]);
  }
  return differing;
}

interface ObjectReading {
  state: State;
  draft: Draft;
  parts: Pick<SnapshotParts, 'objects'>;
  problems: Problem[];
}

/** Puts the objects of the snapshot into the draft. If the snapshot has no part `objects`, nothing changes. */
function* readObjects(
  { state, draft, parts: { objects }, problems }: ObjectReading,
  { mode, equality }: { mode: 'mirror' | 'merge'; equality: ObjectEquality },
): Resumable<void> {
  if (objects === undefined) return;
  const sent = new Map<string, SchemaObject>();
  const equalityAfter = yield* afterChanges({ state, draft, objects }, equality);
  for (const [index, document] of objects.entries()) {
    if (problems.length >= MAX_PROBLEMS) return;
    yield;
    const read = readObject(state, document, { index, equality: equalityAfter });
    if (!read.ok) problems.push(...read.problems);
    else if (sent.has(objectKey(read.value)))
      problems.push(invalidProblem(['objects', index], `${objectLabel(read.value)} occurs more than once in objects`));
    else sent.set(objectKey(read.value), read.value);
  }
  if (mode === 'mirror' && problems.length === 0) removeOthers(state, draft, sent);
  // A trigger that was removed with its table or view may be on the view or table that takes its name.
  for (const object of sent.values()) if (object !== draft.object(object)) draft.putObject(object);
}

/**
 * Returns the equality without definitions that use something whose type changes. PostgreSQL compared them with the
 * current types: `amount % 2` equals `amount % 2::bigint` only while `amount` is a bigint.
 */
function* afterChanges(
  { state, draft, objects }: Pick<ObjectReading, 'state' | 'draft'> & { objects: readonly unknown[] },
  equality: ObjectEquality,
): Resumable<ObjectEquality> {
  const changed = retypedTables(state, draft);
  for (const document of objects) {
    yield;
    const replaced = readReplaced(state, document, equality);
    if (replaced !== null) changed.add(replaced);
  }
  if (changed.size === 0) return equality;
  const users = new Map<string, Set<string>>();
  const others = otherSchemas(state);
  for (const { object } of state.objects.values()) {
    yield;
    const name = qualifiedId(objectNameParts(object));
    for (const used of namesUsed(object.definition, others)) users.set(used, (users.get(used) ?? new Set()).add(name));
  }
  // A set also visits names that are added during the iteration.
  for (const used of changed) for (const name of users.get(used) ?? []) changed.add(name);
  const usesChanged = (definition: Definition): boolean =>
    [...namesUsed(definition, others)].some((name) => changed.has(name));
  return { isSame: (existing, definition) => !usesChanged(existing) && equality.isSame(existing, definition) };
}

/** Returns the name of an object that gets a different definition, with possibly other types of its columns or its result. */
function readReplaced(state: State, document: unknown, { isSame }: ObjectEquality): string | null {
  if (!isObject(document) || typeof document['definition'] !== 'string') return null;
  const existing = getObject(state, document as unknown as ObjectName);
  const { definition } = document;
  if (existing === undefined || isSameDefinition(existing.definition, definition)) return null;
  const keeps = isSame(existing.definition, definition) || canReplace(existing.definition, definition);
  return keeps ? null : qualifiedId(objectNameParts(existing));
}

function retypedTables(state: State, draft: Draft): Set<string> {
  const isRetyped = ({ fields }: CollectionNode, now: CollectionNode | undefined): boolean =>
    [...fields.values()].some((field) => {
      const next = now?.fields.get(field.field);
      return hasColumn(field) && hasColumn(next) && columnType(field.schema) !== columnType(next.schema);
    });
  return new Set(
    [...draft.touched].flatMap((collection) => {
      const node = state.collections.get(collection);
      return node !== undefined && isRetyped(node, draft.get(collection)) ? [tableIdOf(node.collection)] : [];
    }),
  );
}

/** Returns the schemas of tables and objects outside the default schema. */
const otherSchemas = ({ collections, objects }: State): ReadonlySet<string | undefined> =>
  new Set([
    ...[...collections.values()].map(({ collection }) => collection.schema?.schema),
    ...[...objects.values()].map(({ object }) => objectNameParts(object).schema),
  ]);

/**
 * Returns the names of the relations, types and functions in a definition, as in `qualifiedId`. A schema that is not among the
 * others can be the default schema.
 */
function namesUsed(definition: Definition, others: ReadonlySet<string | undefined>): ReadonlySet<string> {
  const parsed = parseDefinition(definition);
  if (typeof parsed === 'string') return new Set();
  const { relations, calls, type } = parsed;
  const used = [...relations, ...calls, ...(type?.types ?? [])];
  const searched = used.flatMap((each) =>
    others.has(each.schema) ? searchedNames(each) : [...searchedNames(each), { ...each, schema: undefined }],
  );
  return new Set(searched.map(qualifiedId));
}

function removeOthers({ objects }: State, draft: Draft, sent: ReadonlyMap<string, SchemaObject>): void {
  for (const [key, { object }] of objects) if (!sent.has(key)) draft.removeObject(object);
}

function readObject(
  state: State,
  document: unknown,
  { index, equality }: { index: number; equality: ObjectEquality },
): Result<SchemaObject> {
  const at = ['objects', index];
  const existing = isObject(document) ? getObject(state, document as unknown as ObjectName) : undefined;
  if (existing === undefined) return readNewObject(document, at);
  return jsonEqual(document, existing)
    ? ok(existing)
    : mergeObject(existing, keepStoredText(existing, document, equality), at);
}

/** Keeps the stored text of a definition if the submitted text has the same meaning. */
function keepStoredText(existing: SchemaObject, document: unknown, { isSame }: ObjectEquality): unknown {
  if (!isObject(document) || typeof document['definition'] !== 'string') return document;
  return isSame(existing.definition, document['definition'])
    ? { ...document, definition: existing.definition }
    : document;
}
