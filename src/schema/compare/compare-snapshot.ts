/** Compares the current schema with a submitted snapshot, for POST /schema/diff. */
import { type SchemaDiff, diffStates } from '../diff/diff.js';
import { importSnapshot } from '../import/import-snapshot.js';
import type { Instance } from '../import/reading.js';
import { isObject, jsonEqual } from '../../kernel/json.js';
import {
  type Problem,
  type Result,
  invalidProblem,
  ok,
  refuse,
  unknownMembers,
  MAX_PROBLEMS,
  type Path,
  type Warning,
} from '../../kernel/problem.js';
import type { Collection } from '../model/model.js';
import { SNAPSHOT_VERSION, VENDOR, isSnapshotOf, snapshotHash } from '../snapshot/snapshot.js';
import {
  type State,
  type StoredLocation,
  getField,
  getRelation,
  primaryKeyOf,
  storedLocation,
} from '../model/state.js';
import { type Resumable, pauseEvery } from '../../kernel/resumable.js';
import { REFERABLE_SYSTEM_COLLECTIONS, isSystemCollection } from '../model/system-collections.js';
import { type SnapshotParts, snapshotLocations } from './submitted-documents.js';
import { type DesiredState, desiredState, type ObjectEquality } from './desired-state.js';
import { locate } from '../../kernel/locate.js';
import { movedObjectProblems, renameProblems } from '../invariants/names.js';
import { type ObjectName, objectKey } from '../model/objects.js';
import { requestedLocation } from '../normal-form/collection.js';
import { NO_RENAMES, withRenames, type Renames } from '../transition/renames.js';
import { composedFault, withComposedNames, checkName } from '../normal-form/names.js';
import { warnAboutLikelyRenames } from './looks-renamed.js';
import { invertMap } from '../../kernel/lists-and-maps.js';
import type { Names } from '../fold/replace-names.js';
import { quoteName } from '../../kernel/text.js';

/*
 * Reads `renamed_from`, the former name of a collection or field in a submitted snapshot. It is an instruction and
 * never stored, so it is removed before documents are compared.
 */

interface RenamedFrom {
  renames: Renames;
  /** The snapshot without the member `renamed_from`. */
  body: { [member: string]: unknown };
  /** Warnings about names that do not exist. */
  notes: Warning[];
  problems: Problem[];
}

const MEMBER = 'renamed_from';

/** If `problems` is not empty, the rest of the result is unusable. */
export function readRenamedFrom(state: State, body: { [member: string]: unknown }): RenamedFrom {
  const tables = renamedDocuments(body['collections'], 'collections');
  const columns = renamedDocuments(body['fields'], 'fields');
  const renamedFrom: RenamedFrom = { renames: NO_RENAMES, body, notes: [], problems: [] };
  if (tables.length + columns.length === 0) return renamedFrom;
  const collections = collectionRenames(state, { documents: body['collections'], said: tables }, renamedFrom);
  const sent = { documents: body['fields'], said: columns };
  const fields = fieldRenames(state, { ...sent, collections }, renamedFrom);
  return { ...renamedFrom, renames: { ...NO_RENAMES, collections, fields }, body: removeRenamedFrom(body) };
}

/** Returns the new locations of tables, by the new names of their collections. */
function* readLocations(
  state: State,
  documents: unknown,
  { collections }: Pick<Renames, 'collections'>,
): Resumable<Renames['locations']> {
  const locations = new Map<string, StoredLocation>();
  const former = invertMap(collections);
  const pause = pauseEvery(STEP);
  for (const document of Array.isArray(documents) ? (documents as unknown[]).filter(isObject) : []) {
    yield* pause();
    const { collection: name } = document;
    if (typeof name !== 'string' || collections.has(name)) continue;
    const location = locationIn(document, state.collections.get(former.get(name) ?? name)?.collection);
    if (location !== undefined) locations.set(name, location);
  }
  return locations;
}

/** Undefined if the table does not move. */
function locationIn(
  document: { [member: string]: unknown },
  existing: Collection | undefined,
): StoredLocation | undefined {
  if (existing?.schema == null) return undefined;
  const location = requestedLocation(document, storedLocation(existing));
  return jsonEqual(location, storedLocation(existing)) ? undefined : location;
}

const STEP = 500;

interface SubmittedDocument {
  at: Path;
  document: { [member: string]: unknown };
}

function renamedDocuments(part: unknown, name: 'collections' | 'fields'): SubmittedDocument[] {
  const statements: SubmittedDocument[] = [];
  for (const [index, document] of Array.isArray(part) ? part.entries() : []) {
    if (isObject(document) && Object.hasOwn(document, MEMBER)) statements.push({ at: [name, index], document });
  }
  return statements;
}

