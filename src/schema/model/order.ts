/** Orders that keep every prefix of a batch valid: what others stand in comes before them. */
import { extrasOf, type CollectionNode, type State, byName, partitionsOf } from './state.js';
import type { Field, Relation } from './model.js';
import type { Resumable } from '../../kernel/resumable.js';
import { sortedInSteps } from '../../kernel/sorted.js';

/**
 * Names so ordered that each comes after all it needs of `names`; by name otherwise. What needs itself in a circle comes
 * where it is met first.
 */
export function* neededFirst(
  names: Iterable<string>,
  needsOf: (name: string) => Iterable<string>,
): Resumable<string[]> {
  const pending = new Set(yield* sortedInSteps(names, byName));
  const ordered: string[] = [];
  for (const first of pending) {
    const open = [first];
    for (let name = open.at(-1); name !== undefined; name = open.at(-1)) {
      pending.delete(name);
      const next = [...needsOf(name)].find((each) => pending.has(each));
      if (next !== undefined) open.push(next);
      else ordered.push(open.pop() as string);
      yield;
    }
  }
  return ordered;
}

/** Names so ordered that a collection, or a field, comes after its group. */
export const groupsFirst = (
  names: Iterable<string>,
  groupOf: (name: string) => string | null | undefined,
): Resumable<string[]> =>
  neededFirst(names, (name) => {
    const group = groupOf(name);
    return group == null ? [] : [group];
  });

/** The table that a collection is a partition of. */
export const parentOf = ({ collections }: State, name: string): string | undefined =>
  extrasOf(collections.get(name)).partition_of?.table;

/**
 * What belongs to collections, so ordered that partitions come before what they are partitions of; otherwise as it was.
 * A foreign key of a partitioned table takes those of its partitions along when it goes, and takes over what is there
 * when it comes: their names stay.
 */
export function* partitionsFirst<T>(
  items: readonly T[],
  state: State,
  nameOf: (item: T) => string,
): Resumable<readonly T[]> {
  const depths = new Map<T, number>();
  for (const item of items) {
    const depth = tablesAbove(state, nameOf(item)).length;
    if (depth > 0) depths.set(item, depth);
    yield;
  }
  if (depths.size === 0) return items;
  return yield* sortedInSteps(items, (a, b) => (depths.get(b) ?? 0) - (depths.get(a) ?? 0));
}

/** The tables that one is a partition of, each of the next; the catalog has no circles, but a document may. */
export function tablesAbove(state: State, name: string): string[] {
  const above = new Set<string>();
  for (let at = parentOf(state, name); at !== undefined && !above.has(at); at = parentOf(state, at)) above.add(at);
  return [...above];
}

/** A table and its partitions, with those of them. */
export function withPartitions(state: State, name: string): string[] {
  const names = new Set([name]);
  for (const each of names) for (const partition of partitionsOf(state, each)) names.add(partition);
  return [...names];
}

/** Fields in document order: by meta.sort, nulls last, then by name. */
export function fieldsInOrder(node: CollectionNode): Field[] {
  return [...node.fields.values()].sort((a, b) => compareSort(a.meta.sort, b.meta.sort) || byName(a.field, b.field));
}

/** Relations in document order: by the name of their field. */
export function relationsInOrder(node: CollectionNode): Relation[] {
  return [...node.relations.values()].sort((a, b) => byName(a.many_field, b.many_field));
}

/** Collections in document order: by name, folders among them. */
export function* collectionsInOrder({ collections }: State): Resumable<CollectionNode[]> {
  return yield* sortedInSteps(collections.values(), (a, b) => byName(a.collection.collection, b.collection.collection));
}

function compareSort(a: number | null, b: number | null): number {
  if (a === b) return 0;
  if (a === null) return 1;
  return b === null ? -1 : a - b;
}
