/*
 * Applies the entries of a diff to a draft. `lhs` must equal the current value, and `rhs` is validated like any input.
 */
import { invertMap } from '../../kernel/lists-and-maps.js';
import { copyJson, jsonEqual, type Json } from '../../kernel/json.js';
import type { DocumentLocation, Locations } from '../../kernel/locate.js';
import { MAX_PROBLEMS, type Path, type Result, invalidProblem, refuse, type Problem } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import type { Names } from '../fold/replace-names.js';
import { type Backfill, sourceOf } from '../model/backfill.js';
import type { Collection, Field, NewRelation } from '../model/model.js';
import {
  type CollectionNode,
  type State,
  type StoredLocation,
  NEW_IDENTITY,
  fieldNameOf,
  isElsewhere,
  memberKey,
  sameCollection,
  storedLocation,
} from '../model/state.js';
import { readNewCollection, readNewField, readNewRelation, withNamedType } from '../normal-form/index.js';
import { readTableLocation } from '../normal-form/collection.js';
import { checkName } from '../normal-form/names.js';
import { relationBody } from '../transition/context.js';
import { Draft } from '../transition/draft.js';
import { NO_RENAMES, type Renames, isNone, withRenames } from '../transition/renames.js';
import type { CollectionDiff, FieldDiff, RelationDiff, SchemaDiff } from './diff.js';
import {
  type Entry,
  type EntryFindings,
  type Misfit,
  type NameMember,
  applyEntry,
  conflict,
  hasGap,
  isRenameEntry,
  isLocationEntry,
  isWhole,
  isAddition,
  isRemoval,
  isWrong,
  stepsInEntries,
} from './entries.js';

/* Locations within a submitted diff. */

export function diffLocations({ collections, fields, relations, objects = [] }: SchemaDiff): Locations {
  const named = (collection: string, field: string) => (item: FieldDiff | RelationDiff) =>
    item.collection === collection && item.field === field;
  return {
    collection: (name) => diffPlace('collections', collections, (item) => item.collection === name),
    field: (collection, field) => diffPlace('fields', fields, named(collection, field)),
    relation: (collection, field) => diffPlace('relations', relations, named(collection, field)),
    object: ({ kind, id }) => diffPlace('objects', objects, (item) => item.kind === kind && item.id === id),
  };
}

/** Returns the last item that matches. A replaced object has two items, first its removal and then its addition. */
function diffPlace<T extends { diff: readonly Entry<unknown>[] }>(
  part: keyof SchemaDiff,
  items: readonly T[],
  matches: (item: T) => boolean,
): DocumentLocation | undefined {
  const index = items.findLastIndex(matches);
  const item = items[index];
  return item && { at: ['diff', part, index], stepsTo: (member) => stepsInEntries(item.diff, member) };
}

/* The items of a diff in order of execution. */

/** An item of a diff with its location. */
type DiffItem =
  | { part: 'collections'; index: number; item: CollectionDiff }
  | { part: 'fields'; index: number; item: FieldDiff }
  | { part: 'relations'; index: number; item: RelationDiff };

/** Removals come first, so that new objects can take their names. */
function orderItems({ collections, fields, relations }: SchemaDiff): DiffItem[] {
  const ofFields = fields.map((item, index) => ({ part: 'fields' as const, index, item }));
  const ofRelations = relations.map((item, index) => ({ part: 'relations' as const, index, item }));
  const isRemoved = ({ item }: DiffItem): boolean => isRemoval(item.diff);
  const isKept = (each: DiffItem): boolean => !isRemoved(each);
  return [
    ...ofRelations.filter(isRemoved),
    ...ofFields.filter(isRemoved),
    ...collections.map((item, index) => ({ part: 'collections' as const, index, item })),
    ...ofFields.filter(isKept),
    ...ofRelations.filter(isKept),
  ];
}

export interface ApplyContext {
  draft: Draft;
  findings: EntryFindings;
}

/**
 * Adds errors to the findings and leaves the affected items out of the draft. It stops early when there are too many
 * errors.
 */
export function* applyItems(context: ApplyContext, items: Iterable<DiffItem>): Resumable<void> {
  for (const item of items) {
    if (isFull(context.findings)) return;
    yield;
    applyItem(context, item);
  }
}

