/**
 * Foreign keys that are not relations. They may reference any table of the batch and depend on its changes, so they
 * wait until the batch ends. In a replay, a batch is a slice of the log: the same slice may drop the key again, and a
 * later slice may create the target.
 */
import type { Resumable } from '../../kernel/resumable.js';
import { partitionsFirst } from '../../schema/model/order.js';
import { type State, extrasOf } from '../../schema/model/state.js';
import type { Statement } from './statement.js';
import { batchNeeds } from './change.js';
import type { Change } from './change.js';
import { type Constraint, addConstraint, goesBeforeAttaching } from './extras.js';
import { statementsOf } from './step.js';
import { newEvent, takenFromTrash, isRename } from '../../schema/model/events.js';

/** A foreign key that does not exist yet, and the change that its statement is attributed to. */
export interface DeferredForeignKey {
  change: Change;
  constraint: Constraint;
}

export interface DeferredForeignKeys {
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
export function deferredForeignKeys(awaited: readonly DeferredForeignKey[]): DeferredForeignKeys {
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
      // Dropping a table also drops its keys, so waiting ones need not be created.
      if (type === 'collection.deleted') return [];
      all.filter((each) => !hasTarget(each, before)).forEach(wait);
      return addReferences(all, before);
    },
    after(change) {
      if (isRename(change.event)) {
        const all = [...waiting.values()].flat();
        waiting.clear();
        all.forEach((each) => wait(byNewNames(each, change)));
      }
      if (change.event.type !== 'collection.created') return;
      for (const constraint of referencesOf(change.after, change.event.collection)) {
        if (isRestored(change, constraint)) continue;
        if (!goesBeforeAttaching(change, constraint)) wait({ change, constraint });
      }
    },
    wait,
    *end(state, statements) {
      for (const [, all] of yield* partitionsFirst([...waiting], state, ([name]) => name)) {
        statements.push(...addReferences(all, state));
        yield;
      }
    },
  };
}

/** A table restored from the trash still has its references to itself. */
const isRestored = ({ event, hasTrash }: Change, { references }: Constraint): boolean =>
  hasTrash &&
  event.type === 'collection.created' &&
  takenFromTrash(event.data) !== undefined &&
  references === event.collection;

/** Translates a waiting key to the names after a rename. */
function byNewNames({ change, constraint }: DeferredForeignKey, { event, after }: Change): DeferredForeignKey {
  const { collection: holder } = change.event;
  const isHolder = event.type === 'collection.renamed' && event.collection === holder;
  const collection = isHolder ? event.data.to : holder;
  const now = referencesOf(after, collection).find(({ name }) => name === constraint.name);
  const renamed = newEvent('collection.updated', collection, null, { patch: [] });
  return { change: { ...change, event: renamed, after }, constraint: now ?? constraint };
}

/** Foreign keys of the state's collections whose target table is not in the state yet. */
export function awaitedForeignKeys(state: State, schema: string): DeferredForeignKey[] {
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
