/**
 * The way from one state to another where some of what comes is in the trash: tables come back as they were, and become
 * from there what the other state says; fields come back as the other state says them, and only where that fits.
 */
import type { Resumable } from '../../kernel/resumable.js';
import { fold } from '../fold/evolve.js';
import type { NewEvent } from '../model/events.js';
import { type CollectionNode, type Identity, type State, initialState } from '../model/state.js';
import type { Restores, TransitionOptions } from './context.js';
import { dropCollection } from './cascade.js';
import { Draft } from './draft.js';
import { NO_RENAMES, renamesBetween, withRenames } from './renames.js';
import { withoutReferences } from './table-extras.js';
import { transition } from './transition.js';

/** What a deletion left in the trash. */
export interface InTrash extends Restores {
  kind: 'collection' | 'field';
  identity: Identity;
  /** The collection as it was just before the deletion. */
  node: CollectionNode;
}

export interface Way {
  from: State;
  /** What comes back has its identity here already. */
  to: State;
  /** The collections that may differ. */
  touched: Iterable<string>;
  options?: TransitionOptions;
}

/** The events of the way. @param found what comes back; each must fit (`unfit`) */
export function* restoringTransition(way: Way, found: readonly InTrash[]): Resumable<NewEvent[]> {
  const { from, to, options } = way;
  const touched = new Set(way.touched);
  const tables = found.filter(({ kind }) => kind === 'collection');
  const restores = new Map<Identity, Restores>(options?.restores);
  for (const each of found) restores.set(each.identity, each);
  if (tables.length === 0) return yield* transition(from, to, touched, { ...options, restores });
  const { state, names } = yield* withTables(way, tables);
  for (const name of names) touched.add(name);
  const first = yield* transition(from, state, touched, { restores });
  const after = fold(
    first.map((event, index) => ({ ...event, position: from.position + 1 + index })),
    from,
  );
  return [...first, ...(yield* transition(after, to, touched, { ...options, restores }))];
}

/** The state by the names of the other one, with the tables in it as they come back. */
export function* withTables(
  { from, to, touched }: Way,
  tables: readonly InTrash[],
): Resumable<{ state: State; names: ReadonlySet<string> }> {
  const named = yield* withRenames(from, yield* renamesBetween(from, to, touched));
  const draft = new Draft(named.state, named.touched);
  const names = yield* namesByIdentity(to, touched);
  const nodes: CollectionNode[] = [];
  for (const { identity, node } of tables) {
    const name = names.get(identity);
    if (name === undefined) throw new Error(`restoring: ${identity} is not where it leads to`);
    // What has the name goes on this way: it can't be the one that comes back.
    if (draft.get(name) !== undefined) dropCollection(draft, named.state, name);
    nodes.push(yield* called(node, name));
  }
  const isThere = (name: string): boolean =>
    draft.get(name) !== undefined || nodes.some(({ collection }) => collection.collection === name);
  for (const node of nodes) draft.restoreCollection(asItComesBack(node, isThere));
  return { state: yield* draft.toState(), names: draft.touched };
}

function* namesByIdentity(state: State, names: Iterable<string>): Resumable<ReadonlyMap<Identity, string>> {
  const found = new Map<Identity, string>();
  for (const name of names) {
    const identity = state.collections.get(name)?.identities.collection;
    if (identity !== undefined) found.set(identity, name);
    yield;
  }
  return found;
}

/** A collection by another name, and what follows from it. */
function* called(node: CollectionNode, name: string): Resumable<CollectionNode> {
  const { collection } = node.collection;
  if (collection === name) return node;
  const empty = initialState();
  const alone = { ...empty, collections: empty.collections.set(collection, { ...node, relations: new Map() }) };
  const { state } = yield* withRenames(alone, { ...NO_RENAMES, collections: new Map([[collection, name]]) });
  return state.collections.get(name) as CollectionNode;
}

/** Foreign keys to other tables stayed behind when it went; what groups it may be gone. */
function asItComesBack(node: CollectionNode, isThere: (name: string) => boolean): CollectionNode {
  const { collection } = node;
  const { group } = collection.meta;
  const schema = collection.schema && withoutReferences(collection.schema, (table) => table !== collection.collection);
  const meta = { ...collection.meta, group: group !== null && isThere(group) ? group : null };
  return { ...node, collection: { ...collection, schema, meta } };
}
