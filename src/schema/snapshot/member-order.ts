/**
 * Defines the member order of documents. They come from requests, or from the log, where jsonb changes the order. Equal
 * schemas must produce equal bytes.
 */
import { isObject } from '../../kernel/json.js';

interface Order {
  /** These members come first in this order. Others follow by name. */
  readonly first: readonly string[];
  readonly inner?: Readonly<Record<string, Order>>;
}

const words = (text: string): string[] => text.split(/\s+/);

const PLAIN: Order = { first: [] };

const COLLECTION: Order = {
  first: ['collection', 'meta', 'schema'],
  inner: {
    meta: {
      first: words(`collection icon note display_template hidden singleton translations archive_field
  archive_app_filter archive_value unarchive_value sort_field accountability color
  item_duplication_fields sort group collapse preview_url versioning`),
    },
    schema: { first: ['name', 'comment'] },
  },
};

const FIELD: Order = {
  first: ['collection', 'field', 'type', 'meta', 'schema'],
  inner: {
    meta: {
      first: words(`collection field special interface options display display_options readonly hidden sort
  width translations note conditions group required validation validation_message`),
    },
    schema: {
      first: words(`name table data_type default_value max_length numeric_precision numeric_scale is_nullable
  is_unique is_indexed is_primary_key is_generated generation_expression has_auto_increment
  comment foreign_key_table foreign_key_column`),
    },
  },
};

const RELATION: Order = {
  first: words(`id many_collection many_field one_collection one_field one_collection_field
  one_allowed_collections junction_field sort_field one_deselect_action schema`),
  inner: { schema: { first: ['constraint_name', 'on_update', 'on_delete'] } },
};

/** Returns a copy. Unknown members come last, by name. */
export const orderCollectionMembers = <T>(document: T): T => arrange(document, COLLECTION);
/** Returns a copy. Unknown members come last, by name. */
export const orderFieldMembers = <T>(document: T): T => arrange(document, FIELD);
/** Returns a copy. Unknown members come last, by name. */
export const orderRelationMembers = <T>(document: T): T => arrange(document, RELATION);

function arrange<T>(value: T, order: Order): T {
  if (Array.isArray(value)) return value.map((element: unknown) => arrange(element, PLAIN)) as T;
  if (!isObject(value)) return value;
  const arranged: Record<string, unknown> = {};
  const { first, inner } = order;
  for (const member of first) if (Object.hasOwn(value, member)) put(arranged, member, value[member], inner);
  const members = Object.keys(value);
  if (first.length > 0 && members.length <= first.length && members.length === Object.keys(arranged).length) {
    return arranged as T;
  }
  for (const member of members.sort()) if (!first.includes(member)) put(arranged, member, value[member], inner);
  return arranged as T;
}

function put(into: Record<string, unknown>, member: string, value: unknown, inner: Order['inner']): void {
  // Member names come from clients, so `constructor` must not find an inherited property.
  const order = (inner !== undefined && Object.hasOwn(inner, member) && inner[member]) || PLAIN;
  const arranged = typeof value === 'object' && value !== null ? arrange(value, order) : value;
  if (member !== '__proto__') into[member] = arranged;
  else Object.defineProperty(into, member, { value: arranged, enumerable: true, writable: true, configurable: true });
}
