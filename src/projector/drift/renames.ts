/* Guesses which tables and columns were renamed by hand, by comparing missing objects with extra ones. */
import type { Resumable } from '../../kernel/resumable.js';
import { columnType } from '../../schema/normal-form/index.js';
import { type ColumnField, hasColumn, type CollectionNode, byName, extrasOf } from '../../schema/model/state.js';
import type { CatalogColumn, CatalogTable } from '../catalog/model.js';
import { objectNames } from '../ddl/column.js';
import type { ColumnExtras, Need, TableExtras } from '../../schema/model/extras.js';
import { jsonEqual } from '../../kernel/json.js';
import type { ColumnSchema, Field } from '../../schema/model/model.js';
import { needLabel } from '../../schema/model/order.js';
import { withExtras } from '../../schema/transition/cascade.js';
import type { Converted } from '../inspect/convert.js';
import type { Difference } from '../verify/index.js';

/* Converts a table, using its collection's representation wherever the comparison found no difference. */

/** Equal objects can have several representations. A representation without a difference is no drift. */
export function alignSpelling(found: Converted, node: CollectionNode, differences: readonly Difference[]): Converted {
  const differs = new Set(differences.map(({ field, member }) => `${field ?? ''}\0${member}`));
  const fields = found.fields.map((field) => {
    const known = node.fields.get(field.field);
    return hasColumn(field) && hasColumn(known) ? alignField(field, known, differs) : field;
  });
  const { schema } = found.collection;
  const known = extrasOf(node);
  const said = schema && withExtras(schema, alignExtras(schema.extras ?? {}, known, differs));
  const aligned = said !== null && jsonEqual(said, node.collection.schema) ? node.collection.schema : said;
  return { ...found, collection: { ...found.collection, schema: aligned }, fields };
}

function alignExtras(extras: TableExtras, known: TableExtras, differs: ReadonlySet<string>): TableExtras {
  const same = (member: string): boolean => !differs.has(`\0${member}`);
  const { primary_key: key, partition_by: by, partition_of: of } = known;
  return {
    ...extras,
    ...(isSameKey(extras.primary_key, key) && same(`constraint ${key?.name}`) && { primary_key: key }),
    ...(by !== undefined && same('partition_by') && { partition_by: by }),
    ...(of !== undefined && same('partition_of') && { partition_of: of }),
    constraints: named(extras.constraints, known.constraints, (name) => same(`constraint ${name}`)),
    indexes: named(extras.indexes, known.indexes, (name) => same(`index ${name}`)),
    needs: alignNeeds(extras.needs, known.needs, same),
  };
}

const isSameKey = (found: TableExtras['primary_key'], known: TableExtras['primary_key']): boolean =>
  found !== undefined && found.name === known?.name && jsonEqual(found.columns, known.columns);

/** Compares the needs that the collection names. */
function alignNeeds(found: readonly Need[] = [], known: readonly Need[] = [], same: (label: string) => boolean) {
  const before = new Map(known.map((need) => [needLabel(need), need]));
  return found.flatMap((need) => {
    const other = before.get(needLabel(need));
    return other === undefined ? [] : [same(needLabel(need)) ? other : need];
  });
}

function named<T extends { name: string }>(
  found: readonly T[] = [],
  known: readonly T[] = [],
  same: (name: string) => boolean,
): T[] {
  const before = new Map(known.map((each) => [each.name, each]));
  return found.map((each) => (same(each.name) ? (before.get(each.name) ?? each) : each));
}

function alignField(field: ColumnField, known: ColumnField, differs: ReadonlySet<string>): Field {
  const same = (member: string): boolean => !differs.has(`${field.field}\0${member}`);
  const { extras: _, ...rest } = field.schema;
  const schema: ColumnSchema = { ...rest };
  if (same('schema.generation_expression')) schema.generation_expression = known.schema.generation_expression;
  if (same('schema.default_value')) schema.default_value = known.schema.default_value;
  const extras = columnExtras(field, known, same);
  if (Object.keys(extras).length > 0) schema.extras = extras;
  return { ...field, schema: jsonEqual(schema, known.schema) ? known.schema : schema };
}

function columnExtras(field: ColumnField, known: ColumnField, same: (member: string) => boolean): ColumnExtras {
  const extras: ColumnExtras = { ...field.schema.extras };
  const before = known.schema.extras ?? {};
  if (same('schema.default_value')) keepMember(extras, before, 'default');
  if (same('identity sequence')) keepMember(extras, before, 'sequence');
  if (same('not null name')) keepMember(extras, before, 'not_null_name');
  return extras;
}

function keepMember<M extends keyof ColumnExtras>(extras: ColumnExtras, known: ColumnExtras, member: M): void {
  if (known[member] === undefined) delete extras[member];
  else extras[member] = known[member];
}

/**
 * For each missing collection, the only table with exactly its columns and its object names, as after ALTER TABLE …
 * RENAME. A table that only looks similar is another one.
 */
export function* renamedTables(
  missing: readonly CollectionNode[],
  unmanaged: readonly CatalogTable[],
): Resumable<Map<string, CatalogTable>> {
  const found = new Map<string, CatalogTable>();
  if (missing.length === 0) return found;
  const byShape = new Map<string, CatalogTable[]>();
  for (const table of unmanaged) {
    yield;
    const shape = tableShape(table);
    byShape.set(shape, [...(byShape.get(shape) ?? []).slice(0, 1), table]);
  }
  for (const node of byShape.size === 0 ? [] : missing) {
    yield;
    const [only, ...more] = byShape.get(nodeShape(node)) ?? [];
    if (only === undefined || more.length > 0 || !bearsNames(only, node)) continue;
    found.set(node.collection.collection, only);
  }
  return found;
}

/**
 * Only names that no copy of a table has: index and sequence names are unique per schema, and LIKE does not copy
 * foreign keys.
 */
function bearsNames({ columns, constraints, indexes }: CatalogTable, node: CollectionNode): boolean {
  const own = objectNames(node);
  const keys = constraints.filter(({ kind }) => kind === 'foreign key');
  const sequences = columns.flatMap(({ sequence }) => sequence ?? []);
  return [...indexes, ...keys, ...sequences].some(({ name }) => own.has(name));
}

/** For each missing field, the only extra column of the same type. None if several match. */
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

/** The table as it would be if the columns had their previous names. */
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