/** An item with its location, entries and subject. */
export interface Target<T> {
  at: Path;
  diff: readonly Entry<unknown>[];
  /** The current normal form. Undefined if the object does not exist. */
  current: T | undefined;
  /** Reads the new value. `stepsTo` maps members of the input to locations below `at`, if these differ. */
  read: (input: unknown, at: Path, stepsTo?: (steps: Path) => Path) => Result<T>;
  isMeant: (value: T) => boolean;
  put: (value: T) => void;
  remove: () => void;
  /** The member whose entry renames the object and does not change the document. */
  renamedBy?: NameMember;
}

function applyItem({ draft, findings }: ApplyContext, { part, index, item }: DiffItem): void {
  const at = ['diff', part, index];
  if (part === 'collections') applyEntries(findings, collectionTarget(draft, item, at));
  else if (draft.get(item.collection) === undefined) recordMissingCollection(findings, at, item);
  else if (part === 'fields') applyEntries(findings, fieldTarget(draft, item, at));
  else applyEntries(findings, relationTarget(draft, item, at));
}

function collectionTarget(draft: Draft, { collection, diff }: CollectionDiff, at: Path): Target<Collection> {
  const current = draft.get(collection)?.collection;
  return {
    at,
    diff,
    renamedBy: 'collection',
    current,
    read: (input, path, stepsTo) => {
      const read = readNewCollection(input, path, { imported: false, stepsTo });
      if (!read.ok || current === undefined || !isElsewhere(current, read.value)) return read;
      return refuse(invalidProblem(path, 'only entries with the path schema.schema or schema.name can move a table'));
    },
    isMeant: (read) => read.collection === collection,
    put: (value) => draft.putCollection(value),
    remove: () => draft.removeCollection(collection),
  };
}

function fieldTarget(draft: Draft, { collection, field, diff }: FieldDiff, at: Path): Target<Field> {
  const current = draft.get(collection)?.fields.get(field);
  return {
    at,
    diff,
    renamedBy: 'field',
    current,
    read: (input, path, stepsTo) => readNewField(withNamedType(input, current), path, { imported: false, stepsTo }),
    isMeant: (read) => read.collection === collection && read.field === field,
    put: (value) => draft.putField(value),
    remove: () => draft.removeField(collection, field),
  };
}

function relationTarget(draft: Draft, { collection, field, diff }: RelationDiff, at: Path): Target<NewRelation> {
  const relation = draft.get(collection)?.relations.get(field);
  return {
    at,
    diff,
    current: relation && relationBody(relation),
    read: (input, path, stepsTo) => readNewRelation(input, path, { imported: false, stepsTo }),
    isMeant: (read) => read.many_collection === collection && read.many_field === field,
    put: (value) => draft.putRelation(value),
    remove: () => draft.removeRelation(collection, field),
  };
}

/** True if there are so many errors that more would not help. The draft is then unusable. */
const isFull = ({ problems, conflicts }: EntryFindings): boolean => problems.length + conflicts.length >= MAX_PROBLEMS;

function recordMissingCollection(
  findings: EntryFindings,
  at: Path,
  { collection, diff }: FieldDiff | RelationDiff,
): void {
  const message = `collection ${JSON.stringify(collection)} does not exist`;
  // A missing collection has two causes. An addition to it is an error of the diff itself. A change means that the
  // collection was deleted in the meantime.
  if (isAddition(diff)) findings.problems.push({ ...invalidProblem([...at, 'collection'], message), collection });
  else findings.conflicts.push(conflict([...at, 'collection'], message));
}

export function applyEntries<T extends object>(findings: EntryFindings, target: Target<T>): void {
  const [first] = target.diff as [Entry<unknown>];
  if (first.kind === 'N' && isWhole(first)) putWhole(findings, first.rhs, target);
  else if (first.kind === 'D' && isWhole(first)) removeWhole(findings, first.lhs, target);
  else changeMembers(findings, target);
}

function putWhole<T>(findings: EntryFindings, rhs: unknown, target: Target<T>): void {
  const { at, current, put } = target;
  if (current !== undefined) {
    findings.conflicts.push(conflict(at, 'it already exists'));
    return;
  }
  const value = readNamed(target, rhs, [...at, 'diff', 0, 'rhs']);
  if (value.ok) put(value.value);
  else findings.problems.push(...value.problems);
}

