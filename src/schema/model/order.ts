/* Orders objects so that every prefix of a batch is valid. For example, containers come before their contents. */
import {
  extrasOf,
  type CollectionNode,
  type State,
  byName,
  createIndexedLookup,
  locationKey,
  partitionsOf,
} from './state.js';
import { type ObjectName, isSequence, isType, objectKey } from './objects.js';
import type { SchemaObject } from './object-document.js';
import { type QualifiedName, qualifiedId, splitQualifiedId } from './object-ids.js';
import type { Field, Relation } from './model.js';
import type { Need } from './extras.js';
import { jsonEqual } from '../../kernel/json.js';

/* Helpers for needs, the objects that tables use. Several tables may use the same type, sequence or extension. */

const NONE: readonly Need[] = [];

/** Returns the needs of a collection. Empty for folders and missing collections. */
export const needsOfNode = (node: CollectionNode | undefined): readonly Need[] => extrasOf(node).needs ?? NONE;

/** The schema of a need. Undefined for the default schema and for extensions, which have none. */
export const schemaOfNeed = (need: Need): string | undefined => (need.kind === 'extension' ? undefined : need.schema);

/** The `locationKey` of a need. */
export const needKey = (need: Need): string => locationKey(schemaOfNeed(need), need.name);

/** Formats a need as `enum mood` or `enum "billing"."mood"`. The text identifies the need. */
export function needLabel(need: Need): string {
  return `${need.kind} ${labelOf({ schema: schemaOfNeed(need), name: need.name })}`;
}

const labelOf = ({ schema, name }: QualifiedName): string =>
  schema === undefined ? name : [schema, name].map((part) => `"${part.replaceAll('"', '""')}"`).join('.');

const byNeed = createIndexedLookup((node: CollectionNode) => needsOfNode(node).map(needLabel));

/** Returns the collections that need the same object. */
export const collectionsWithNeed = ({ collections }: Pick<State, 'collections'>, need: Need): Iterable<string> =>
  byNeed(collections, needLabel(need));

/**
 * Returns the collections that need a sequence or a type. They define it too, and PostgreSQL keeps it
 * while one of them needs it. Empty for other objects.
 */
export function collectionsNeeding({ collections }: Pick<State, 'collections'>, object: ObjectName): string[] {
  const kinds = isSequence(object) ? ['sequence'] : isType(object) ? ['enum', 'domain'] : [];
  const label = labelOf(splitQualifiedId(object.id));
  return [...new Set(kinds.flatMap((kind) => [...byNeed(collections, `${kind} ${label}`)]))].sort(byName);
}

/** True if the need is a type that the state contains as an object. A collection cannot define it too. */
export const isManagedType = ({ objects }: Pick<State, 'objects'>, need: Need): boolean =>
  (need.kind === 'enum' || need.kind === 'domain') &&
  objects.has(objectKey({ kind: 'type', id: qualifiedId({ schema: need.schema, name: need.name }) }));

/** Returns the column that owns a sequence. Undefined for all other needs. */
export const ownerOf = (need: Need): string | undefined => (need.kind === 'sequence' ? need.owned_by : undefined);

/** True if two needs are equal except for the owner of a sequence. */
export const isSameNeed = (a: Need, b: Need): boolean => jsonEqual(withOwner(a, undefined), withOwner(b, undefined));

/** Sets the owner of a sequence and leaves other needs unchanged. @param owner undefined for no owner */
export function withOwner(need: Need, owner: string | undefined): Need {
  if (need.kind !== 'sequence') return need;
  const { owned_by: _, ...rest } = need;
  return owner === undefined ? rest : { ...rest, owned_by: owner };
}

/**
 * Orders names so that each one follows all names that it needs. Otherwise the order is alphabetical. In a cycle, the
 * first visited name comes first.
 */