function removeRenamedFrom(body: { [member: string]: unknown }): { [member: string]: unknown } {
  const others: { [member: string]: unknown } = {};
  for (const part of ['collections', 'fields']) {
    const documents = body[part];
    if (!Array.isArray(documents)) continue;
    const cleaned: unknown[] = [];
    for (const document of documents) {
      cleaned.push(withoutMember(document));
    }
    others[part] = cleaned;
  }
  return { ...body, ...others };
}

function withoutMember(document: unknown): unknown {
  if (!isObject(document) || !Object.hasOwn(document, MEMBER)) return document;
  const { [MEMBER]: _, ...rest } = document;
  return rest;
}

/** The renames of one namespace. */
interface RenameInput {
  kind: 'collection' | 'field';
  from: string;
  to: string;
  at: Path;
  /** True if an object currently has the name. */
  isThere: (name: string) => boolean;
  /** True if the snapshot contains the name. */
  isSent: (name: string) => boolean;
  /** The renames read so far. */
  names: Map<string, string>;
  location: { collection: string; field?: string };
  /** True if a name that does not exist causes a warning. */
  notes: boolean;
}

function collectionRenames(state: State, { documents, said: all }: Documents, renamedFrom: RenamedFrom): Names {
  const names = new Map<string, string>();
  const sent = sentNames(documents, ({ collection }) => collection);
  for (const { at, document } of all) {
    if (renamedFrom.problems.length >= MAX_PROBLEMS) break;
    const { collection: to } = document;
    const from = textAt(document, at, renamedFrom);
    // The reader of the document reports an invalid name.
    if (from === undefined || typeof to !== 'string') continue;
    if (isSystemCollection(from) || isSystemCollection(to)) {
      renamedFrom.problems.push(invalidProblem([...at, MEMBER], 'a collection of the service cannot be renamed'));
      continue;
    }
    const isThere = (name: string) => state.collections.has(name);
    const isSent = (name: string) => sent.has(name);
    decide(
      { kind: 'collection', from, to, at, isThere, isSent, names, location: { collection: to }, notes: true },
      renamedFrom,
    );
  }
  return names;
}

interface Documents {
  documents: unknown;
  /** The documents that contain `renamed_from`. */
  said: SubmittedDocument[];
}

function fieldRenames(
  state: State,
  { documents, said: all, collections }: Documents & { collections: Names },
  renamedFrom: RenamedFrom,
): Renames['fields'] {
  const former = invertMap(collections);
  const fields = new Map<string, Map<string, string>>();
  const sent = sentNames(documents, ({ collection, field }) => `${String(collection)}\0${String(field)}`);
  for (const { at, document } of all) {
    if (renamedFrom.problems.length >= MAX_PROBLEMS) break;
    const { collection, field: to } = document;
    const from = textAt(document, at, renamedFrom);
    if (from === undefined || typeof collection !== 'string' || typeof to !== 'string') continue;
    const node = state.collections.get(former.get(collection) ?? collection);
    const names = fields.get(collection) ?? new Map<string, string>();
    const isThere = (name: string) => node?.fields.has(name) === true;
    const isSent = (name: string) => sent.has(`${collection}\0${name}`);
    const location = { collection, field: to };
    decide({ kind: 'field', from, to, at, isThere, isSent, names, location, notes: node !== undefined }, renamedFrom);
    if (names.size > 0) fields.set(collection, names);
  }
  return fields;
}

function sentNames(
  documents: unknown,
  nameOf: (document: { [member: string]: unknown }) => unknown,
): ReadonlySet<unknown> {
  const names = new Set<unknown>();
  for (const document of Array.isArray(documents) ? documents : []) {
    if (isObject(document)) names.add(nameOf(document));
  }
  return names;
}

function textAt(document: { [member: string]: unknown }, at: Path, { problems }: RenamedFrom): string | undefined {
  const value = document[MEMBER];
  if (typeof value === 'string') return value;
  problems.push(invalidProblem([...at, MEMBER], `${MEMBER} must be a string: the former name`));
  return undefined;
}

function decide(naming: RenameInput, { notes, problems }: RenamedFrom): void {
  const { kind, from, to, at, isThere, isSent, names, location } = naming;
  const refused = fault(naming);
  if (refused !== null) {
    problems.push({ ...invalidProblem([...at, MEMBER], refused), ...location });
    return;
  }
  if (isThere(from) && !isSent(from)) {
    problems.push(...checkName(kind, to, [...at, kind]));
    names.set(from, to);
  } else if (!isThere(to) && naming.notes) {
    const message = `${kind} ${quoteName(from)} does not exist, so it cannot be renamed: ${quoteName(to)} is created`;
    notes.push({ code: 'RENAMED_FROM_NOTHING', ...location, message });
  }
}

