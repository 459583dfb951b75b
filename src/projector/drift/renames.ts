/** Tables and columns that are probably there under another name: what stands in their place looks like them. */
import { columnType } from '../../schema/normal-form/index.js';
import { type CollectionNode, byName } from '../../schema/state.js';
import type { CatalogColumn, CatalogTable } from '../catalog/model.js';
import { type ColumnField, hasColumn } from '../ddl/column.js';

/** By the missing collection's name, the table that has exactly its columns; each table once. */
export function renamedTables(
  missing: readonly CollectionNode[],
  unmanaged: readonly CatalogTable[],
): Map<string, CatalogTable> {
  const found = new Map<string, CatalogTable>();
  const taken = new Set<string>();
  for (const node of missing) {
    const wanted = nodeShape(node);
    const table = unmanaged.find((each) => !taken.has(each.name) && tableShape(each) === wanted);
    if (table === undefined) continue;
    taken.add(table.name);
    found.set(node.collection.collection, table);
  }
  return found;
}

/** By the missing field's name, the one column too many that is of its kind; none where several could be meant. */
export function renamedColumns(node: CollectionNode, { columns }: CatalogTable): Map<string, CatalogColumn> {
  const there = new Set(columns.map(({ name }) => name));
  const missing = [...node.fields.values()].filter(hasColumn).filter(({ field }) => !there.has(field));
  const extra = columns.filter(({ name }) => !hasColumn(node.fields.get(name)));
  const found = new Map<string, CatalogColumn>();
  for (const field of missing) {
    const alike = extra.filter((column) => looksLike(field, column));
    const rivals = missing.filter((other) => looksLike(other, alike[0]));
    if (alike.length === 1 && alike[0] !== undefined && rivals.length === 1) found.set(field.field, alike[0]);
  }
  return found;
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

/** The table as it would be if the columns had their names back. */
export function withNames(table: CatalogTable, renamed: ReadonlyMap<string, CatalogColumn>): CatalogTable {
  const names = new Map([...renamed].map(([field, { name }]) => [name, field]));
  const back = <T extends string | null>(name: T): T => (names.get(name ?? '') ?? name) as T;
  return {
    ...table,
    columns: table.columns.map((column) => ({ ...column, name: back(column.name) })),
    constraints: table.constraints.map((each) => ({ ...each, columns: each.columns.map(back) })),
    indexes: table.indexes.map((each) => ({ ...each, columns: each.columns.map(back) })),
  };
}
