/**
 * A transition that restores objects from the trash. Tables are restored as they were and then changed to the target
 * state. Fields are restored as in the target state, if that is compatible.
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

/** A trash entry. */
export interface InTrash extends Restores {
  kind: 'collection' | 'field';
  identity: Identity;
  /** The collection just before the deletion. */
  node: CollectionNode;
}

export interface Way {
  from: State;
  /** Restored objects already have their identity here. */
  to: State;
  /** Collections that may differ. */
  touched: Iterable<string>;
  options?: TransitionOptions;
}

/** Returns the events. @param found the restored entries, each of which must be compatible (`unfit`) */
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

/** Returns the state by the target's names, with restored tables as they were. */
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
    // The transition removes the present owner of the name, because it is another object.
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

/** Returns a collection under another name, with the consequences of the rename. */
function* called(node: CollectionNode, name: string): Resumable<CollectionNode> {
  const { collection } = node.collection;
  if (collection === name) return node;
  const empty = initialState();
  const alone = { ...empty, collections: empty.collections.set(collection, { ...node, relations: new Map() }) };
  const { state } = yield* withRenames(alone, { ...NO_RENAMES, collections: new Map([[collection, name]]) });
  return state.collections.get(name) as CollectionNode;
}

/** Foreign keys to other tables were removed at the deletion, and its group may no longer exist. */
function asItComesBack(node: CollectionNode, isThere: (name: string) => boolean): CollectionNode {
  const { collection } = node;
  const { group } = collection.meta;
  const schema = collection.schema && withoutReferences(collection.schema, (table) => table !== collection.collection);
  const meta = { ...collection.meta, group: group !== null && isThere(group) ? group : null };
  return { ...node, collection: { ...collection, schema, meta } };
}
