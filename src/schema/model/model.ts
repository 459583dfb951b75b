/**
 * The managed documents in normal form: every member is present, derived members are absent. `documents.ts` adds the
 * derived members (`meta.collection`, `meta.field`, `schema.name`, `schema.table`, `schema.is_generated`,
 * `schema.foreign_key_table`, `schema.foreign_key_column`) to responses. It checks and removes them on input. Paths in
 * a diff are equal in both forms.
 */

import type { ColumnExtras, TableExtras } from './extras.js';
import type { Json } from '../../kernel/json.js';

export interface CollectionMeta {
  icon: string | null;
  note: string | null;
  display_template: string | null;
  hidden: boolean;
  singleton: boolean;
  translations: Json;
  archive_field: string | null;
  archive_app_filter: boolean;
  archive_value: string | null;
  unarchive_value: string | null;
  sort_field: string | null;
  accountability: 'all' | 'activity' | null;
  color: string | null;
  item_duplication_fields: Json;
  sort: number | null;
  group: string | null;
  collapse: 'open' | 'closed' | 'locked';
  preview_url: string | null;
  versioning: boolean;
}

/** A table, or with `schema` null a folder that only groups collections. */
export interface Collection {
  collection: string;
  meta: CollectionMeta;
  schema: TableSchema | null;
}

export interface TableSchema {
  /** The table's comment. */
  comment: string | null;
  /** Properties that fields and relations cannot express. Absent if there are none. */
  extras?: TableExtras;
}

export const FIELD_WIDTHS = ['half', 'half-left', 'half-right', 'half-space', 'full', 'fill'] as const;

export interface FieldMeta {
  special: string[] | null;
  interface: string | null;
  options: Json;
  display: string | null;
  display_options: Json;
  readonly: boolean;
  hidden: boolean;
  sort: number | null;
  width: (typeof FIELD_WIDTHS)[number];
  translations: Json;
  note: string | null;
  conditions: Json;
  /** The alias field of the same collection that contains this field. */
  group: string | null;
  required: boolean;
  validation: Json;
  validation_message: string | null;
}

/** The column of a field. Members that do not apply to the type are null. */
export interface ColumnSchema {
  /** The name from PostgreSQL's format_type without length or precision: `character varying`, `integer`. */
  data_type: string;
  /** A literal of the type. For temporal and uuid types also a supported function. Null means no default. */
  default_value: Json;
  max_length: number | null;
  numeric_precision: number | null;
  numeric_scale: number | null;
  is_nullable: boolean;
  is_unique: boolean;
  is_indexed: boolean;
  is_primary_key: boolean;
  generation_expression: string | null;
  has_auto_increment: boolean;
  comment: string | null;
  /** Properties that the other members cannot express. Absent if there are none. */
  extras?: ColumnExtras;
}

/** A column, or with type `alias` and `schema` null a field that exists only in the metadata. */
export interface Field {
  collection: string;
  field: string;
  type: string;
  meta: FieldMeta;
  schema: ColumnSchema | null;
}

export const REFERENTIAL_ACTIONS = ['NO ACTION', 'SET NULL', 'SET DEFAULT', 'CASCADE', 'RESTRICT'] as const;
export type ReferentialAction = (typeof REFERENTIAL_ACTIONS)[number];

export interface ForeignKey {
  constraint_name: string;
  on_update: ReferentialAction;
  on_delete: ReferentialAction;
  /** Absent means NOT DEFERRABLE. */
  deferrable?: Deferrable;
}

export const DEFERRABLES = ['INITIALLY IMMEDIATE', 'INITIALLY DEFERRED'] as const;
export type Deferrable = (typeof DEFERRABLES)[number];

/** A relation, identified by (many_collection, many_field). `id` is the position of its relation.created event. */
export interface Relation {
  id: number;
  many_collection: string;
  many_field: string;
  /** Null for many-to-any relations. */
  one_collection: string | null;
  one_field: string | null;
  one_collection_field: string | null;
  one_allowed_collections: string[] | null;
  junction_field: string | null;
  sort_field: string | null;
  one_deselect_action: 'nullify' | 'delete';
  /** Null if the relation exists only in the metadata. */
  schema: ForeignKey | null;
}

export type NewRelation = Omit<Relation, 'id'>;

/** Members of a relation except id and foreign key, in display order. */
export const RELATION_MEMBERS = [
  'many_collection',
  'many_field',
  'one_collection',
  'one_field',
  'one_collection_field',
  'one_allowed_collections',
  'junction_field',
  'sort_field',
  'one_deselect_action',
] as const satisfies readonly (keyof Relation)[];
