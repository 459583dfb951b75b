/** Change entries: the differences within one document. */
import { isObject, jsonEqual, type Json } from '../../kernel/json.js';
import { stepsIn } from '../../kernel/locate.js';
import { type Path, type Problem, renderPath } from '../../kernel/problem.js';
import type { Identity } from '../model/state.js';

export type Step = string | number;

/** `N` and `D` without a path describe a whole new or removed document. */
export type Entry<T = unknown> =
  | { kind: 'N'; rhs: T }
  | { kind: 'D'; lhs: T }
  | { kind: 'N'; path: Step[]; rhs: Json }
  | { kind: 'D'; path: Step[]; lhs: Json }
  | { kind: 'E'; path: Step[]; lhs: Json; rhs: Json }
  | { kind: 'A'; path: Step[]; index: number; item: { kind: 'N'; rhs: Json } | { kind: 'D'; lhs: Json } };

/**
 * Returns the entries that turn `before` into `after`. Arrays are compared by index: first surplus elements and then
 * edited elements, each from the highest index down.
 */
export function entriesBetween(before: Json, after: Json, path: Step[] = []): Entry<never>[] {
  if (jsonEqual(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) return arrayEntries(before, after, path);
  if (isObject(before) && isObject(after)) return objectEntries(before, after, path);
  return [{ kind: 'E', path, lhs: before, rhs: after }];
}

function objectEntries(before: { [member: string]: Json }, after: { [member: string]: Json }, path: Step[]) {
  const entries: Entry<never>[] = [];
  for (const [member, lhs] of Object.entries(before)) {
    if (!Object.hasOwn(after, member)) entries.push({ kind: 'D', path: [...path, member], lhs });
    else for (const entry of entriesBetween(lhs, after[member] as Json, [...path, member])) entries.push(entry);
  }
  for (const [member, rhs] of Object.entries(after)) {
    if (!Object.hasOwn(before, member)) entries.push({ kind: 'N', path: [...path, member], rhs });
  }
  return entries;
}

function arrayEntries(before: Json[], after: Json[], path: Step[]): Entry<never>[] {
  const entries: Entry<never>[] = [];
  for (let index = after.length - 1; index >= before.length; index--) {
    entries.push({ kind: 'A', path, index, item: { kind: 'N', rhs: after[index] as Json } });
  }
  for (let index = before.length - 1; index >= after.length; index--) {
    entries.push({ kind: 'A', path, index, item: { kind: 'D', lhs: before[index] as Json } });
  }
  for (let index = Math.min(before.length, after.length) - 1; index >= 0; index--) {
    const inner = entriesBetween(before[index] as Json, after[index] as Json, [...path, index]);
    for (const entry of inner) entries.push(entry);
  }
  return entries;
}

/** Identifies the earlier object that a new collection or field continues, if there was one. */
export interface Origin {
  /** The identity of the earlier object. */
  identity?: Identity;
  /** Position of the deletion that put the object in the trash. */
  restores?: number;
}

/**
 * Describes an entry that does not match its document. `conflict`: the document has changed since the diff was made.
 */
export interface Misfit {
  conflict: boolean;
  message: string;
}

/**
 * Applies an entry with a path to `document` in place and returns a mismatch, if any. New elements come highest index
 * first, so an array temporarily has gaps, at most `gap`, the number of entries.
 */
export function applyEntry(document: Json, entry: Entry & { path: Path }, gap: number): Misfit | undefined {
  const location = findPlace(document, entry);
  if (location === undefined) return { conflict: true, message: 'this path has no value' };
  const { parent, last } = location;
  const change = entry.kind === 'A' ? entry.item : entry;
  if (Array.isArray(parent)) {
    if (typeof last !== 'number')
      return { conflict: true, message: 'the last element of a path into an array must be an index' };
    return findConflict(parent[last], change, IN_ARRAY) ?? changeElement(parent, last, change, gap);
  }
  if (typeof last !== 'string') return { conflict: true, message: 'the value at this path is not an array' };
  const present = Object.hasOwn(parent, last) ? parent[last] : undefined;
  return findConflict(present, change, IN_OBJECT) ?? changeMember(parent, last, change);
}

interface EntryLocation {
  parent: Json[] | { [member: string]: Json };
  last: Step;
}

function findPlace(document: Json, entry: Entry & { path: Path }): EntryLocation | undefined {
  const steps = entry.kind === 'A' ? [...entry.path, entry.index] : entry.path;
  const last = steps.at(-1);
  const parent = last === undefined ? undefined : valueAt(document, steps.slice(0, -1));
  return last === undefined || typeof parent !== 'object' || parent === null ? undefined : { parent, last };
}

const IN_ARRAY = {
  taken: 'the array already has an element at this index',
  other: 'the current element differs from lhs',
};
const IN_OBJECT = {
  taken: 'this path already has a value',
  other: 'the current value differs from lhs',
};

type ValueChange = { kind: 'N'; rhs: unknown } | { kind: 'D'; lhs: unknown } | { kind: 'E'; lhs: Json; rhs: Json };

function findConflict(present: Json | undefined, change: ValueChange, words: typeof IN_ARRAY): Misfit | undefined {
  if (change.kind !== 'N') return jsonEqual(present, change.lhs) ? undefined : { conflict: true, message: words.other };
  return present === undefined ? undefined : { conflict: true, message: words.taken };
}

function changeMember(parent: { [member: string]: Json }, member: string, change: ValueChange): undefined {
  if (change.kind === 'D') delete parent[member];
  // defineProperty treats a member named __proto__ like any other.
  else
    Object.defineProperty(parent, member, { value: change.rhs, writable: true, enumerable: true, configurable: true });
}

function changeElement(parent: Json[], index: number, change: ValueChange, gap: number): Misfit | undefined {
  if (change.kind === 'D') {
    if (index !== parent.length - 1) {
      return { conflict: false, message: 'elements can only be removed from the end of an array' };
    }
    parent.pop();
  } else if (change.kind === 'N' && index > parent.length + gap) {
    return { conflict: false, message: 'the index is too far beyond the end of the array' };
  } else parent[index] = change.rhs as Json;
  return undefined;
}

/** True if an array in `value` still has a gap. */
export function hasGap(value: Json): boolean {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      if (value[index] === undefined || hasGap(value[index] as Json)) return true;
    }
    return false;
  }
  return isObject(value) && Object.values(value).some(hasGap);
}