function removeWhole<T>(findings: EntryFindings, lhs: unknown, target: Target<T>): void {
  const { at, current, remove } = target;
  if (current === undefined) {
    findings.conflicts.push(conflict(at, 'it has already been deleted'));
    return;
  }
  const path = [...at, 'diff', 0, 'lhs'];
  const value = readNamed(target, lhs, path);
  if (!value.ok) findings.problems.push(...value.problems);
  else if (jsonEqual(value.value, current)) remove();
  else findings.conflicts.push(conflict(path, 'the current value differs from lhs'));
}

function changeMembers<T extends object>({ problems, conflicts }: EntryFindings, target: Target<T>): void {
  const { at, diff, current, put, renamedBy } = target;
  if (current === undefined) {
    conflicts.push(conflict(at, 'no object with that name exists'));
    return;
  }
  const document = copyJson(current) as unknown as Json;
  const misfits = applyAll(document, diff, renamedBy);
  for (const [index, misfit] of misfits) {
    const path = [...at, 'diff', index];
    if (misfit.conflict) conflicts.push(conflict(path, misfit.message));
    else problems.push(invalidProblem(path, misfit.message));
  }
  if (misfits.length > 0) return;
  if (hasGap(document)) {
    problems.push(invalidProblem(at, 'the array has a gap: elements between the added ones are missing'));
    return;
  }
  const value = readNamed(target, document, at, (steps) => stepsInEntries(diff, steps));
  if (value.ok) put(value.value);
  else problems.push(...value.problems);
}

/** The document of an entry must contain the name of its item. */
function readNamed<T>(
  { read, isMeant }: Target<T>,
  document: unknown,
  at: Path,
  stepsTo?: (steps: Path) => Path,
): Result<T> {
  const value = read(document, at, stepsTo);
  if (!value.ok || isMeant(value.value)) return value;
  return refuse(invalidProblem(at, 'the document names a different object than its entry'));
}

/** Changes the document in place. Returns mismatches by the index of their entry. */
function applyAll(
  document: Json,
  diff: readonly Entry<unknown>[],
  renamedBy: NameMember | undefined,
): [number, Misfit][] {
  const misfits: [number, Misfit][] = [];
  for (const [index, entry] of diff.entries()) {
    if (isRenameEntry(entry, renamedBy) || (renamedBy === 'collection' && isLocationEntry(entry))) continue;
    const misfit = applyEntry(document, entry as Entry & { path: Path }, diff.length);
    if (misfit !== undefined) misfits.push([index, misfit]);
    if (misfits.length >= MAX_PROBLEMS) break;
  }
  return misfits;
}

/* Applies the rename entries of a diff before all others, which use the new names. */

interface Named {
  /** The state with the names that all other entries use. */
  state: State;
  touched: ReadonlySet<string>;
  /** The items that remain to be applied, in order. */
  items: readonly DiffItem[];
}

/** Returns the state unchanged if the diff renames nothing or contains errors. */
export function* applyRenames(state: State, diff: SchemaDiff, findings: EntryFindings): Resumable<Named> {
  const renames = renamesIn(state, diff, findings);
  const { collections, fields, locations } = renames;
  const items = orderItems(diff);
  const asItIs: Named = { state, touched: new Set(), items };
  if (isNone(renames) || isWrong(findings)) return asItIs;
  // Objects whose name a renamed object takes are removed first.
  const tables = items.filter(isTableInTheWay(collections));
  const columns = items.filter(isColumnInTheWay(fields));
  const withoutTables = new Draft(state);
  yield* applyItems({ draft: withoutTables, findings }, tables);
  if (isWrong(findings)) return asItIs;
  const byTables = yield* withRenames(withoutTables.toState(), { ...NO_RENAMES, collections, locations });
  const withoutColumns = new Draft(byTables.state);
  yield* applyItems({ draft: withoutColumns, findings }, columns);
  if (isWrong(findings)) return asItIs;
  const byAll = yield* withRenames(withoutColumns.toState(), { ...NO_RENAMES, fields });
  const removed = new Set([...tables, ...columns]);
  const touched = [withoutTables, byTables, withoutColumns, byAll].flatMap((each) => [...each.touched]);
  return { state: byAll.state, touched: new Set(touched), items: items.filter((item) => !removed.has(item)) };
}

function isTableInTheWay(collections: Names): (item: DiffItem) => boolean {
  const taken = new Set(collections.values());
  return ({ part, item: { collection, diff } }) =>
    part === 'collections' && isRemoval(diff) && taken.has(collection) && !collections.has(collection);
}

