import { parentOf, sortPartitionsFirst } from '../../schema/model/order.js';
import { type State, getRelation, extrasOf } from '../../schema/model/state.js';
import {
  type LockedTable,
  type Preparable,
  type Change,
  fieldNameOf,
  type Step,
  dropOf,
  partOf,
  step,
  type Statement,
  batchNeeds,
  statementsOf,
} from './step.js';
import { type ForeignKeyRelation, foreignKeyConstraint, foreignKeyDefinition, hasForeignKey } from './create-table.js';
import { DROPPED_KEY_ENTRIES, tableOf } from './keys-and-indexes.js';
import { ident, sql } from './sql.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type Constraint, addConstraint, mustPrecedeAttaching } from './extras.js';
import { newEvent, readRestored, isRename } from '../../schema/model/events.js';

type RelationChange = Change<'relation.created' | 'relation.updated' | 'relation.deleted'>;

/**
 * Returns no step if no foreign key is created, dropped or changed, or for a partition whose parent has the same
 * foreign key.
 */
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
 * True if a partition inherits the foreign key. PostgreSQL manages and drops the foreign keys of a partitioned table on
 * its partitions. Events that drop one list the partitions first.
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

/** Adds a foreign key. The statement fails on existing rows without a matching key. */
export function addForeignKey(change: Change, relation: ForeignKeyRelation): Step {
  const table = tableOf(onTable(change, relation));
  const text = sql`ALTER TABLE ${table} ADD ${foreignKeyConstraint(relation, change.after, change.schema)}`;
  const summary = `add a foreign key from ${relation.many_collection}.${relation.many_field} to ${relation.one_collection}`;
  const costs = { object: constraint(relation), lock: 'SHARE ROW EXCLUSIVE', lock_entries: 4 } as const;
  const preparable: Preparable = {
    kind: 'constraint',
    name: relation.schema.constraint_name,
    references: relation.one_collection,
    definition: foreignKeyDefinition(relation, change.after, change.schema),
  };
  return step(text, summary, { ...costs, may_fail: true, also: otherTable(relation, costs.lock), preparable });
}

/** Drops a foreign key. IF EXISTS is used because someone may have dropped the key, its column or its table by hand. */
export function dropForeignKey(change: Change, relation: ForeignKeyRelation): Step {
  const table = tableOf(onTable(change, relation));
  const text = sql`ALTER TABLE IF EXISTS ${table} DROP CONSTRAINT IF EXISTS ${ident(relation.schema.constraint_name)}`;
  const summary = `drop the foreign key of ${relation.many_collection}.${relation.many_field}`;
  const costs = { lock: 'ACCESS EXCLUSIVE', lock_entries: DROPPED_KEY_ENTRIES } as const;
  const also = otherTable(relation, costs.lock);
  return step(text, summary, { ...dropOf(constraint(relation)), ...costs, also });
}

/** Renames the foreign key on the table of `now`, regardless of the table's previous name. */
export function renameForeignKey(change: Change, old: ForeignKeyRelation, now: ForeignKeyRelation): Step {
  const table = tableOf(onTable(change, now));
  const names = sql`${ident(old.schema.constraint_name)} TO ${ident(now.schema.constraint_name)}`;
  const summary = `rename the foreign key of ${now.many_collection}.${now.many_field}`;
  const text = sql`ALTER TABLE ${table} RENAME CONSTRAINT ${names}`;
  return step(text, summary, { object: constraint(now), lock: 'ACCESS EXCLUSIVE', lock_entries: 2 });
}

/** Returns the change as seen from the table that holds the foreign key. */
const onTable = (change: Change, { many_collection: collection }: ForeignKeyRelation): Change => ({
  ...change,
  event: { ...change.event, collection },
});

const constraint = ({ many_collection, schema }: ForeignKeyRelation) =>
  partOf(many_collection, 'constraint', schema.constraint_name);

/** Returns the lock on the referenced table, because a foreign key locks both of its tables. */
const otherTable = (
  { many_collection, one_collection }: ForeignKeyRelation,
  lock: LockedTable['lock'],
): LockedTable[] => (one_collection === many_collection ? [] : [{ table: one_collection, lock }]);

/*
 * Foreign keys that are not relations. They may reference any table of the batch and depend on its changes, so they
 * wait until the batch ends. In a replay, a batch is a slice of the log: the same slice may drop the key again, and a
 * later slice may create the target.
 */

/** A foreign key that does not exist yet, and the change that its statement is attributed to. */
export interface DeferredForeignKey {
  change: Change;
  constraint: Constraint;
}