function valueAt(document: Json, path: Path): Json | undefined {
  let at: Json | undefined = document;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as { [member: string]: Json })[step];
  }
  return at;
}

/** True if an entry describes a whole new or removed document. */
export const isWhole = (entry: Entry<unknown>): boolean =>
  (entry.kind === 'N' || entry.kind === 'D') && !('path' in entry);

/** True if the entries of an item add a whole object. */
export const isAddition = ([first]: readonly Entry<unknown>[]): boolean => first?.kind === 'N' && isWhole(first);

/** True if the entries of an item remove a whole object. */
export const isRemoval = ([first]: readonly Entry<unknown>[]): boolean => first?.kind === 'D' && isWhole(first);

export type NameMember = 'collection' | 'field' | 'id';

/** True if an entry renames the object that its item describes. */
export const isRenameEntry = (entry: Entry<unknown>, member: NameMember | undefined): boolean =>
  entry.kind === 'E' && entry.path.length === 1 && entry.path[0] === member;

/** True if an entry moves the table of a collection. It has the path `schema.schema` or `schema.name`. */
export const isLocationEntry = (entry: Entry<unknown>): boolean =>
  'path' in entry &&
  entry.kind !== 'A' &&
  entry.path.length === 2 &&
  entry.path[0] === 'schema' &&
  (entry.path[1] === 'schema' || entry.path[1] === 'name');

/**
 * Errors of entries. `conflicts` contains mismatches with the current schema. `problems` contains errors in any schema.
 */
export interface EntryFindings {
  problems: Problem[];
  conflicts: Problem[];
}

export const isWrong = ({ problems, conflicts }: EntryFindings): boolean => problems.length + conflicts.length > 0;

/** An entry that does not match the current schema. */
export const conflict = (at: Path, message: string): Problem => ({
  code: 'SCHEMA_CHANGED',
  message,
  path: renderPath(at),
});

/** Maps a member of an item to the entry that sets it and the location within the value of that entry. */
export function stepsInEntries(entries: readonly Entry<unknown>[], member: Path): Path {
  // This member belongs to the item and not to its document.
  if (member[0] === 'backfill') return member;
  for (const [index, entry] of entries.entries()) {
    const path = 'path' in entry ? entry.path : [];
    if (!path.every((step, depth) => depth >= member.length || step === member[depth])) continue;
    const at = ['diff', index];
    if (!('rhs' in entry)) return at;
    return [...at, 'rhs', ...stepsIn(entry.rhs, member.slice(path.length))];
  }
  return [];
}
