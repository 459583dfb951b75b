/**
 * A changed column, in the order that works for every combination:
 *
 * 1. what no longer holds goes: primary key, unique, index, foreign keys' way is free already (earlier events)
 * 2. DROP EXPRESSION, alone: the type of a generated column can't be changed with USING in the same statement
 * 3. one ALTER TABLE: drop identity, drop default (the old one may not fit the new type), drop NOT NULL, type, set NOT
 *    NULL, set default (it must fit the new type)
 * 4. the new identity, alone: PostgreSQL checks the column's type before it has run step 3; then its sequence
 * 5. what now holds is added: primary key, unique, index; the comment
 *
 * NOT NULL is set plainly. The short-lock way (a CHECK added NOT VALID, validated, then SET NOT NULL) pays only across
 * two transactions; in one, every step runs under the lock that its first step took, and the rows are read once either way.
 */
import type { CollectionNode } from '../../schema/state.js';
import type { Statement } from '../statement.js';
import { columnType } from '../../schema/normal-form/index.js';
import { type Change, type Costs, statement } from './change.js';
import { type ColumnField, needsUnique } from './column.js';
import { primaryKeyColumns } from './create-table.js';
import { defaultExpression } from './default.js';
import {
  addPrimaryKey,
  addUnique,
  columnComment,
  createIndex,
  dropIndex,
  dropPrimaryKey,
  dropUnique,
} from './parts.js';
import { label, tableOf } from './parts.js';
import { type Sql, ident, join, literal, sql, typeName } from './sql.js';
import { conversion } from './type-change.js';
import { typeChangeCosts } from './type-change-costs.js';

type FieldUpdate = Change<'field.updated'>;

export function alterColumn(change: FieldUpdate, old: ColumnField, now: ColumnField): Statement[] {
  return [
    ...dropParts(change, old, now),
    ...dropExpression(change, old, now),
    ...alterAttributes(change, old, now),
    ...addIdentity(change, old, now),
    ...addParts(change, old, now),
  ];
}

/** A column whose identity is dropped, added or kept; kept needs no statement, also when the type changes. */
const startsCounting = (old: ColumnField, now: ColumnField): boolean =>
  !old.schema.has_auto_increment && now.schema.has_auto_increment;
const stopsCounting = (old: ColumnField, now: ColumnField): boolean => startsCounting(now, old);

function primaryKeyChanges({ event, before, after }: FieldUpdate): { from: CollectionNode; to: CollectionNode } | null {
  const from = before.collections.get(event.collection) as CollectionNode;
  const to = after.collections.get(event.collection) as CollectionNode;
  return primaryKeyColumns(from).join('\0') === primaryKeyColumns(to).join('\0') ? null : { from, to };
}

function dropParts(change: FieldUpdate, old: ColumnField, now: ColumnField): Statement[] {
  const key = primaryKeyChanges(change);
  const statements = key === null ? [] : dropPrimaryKey(change, key.from);
  if (needsUnique(old) && !needsUnique(now)) statements.push(dropUnique(change, old));
  if (old.schema.is_indexed && !now.schema.is_indexed) statements.push(dropIndex(change, old));
  return statements;
}

function addParts(change: FieldUpdate, old: ColumnField, now: ColumnField): Statement[] {
  const key = primaryKeyChanges(change);
  const statements = key === null ? [] : addPrimaryKey(change, key.to);
  if (!needsUnique(old) && needsUnique(now)) statements.push(addUnique(change, now));
  const concurrent = change.event.data.concurrent_indexes === true;
  if (!old.schema.is_indexed && now.schema.is_indexed && !concurrent) statements.push(createIndex(change, now));
  if (old.schema.comment !== now.schema.comment) statements.push(columnComment(change, now));
  return statements;
}

function dropExpression(change: FieldUpdate, old: ColumnField, now: ColumnField): Statement[] {
  if (old.schema.generation_expression === null || now.schema.generation_expression !== null) return [];
  const text = sql`ALTER TABLE ${tableOf(change)} ALTER COLUMN ${ident(now.field)} DROP EXPRESSION`;
  return [statement(change, text, `let ${label(now)} keep its values`, { lock: 'ACCESS EXCLUSIVE' })];
}

