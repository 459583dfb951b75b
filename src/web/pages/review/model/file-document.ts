/* The parts of a snapshot file that belong to a collection. Pure. */
import { isObject } from '../../../../kernel/json.js';

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
