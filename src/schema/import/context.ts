/** What every step of an import works with: the file as far as it was read, and the instance that it is meant for. */
import type { Collection, Field, Relation } from '../model/model.js';
import type { Problem } from '../../kernel/problem.js';
import type { Warning } from '../../kernel/warning.js';

/** Documents in our shape, with only the members that the file has: what is absent says nothing. */
export interface CollectionDocument {
  collection: string;
  meta?: Record<string, unknown>;
  schema?: { comment?: unknown; extras?: unknown } | null;
}

export interface FieldDocument {
  collection: string;
  field: string;
  type?: string;
  meta?: Record<string, unknown>;
  schema?: Record<string, unknown> | null;
}

export interface RelationDocument {
  many_collection: string;
  many_field: string;
  one_collection?: string | null;
  one_field?: string | null;
  one_collection_field?: string | null;
  one_allowed_collections?: string[];
  junction_field?: string | null;
  sort_field?: string | null;
  one_deselect_action?: string;
  schema?: Record<string, unknown> | null;
}

export interface Import {
  readonly vendor: string | undefined;
  /** What the names of system collections start with in the file. */
  readonly prefix: string;
  /** The system collections (by our names) that relations may point at. */
  readonly systemCollections: ReadonlySet<string>;
  readonly instance: Instance;
  readonly collections: Map<string, CollectionDocument>;
  /** By collection, then by field. */
  readonly fields: Map<string, Map<string, FieldDocument>>;
  /** By many collection and many field. */
  readonly relations: Map<string, RelationDocument>;
  /** The parts that the file has; about the others it says nothing. */
  readonly parts: ReadonlySet<string>;
  readonly warnings: Warning[];
  readonly problems: Problem[];
  /** Unknown members that were named in a warning already. */
  readonly namedMembers: Set<string>;
}

export type Place = { collection?: string; field?: string };

/** What the instance that a file is meant for knows: what is left out of the file stays as it is there. */
export interface Instance {
  /** Whether something the file refers to, but doesn't hold, will be there all the same. */
  exists(collection: string, field?: string): boolean;
  collectionOf(collection: string): Collection | undefined;
  columnOf(collection: string, field: string): Field | undefined;
  /** The fields that the primary key is made of. */
  keyOf(collection: string): readonly Field[];
  relationOf(collection: string, field: string): Relation | undefined;
}

export const EMPTY_INSTANCE: Instance = {
  exists: () => false,
  collectionOf: () => undefined,
  columnOf: () => undefined,
  keyOf: () => [],
  relationOf: () => undefined,
};