function isColumnInTheWay(fields: Renames['fields']): (item: DiffItem) => boolean {
  const taken = new Map([...fields].map(([collection, names]) => [collection, new Set(names.values())]));
  return ({ part, item }) =>
    part === 'fields' && isRemoval(item.diff) && taken.get(item.collection)?.has(item.field) === true;
}

/** Returns the renames of a diff. Field renames use new collection names, if those are valid. */
function renamesIn(state: State, { collections: items, fields }: SchemaDiff, findings: EntryFindings): Renames {
  const removed = new Set(items.filter(({ diff }) => isRemoval(diff)).map(({ collection }) => collection));
  const isThere = (name: string) => state.collections.has(name);
  const reading: Reading = { member: 'collection', part: 'collections', isThere, removed };
  const collections = namesOf(new Map(items.entries()), reading, findings);
  if (isWrong(findings)) return { ...NO_RENAMES, collections };
  const nodeOf = nodesByNewNames(state, collections);
  const locations = newLocations(nodeOf, items, findings);
  return { collections, fields: fieldRenames(nodeOf, fields, findings), locations };
}

/** Returns the new locations of tables. */
function newLocations(
  nodeOf: NodeByName,
  items: readonly CollectionDiff[],
  { problems, conflicts }: EntryFindings,
): Renames['locations'] {
  const locations = new Map<string, StoredLocation>();
  for (const [index, { collection, diff }] of items.entries()) {
    const entries = [...diff.entries()].filter(([, entry]) => isLocationEntry(entry));
    const table = entries.length === 0 ? undefined : nodeOf(collection)?.collection;
    // An entry about a collection that does not exist, or about a folder, is a conflict like any other.
    if (table?.schema == null) continue;
    const at = ['diff', 'collections', index];
    const document = { schema: { ...storedLocation(table) } } as unknown as { schema: Json };
    const misfits = entries.flatMap(([place, entry]) => {
      const misfit = applyEntry(document, entry as Entry & { path: Path }, 0);
      return misfit === undefined ? [] : [[place, misfit] as const];
    });
    for (const [place, { conflict: isConflict, message }] of misfits) {
      const path = [...at, 'diff', place];
      if (isConflict) conflicts.push(conflict(path, message));
      else problems.push(invalidProblem(path, message));
    }
    const location = readTableLocation(document.schema, collection, at);
    if (!location.ok) problems.push(...location.problems);
    else if (misfits.length === 0) locations.set(collection, location.value);
  }
  return locations;
}

type NodeByName = (name: string) => CollectionNode | undefined;

/** Returns a collection by its new name. */
function nodesByNewNames(state: State, collections: Names): NodeByName {
  const former = invertMap(collections);
  return (name) => {
    const old = former.get(name) ?? (collections.has(name) ? undefined : name);
    return old === undefined ? undefined : state.collections.get(old);
  };
}

/** Returns new field names by collection. */
function fieldRenames(
  nodeOf: NodeByName,
  fields: readonly FieldDiff[],
  findings: EntryFindings,
): ReadonlyMap<string, Names> {
  const renamesByCollection = new Map<string, Names>();
  for (const [collection, items] of groupByCollection(fields)) {
    const node = nodeOf(collection);
    const removed = new Set([...items.values()].flatMap((item) => (isRemoval(item.diff) ? [item.field] : [])));
    const isThere = (name: string) => node?.fields.has(name) === true;
    const names = namesOf(items, { member: 'field', part: 'fields', isThere, removed }, findings);
    if (names.size > 0) renamesByCollection.set(collection, names);
  }
  return renamesByCollection;
}

/** Groups the fields of a diff by the location of their collection, only for collections with a renamed field. */
function groupByCollection(fields: readonly FieldDiff[]): ReadonlyMap<string, ReadonlyMap<number, FieldDiff>> {
  const renaming = fields.filter(({ diff }) => diff.some((entry) => isRenameEntry(entry, 'field')));
  const entries = new Map(renaming.map(({ collection }) => [collection, new Map<number, FieldDiff>()]));
  for (const [index, item] of fields.entries()) entries.get(item.collection)?.set(index, item);
  return entries;
}

interface Reading {
  member: 'collection' | 'field';
  part: 'collections' | 'fields';
  isThere: (name: string) => boolean;
  /** Names of the objects that the diff removes. */
  removed: ReadonlySet<string>;
}

