/* Fills the rows in which a column is null. */
import { type Backfill, sourceOf } from '../../schema/model/backfill.js';
import { type CollectionNode, type ColumnField, primaryKeyOf } from '../../schema/model/state.js';
import { valueLiteral } from './column.js';
import { label, rowEntries, tableOf } from './keys-and-indexes.js';
import { block, ident, literal, sql, type Sql } from './sql.js';
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

/** SQL condition: the row `t` has no value in the column, and has one in the source. */
export function lacksValue({ column, source }: Pick<FilledColumn, 'column' | 'source'>): Sql {
  // IS NULL would also be true for a composite value whose attributes are null.
  const isNull = sql`${ROW}.${ident(column)} IS NOT DISTINCT FROM NULL`;
  return source === null ? isNull : sql`${isNull} AND ${ROW}.${ident(source)} IS DISTINCT FROM NULL`;
}

/** @param rows a further condition on the rows `t` */
export const updateRows = (table: Sql, filled: FilledColumn, rows = sql``): Sql =>
  sql`UPDATE ${table} ${ROW} SET ${ident(filled.column)} = ${filled.value}${rows} ${lacksValue(filled)}`;

/** The reason for which a backfill fails. */
export const PREVENTED = 'a trigger or a rule of the table prevented rows from being filled';

/** Fills the rows, and raises an error if a trigger or a rule prevented that. NOT NULL finds such rows by itself. */
function fillRows(table: Sql, filled: FilledColumn, isRequired: boolean): Sql {
  const update = updateRows(table, filled, sql` WHERE`);
  if (isRequired) return update;
  return sql`DO ${block(sql`BEGIN
    ${update};
    IF EXISTS (SELECT FROM ${table} ${ROW} WHERE ${lacksValue(filled)}) THEN
      RAISE EXCEPTION USING ERRCODE = 'triggered_data_change_violation', MESSAGE = ${literal(PREVENTED)};
    END IF;
  END`)}`;
}

/**
 * Fills the column in the transaction of the change. Triggers of the table run. Deferred constraints are checked
 * immediately, because PostgreSQL alters no table with pending checks. With `row_security`, PostgreSQL rejects the
 * UPDATE instead of hiding rows.
 */
export function fillColumn(change: Change, field: ColumnField, backfill: Backfill): Step[] {
  const { collection, field: column } = field;
  const node = change.after.collections.get(collection) as CollectionNode;
  const key = primaryKeyOf(node).map((each) => each.field);
  const filled: FilledColumn = { column, value: valueOf(backfill), source: sourceOf(backfill) ?? null, key };
  const unlocked = { lock: 'none' } as const;
  return [
    step(sql`SET CONSTRAINTS ALL IMMEDIATE`, 'check deferred constraints immediately', unlocked),
    step(sql`SET LOCAL row_security = off`, 'fail if row security hides rows', unlocked),
    step(
      fillRows(tableOf(change), filled, !field.schema.is_nullable),
      `fill column ${label(field)} in rows without a value`,
      {
        lock: 'ACCESS EXCLUSIVE',
        may_fail: true,
        lock_entries: 2 + rowEntries(change, field),
        // A column that the change creates cannot be filled before.
        ...(change.event.type === 'field.updated' && { preparable: { kind: 'fill', ...filled } }),
      },
    ),
  ];
}