function fault({ kind, from, to, isThere, isSent, names }: RenameInput): string | null {
  if (from === to) return `${MEMBER} must differ from the current name of the ${kind}`;
  if (names.has(from))
    return `${quoteName(from)} can be renamed to one ${kind} only, and is already renamed to ${quoteName(names.get(from) ?? null)}`;
  if (!isThere(from)) return null;
  if (isThere(to))
    return `${quoteName(from)} and ${quoteName(to)} both exist, so neither can be renamed to the other. Omit ${MEMBER}, or delete one of them first`;
  if (!isSent(from)) return null;
  return `the snapshot contains ${quoteName(from)} too, and a renamed object gives up its old name. Add the other one in a later snapshot`;
}

export interface CompareOptions {
  /** True to accept a snapshot from another release, another vendor or Directus. */
  force: boolean;
  mode: 'mirror' | 'merge';
  /** The release of this service. */
  release: string;
  /** Absent on an instance that manages only tables. Such an instance rejects snapshots with other objects. */
  objects?: ObjectEquality;
}

export interface Comparison {
  /** Hash of the current snapshot, from which the diff starts. */
  hash: string;
  diff: SchemaDiff;
  /** Warnings about parts of an imported snapshot that were skipped. */
  warnings: Warning[];
  desired: DesiredState;
}

const MEMBERS = new Set(['version', 'service', 'vendor', 'collections', 'fields', 'relations']);
const MEMBERS_WITH_OBJECTS = new Set([...MEMBERS, 'objects']);

/** The state that the snapshot requests. `warnings` lists the skipped parts of an imported snapshot. */
export interface DesiredSchema {
  /** The current state, with the renames of the snapshot applied. */
  named: State;
  desired: DesiredState;
  warnings: Warning[];
}

/** Compares without queries or changes. PostgreSQL may still reject the result of the diff. */
export function* compareSnapshot(state: State, body: unknown, options: CompareOptions): Resumable<Result<Comparison>> {
  const read = yield* readDesired(state, body, options);
  if (!read.ok) return read;
  const { named, desired, warnings } = read.value;
  return ok({
    hash: yield* snapshotHash(state, options.release),
    diff: yield* diffStates(state, desired.state, desired.touched),
    warnings: [...warnings, ...(yield* warnAboutLikelyRenames(named, desired.state, desired.touched))],
    desired,
  });
}

/** Returns the requested state and the current state, both with the names of the snapshot. */
export function* readDesired(state: State, body: unknown, options: CompareOptions): Resumable<Result<DesiredSchema>> {
  if (!isObject(body))
    return refuse(
      invalidProblem(
        [],
        'a snapshot must be an object with version, service, vendor, collections, fields and relations',
      ),
    );
  const origin = originProblems(body, options);
  if (origin.length > 0) return refuse(...origin);
  if (isSnapshotOf(body, state)) return ok({ named: state, warnings: [], desired: { state, touched: new Set() } });
  const composed = composeNewNames(state, body);
  const renamed = readRenamedFrom(state, composed);
  if (renamed.problems.length > 0) return refuse(...renamed.problems);
  const locations = isForeign(body)
    ? NO_RENAMES.locations
    : yield* readLocations(state, body['collections'], renamed.renames);
  const renames = { ...renamed.renames, locations };
  const moved = movedObjectProblems(state, renames, keptBy(body, options));
  if (moved.length > 0) return refuse(...moved.map((problem) => locate(problem, snapshotLocations(composed))));
  const named = yield* withRenames(state, renames);
  const read = yield* computeDesired(named.state, renamed.body, options);
  if (!read.ok) return read;
  const { desired, warnings } = read.value;
  const problems = renameProblems(desired.state, renames, named.unwritten);
  if (problems.length > 0) return refuse(...problems.map((problem) => locate(problem, snapshotLocations(composed))));
  return ok({
    named: named.state,
    warnings: [...warnings, ...renamed.notes],
    desired: { state: desired.state, touched: new Set([...named.touched, ...desired.touched]) },
  });
}

/** True for a snapshot of another product, whose tables have no schema. */
const isForeign = ({ service }: { [member: string]: unknown }): boolean => typeof service !== 'string';

/** Returns whether an object other than a table remains. */
function keptBy({ objects }: { [member: string]: unknown }, { mode }: CompareOptions): (object: ObjectName) => boolean {
  if (mode === 'merge' || !Array.isArray(objects)) return () => true;
  const sent = new Set((objects as unknown[]).filter(isObject).map((each) => objectKey(each as unknown as ObjectName)));
  return (object) => sent.has(objectKey(object));
}

/** Converts new names of the snapshot to normalization form NFC. Existing names are kept. */
function composeNewNames(state: State, body: { [member: string]: unknown }): { [member: string]: unknown } {
  const others = new Set<string>();
  for (const name of namesIn(body)) {
    if (composedFault(name) !== null) others.add(name);
  }
  if (others.size === 0) return body;
  for (const [collection, { fields }] of state.collections) {
    others.delete(collection);
    for (const name of others) if (fields.has(name)) others.delete(name);
  }
  return withComposedNames(body, others);
}