function alterAttributes(change: FieldUpdate, old: ColumnField, now: ColumnField): Statement[] {
  const actions = attributeActions(old, now);
  if (actions.length === 0) return [];
  const column = ident(now.field);
  const alterations = actions.map(({ action }) => sql`ALTER COLUMN ${column} ${action}`);
  const words = [...new Set(actions.map(({ what }) => what))].join(', ');
  const costs: Costs = { lock: 'ACCESS EXCLUSIVE', lock_entries: 8, ...attributeCosts(old, now) };
  const text = sql`ALTER TABLE ${tableOf(change)} ${join(alterations, sql`, `)}`;
  return [statement(change, text, `alter column ${label(now)}: ${words}`, costs)];
}

interface Action {
  action: Sql;
  what: 'auto increment' | 'default' | 'nullability' | 'type';
}

function attributeActions(old: ColumnField, now: ColumnField): Action[] {
  const actions: Action[] = [];
  const typeChanges = columnType(old.schema) !== columnType(now.schema);
  const oldDefault = defaultExpression(old, old.schema);
  const newDefault = defaultExpression(now, now.schema);
  const setsDefault = newDefault !== null && (typeChanges || newDefault !== oldDefault);
  const dropsDefault = oldDefault !== null && (typeChanges || newDefault === null);

  if (stopsCounting(old, now)) actions.push({ what: 'auto increment', action: sql`DROP IDENTITY` });
  if (dropsDefault) actions.push({ what: 'default', action: sql`DROP DEFAULT` });
  if (losesNotNull(old, now)) actions.push({ what: 'nullability', action: sql`DROP NOT NULL` });
  if (typeChanges) actions.push({ what: 'type', action: typeAction(old, now) });
  if (old.schema.is_nullable && !now.schema.is_nullable) {
    actions.push({ what: 'nullability', action: sql`SET NOT NULL` });
  }
  if (setsDefault) actions.push({ what: 'default', action: sql`SET DEFAULT ${newDefault}` });
  return actions;
}

/** A column that was in a primary key stays NOT NULL when the key goes, whoever set that: here it is taken off. */
function losesNotNull(old: ColumnField, now: ColumnField): boolean {
  return now.schema.is_nullable && (!old.schema.is_nullable || old.schema.is_primary_key);
}

function typeAction(old: ColumnField, now: ColumnField): Sql {
  const using = conversion(old.schema, now.schema, ident(now.field));
  const type = sql`TYPE ${typeName(columnType(now.schema))}`;
  return using === null ? type : sql`${type} USING ${using}`;
}

function attributeCosts(old: ColumnField, now: ColumnField): Partial<Costs> {
  const costs = typeChangeCosts(old.schema, now.schema);
  const setsNotNull = old.schema.is_nullable && !now.schema.is_nullable;
  return { ...costs, may_fail: costs.may_fail || setsNotNull };
}

/**
 * Identity, old × new: no × no and yes × yes need nothing (a change of the type changes the sequence too), yes × no is
 * DROP IDENTITY, no × yes is this. The sequence starts behind the largest value there is, in the same transaction.
 */
function addIdentity(change: FieldUpdate, old: ColumnField, now: ColumnField): Statement[] {
  if (!startsCounting(old, now)) return [];
  const column = ident(now.field);
  const table = tableOf(change);
  const sequence = sql`pg_get_serial_sequence(${literal(table)}, ${literal(now.field)})`;
  const summary = `let ${label(now)} count on its own`;
  return [
    statement(change, sql`ALTER TABLE ${table} ALTER COLUMN ${column} ADD GENERATED BY DEFAULT AS IDENTITY`, summary, {
      lock: 'ACCESS EXCLUSIVE',
      lock_entries: 3,
    }),
    statement(
      change,
      sql`SELECT setval(${sequence}, max(${column})) FROM ${table} HAVING max(${column}) > 0`,
      `${summary} from its largest value`,
      { lock: 'none', lock_entries: 2 },
    ),
  ];
}
