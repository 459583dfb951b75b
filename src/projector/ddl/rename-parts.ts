/** Renames a column's constraints and index, or changes the kind of identity, while the objects themselves stay. */
import type { ColumnField } from '../../schema/model/state.js';
import { isIdentity } from '../../schema/model/extras.js';
import { indexNameOf, notNullNameOf, primaryKeyNameOf, uniqueNameOf } from '../../schema/model/constraint-names.js';
import { jsonEqual } from '../../kernel/json.js';
import type { Change } from './change.js';
import { type Step, step } from './step.js';
import { needsUnique } from './column.js';
import { primaryKeyColumns } from './create-table.js';
import { renameOwnIndex, label, renamePrimaryKey, tableOf } from './parts.js';
import { ident, join, literal, sql } from './sql.js';

/** Empty if the names are equal. Does not handle objects that are created or dropped. */
export function renameParts(change: Change, old: ColumnField, now: ColumnField): Step[] {
  return [
    ...renameMarkedKey(change, old, now),
    ...renameUnique(change, old, now),
    ...renameIndex(change, old, now),
    ...renameNotNull(change, old, now),
    ...changeIdentity(change, old, now),
  ];
}

const costs = { lock: 'ACCESS EXCLUSIVE', lock_entries: 2 } as const;

function renameMarkedKey(change: Change, old: ColumnField, now: ColumnField): Step[] {
  if (!old.schema.is_primary_key || !now.schema.is_primary_key) return [];
  const { collection } = change.event;
  const [from, to] = [change.before, change.after].map(({ collections }) => collections.get(collection));
  if (from === undefined || to === undefined || !jsonEqual(primaryKeyColumns(from), primaryKeyColumns(to))) return [];
  return renamePrimaryKey(change, primaryKeyNameOf(from), primaryKeyNameOf(to));
}

/** Empty if either column has none. */
export function renameUnique(change: Change, old: ColumnField, now: ColumnField): Step[] {
  if (!needsUnique(old) || !needsUnique(now) || uniqueNameOf(old) === uniqueNameOf(now)) return [];
  const names = sql`${ident(uniqueNameOf(old))} TO ${ident(uniqueNameOf(now))}`;
  const text = sql`ALTER TABLE ${tableOf(change)} RENAME CONSTRAINT ${names}`;
  return [step(text, `rename the constraint of ${label(now)}`, costs)];
}

export function renameIndex(change: Change, old: ColumnField, now: ColumnField): Step[] {
  if (!old.schema.is_indexed || !now.schema.is_indexed || indexNameOf(old) === indexNameOf(now)) return [];
  return [renameOwnIndex(change, [indexNameOf(old), indexNameOf(now)], `rename the index of ${label(now)}`)];
}

function renameNotNull(change: Change, old: ColumnField, now: ColumnField): Step[] {
  const [from, to] = [old, now].map(({ schema }) => schema.extras?.not_null_name);
  if (now.schema.is_nullable || (from === to && !old.schema.is_nullable)) return [];
  return to === undefined && old.schema.is_nullable ? [] : nameNotNulls(change, [now]);
}

/**
 * NOT NULL has a name only from PostgreSQL 18 on. The name is read from the catalog, because SET NOT NULL may have
 * just created the constraint. On a partition, the name follows the parent table.
 */
export function nameNotNulls(change: Change, columns: readonly ColumnField[]): Step[] {
  const named = columns.filter(({ schema }) => !schema.is_nullable);
  const [first, ...more] = named;
  if (first === undefined) return [];
  const names = named.map((column) => sql`(${literal(column.field)}, ${literal(notNullNameOf(column))})`);
  const table = sql`pg_catalog.to_regclass(${literal(tableOf(change))})`;
  const body = sql`DECLARE t record; BEGIN
    FOR t IN SELECT c.conname AS found, w.name FROM (VALUES ${join(names, sql`, `)}) AS w (field, name)
        JOIN pg_catalog.pg_attribute a ON a.attrelid = ${table}::oid AND a.attname = w.field
        JOIN pg_catalog.pg_constraint c ON c.conrelid = a.attrelid AND c.conkey OPERATOR(pg_catalog.=) ARRAY[a.attnum]
      WHERE c.contype = 'n' AND c.coninhcount = 0 AND c.conname <> w.name
    LOOP EXECUTE pg_catalog.format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', ${table}, t.found, t.name); END LOOP; END`;
  const summary =
    more.length === 0 ? `rename the NOT NULL of ${label(first)}` : `rename NOT NULLs of ${first.collection}`;
  return [step(sql`DO ${literal(body)}`, summary, costs)];
}

const isAlways = ({ schema }: ColumnField): boolean => schema.extras?.identity === 'always';

function changeIdentity(change: Change, old: ColumnField, now: ColumnField): Step[] {
  if (!isIdentity(old.schema) || !isIdentity(now.schema) || isAlways(old) === isAlways(now)) return [];
  const kind = isAlways(now) ? sql`ALWAYS` : sql`BY DEFAULT`;
  const text = sql`ALTER TABLE ${tableOf(change)} ALTER COLUMN ${ident(now.field)} SET GENERATED ${kind}`;
  return [step(text, `change who may set ${label(now)}`, costs)];
}