export function sortNeededFirst(names: Iterable<string>, needsOf: (name: string) => Iterable<string>): string[] {
  const pending = new Set([...names].sort(byName));
  const ordered: string[] = [];
  for (const first of pending) {
    const open = [first];
    for (let name = open.at(-1); name !== undefined; name = open.at(-1)) {
      pending.delete(name);
      const next = [...needsOf(name)].find((needed) => pending.has(needed));
      if (next !== undefined) open.push(next);
      else ordered.push(open.pop() as string);
    }
  }
  return ordered;
}

/** Orders collections or fields so that each follows its group. */
export const sortGroupsFirst = (
  names: Iterable<string>,
  groupOf: (name: string) => string | null | undefined,
): string[] =>
  sortNeededFirst(names, (name) => {
    const group = groupOf(name);
    return group == null ? [] : [group];
  });

/** Returns the table that a collection is a partition of. */
export const parentOf = ({ collections }: State, name: string): string | undefined =>
  extrasOf(collections.get(name)).partition_of?.table;

/**
 * Orders items so that partitions precede their parent, and otherwise keeps the order. Dropping the foreign key of a
 * partitioned table drops those of its partitions, and creating it adopts existing ones with their names.
 */
export const sortPartitionsFirst = <T>(items: readonly T[], state: State, nameOf: (item: T) => string): readonly T[] =>
  sortByDepth(items, (item) => -ancestorsOf(state, nameOf(item)).length);

/**
 * Orders items so that partitions follow their parent, and otherwise keeps the order. Dropping an index or a constraint
 * of a partitioned table drops those of its partitions, which cannot be dropped before.
 */
export const sortPartitionsLast = <T>(items: readonly T[], state: State, nameOf: (item: T) => string): readonly T[] =>
  sortByDepth(items, (item) => ancestorsOf(state, nameOf(item)).length);

function sortByDepth<T>(items: readonly T[], depthOf: (item: T) => number): readonly T[] {
  const depths = new Map<T, number>();
  for (const item of items) {
    const depth = depthOf(item);
    if (depth !== 0) depths.set(item, depth);
  }
  if (depths.size === 0) return items;
  return [...items].sort((a, b) => (depths.get(a) ?? 0) - (depths.get(b) ?? 0));
}

/** Returns the parents of a partition up to the root. The catalog contains no cycles, but a document may. */
export function ancestorsOf(state: State, name: string): string[] {
  const above = new Set<string>();
  for (let at = parentOf(state, name); at !== undefined && !above.has(at); at = parentOf(state, at)) above.add(at);
  return [...above];
}

/** Returns a table and its partitions, recursively. */
export function withPartitions(state: State, name: string): string[] {
  const names = new Set([name]);
  for (const each of names) for (const partition of partitionsOf(state, each)) names.add(partition);
  return [...names];
}

/** Returns the fields in document order: by meta.sort with nulls last, then by name. */
export function fieldsInOrder(node: CollectionNode): Field[] {
  return [...node.fields.values()].sort((a, b) => compareSort(a.meta.sort, b.meta.sort) || byName(a.field, b.field));
}

/** Returns the relations in document order: by field name. */
export function relationsInOrder(node: CollectionNode): Relation[] {
  return [...node.relations.values()].sort((a, b) => byName(a.many_field, b.many_field));
}

/** Returns collections and folders in document order: by name. */
export function collectionsInOrder({ collections }: State): CollectionNode[] {
  return [...collections.values()].sort((a, b) => byName(a.collection.collection, b.collection.collection));
}

/** Returns the objects in document order: by kind, then by id. */
export function objectsInOrder({ objects }: Pick<State, 'objects'>): SchemaObject[] {
  const ordered = [...objects.values()].map(({ object }) => object);
  return ordered.sort((a, b) => byName(objectKey(a), objectKey(b)));
}

function compareSort(a: number | null, b: number | null): number {
  if (a === b) return 0;
  if (a === null) return 1;
  return b === null ? -1 : a - b;
}
