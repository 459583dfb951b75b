/** Changing the extras of a table: what becomes empty is no longer there. */
import { constraintColumns, indexColumns } from './definition-columns.js';
import type { TableExtras } from './extras.js';
import type { TableSchema } from './model.js';

/** Without the foreign keys to tables that are `gone`; the same object where there is none. */
export function withoutReferences(schema: TableSchema, gone: (table: string) => boolean): TableSchema {
  const constraints = schema.extras?.constraints ?? [];
  const kept = constraints.filter(({ references }) => references === undefined || !gone(references));
  return kept.length === constraints.length ? schema : withExtras(schema, { ...schema.extras, constraints: kept });
}

/** Without the constraints and indexes that name a column that is `gone`: PostgreSQL drops them with it. */
export function withoutColumns(schema: TableSchema, gone: (column: string) => boolean): TableSchema {
  const { constraints = [], indexes = [] } = schema.extras ?? {};
  const keptConstraints = constraints.filter(({ definition }) => ![...constraintColumns(definition)].some(gone));
  const keptIndexes = indexes.filter(({ definition }) => ![...indexColumns(definition)].some(gone));
  const same = keptConstraints.length === constraints.length && keptIndexes.length === indexes.length;
  return same ? schema : withExtras(schema, { ...schema.extras, constraints: keptConstraints, indexes: keptIndexes });
}

export function withExtras({ comment }: TableSchema, extras: TableExtras): TableSchema {
  const said = Object.entries(extras).filter(
    ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  return said.length === 0 ? { comment } : { comment, extras: Object.fromEntries(said) };
}
