/* Guesses which tables and columns were renamed by hand, by comparing missing objects with extra ones. */
import { type Json, isObject, jsonEqual } from '../../kernel/json.js';
import type { Resumable } from '../../kernel/resumable.js';
import { columnType } from '../../schema/normal-form/index.js';
import { type ColumnField, type State, hasColumn, type CollectionNode, byName } from '../../schema/model/state.js';
import type { CatalogColumn, CatalogTable } from '../../projector/catalog/model.js';
import { objectNames } from '../../projector/ddl/column.js';
import type { Difference } from '../../projector/verify/index.js';
import { asWritten, writeName } from '../../schema/sql-text/compare-and-rename.js';

/**
 * Finds for each missing collection the table to which it was renamed: the only one with exactly its columns and names
 * of objects, as after ALTER TABLE … RENAME. A table that only looks similar is a different one.
 */
export function* renamedTables(
  missing: readonly CollectionNode[],
  unmanaged: readonly CatalogTable[],
): Resumable<Map<string, CatalogTable>> {
  const tables = new Map<string, CatalogTable>();
  if (missing.length === 0) return tables;
  const byShape = new Map<string, CatalogTable[]>();
  for (const table of unmanaged) {
    yield;
    const shape = tableShape(table);
    byShape.set(shape, [...(byShape.get(shape) ?? []).slice(0, 1), table]);
  }
  for (const node of byShape.size === 0 ? [] : missing) {
    yield;
    const [only, ...more] = byShape.get(nodeShape(node)) ?? [];
    if (only === undefined || more.length > 0 || !sharesNames(only, node)) continue;
    tables.set(node.collection.collection, only);
  }
  return tables;
}

/**
 * True if the table has names that no copy has. Names of indexes and sequences are unique per schema, and LIKE does not
 * copy foreign keys.
 */
function sharesNames({ columns, constraints, indexes }: CatalogTable, node: CollectionNode): boolean {
  const own = objectNames(node);
  const keys = constraints.filter(({ kind }) => kind === 'foreign key');
  const sequences = columns.flatMap(({ sequence }) => sequence ?? []);
  return [...indexes, ...keys, ...sequences].some(({ name }) => own.has(name));
}

/**
 * Finds for each missing field the only extra column of the same type. If several columns match, the field was not
 * renamed.
 */
export function renamedColumns(node: CollectionNode, { columns }: CatalogTable): Map<string, CatalogColumn> {
  const there = new Set(columns.map(({ name }) => name));
  const missing = [...node.fields.values()].filter(hasColumn).filter(({ field }) => !there.has(field));
  const extra = columns.filter(({ name }) => !hasColumn(node.fields.get(name)));
  const renamed = new Map<string, CatalogColumn>();
  for (const field of missing) {
    const alike = extra.filter((column) => looksLike(field, column));
    const rivals = missing.filter((other) => looksLike(other, alike[0]));
    if (alike.length === 1 && alike[0] !== undefined && rivals.length === 1) renamed.set(field.field, alike[0]);
  }
  return renamed;
}

function looksLike({ schema }: ColumnField, column: CatalogColumn | undefined): boolean {
  return column !== undefined && column.type === columnType(schema) && column.nullable === schema.is_nullable;
}

function nodeShape({ fields }: CollectionNode): string {
  return shape([...fields.values()].filter(hasColumn).map(({ field, schema }) => [field, columnType(schema)]));
}

function tableShape({ columns }: CatalogTable): string {
  return shape(columns.map(({ name, type }) => [name, type]));
}

function shape(columns: [name: string, type: string][]): string {
  return JSON.stringify([...columns].sort(([a], [b]) => byName(a, b)));
}

/** Returns the table with the previous names of its columns. */
export function withNames(table: CatalogTable, renamed: ReadonlyMap<string, CatalogColumn>): CatalogTable {
  const names = new Map([...renamed].map(([field, { name }]) => [name, field]));
  const toFormerName = <T extends string | null>(name: T): T => (names.get(name ?? '') ?? name) as T;
  return {
    ...table,
    columns: table.columns.map((column) => ({ ...column, name: toFormerName(column.name) })),
    constraints: table.constraints.map((each) => ({ ...each, columns: each.columns.map(toFormerName) })),
    indexes: table.indexes.map((each) => ({ ...each, columns: each.columns.map(toFormerName) })),
  };
}

/* Ignore consequences of a rename. Objects that reference the table show its new name, which is not a separate
   difference. */

/** @param renamed the existing tables, by the previous names of their collections in the state */
export function isConsequence(
  { expected, found }: Difference,
  { state, renamed }: { state: Pick<State, 'collections'>; renamed: ReadonlyMap<string, CatalogTable> },
): boolean {
  if (!isObject(expected) || !isObject(found)) return false;
  for (const [was, table] of renamed) {
    const { schema, name = was } = state.collections.get(was)?.collection.schema ?? {};
    const former = withName(found, { now: table.name, was });
    if (typeof found['definition'] === 'string')
      former['definition'] = found['definition'].replace(target(table.schema, table.table), () => target(schema, name));
    if (jsonEqual(expected, former)) return true;
  }
  return false;
}

type Shape = { [member: string]: Json };

/** Returns the shape of a foreign key or partition with the previous name of the collection. */
function withName(shape: Shape, { now, was }: Record<'now' | 'was', string>): Shape {
  const { references, table } = shape;
  const former: Shape = { ...shape };
  if (isObject(references) && references['table'] === now) former['references'] = { ...references, table: was };
  if (table === now) former['table'] = was;
  return former;
}

/** Returns the beginning of a reference to the table, in the spelling of pg_get_constraintdef. */
const target = (schema: string | undefined, name: string): string =>
  ` REFERENCES ${writeName(asWritten(schema, name))}(`;
