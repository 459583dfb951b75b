/** Where things stand in the documents of the schema endpoints: snapshots and diffs. */
import type { CollectionDiff, FieldDiff, RelationDiff, SchemaDiff } from '../diff.js';
import type { Entry } from '../entries.js';
import { isObject } from '../json.js';
import type { Path } from '../problem.js';
import { relationEnds } from '../normal-form/index.js';
import { type Place, type Places, documentPlace, stepsIn } from './locate.js';
import { relationPlace } from './request.js';

/** Names joined by NUL, which can't be part of one. */
const key = (...names: unknown[]): string => names.join('\0');

/** A snapshot as it was sent; of documents that stand in it twice, the first one. */
export function snapshotPlaces(body: unknown): Required<Places> {
  const indexes = {
    collections: once(() => indexesOf(body, 'collections', ({ collection }) => key(collection))),
    fields: once(() => indexesOf(body, 'fields', ({ collection, field }) => key(collection, field))),
    relations: once(() => indexesOf(body, 'relations', (document) => key(...relationEnds(document)))),
  };
  const find = (part: keyof typeof indexes, make: typeof documentPlace, ...names: string[]): Place | undefined => {
    const found = indexes[part]().get(key(...names));
    return found && make([part, found.index], found.document);
  };
  return {
    collection: (collection) => find('collections', documentPlace, collection),
    field: (collection, field) => find('fields', documentPlace, collection, field),
    relation: (collection, field) => find('relations', relationPlace, collection, field),
  };
}

type Found = { index: number; document: unknown };

function indexesOf(
  body: unknown,
  part: string,
  nameOf: (document: Record<string, unknown>) => string,
): ReadonlyMap<string, Found> {
  const found = new Map<string, Found>();
  const documents: unknown = isObject(body) ? body[part] : undefined;
  for (const [index, document] of Array.isArray(documents) ? documents.entries() : []) {
    const name = isObject(document) ? nameOf(document) : undefined;
    if (name !== undefined && !found.has(name)) found.set(name, { index, document });
  }
  return found;
}

/** Only problems ask for places. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** A diff as it was sent. */
export function diffPlaces({ collections, fields, relations }: SchemaDiff): Places {
  const named = (collection: string, field: string) => (item: FieldDiff | RelationDiff) =>
    item.collection === collection && item.field === field;
  return {
    collection: (name) => diffPlace('collections', collections, (item) => item.collection === name),
    field: (collection, field) => diffPlace('fields', fields, named(collection, field)),
    relation: (collection, field) => diffPlace('relations', relations, named(collection, field)),
  };
}

/** What stands twice is replaced: removed, then new. The new one is what the result holds. */
function diffPlace<T extends CollectionDiff | FieldDiff | RelationDiff>(
  part: keyof SchemaDiff,
  items: readonly T[],
  matches: (item: T) => boolean,
): Place | undefined {
  const index = items.findLastIndex(matches);
  const item = items[index];
  return item && { at: ['diff', part, index], stepsTo: (member) => stepsInEntries(item.diff, member) };
}

/** From an item of a diff to the entry that says what the member is, and on into what it says. */
export function stepsInEntries(entries: readonly Entry<unknown>[], member: Path): Path {
  for (const [index, entry] of entries.entries()) {
    const path = 'path' in entry ? entry.path : [];
    if (!path.every((step, depth) => depth >= member.length || step === member[depth])) continue;
    const at = ['diff', index];
    if (!('rhs' in entry)) return at;
    return [...at, 'rhs', ...stepsIn(entry.rhs, member.slice(path.length))];
  }
  return [];
}
