/** The context of an import: the file as read so far, and the target instance. */
import type { Collection, Field, Relation } from '../model/model.js';
import type { Problem } from '../../kernel/problem.js';
import type { Warning } from '../../kernel/warning.js';

/** Documents in our form with only the members of the file. Absent members are unspecified. */
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
  /** The prefix of system collections in the file. */
  readonly prefix: string;
  /** System collections (by our names) that relations may reference. */
  readonly systemCollections: ReadonlySet<string>;
  readonly instance: Instance;
  readonly collections: Map<string, CollectionDocument>;
  /** By collection, then by field. */
  readonly fields: Map<string, Map<string, FieldDocument>>;
  /** By many collection and many field. */
  readonly relations: Map<string, RelationDocument>;
  /** The parts of the file. Other parts are unspecified. */
  readonly parts: ReadonlySet<string>;
  readonly warnings: Warning[];
  readonly problems: Problem[];
  /** Unknown members that a warning already named. */
  readonly namedMembers: Set<string>;
}

export type Place = { collection?: string; field?: string };

/** The target instance, which provides what the file omits. */
export interface Instance {
  /** True if an object that the file references but does not contain will exist. */
  exists(collection: string, field?: string): boolean;
  collectionOf(collection: string): Collection | undefined;
  columnOf(collection: string, field: string): Field | undefined;
  /** The fields of the primary key. */
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