interface RenamedEntry {
  from: string;
  to: string;
  at: Path;
}

function namesOf(
  items: ReadonlyMap<number, CollectionDiff | FieldDiff>,
  reading: Reading,
  findings: EntryFindings,
): Names {
  const all = [...items].flatMap(([index, item]) => renameIn({ item, index }, reading, findings));
  const names = new Map<string, string>();
  for (const { from, to, at } of all) {
    if (names.has(from)) {
      const message = `${JSON.stringify(from)} can be renamed to one ${reading.member} only, and is already renamed to ${JSON.stringify(names.get(from))}`;
      findings.problems.push(invalidProblem([...at, 'lhs'], message));
    } else names.set(from, to);
  }
  for (const { to, at } of all) {
    if (!reading.isThere(to) || names.has(to) || reading.removed.has(to)) continue;
    findings.conflicts.push(conflict(at, `${reading.member} ${JSON.stringify(to)} already exists`));
  }
  return names;
}

function renameIn(
  { item, index }: { item: CollectionDiff | FieldDiff; index: number },
  { member, part, isThere }: Reading,
  { problems, conflicts }: EntryFindings,
): RenamedEntry[] {
  const to = member === 'field' && 'field' in item ? item.field : item.collection;
  const location = item.diff.findIndex((entry) => isRenameEntry(entry, member));
  if (location < 0) return [];
  const at = ['diff', part, index, 'diff', location];
  const { lhs: from, rhs } = item.diff[location] as { lhs: unknown; rhs: unknown };
  const wrong: Problem[] = [];
  if (typeof from !== 'string')
    wrong.push(invalidProblem([...at, 'lhs'], `lhs must be the current name of the ${member}`));
  if (rhs !== to) wrong.push(invalidProblem([...at, 'rhs'], `rhs must be ${JSON.stringify(to)}, the name of the item`));
  else wrong.push(...checkName(member, rhs, [...at, 'rhs']));
  if (from === to) wrong.push(invalidProblem([...at, 'rhs'], 'rhs must differ from lhs'));
  problems.push(...wrong);
  if (wrong.length > 0 || typeof from !== 'string') return [];
  if (isThere(from)) return [{ from, to, at }];
  conflicts.push(conflict([...at, 'lhs'], `${member} ${JSON.stringify(from)} does not exist, so it cannot be renamed`));
  return [];
}

/* Carries the backfills of a diff over to the diff that results from its merge. No comparison of states finds them. */

/** A field to fill, by its names in the state that the diff leads to. */
interface SubmittedBackfills {
  theirs: State;
  fields: readonly FieldDiff[];
}

/**
 * Adds the backfills under the names that the objects have in `to`. The result of the merge does not contain a field
 * that already has the requested state, which then needs no backfill.
 */
export function carryBackfills(diff: SchemaDiff, { theirs, fields }: SubmittedBackfills, to: State): SchemaDiff {
  const carried = new Map<string, Backfill>();
  for (const { collection, field, backfill } of fields) {
    const node = theirs.collections.get(collection);
    const now = node && collectionIn(to, node);
    if (backfill === undefined || node === undefined || now === undefined) continue;
    const named = withSource(backfill, (source) => fieldIn(now, node, source));
    carried.set(memberKey(now.collection.collection, fieldIn(now, node, field)), named);
  }
  if (carried.size === 0) return diff;
  const withBackfill = (item: FieldDiff): FieldDiff => {
    const backfill = isRemoval(item.diff) ? undefined : carried.get(memberKey(item.collection, item.field));
    return backfill === undefined ? item : { ...item, backfill };
  };
  return { ...diff, fields: diff.fields.map(withBackfill) };
}

const collectionIn = (state: State, node: CollectionNode): CollectionNode | undefined =>
  node.identities.collection === NEW_IDENTITY
    ? state.collections.get(node.collection.collection)
    : sameCollection(state, node);

/** Returns the name that a field of `node` has in `now`. */
function fieldIn(now: CollectionNode, node: CollectionNode, field: string): string {
  const identity = node.identities.fields.get(field);
  return identity === undefined || identity === NEW_IDENTITY ? field : (fieldNameOf(now, identity) ?? field);
}

function withSource(backfill: Backfill, nameOf: (source: string) => string): Backfill {
  const source = sourceOf(backfill);
  return source === undefined ? backfill : { ...backfill, field: nameOf(source) };
}
