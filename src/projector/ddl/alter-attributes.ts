/**
 * Plans the parts of a column that one ALTER TABLE can change. Order: drop default and NOT NULL (they may not fit the
 * new type), change the type, set NOT NULL and the new default.
 *
 * NOT NULL is set directly. Adding it NOT VALID and validating it later only helps across two transactions. In one
 * transaction, the first lock is held until the commit and the rows are read once either way. If the column was
 * prepared online (src/projector/online), it is NOT NULL before this statement runs.
 */
import { needsOfNode } from '../../schema/model/needs.js';
import type { ColumnField } from '../../schema/model/state.js';
import type { Change } from './change.js';
import { type Costs, type Step, step } from './step.js';
import { columnTypeSql } from './column.js';
import { defaultExpression } from './default-clause.js';
import { label, tableOf } from './parts.js';
import { type Sql, ident, join, sql } from './sql.js';
import { conversion } from './type-change.js';
import { typeChangeCosts } from './type-change-costs.js';

/** Returns one statement, or none if type, nullability and default stay the same. */
export function alterAttributes(change: Change, old: ColumnField, now: ColumnField): Step[] {
  const actions = attributeActions(old, now);
  if (actions.length === 0) return [];
  const column = ident(now.field);
  const alterations = actions.map(({ action }) => sql`ALTER COLUMN ${column} ${action}`);
  const words = [...new Set(actions.map(({ what }) => what))].join(', ');
  const costs: Costs = { lock: 'ACCESS EXCLUSIVE', lock_entries: 8, ...attributeCosts(change, old, now) };
  const text = sql`ALTER TABLE ${tableOf(change)} ${join(alterations, sql`, `)}`;
  return [step(text, `alter column ${label(now)}: ${words}`, costs)];
}

interface Action {
  action: Sql;
  what: 'default' | 'nullability' | 'type';
}

function attributeActions(old: ColumnField, now: ColumnField): Action[] {
  const value = defaultChange(old, now);
  const actions: (Action | null)[] = [
    value.drops ? { what: 'default', action: sql`DROP DEFAULT` } : null,
    losesNotNull(old, now) ? { what: 'nullability', action: sql`DROP NOT NULL` } : null,
    typeChanges(old, now) ? { what: 'type', action: typeAction(old, now) } : null,
    setsNotNull(old, now) ? { what: 'nullability', action: sql`SET NOT NULL` } : null,
    value.sets === null ? null : { what: 'default', action: sql`SET DEFAULT ${value.sets}` },
  ];
  return actions.filter((action) => action !== null);
}

const typeChanges = (old: ColumnField, now: ColumnField): boolean => columnTypeSql(old) !== columnTypeSql(now);

const setsNotNull = (old: ColumnField, now: ColumnField): boolean => old.schema.is_nullable && !now.schema.is_nullable;

/** A column keeps NOT NULL when its primary key is dropped, so NOT NULL is dropped here. */
const losesNotNull = (old: ColumnField, now: ColumnField): boolean =>
  now.schema.is_nullable && (!old.schema.is_nullable || old.schema.is_primary_key);

/** A new type always sets the default again: otherwise the default keeps a cast from the old type. */
function defaultChange(old: ColumnField, now: ColumnField): { drops: boolean; sets: Sql | null } {
  const from = defaultExpression(old, old.schema);
  const to = defaultExpression(now, now.schema);
  const retyped = typeChanges(old, now);
  return { drops: from !== null && (retyped || to === null), sets: retyped || from !== to ? to : null };
}

function typeAction(old: ColumnField, now: ColumnField): Sql {
  const using = conversion(old.schema, now.schema, ident(now.field));
  const type = sql`TYPE ${columnTypeSql(now)}`;
  return using === null ? type : sql`${type} USING ${using}`;
}

function attributeCosts({ event, before, after }: Change, old: ColumnField, now: ColumnField): Partial<Costs> {
  const needs = [before, after].flatMap(({ collections }) => needsOfNode(collections.get(event.collection)));
  const costs = typeChangeCosts(old.schema, now.schema, needs);
  if (!setsNotNull(old, now)) return costs;
  return { ...costs, may_fail: true, ...(!costs.may_fail && { preparable: { kind: 'not null', column: now.field } }) };
}
