/**
 * Derives the names of constraints and indexes from the table, the field and the purpose, so that they need not be
 * stored.
 */
import type { ColumnExtras } from './extras.js';
import { MAX_NAME_BYTES, truncateBytes, fitName, withHash } from './name-length.js';
import { type CollectionNode, type State, extrasOf, hasColumn, primaryKeyOf, tableNameOf } from './state.js';

/** Returns PostgreSQL's default name of a primary key, at most 63 bytes. */
export function primaryKeyName(table: string): string {
  return fitName(table, '_pkey', table);
}

/** Returns the name of the primary key: the default name, unless the key was adopted with another name. */
export function primaryKeyNameOf(node: CollectionNode): string {
  const [only, ...more] = primaryKeyOf(node);
  const own = more.length === 0 ? only?.schema?.extras?.primary_key_name : undefined;
  return extrasOf(node).primary_key?.name ?? own ?? primaryKeyName(tableNameOf(node));
}

/** Returns the service's name of a unique constraint, at most 63 bytes. For adopted fields see `uniqueNameOf`. */
export function uniqueName(table: string, field: string): string {
  return ownedByBoth(table, field, '_unique');
}

/** Returns the service's name of an index, at most 63 bytes. For adopted fields see `indexNameOf`. */
export function indexName(table: string, field: string): string {
  return ownedByBoth(table, field, '_index');
}

/**
 * Indexes share one namespace per schema. `a_b` + `c` and `a` + `b_c` would both become `a_b_c_index`, so names with an
 * underscore contain a hash of both parts.
 */
function ownedByBoth(table: string, field: string, suffix: string): string {
  const key = `${table}\0${field}`;
  const base = `${table}_${field}`;
  if (!table.includes('_') && !field.includes('_')) return fitName(base, suffix, key);
  return withHash(base, suffix, key);
}

interface Column {
  field: string;
  schema: { extras?: ColumnExtras | undefined };
}

/** The service's default name, unless the field was adopted with a different name. */
export function uniqueNameOf(table: string, { field, schema }: Column): string {
  return schema.extras?.unique_name ?? uniqueName(table, field);
}

/** The service's default name, unless the field was adopted with a different name. */
export function indexNameOf(table: string, { field, schema }: Column): string {
  return schema.extras?.index_name ?? indexName(table, field);
}

/** The suffix of all `notNullName` names. */
export const NOT_NULL_SUFFIX = '_not_null';

/** Returns the name that PostgreSQL 18 and later give a NOT NULL constraint. Older versions do not name it. */
export const notNullName = (table: string, field: string): string => postgresName(table, field, NOT_NULL_SUFFIX);

/** PostgreSQL's default name, unless the field was adopted with a different name. */
export function notNullNameOf(table: string, { field, schema }: Column): string {
  return schema.extras?.not_null_name ?? notNullName(table, field);
}

/**
 * Returns the name of the NOT NULL constraint that a partition inherits, which PostgreSQL does not change when it attaches
 * a table. Undefined if the partitioned table allows null, and for other tables.
 */
export function inheritedNotNullName(state: State, node: CollectionNode, field: string): string | undefined {
  const parent = state.collections.get(extrasOf(node).partition_of?.table ?? '');
  const column = parent?.fields.get(field);
  if (parent === undefined || !hasColumn(column) || column.schema.is_nullable) return undefined;
  return (
    column.schema.extras?.not_null_name ??
    inheritedNotNullName(state, parent, field) ??
    notNullName(tableNameOf(parent), field)
  );
}

/** The default name of the sequence of an identity column. */
export const identitySequenceName = (table: string, field: string): string => postgresName(table, field, '_seq');

/** PostgreSQL's default name, unless the sequence has a different name. */
export function identitySequenceNameOf(table: string, { field, schema }: Column): string {
  return schema.extras?.sequence?.name ?? identitySequenceName(table, field);
}

/**
 * Returns the default name that PostgreSQL gives a NOT NULL constraint or an identity sequence. PostgreSQL shortens the
 * longer of table and column byte by byte until the name fits, and then drops an incomplete character.
 */
export function postgresName(table: string, column: string, suffix: string): string {
  let [first, second] = [Buffer.byteLength(table), Buffer.byteLength(column)];
  const room = MAX_NAME_BYTES - suffix.length - 1;
  while (first + second > room) {
    if (first > second) first -= 1;
    else second -= 1;
  }
  return `${truncateBytes(table, first)}_${truncateBytes(column, second)}${suffix}`;
}
