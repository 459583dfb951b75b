/* Index the documents of a submitted snapshot by name. */
import { isObject } from '../../kernel/json.js';
import { relationEnds } from '../normal-form/index.js';
import { type DocumentLocation, type Locations, documentLocation } from '../../kernel/locate.js';
import { MAX_PROBLEMS, type Path, type Problem, invalidProblem } from '../../kernel/problem.js';
import { type Resumable, pauseEvery } from '../../kernel/resumable.js';
import { isSystemCollection } from '../model/system-collections.js';
import { relationLocation } from '../normal-form/relation.js';

/* Locations within a submitted snapshot. */

/** Joins names by NUL, which names cannot contain. */
const joinedKey = (...names: unknown[]): string => names.join('\0');

/** Indexes a submitted snapshot. Of duplicate documents, the first one counts. */
export function snapshotLocations(body: unknown): Required<Locations> {
  const indexes = {
    collections: computeOnce(() => indexesOf(body, 'collections', ({ collection }) => joinedKey(collection))),
    fields: computeOnce(() => indexesOf(body, 'fields', ({ collection, field }) => joinedKey(collection, field))),
    relations: computeOnce(() => indexesOf(body, 'relations', (document) => joinedKey(...relationEnds(document)))),
    objects: computeOnce(() => indexesOf(body, 'objects', ({ kind, id }) => joinedKey(kind, id))),
  };
  const find = (
    part: keyof typeof indexes,
    make: typeof documentLocation,
    ...names: string[]
  ): DocumentLocation | undefined => {
    const submitted = indexes[part]().get(joinedKey(...names));
    return submitted && make([part, submitted.index], submitted.document);
  };
  return {
    collection: (collection) => find('collections', documentLocation, collection),
    field: (collection, field) => find('fields', documentLocation, collection, field),
    relation: (collection, field) => find('relations', relationLocation, collection, field),
    object: ({ kind, id }) => find('objects', documentLocation, kind, id),
  };
}

type IndexedDocument = { index: number; document: unknown };

function indexesOf(
  body: unknown,
  part: string,
  nameOf: (document: Record<string, unknown>) => string,
): ReadonlyMap<string, IndexedDocument> {
  const byKey = new Map<string, IndexedDocument>();
  const documents: unknown = isObject(body) ? body[part] : undefined;
  for (const [index, document] of Array.isArray(documents) ? documents.entries() : []) {
    const name = isObject(document) ? nameOf(document) : undefined;
    if (name !== undefined && !byKey.has(name)) byKey.set(name, { index, document });
  }
  return byKey;
}

/** Computes the value at the first call. Locations are only needed if there are problems. */
function computeOnce<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** The parts of a snapshot. Objects of an absent part remain unchanged. */
export interface SnapshotParts {
  collections?: unknown[] | undefined;
  fields?: unknown[] | undefined;
  relations?: unknown[] | undefined;
  /** Objects other than tables. */
  objects?: unknown[] | undefined;
}

export interface DocumentCollection {
  parts: SnapshotParts;
  /**
   * True if the parts were derived from another snapshot, so that their paths differ from those in the submitted one.
   */
  imported: boolean;
  problems: Problem[];
  /** Locations in the submitted snapshot. */
  locations: Required<Locations>;
}

interface Document {
  names: string[];
  input: { [member: string]: unknown };
  at: Path;
  /** Maps members of `input` to their submitted locations, if these differ. */
  stepsTo: ((steps: Path) => Path) | undefined;
}

/** The documents of a part: collections by name, fields and relations by collection and field. */
export class Documents {
  readonly #documents: Document[] = [];
  /** Nested maps, because joining the two names of 100,000 fields would take longer than comparing the fields. */
  readonly #byName = new Map<string, Map<string, Document>>();

  has(collection: string, field = ''): boolean {
    return this.#byName.get(collection)?.has(field) === true;
  }

  get(collection: string, field = ''): Document | undefined {
    return this.#byName.get(collection)?.get(field);
  }

  /** Replaces an earlier document with the same name. */
  set(document: Document): void {
    const [collection = '', field = ''] = document.names;
    let named = this.#byName.get(collection);
    if (named === undefined) this.#byName.set(collection, (named = new Map()));
    named.set(field, document);
    this.#documents.push(document);
  }

  /** Returns all documents in their order. */
  values(): Iterable<Document> {
    return this.#documents;
  }
}

/** Returns the documents of a part by name, without duplicates. */
export function documentsOf(
  reading: DocumentCollection,
  part: 'collections' | 'fields',
  members: string[],
): Resumable<Documents> {
  return collect(reading, part, (input, at) => {
    for (const member of members) {
      if (typeof input[member] !== 'string')
        return invalidProblem([...at, member], `${member} is required and must be a string`);
    }
    return members.map((member) => input[member] as string);
  });
}

/** Relations contain their name flat (many_collection, many_field) or nested (collection, field). */
export function relationDocuments(reading: DocumentCollection): Resumable<Documents> {
  return collect(reading, 'relations', (input, at) => {
    const [collection, field] = relationEnds(input);
    if (typeof collection !== 'string')
      return invalidProblem([...at, 'many_collection'], 'many_collection is required and must be a string');
    if (typeof field !== 'string')
      return invalidProblem([...at, 'many_field'], 'many_field is required and must be a string');
    return [collection, field];
  });
}

/** Number of documents that are read before the reader pauses. */
const STEP = 500;

function* collect(
  reading: DocumentCollection,
  part: keyof SnapshotParts,
  namesOf: (input: { [member: string]: unknown }, at: Path) => string[] | Problem,
): Resumable<Documents> {
  const { parts, problems } = reading;
  const documents = new Documents();
  const pause = pauseEvery(STEP);
  for (const [index, input] of (parts[part] ?? []).entries()) {
    if (problems.length >= MAX_PROBLEMS) break;
    yield* pause();
    const at = [part, index];
    const names = isObject(input) ? namesOf(input, at) : invalidProblem(at, 'must be an object');
    if (!Array.isArray(names)) {
      problems.push(names);
      continue;
    }
    if (isSystemCollection(names[0] as string)) {
      problems.push(
        invalidProblem(at, `${JSON.stringify(names[0])} is a system collection; remove it from the snapshot`),
      );
    } else if (documents.has(...(names as [string, string?])))
      problems.push(invalidProblem(at, `${JSON.stringify(names.join('.'))} occurs more than once in ${part}`));
    const location = submittedLocation(reading, part, names as [string, string]) ?? { at, stepsTo: undefined };
    documents.set({ names, input: input as { [member: string]: unknown }, ...location });
  }
  return documents;
}

/** Returns the location in the submitted snapshot of a document that was derived from it. */
function submittedLocation(
  { imported, locations }: DocumentCollection,
  part: keyof SnapshotParts,
  [collection, field]: [string, string],
): DocumentLocation | undefined {
  if (!imported) return undefined;
  if (part === 'collections') return locations.collection(collection);
  return part === 'fields' ? locations.field(collection, field) : locations.relation(collection, field);
}
