/** Computes the expected merge of two branches member by member, from the files alone. */
import { isDeepStrictEqual } from 'node:util';
import { type Document, type Documents, collectionOf } from './folders.js';

/** Members that form one value: a column's type. */
const TYPE = new Set([
  'type',
  'schema.data_type',
  'schema.max_length',
  'schema.numeric_precision',
  'schema.numeric_scale',
]);

const known = new WeakMap<Document, ReadonlyMap<string, unknown>>();

/** Members by path; lists and combined values count as one. */
function membersOf(document: Document = {}): ReadonlyMap<string, unknown> {
  const members = known.get(document) ?? membersBelow(document, []);
  known.set(document, members);
  return members;
}

function membersBelow(document: Document, above: string[]): Map<string, unknown> {
  const members = new Map<string, unknown>();
  for (const [name, value] of Object.entries(document)) {
    const path = [...above, name].join('.');
    const isWhole = path === 'schema.default_value' || path === 'meta.validation';
    if (value !== null && typeof value === 'object' && !Array.isArray(value) && !isWhole)
      for (const [inner, each] of membersBelow(value as Document, [...above, name])) members.set(inner, each);
    else members.set(path, value);
  }
  return members;
}

/** The members in which two documents differ; a type counts as one. */
function differing(one: Document | undefined, other: Document | undefined): Set<string> {
  const [a, b] = [membersOf(one), membersOf(other)];
  const names = [...new Set([...a.keys(), ...b.keys()])];
  const unlike = names.filter((name) => !isDeepStrictEqual(a.get(name), b.get(name)));
  return new Set(unlike.map((name) => (TYPE.has(name) ? 'type' : name)));
}

/** Applies the changes between two steps to a branch, if their objects exist there. */
export function applyStep(branch: Documents, before: Documents, after: Documents): void {
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [was, is, here] = [before.get(key), after.get(key), branch.get(key)];
    if (is === undefined) branch.delete(key);
    else if (was === undefined) addTo(branch, key, is);
    else if (here !== undefined) branch.set(key, changedAlike(here, was, is));
  }
}

function addTo(branch: Documents, key: string, document: Document): void {
  const { one_collection: one, one_allowed_collections: allowed } = document;
  const needed = [collectionOf(key), ...(one === null ? [] : [one ?? []]), ...((allowed as string[] | null) ?? [])];
  const isThere = needed.flat().every((name) => branch.has(`c ${name as string}`));
  if (key.startsWith('c ') || isThere) branch.set(key, document);
}

function changedAlike(here: Document, was: Document, is: Document): Document {
  const result = structuredClone(here);
  const [from, to] = [membersOf(was), membersOf(is)];
  for (const name of new Set([...from.keys(), ...to.keys()])) {
    if (isDeepStrictEqual(from.get(name), to.get(name))) continue;
    const steps = name.split('.');
    const last = steps.pop() as string;
    let holder: Document = result;
    for (const step of steps) holder = (holder[step] ??= {}) as Document;
    if (to.has(name)) holder[last] = to.get(name);
    else delete holder[last];
  }
  return result;
}

/** `removed f posts.title`, `changed f posts.title meta.sort`: conflicts that no merge can resolve. In order. */
export function conflictsBetween(base: Documents, ours: Documents, theirs: Documents): string[] {
  const sides = [base, ours, theirs].map(partsOf);
  const conflicts = [...new Set(sides.flatMap((side) => [...side.keys()]))].flatMap((collection) => {
    const [b, o, t] = sides.map((side) => side.get(collection));
    if (!isGone(b, o, t)) return findConflicts(b ?? NONE, o ?? NONE, t ?? NONE);
    return isChanged(b, o ?? t) && o !== t ? [`removed ${collection}`] : [];
  });
  return conflicts.sort();
}

const isGone = (base: unknown, ...sides: unknown[]): boolean => base !== undefined && sides.includes(undefined);

const isChanged = (from: unknown, to: unknown): boolean => !isDeepStrictEqual(from, to);

const NONE: Documents = new Map();

const parts = new WeakMap<Documents, ReadonlyMap<string, Documents>>();

/** The collections with all their documents. */
function partsOf(documents: Documents): ReadonlyMap<string, Documents> {
  const held = parts.get(documents);
  if (held !== undefined) return held;
  const partsByName = new Map<string, Documents>();
  for (const [key, document] of documents) {
    const name = `c ${collectionOf(key)}`;
    const part: Documents = partsByName.get(name) ?? new Map();
    partsByName.set(name, part.set(key, document));
  }
  parts.set(documents, partsByName);
  return partsByName;
}

function findConflicts(base: Documents, ours: Documents, theirs: Documents): string[] {
  return [...new Set([...base.keys(), ...ours.keys(), ...theirs.keys()])].flatMap((key) => {
    const [b, o, t] = [base.get(key), ours.get(key), theirs.get(key)];
    if (isGone(b, o, t)) return o !== t && isChanged(b, o ?? t) ? [`removed ${key}`] : [];
    if (o === undefined || t === undefined) return [];
    const [inOurs, inTheirs, unlike] = [differing(b, o), differing(b, t), differing(o, t)];
    const both = [...inOurs].filter((member) => inTheirs.has(member) && unlike.has(member));
    return both.map((member) => `changed ${key} ${member}`);
  });
}

/** The expected merge without conflicts. */
export function mergedBetween(base: Documents, ours: Documents, theirs: Documents): Documents {
  const merged: Documents = new Map();
  for (const key of new Set([...ours.keys(), ...theirs.keys()])) {
    const [b, o, t] = [base.get(key), ours.get(key), theirs.get(key)];
    const holder = `c ${collectionOf(key)}`;
    const isGone = [ours, theirs].some((side) => base.has(holder) && !side.has(holder));
    if (isGone || (b !== undefined && (o === undefined || t === undefined))) continue;
    if (o === undefined || t === undefined) merged.set(key, (o ?? t) as Document);
    else merged.set(key, changedAlike(o, b ?? {}, t));
  }
  return merged;
}