function* namesIn(body: { [member: string]: unknown }): Generator<string> {
  for (const [part, member] of [['collections', 'collection'] as const, ['fields', 'field'] as const]) {
    const documents = body[part];
    for (const document of Array.isArray(documents) ? (documents as unknown[]) : []) {
      const name = isObject(document) ? document[member] : undefined;
      if (typeof name === 'string') yield name;
    }
  }
}

/** @param state the current state with the names of the snapshot */
function* computeDesired(
  state: State,
  body: { [member: string]: unknown },
  { release, mode, objects }: CompareOptions,
): Resumable<Result<Omit<DesiredSchema, 'named'>>> {
  const imported = body['service'] !== release || body['vendor'] !== VENDOR;
  const parts = imported ? importedParts(state, body, { mode, objects }) : ownParts(body, objects !== undefined);
  if (!parts.ok) return parts;
  const desired = yield* desiredState(state, parts.value, {
    mode,
    ...(imported && { imported: body }),
    ...(objects && { objects }),
  });
  return desired.ok ? ok({ desired: desired.value, warnings: parts.value.warnings }) : desired;
}

function originProblems(body: { [member: string]: unknown }, { force, release }: CompareOptions): Problem[] {
  const { version, service, vendor } = body;
  if (version !== SNAPSHOT_VERSION) {
    const reason = version === undefined ? 'it is missing' : `${JSON.stringify(version)} is not supported`;
    return [invalidProblem(['version'], `version must be ${SNAPSHOT_VERSION}; ${reason}`)];
  }
  if (force) return [];
  const problems: Problem[] = [];
  const bypass = 'to compare it anyway, use force (?force, dps --force)';
  if (service !== release) {
    problems.push(
      invalidProblem(
        ['service'],
        `the snapshot was created by ${describeOrigin(service, body)}, but this is release ${release}; ${bypass}`,
      ),
    );
  }
  if (vendor !== VENDOR) {
    const of =
      vendor === undefined ? 'does not name its database vendor' : `was created for vendor ${JSON.stringify(vendor)}`;
    problems.push(invalidProblem(['vendor'], `the snapshot ${of}, but this is ${JSON.stringify(VENDOR)}; ${bypass}`));
  }
  return problems;
}

function describeOrigin(service: unknown, body: { [member: string]: unknown }): string {
  if (service !== undefined) return `release ${JSON.stringify(service)}`;
  return body['directus'] === undefined
    ? 'an unknown release (member service is missing)'
    : 'another product (directus)';
}

type CheckedSnapshot = SnapshotParts & { warnings: Warning[] };

function ownParts(body: { [member: string]: unknown }, withObjects: boolean): Result<CheckedSnapshot> {
  const problems = unknownMembers(body, withObjects ? MEMBERS_WITH_OBJECTS : MEMBERS, []);
  for (const part of ['collections', 'fields', 'relations', 'objects'] as const) {
    if (body[part] !== undefined && !Array.isArray(body[part]))
      problems.push(invalidProblem([part], `${part} must be an array`));
  }
  if (problems.length > 0) return refuse(...problems);
  const { collections, fields, relations, objects } = body as SnapshotParts;
  return ok({ collections, fields, relations, objects, warnings: [] });
}

function importedParts(
  state: State,
  body: { [member: string]: unknown },
  { mode, objects: equality }: Pick<CompareOptions, 'mode' | 'objects'>,
): Result<CheckedSnapshot> {
  const { objects, ...others } = body;
  if (equality === undefined || !Array.isArray(objects))
    return importSnapshot(body, new Set(REFERABLE_SYSTEM_COLLECTIONS.keys()), instanceOf(state, mode));
  const read = importSnapshot(others, new Set(REFERABLE_SYSTEM_COLLECTIONS.keys()), instanceOf(state, mode));
  return read.ok ? ok({ ...read.value, objects }) : read;
}

function instanceOf(state: State, mode: 'mirror' | 'merge'): Instance {
  const fieldOf = (collection: string, field: string) => getField(state, collection, field);
  const nodeOf = (collection: string) => state.collections.get(collection);
  return {
    // In merge mode, a snapshot may refer to objects that only the instance has.
    exists: (collection, field) =>
      mode === 'merge' && (field === undefined ? nodeOf(collection) : fieldOf(collection, field)) !== undefined,
    collectionOf: (collection) => nodeOf(collection)?.collection,
    columnOf: fieldOf,
    keyOf: (collection) => {
      const node = nodeOf(collection);
      return node === undefined ? [] : primaryKeyOf(node);
    },
    relationOf: (collection, field) => getRelation(state, collection, field),
  };
}
