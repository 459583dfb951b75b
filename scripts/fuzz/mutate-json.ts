/** Makes one random change in a JSON value. */
import { HOSTILE_NAMES, HOSTILE_SQL, ODD_MEMBERS, oddValue } from './grammar/values.js';
import type { Random } from './random.js';

type Container = Record<string, unknown> | unknown[];

/** The new value after the member `key` of `parent` was changed in place. */
type Change = (parent: Container, key: string, random: Random) => void;

/** A copy of `value` with one part changed. */
export function mutateJson(value: unknown, random: Random): unknown {
  const root = { value: structuredClone(value) };
  const places = placesIn(root);
  const [parent, key] = random.pick(places);
  random.pick(CHANGES)(parent, key, random);
  return root.value;
}

/** Every part with its parent. Large documents are sampled from their start. */
function placesIn(root: Record<string, unknown>): [Container, string][] {
  const places: [Container, string][] = [];
  const waiting: Container[] = [root];
  for (let parent = waiting.shift(); parent !== undefined && places.length < 20_000; parent = waiting.shift()) {
    for (const [key, child] of Object.entries(parent)) {
      places.push([parent, key]);
      if (typeof child === 'object' && child !== null) waiting.push(child as Container);
    }
  }
  return places;
}

const get = (parent: Container, key: string): unknown => (parent as Record<string, unknown>)[key];

/** `__proto__` becomes an ordinary member. */
function set(parent: Container, key: string, value: unknown): void {
  Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true });
}

const replace: Change = (parent, key, random) => set(parent, key, oddValue(random));

const replaceText: Change = (parent, key, random) => {
  if (typeof get(parent, key) !== 'string') return replace(parent, key, random);
  set(parent, key, random.pick(random.chance(0.5) ? HOSTILE_SQL : HOSTILE_NAMES));
};

const remove: Change = (parent, key) => {
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
};

const addMember: Change = (parent, key, random) => {
  const value = get(parent, key);
  const holder = typeof value === 'object' && value !== null ? (value as Container) : parent;
  if (Array.isArray(holder)) holder.splice(random.below(holder.length + 1), 0, oddValue(random));
  else set(holder, random.pick(ODD_MEMBERS), oddValue(random));
};

const repeat: Change = (parent, key, random) => {
  const value = get(parent, key);
  if (Array.isArray(parent)) parent.push(structuredClone(value));
  else set(parent, random.pick(Object.keys(parent)), structuredClone(value));
};

const wrap: Change = (parent, key) => set(parent, key, [get(parent, key)]);

/** Prefixes join names, and repeated names may differ. */
const nearMiss: Change = (parent, key, random) => {
  const value = get(parent, key);
  if (typeof value === 'number')
    set(parent, key, random.pick([value + 1, -value, value * 1e9, String(value), value + 0.5]));
  else if (typeof value === 'string')
    set(parent, key, random.pick([`${value} `, value.toUpperCase(), `${value}x`, value.slice(0, -1)]));
  else if (typeof value === 'boolean') set(parent, key, random.pick([!value, String(value), Number(value)]));
  else replace(parent, key, random);
};

const CHANGES: readonly Change[] = [
  replace,
  replace,
  replaceText,
  replaceText,
  remove,
  addMember,
  repeat,
  wrap,
  nearMiss,
  nearMiss,
];
