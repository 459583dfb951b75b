/** Orders that keep every prefix of a batch valid: what others stand in comes before them. */
import { extrasOf, type CollectionNode, type State, byName } from './state.js';
import type { Field, Relation } from './model.js';

/**
 * Names so ordered that each comes after all it needs of `names`; by name otherwise. What needs itself in a circle comes
 * where it is met first.
 */
export function neededFirst(names: Iterable<string>, needsOf: (name: string) => Iterable<string>): string[] {
  const pending = new Set([...names].sort(byName));
  const ordered: string[] = [];
  for (const first of pending) {
    const open = [first];
    for (let name = open.at(-1); name !== undefined; name = open.at(-1)) {
      pending.delete(name);
      const next = [...needsOf(name)].find((each) => pending.has(each));
      if (next !== undefined) open.push(next);
      else ordered.push(open.pop() as string);
    }
  }
  return ordered;
}

/** Names so ordered that a collection, or a field, comes after its group. */
export const groupsFirst = (names: Iterable<string>, groupOf: (name: string) => string | null | undefined): string[] =>
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
export function partitionsFirst<T>(items: readonly T[], state: State, nameOf: (item: T) => string): T[] {
  const depths = new Map(items.map((item) => [item, depthOf(state, nameOf(item))]));
  return [...items].sort((a, b) => (depths.get(b) ?? 0) - (depths.get(a) ?? 0));
}

/** How many tables a partition is part of, one within the other; the catalog has no circles, but a document may. */
function depthOf(state: State, name: string): number {
  const above = new Set<string>();
  for (let at = parentOf(state, name); at !== undefined && !above.has(at); at = parentOf(state, at)) above.add(at);
  return above.size;
}

/** Fields in document order: by meta.sort, nulls last, then by name. */
export function fieldsInOrder(node: CollectionNode): Field[] {
  return [...node.fields.values()].sort((a, b) => compareSort(a.meta.sort, b.meta.sort) || byName(a.field, b.field));
}

export function relationsInOrder(node: CollectionNode): Relation[] {
  return [...node.relations.values()].sort((a, b) => byName(a.many_field, b.many_field));
}

export function collectionsInOrder(state: State): CollectionNode[] {
  const names = [...state.collections.keys()].sort(byName);
  return names.map((name) => state.collections.get(name) as CollectionNode);
}

function compareSort(a: number | null, b: number | null): number {
  if (a === b) return 0;
  if (a === null) return 1;
  return b === null ? -1 : a - b;
}
