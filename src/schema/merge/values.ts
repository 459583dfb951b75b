/** Merges JSON values of one document member by member. */
import { isObject, jsonEqual, type Json } from '../../kernel/json.js';
import type { Step } from '../diff/entries.js';

/** A value per side. Undefined if absent. */
export interface Three {
  base: Json | undefined;
  ours: Json | undefined;
  theirs: Json | undefined;
}

/** Called for a member that both sides changed differently. @returns the selected value */
export type OnConflict = (path: Step[], values: Three) => Json | undefined;

/** Values that are never merged by member, because they have one meaning as a whole. */
const WHOLE: ReadonlySet<string> = new Set(['schema.default_value', 'meta.validation']);

/** Returns the value if at most one side changed it, or both equally. Null if both changed it differently. */
export function settled<T>({ base, ours, theirs }: { base: T; ours: T; theirs: T }): { value: T } | null {
  if (jsonEqual(ours, theirs) || jsonEqual(base, theirs)) return { value: ours };
  return jsonEqual(base, ours) ? { value: theirs } : null;
}

/** Returns the merged value, or undefined. */
export function mergeValues(values: Three, path: Step[], onConflict: OnConflict): Json | undefined {
  const known = settled(values);
  if (known !== null) return known.value;
  const { base, ours, theirs } = values;
  if (WHOLE.has(path.join('.'))) return onConflict(path, values);
  if (isObject(ours) && isObject(theirs)) {
    return mergeObjects({ base: isObject(base) ? base : {}, ours, theirs }, path, onConflict);
  }
  const named = namedLists(values);
  return named === null ? onConflict(path, values) : mergeNamed(named, path, onConflict);
}

type Members = { [member: string]: Json };

interface ThreeObjects {
  base: Members;
  ours: Members;
  theirs: Members;
}

function mergeObjects({ base, ours, theirs }: ThreeObjects, path: Step[], onConflict: OnConflict): Json {
  const merged: Members = {};
  for (const member of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const values = { base: own(base, member), ours: own(ours, member), theirs: own(theirs, member) };
    const value = mergeValues(values, [...path, member], onConflict);
    // defineProperty treats a member named __proto__ like any other.
    if (value !== undefined) Object.defineProperty(merged, member, { value, ...PLAIN });
  }
  return merged;
}

const PLAIN = { writable: true, enumerable: true, configurable: true };

const own = (object: Members, member: string): Json | undefined =>
  Object.hasOwn(object, member) ? object[member] : undefined;

type Named = Record<keyof Three, Map<string, Json>>;

/** Lists of objects with unique names: constraints, indexes, needs. Null for anything else. */
function namedLists({ base, ours, theirs }: Three): Named | null {
  if (!Array.isArray(ours) || !Array.isArray(theirs)) return null;
  const [b, o, t] = [byNames(Array.isArray(base) ? base : []), byNames(ours), byNames(theirs)];
  return b === null || o === null || t === null ? null : { base: b, ours: o, theirs: t };
}

function byNames(list: Json[]): Map<string, Json> | null {
  const found = new Map<string, Json>();
  for (const element of list) {
    if (!isObject(element) || typeof element['name'] !== 'string') return null;
    found.set(JSON.stringify([element['kind'] ?? null, element['name']]), element);
  }
  return found.size === list.length ? found : null;
}

/** Merges by name. Additions of both sides come last, in an order independent of the sides. */
function mergeNamed(named: Named, path: Step[], onConflict: OnConflict): Json {
  const known = [...named.ours.keys()].filter((key) => named.base.has(key) || named.theirs.has(key));
  const others = [...named.theirs.keys()].filter((key) => named.base.has(key) && !named.ours.has(key));
  const added = [named.ours, named.theirs].map((list) => [...list.keys()].filter((key) => isAlone(named, key)));
  const [first = [], second = []] = added.sort((a, b) => (a.join() < b.join() ? -1 : 1));
  const merged: Json[] = [];
  for (const key of [...known, ...others, ...first, ...second]) {
    const values = { base: named.base.get(key), ours: named.ours.get(key), theirs: named.theirs.get(key) };
    const value = mergeValues(values, [...path, (JSON.parse(key) as [unknown, string])[1]], onConflict);
    if (value !== undefined) merged.push(value);
  }
  return merged;
}

const isAlone = ({ base, ours, theirs }: Named, key: string): boolean =>
  !base.has(key) && ours.has(key) !== theirs.has(key);