interface DeferredForeignKeys {
  /** Returns the statements that must run before the change, because the change alters something that is waiting. */
  before(change: Change): Statement[];
  /** Adds the foreign keys that the change creates. */
  after(change: Change): void;
  /** Adds a foreign key that was dropped temporarily. */
  wait(reference: DeferredForeignKey): void;
  /** Adds all foreign keys whose target exists at the end of the batch. The others keep waiting. */
  end(state: State, statements: Statement[]): Resumable<void>;
}

/** @param awaited keys that have waited since an earlier slice of the log */
export function createDeferredForeignKeys(awaited: readonly DeferredForeignKey[]): DeferredForeignKeys {
  const waiting = new Map<string, DeferredForeignKey[]>();
  const wait = (each: DeferredForeignKey): void => {
    const { collection } = each.change.event;
    const there = waiting.get(collection) ?? [];
    if (there.some(({ constraint: { name } }) => name === each.constraint.name)) return;
    waiting.set(collection, [...there, each]);
  };
  awaited.forEach(wait);
  /** Releases all waiting keys whose target exists. */
  const release = (state: State): Statement[] => {
    const all = [...waiting.values()].flat();
    waiting.clear();
    all.filter((each) => !hasTarget(each, state)).forEach(wait);
    return addReferences(all, state);
  };
  return {
    before({ event, before }) {
      // After a rename, the waiting definitions would use outdated names.
      if (isRename(event)) return release(before);
      const { type, collection } = event;
      const all = waiting.get(collection);
      if (all === undefined || (type !== 'collection.updated' && type !== 'collection.deleted')) return [];
      waiting.delete(collection);
      // A dropped table loses its keys anyway, so waiting ones need not be created.
      if (type === 'collection.deleted') return [];
      all.filter((each) => !hasTarget(each, before)).forEach(wait);
      return addReferences(all, before);
    },
    after(change) {
      if (isRename(change.event)) {
        const all = [...waiting.values()].flat();
        waiting.clear();
        all.forEach((each) => wait(translateNames(each, change)));
      }
      if (change.event.type !== 'collection.created') return;
      for (const constraint of referencesOf(change.after, change.event.collection)) {
        if (isRestored(change, constraint)) continue;
        if (!mustPrecedeAttaching(change, constraint)) wait({ change, constraint });
      }
    },
    wait,
    *end(state, statements) {
      for (const [, all] of sortPartitionsFirst([...waiting], state, ([name]) => name)) {
        statements.push(...addReferences(all, state));
        yield;
      }
    },
  };
}

/** True for a reference of a restored table to itself, which the table still has. */
const isRestored = ({ event, hasTrash }: Change, { references }: Constraint): boolean =>
  hasTrash &&
  event.type === 'collection.created' &&
  readRestored(event.data) !== undefined &&
  references === event.collection;

/** Translates a waiting key to the names after a rename. */
function translateNames({ change, constraint }: DeferredForeignKey, { event, after }: Change): DeferredForeignKey {
  const { collection: holder } = change.event;
  const isHolder = event.type === 'collection.renamed' && event.collection === holder;
  const collection = isHolder ? event.data.to : holder;
  const now = referencesOf(after, collection).find(({ name }) => name === constraint.name);
  const renamed = newEvent('collection.updated', collection, null, { patch: [] });
  return { change: { ...change, event: renamed, after }, constraint: now ?? constraint };
}

/** Returns foreign keys of the state's collections whose target table is not in the state yet. */
export function findAwaitedForeignKeys(state: State, schema: string): DeferredForeignKey[] {
  const awaited: DeferredForeignKey[] = [];
  for (const collection of state.collections.keys()) {
    for (const constraint of referencesOf(state, collection)) {
      if (hasTarget({ constraint }, state)) continue;
      const event = newEvent('collection.updated', collection, null, { patch: [] });
      const needs = batchNeeds(state, false);
      const { position } = state;
      const states = { before: state, after: state };
      const change = { event, index: 0, position, hasTrash: false, ...states, schema, createdAt: new Map(), needs };
      awaited.push({ change, constraint });
    }
  }
  return awaited;
}

const referencesOf = ({ collections }: State, collection: string): Constraint[] =>
  (extrasOf(collections.get(collection)).constraints ?? []).filter(({ references }) => references !== undefined);

const hasTarget = ({ constraint }: Pick<DeferredForeignKey, 'constraint'>, { collections }: State): boolean =>
  collections.has(constraint.references ?? '');

const addReferences = (all: readonly DeferredForeignKey[], state: State): Statement[] =>
  all
    .filter((each) => hasTarget(each, state))
    .flatMap(({ change, constraint }) => statementsOf(change, [addConstraint(change, constraint)]));
