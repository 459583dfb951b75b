/** Changes the extras of a table. Empty members are removed. */
import { constraintColumns, indexColumns } from '../sql-text/columns.js';
import type { TableExtras } from '../model/extras.js';
import { jsonEqual } from '../../kernel/json.js';
import { needLabel } from '../model/needs.js';
import type { TableSchema } from '../model/model.js';
import { extrasOfTable } from '../model/state.js';

type Constraint = NonNullable<TableExtras['constraints']>[number];

/** Removes foreign keys to tables that are `gone`. Returns the same object if there are none. */
export function withoutReferences(schema: TableSchema, gone: (table: string) => boolean): TableSchema {
  return withoutConstraints(schema, ({ references }) => references !== undefined && gone(references));
}

/** Removes constraints that are `gone`. Returns the same object if there are none. */
export function withoutConstraints(schema: TableSchema, gone: (constraint: Constraint) => boolean): TableSchema {
  const constraints = extrasOfTable(schema).constraints ?? [];
  const kept = constraints.filter((each) => !gone(each));
  return kept.length === constraints.length ? schema : withExtras(schema, { ...schema.extras, constraints: kept });
}

/** Removes definitions that use a column that is `gone`: constraints, indexes, and sequences it owns. */
export function withoutColumns(schema: TableSchema, gone: (column: string) => boolean): TableSchema {
  const { constraints = [], indexes = [], needs = [] } = extrasOfTable(schema);
  const kept = {
    constraints: constraints.filter(({ definition }) => ![...constraintColumns(definition)].some(gone)),
    indexes: indexes.filter(({ definition }) => ![...indexColumns(definition)].some(gone)),
    needs: needs.filter((need) => need.kind !== 'sequence' || need.owned_by === undefined || !gone(need.owned_by)),
  };
  const count = (lists: { [list: string]: unknown[] }) => Object.values(lists).flat().length;
  if (count(kept) === count({ constraints, indexes, needs })) return schema;
  return withExtras(schema, { ...schema.extras, ...kept });
}

/** Removes constraints and indexes that `desired` lacks or defines differently. */
export function withoutOthers(schema: TableSchema, desired: TableSchema): TableSchema {
  const { constraints = [], indexes = [] } = extrasOfTable(schema);
  const others = extrasOfTable(desired);
  const kept = {
    constraints: constraints.filter((each) => others.constraints?.some((other) => jsonEqual(each, other))),
    indexes: indexes.filter((each) => others.indexes?.some((other) => jsonEqual(each, other))),
  };
  const same = kept.constraints.length === constraints.length && kept.indexes.length === indexes.length;
  return same ? schema : withExtras(schema, { ...schema.extras, ...kept });
}

/** Adds the needs of `desired` that the table lacks. */
export function withNeeds(schema: TableSchema, desired: TableSchema): TableSchema {
  const needs = extrasOfTable(schema).needs ?? [];
  const known = new Set(needs.map(needLabel));
  const fresh = (extrasOfTable(desired).needs ?? []).filter((need) => !known.has(needLabel(need)));
  return fresh.length === 0 ? schema : withExtras(schema, { ...schema.extras, needs: [...needs, ...fresh] });
}

/** Replaces the extras and keeps the comment. */
export function withExtras({ comment }: TableSchema, extras: TableExtras): TableSchema {
  const said = Object.entries(extras).filter(
    ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  return said.length === 0 ? { comment } : { comment, extras: Object.fromEntries(said) };
}
