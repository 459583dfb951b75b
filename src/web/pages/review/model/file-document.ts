/* The parts of a snapshot file that belong to a collection. Pure. */
import { isObject } from '../../../../kernel/json.js';
import { foreignKeyName } from '../../../../schema/model/name-length.js';

const PARTS = ['collections', 'fields', 'relations'] as const;

type Problem = { extensions: { path?: string | undefined; collection?: string | undefined } };

/** @returns the names of the collections with problems. Null if a problem concerns the whole file */
export function failingCollections(problems: readonly Problem[], document: unknown): string[] | null {
  const collections = new Set<string>();
  for (const { extensions } of problems) {
    const name = extensions.collection ?? collectionAt(extensions.path ?? '', document);
    if (name === undefined) return null;
    collections.add(name);
  }
  return [...collections];
}

function collectionAt(path: string, document: unknown): string | undefined {
  const [, part = '', index = ''] = /^(?:theirs\.|data\.)?(\w+)\[(\d+)\]/.exec(path) ?? [];
  const list = snapshotOf(document)[part];
  return Array.isArray(list) ? collectionOf(list[Number(index)]) : undefined;
}

/** Returns the document without these collections, their fields, and the relations whose many side they are. */
export function withoutCollections(document: unknown, names: ReadonlySet<string>): unknown {
  const snapshot = snapshotOf(document);
  const lists = PARTS.filter((part) => Array.isArray(snapshot[part])).map((part) => [
    part,
    (snapshot[part] as unknown[]).filter((each) => !names.has(collectionOf(each) ?? '')),
  ]);
  return { ...snapshot, ...(Object.fromEntries(lists) as object) };
}

type Rename = (name: unknown) => unknown;

/** The members of a document that name a collection, by their path. */
const NAMING = [
  ['collection'],
  ['related_collection'],
  ['many_collection'],
  ['one_collection'],
  ['one_allowed_collections'],
  ['meta', 'collection'],
  ['meta', 'many_collection'],
  ['meta', 'one_collection'],
  ['meta', 'one_allowed_collections'],
  ['schema', 'table'],
  ['schema', 'foreign_key_table'],
  ['schema', 'extras', 'partition_of', 'table'],
] as const;

/** Also names of collections, but only in documents of collections: the group of a field is a field. */
const NAMING_OF_COLLECTIONS = [...NAMING, ['meta', 'group'], ['schema', 'name']] as const;

/**
 * Returns the document with other names of collections in its collections, fields and relations. Default names of
 * foreign keys, which contain the name of the collection, are changed too. SQL text is not changed.
 * @param names new names by the names in the file
 */
export function renameCollections(document: unknown, names: ReadonlyMap<string, string>): unknown {
  if (names.size === 0) return document;
  const snapshot = snapshotOf(document);
  const rename: Rename = (name) =>
    Array.isArray(name) ? name.map(rename) : typeof name === 'string' ? (names.get(name) ?? name) : name;
  const lists = PARTS.filter((part) => Array.isArray(snapshot[part])).map((part) => [
    part,
    (snapshot[part] as unknown[]).map((each) =>
      renameIn(each, part === 'collections' ? NAMING_OF_COLLECTIONS : NAMING, rename),
    ),
  ]);
  return { ...snapshot, ...(Object.fromEntries(lists) as object) };
}

function renameIn(document: unknown, paths: readonly (readonly string[])[], rename: Rename): unknown {
  const renamed = paths.reduce((result, path) => changeMember(result, path, rename), document);
  const references = changeMember(renamed, ['schema', 'extras', 'constraints'], (constraints) =>
    Array.isArray(constraints) ? constraints.map((each) => changeMember(each, ['references'], rename)) : constraints,
  );
  const [before, after] = [defaultKeyName(document), defaultKeyName(references)];
  return changeMember(references, ['schema', 'constraint_name'], (name) => (name === before ? after : name));
}

/** Returns a copy with the changed member. Returns the same document if it lacks the member. */
function changeMember(document: unknown, [first = '', ...rest]: readonly string[], change: Rename): unknown {
  if (!isObject(document) || document[first] === undefined) return document;
  const now = rest.length === 0 ? change(document[first]) : changeMember(document[first], rest, change);
  return { ...document, [first]: now };
}

/** Returns the name that the service gives to the foreign key of a relation. Undefined for other documents. */
function defaultKeyName(document: unknown): string | undefined {
  if (!isObject(document)) return undefined;
  const [collection, field] = [collectionOf(document), document['field'] ?? document['many_field']];
  return collection === undefined || typeof field !== 'string' ? undefined : foreignKeyName(collection, field);
}

/** Returns the snapshot of a document. Directus clients send it inside `data`. */
function snapshotOf(document: unknown): Record<string, unknown> {
  if (!isObject(document)) return {};
  return isObject(document['data']) ? document['data'] : document;
}

function collectionOf(each: unknown): string | undefined {
  if (!isObject(each)) return undefined;
  const name = each['collection'] ?? each['many_collection'];
  return typeof name === 'string' ? name : undefined;
}

/** The collections that the file contains. */
export function collectionNames(document: unknown): Set<string> {
  const { collections } = snapshotOf(document);
  const names = Array.isArray(collections) ? collections.map(collectionOf) : [];
  return new Set(names.filter((name) => name !== undefined));
}

const SERVICE = /["']?\bservice["']?\s*:/;
const DIRECTUS = /["']?\bdirectus["']?\s*:\s*["']?(\d[\w.-]*)/;

/**
 * Directus writes its release at the beginning of a snapshot.
 * @returns the release, or null if Directus did not write the file
 */
export function directusRelease(beginning: string): string | null {
  const match = DIRECTUS.exec(beginning);
  return match === null || SERVICE.test(beginning.slice(0, match.index)) ? null : (match[1] ?? null);
}

/** Reads the time at which a snapshot was created from the name of its file. */

/** `snapshot-20261121-074501-184-3dd83ede.json`, as the service names it (UTC), and similar names: `2026-11-21T07-45`. */
const TIME = /(?<!\d)(20\d{2})-?(\d{2})-?(\d{2})[-T_ ](\d{2})[-:.]?(\d{2})(?:[-:.]?(\d{2}))?(?!\d)/;

/**
 * @param now milliseconds since 1970
 * @returns ISO 8601. Null if the name contains no time, or one in the future
 */
export function timeInName(name: string, now: number): string | null {
  const [match, year, month, day, hour, minute, second = '00'] = TIME.exec(name) ?? [];
  if (match === undefined) return null;
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  // Days and hours that do not exist are rejected.
  if (Number.isNaN(time.getTime()) || time.getUTCDate() !== Number(day) || time.getTime() > now) return null;
  return time.toISOString();
}

/** The schema that a snapshot was created from. */
export interface SnapshotOrigin {
  position: number;
  /** The beginning of the hash of the event at the position. Other instances have other hashes. */
  hash: string;
}

const ORIGIN = /^snapshot-\d{8}-\d{6}-([1-9]\d{0,14})-([0-9a-f]{8})(?![\w-])/;

/** Returns null if the name contains no position. */
export function originInName(name: string): SnapshotOrigin | null {
  const [, position, hash] = ORIGIN.exec(name) ?? [];
  return position === undefined || hash === undefined ? null : { position: Number(position), hash };
}
