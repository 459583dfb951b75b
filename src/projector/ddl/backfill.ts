/* Fills the rows in which a column is null. */
import { type Backfill, sourceOf } from '../../schema/model/backfill.js';
import { type CollectionNode, type ColumnField, primaryKeyOf } from '../../schema/model/state.js';
import { valueLiteral } from './column.js';
import { label, rowEntries, tableOf } from './keys-and-indexes.js';
import { ident, sql, type Sql } from './sql.js';
import { type Change, type FilledColumn, type Step, step } from './step.js';

/** The alias of the row in the expressions of `FilledColumn`. */
const ROW = sql`t`;

const FUNCTIONS = { now: sql`pg_catalog.now()`, gen_random_uuid: sql`pg_catalog.gen_random_uuid()` } as const;
const TEXT_FUNCTIONS = {
  lower: sql`pg_catalog.lower`,
  upper: sql`pg_catalog.upper`,
  trim: sql`pg_catalog.btrim`,
} as const;

function valueOf(backfill: Backfill): Sql {
  if ('value' in backfill) return valueLiteral(backfill.value);
  if (!('expression' in backfill)) return sql`${ROW}.${ident(backfill.field)}`;
  if ('field' in backfill) return sql`${TEXT_FUNCTIONS[backfill.expression]}(${ROW}.${ident(backfill.field)}::text)`;
  return FUNCTIONS[backfill.expression];
}

/** @param rows a further condition on the rows `t` */
export function updateRows(table: Sql, { column, value, source }: FilledColumn, rows = sql``): Sql {
  // IS NULL would also be true for a composite value whose attributes are null.
  const isNull = sql`${ROW}.${ident(column)} IS NOT DISTINCT FROM NULL`;
  const hasValue = source === null ? sql`` : sql` AND ${ROW}.${ident(source)} IS DISTINCT FROM NULL`;
  return sql`UPDATE ${table} ${ROW} SET ${ident(column)} = ${value}${rows} ${isNull}${hasValue}`;
}

/**
 * Fills the column in the transaction of the change. Triggers of the table run. Deferred constraints are checked at
 * once, because PostgreSQL alters no table with pending checks. With `row_security`, PostgreSQL rejects the UPDATE
 * instead of hiding rows.
 */
export function fillColumn(change: Change, field: ColumnField, backfill: Backfill): Step[] {
  const { collection, field: column } = field;
  const node = change.after.collections.get(collection) as CollectionNode;
  const key = primaryKeyOf(node).map((each) => each.field);
  const filled: FilledColumn = { column, value: valueOf(backfill), source: sourceOf(backfill) ?? null, key };
  const unlocked = { lock: 'none' } as const;
  return [
    step(sql`SET CONSTRAINTS ALL IMMEDIATE`, 'check deferred constraints at once', unlocked),
    step(sql`SET LOCAL row_security = off`, 'fail if row security hides rows', unlocked),
    step(updateRows(tableOf(change), filled, sql` WHERE`), `fill column ${label(field)} in rows without a value`, {
      lock: 'ACCESS EXCLUSIVE',
      may_fail: true,
      lock_entries: 2 + rowEntries(change, field),
      // A column that the change creates cannot be filled before.
      ...(change.event.type === 'field.updated' && { preparable: { kind: 'fill', ...filled } }),
    }),
  ];
}
