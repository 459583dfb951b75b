/** Keeps the rendered collections from state to state, and renders only those again that have changed. */
import type { Resumable } from '../../kernel/resumable.js';
import { type CollectionNode, type State, byName, primaryKeyOf } from '../model/state.js';

/** Arrays with one element per collection, in document order. */
export interface Renderings<T> {
  names: readonly string[];
  nodes: readonly CollectionNode[];
  rendered: readonly T[];
}

/** Number of collections that are compared before the function pauses. */
const COMPARED = 500;

/**
 * Returns a function that renders every collection of a state.
 * @param render may use only the collection itself and the primary keys that its relations reference
 */
export function createRenderings<T>(render: (state: State, node: CollectionNode) => Resumable<T>) {
  let last: { collections?: State['collections']; renderings: Renderings<T> } = {
    renderings: { names: [], nodes: [], rendered: [] },
  };
  return function* (state: State): Resumable<Renderings<T>> {
    const { collections, renderings: before } = last;
    if (collections === state.collections) return before;
    const names = namesInOrder(before.names, state);
    yield;
    const previous = names === before.names ? before : alignNames(before, names);
    const { nodes, concerned } = yield* compare(state, names, { before, previous: previous.nodes });
    const rendered = previous.rendered.slice();
    for (const index of concerned) {
      rendered[index] = yield* render(state, nodes[index] as CollectionNode);
      yield;
    }
    const renderings = { names, nodes, rendered: rendered as readonly T[] };
    last = { collections: state.collections, renderings };
    return renderings;
  };
}

/**
 * Returns the names in document order. Sorting thousands of names is expensive, and few names differ between states, so
 * the previous order is reused.
 */
function namesInOrder(before: readonly string[], { collections }: State): readonly string[] {
  const kept = before.filter((name) => collections.has(name));
  if (kept.length === collections.size) return kept.length === before.length ? before : kept;
  const keptNames = new Set(kept);
  return [...kept, ...[...collections.keys()].filter((name) => !keptNames.has(name))].sort(byName);
}

/**
 * The earlier rendering of each collection, found by its index in the previous order. Undefined for a new collection.
 */
interface EarlierRenderings<T> {
  nodes: readonly (CollectionNode | undefined)[];
  rendered: readonly (T | undefined)[];
}

function alignNames<T>(before: Renderings<T>, names: readonly string[]): EarlierRenderings<T> {
  const indexes = new Map(before.names.map((name, index) => [name, index]));
  const at = names.map((name) => indexes.get(name) ?? -1);
  return { nodes: at.map((index) => before.nodes[index]), rendered: at.map((index) => before.rendered[index]) };
}

interface ComparedNodes {
  nodes: CollectionNode[];
  /** The indexes of collections that differ, or that reference a primary key that differs. */
  concerned: ReadonlySet<number>;
}

function* compare(
  state: State,
  names: readonly string[],
  { before, previous }: { before: Renderings<unknown>; previous: EarlierRenderings<unknown>['nodes'] },
): Resumable<ComparedNodes> {
  const nodes: CollectionNode[] = [];
  const concerned = new Set<number>();
  const otherKeys = before.names === names ? [] : before.names.filter((name) => !state.collections.has(name));
  for (const [index, name] of names.entries()) {
    const node = state.collections.get(name) as CollectionNode;
    nodes.push(node);
    if (node !== previous[index]) {
      concerned.add(index);
      if (keyOf(node) !== keyOf(previous[index])) otherKeys.push(name);
    }
    if (index % COMPARED === 0) yield;
  }
  const referencing = new Set(otherKeys.flatMap((name) => [...(state.referencedBy.get(name) ?? [])]));
  if (referencing.size > 0)
    for (const [index, name] of names.entries()) if (referencing.has(name)) concerned.add(index);
  return { nodes, concerned };
}

const keyOf = (node: CollectionNode | undefined): string | undefined =>
  node && JSON.stringify(primaryKeyOf(node).map(({ field }) => field));
