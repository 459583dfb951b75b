/** Locations within a submitted snapshot. */
import { isObject } from '../../kernel/json.js';
import { relationEnds, relationPlace } from '../normal-form/relation-shape.js';
import { type Place, type Places, documentPlace } from '../../kernel/locate.js';

/** Joins names by NUL, which names cannot contain. */
const key = (...names: unknown[]): string => names.join('\0');

/** Indexes a submitted snapshot. Of duplicate documents, the first one counts. */
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

type DocumentAt = { index: number; document: unknown };

function indexesOf(
  body: unknown,
  part: string,
  nameOf: (document: Record<string, unknown>) => string,
): ReadonlyMap<string, DocumentAt> {
  const found = new Map<string, DocumentAt>();
  const documents: unknown = isObject(body) ? body[part] : undefined;
  for (const [index, document] of Array.isArray(documents) ? documents.entries() : []) {
    const name = isObject(document) ? nameOf(document) : undefined;
    if (name !== undefined && !found.has(name)) found.set(name, { index, document });
  }
  return found;
}

/** Only problems need locations. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
