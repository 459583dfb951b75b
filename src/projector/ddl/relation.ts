import { parentOf } from '../../schema/model/order.js';
import { type State, getRelation } from '../../schema/model/state.js';
import type { LockedTable, Preparable } from './statement.js';
import { type Change, fieldNameOf } from './change.js';
import { type Step, dropping, partOf, step } from './step.js';
import { type ForeignKeyRelation, foreignKeyConstraint, foreignKeyDefinition, hasForeignKey } from './create-table.js';
import { DROPPED_KEY_ENTRIES } from './parts.js';
import { ident, qualified, sql } from './sql.js';

type RelationChange = Change<'relation.created' | 'relation.updated' | 'relation.deleted'>;

/** Empty if no foreign key is created, dropped or changed, and on a partition whose parent has the same one. */
export function planRelation(change: RelationChange): Step[] {
  const { event, before, after } = change;
  const name = fieldNameOf(event);
  const old = getRelation(before, event.collection, name);
  const now = getRelation(after, event.collection, name);
  if (hasForeignKey(old) && hasForeignKey(now)) return replaceForeignKey(change, old, now);
  if (hasForeignKey(old)) return isInheritedRelation(before, old) ? [] : [dropForeignKey(change, old)];
  return !hasForeignKey(now) || isInheritedRelation(after, now) ? [] : [addForeignKey(change, now)];
}

/**
 * PostgreSQL manages and drops the foreign keys of a partitioned table on its partitions. Events that drop one list
 * the partitions first.
 */
export function isInheritedRelation(
  state: State,
  { many_collection, many_field, one_collection }: ForeignKeyRelation,
): boolean {
  const parent = parentOf(state, many_collection);
  const theirs = parent === undefined ? undefined : getRelation(state, parent, many_field);
  return hasForeignKey(theirs) && theirs.one_collection === one_collection;
}

function replaceForeignKey(change: Change, old: ForeignKeyRelation, now: ForeignKeyRelation): Step[] {
  const sameName = old.schema.constraint_name === now.schema.constraint_name;
  const sameKey =
    old.one_collection === now.one_collection &&
    old.schema.on_update === now.schema.on_update &&
    old.schema.on_delete === now.schema.on_delete &&
    old.schema.deferrable === now.schema.deferrable;
  if (!sameKey) return [dropForeignKey(change, old), addForeignKey(change, now)];
  return sameName ? [] : [renameForeignKey(change, old, now)];
}

/** Fails on existing rows without a matching key. */
export function addForeignKey(change: Change, relation: ForeignKeyRelation): Step {
  const table = qualified(change.schema, relation.many_collection);
  const text = sql`ALTER TABLE ${table} ADD ${foreignKeyConstraint(relation, change.after, change.schema)}`;
  const summary = `point ${relation.many_collection}.${relation.many_field} at ${relation.one_collection}`;
  const costs = { object: constraint(relation), lock: 'SHARE ROW EXCLUSIVE', lock_entries: 4 } as const;
  const preparable: Preparable = {
    kind: 'constraint',
    name: relation.schema.constraint_name,
    references: relation.one_collection,
    definition: foreignKeyDefinition(relation, change.after, change.schema),
  };
  return step(text, summary, { ...costs, may_fail: true, also: otherTable(relation, costs.lock), preparable });
}

/** IF EXISTS: someone may have dropped the key, its column or its table by hand. */
export function dropForeignKey(change: Change, relation: ForeignKeyRelation): Step {
  const table = qualified(change.schema, relation.many_collection);
  const text = sql`ALTER TABLE IF EXISTS ${table} DROP CONSTRAINT IF EXISTS ${ident(relation.schema.constraint_name)}`;
  const summary = `let ${relation.many_collection}.${relation.many_field} point at nothing`;
  const costs = { lock: 'ACCESS EXCLUSIVE', lock_entries: DROPPED_KEY_ENTRIES } as const;
  const also = otherTable(relation, costs.lock);
  return step(text, summary, { ...dropping(constraint(relation)), ...costs, also });
}

/** Applies to the table of `now`, whatever its previous name. */
export function renameForeignKey(change: Change, old: ForeignKeyRelation, now: ForeignKeyRelation): Step {
  const table = qualified(change.schema, now.many_collection);
  const names = sql`${ident(old.schema.constraint_name)} TO ${ident(now.schema.constraint_name)}`;
  const summary = `rename the foreign key of ${now.many_collection}.${now.many_field}`;
  const text = sql`ALTER TABLE ${table} RENAME CONSTRAINT ${names}`;
  return step(text, summary, { object: constraint(now), lock: 'ACCESS EXCLUSIVE', lock_entries: 2 });
}

const constraint = ({ many_collection, schema }: ForeignKeyRelation) =>
  partOf(many_collection, 'constraint', schema.constraint_name);

/** A foreign key locks both of its tables. */
const otherTable = (
  { many_collection, one_collection }: ForeignKeyRelation,
  lock: LockedTable['lock'],
): LockedTable[] => (one_collection === many_collection ? [] : [{ table: one_collection, lock }]);
