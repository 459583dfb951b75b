/** Validates a draft with the service before it is applied, without using the database. */
import { RefusedError } from '../service/errors.js';
import { request } from '../service/request.js';
import type { Info } from '../service/types.js';
import { type Draft, type Part, PARTS, formerName } from '../draft/model.js';

export interface Fault {
  part: Part;
  /** The key of the document; null if no sent document is concerned. */
  key: string | null;
  /** Within the document: `schema.max_length`. */
  member: string;
  message: string;
}

/** Empty if it is valid or nobody responds: a draft is kept in any case. */
export async function faultsOf(draft: Draft, names: { release: string }): Promise<Fault[]> {
  const keys = Object.fromEntries(PARTS.map((part) => [part, keysOf(draft, part)])) as Record<Part, string[]>;
  const documents = Object.fromEntries(
    PARTS.map((part) => [part, keys[part].map((key) => documentOf(draft, part, key))]),
  );
  const json = { version: 1, service: names.release, vendor: 'postgres', ...documents };
  try {
    await request('/schema/diff?mode=merge', { method: 'POST', json });
    return [];
  } catch (error) {
    if (!(error instanceof RefusedError) || error.status !== 400) return [];
    return error.problems.map(({ message, extensions: { path = '' } }) => ({ ...placeOf(path, keys), message }));
  }
}

export type Release = Pick<Info, 'release'>;

function keysOf(draft: Draft, part: Part): string[] {
  const edited = [...draft[part]].flatMap(([key, { after }]) => (after === null ? [] : [key]));
  return [...new Set([...edited, ...renamed(draft, part)])];
}

function renamed({ names }: Draft, part: Part): string[] {
  if (part === 'collections') return [...names.collections.keys()];
  if (part === 'relations') return [];
  return [...names.fields].flatMap(([collection, former]) =>
    [...former.keys()].map((field) => `${collection}\0${field}`),
  );
}

/** Omitted members stay unchanged, so a new name alone is a complete document. */
function documentOf(draft: Draft, part: Part, key: string): object {
  const [collection = '', field] = key.split('\0');
  const former = formerName(draft, part, key);
  const named = part === 'relations' ? {} : { collection, ...(field !== undefined && { field }) };
  return { ...named, ...draft[part].get(key)?.after, ...(former !== undefined && { renamed_from: former }) };
}

const PLACE = /^(collections|fields|relations)\[(\d+)\](?:\.(.*))?$/;

function placeOf(path: string, keys: Record<Part, string[]>): Omit<Fault, 'message'> {
  const [, part, index, member = ''] = PLACE.exec(path) ?? [];
  if (part === undefined) return { part: 'collections', key: null, member: path };
  return { part: part as Part, key: keys[part as Part][Number(index)] ?? null, member };
}
