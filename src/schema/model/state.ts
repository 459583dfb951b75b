/** The fold of the log: an immutable value that shares what did not change with the state before it. */
import { Map as PersistentMap, type Set as PersistentSet } from 'immutable';
import { indexed } from './indexed.js';
import type { TableExtras } from './extras.js';
import type { ColumnSchema, Collection, Field, Relation, TableSchema } from './model.js';

/**
 * What a collection or a field is called by where names don't do, because names change: the place of the event that made
 * it. `12`: made by the event at position 12; `12.3`: the third field that came with the collection of that event.
 * Stable for life, the same for every fold of the log, in no snapshot.
 */
export type Identity = string;

/** Of what the log hasn't yet: a draft's. It is equal to no other. */
export const UNMADE: Identity = '';

export interface Identities {
  readonly collection: Identity;
  /** By the field's name. */
  readonly fields: ReadonlyMap<string, Identity>;
}

/** A collection with everything that belongs to it. A node is never mutated: another content is another node. */
export interface CollectionNode {
  readonly identities: Identities;
  readonly collection: Collection;
  /** By name, in the order of their creation. */
  readonly fields: ReadonlyMap<string, Field>;
  /** The relations whose many side is this collection, by many field. */
  readonly relations: ReadonlyMap<string, Relation>;
}

export interface State {
  /** Position of the last event folded in; 0 before the first. */
  readonly position: number;
  readonly collections: PersistentMap<string, CollectionNode>;
  /** one side → the many collections with a relation that points at it (one_collection or one_allowed_collections). */
  readonly referencedBy: PersistentMap<string, PersistentSet<string>>;
  /** The name of a field's index, built or yet to be → its collection. */
  readonly indexNames: PersistentMap<string, string>;
}

/** The state of an empty log. */
export function initialState(): State {
  return { position: 0, collections: PersistentMap(), referencedBy: PersistentMap(), indexNames: PersistentMap() };
}

/** Undefined: there is no such field, or no such collection. */
export function getField(state: State, collection: string, field: string): Field | undefined {
  return state.collections.get(collection)?.fields.get(field);
}

/** The relation that a field is the many side of; undefined: it is of none, or isn't there. */
export function getRelation(state: State, collection: string, field: string): Relation | undefined {
  return state.collections.get(collection)?.relations.get(field);
}

const NO_EXTRAS: TableExtras = Object.freeze({});

/** What a collection's table has beyond fields and relations; nothing of a folder. */
export function extrasOf(node: Pick<CollectionNode, 'collection'> | undefined): TableExtras {
  return extrasOfTable(node?.collection.schema);
}

/** An empty object where there are none; it is frozen. */
export function extrasOfTable(schema: TableSchema | null | undefined): TableExtras {
  return schema?.extras ?? NO_EXTRAS;
}

/** Whether a collection only groups others, without a table. */
export function isFolder({ collection }: Pick<CollectionNode, 'collection'>): boolean {
  return collection.schema === null;
}

/** What names a field or a relation in a map: NUL can't be part of a name. */
export function memberKey(collection: string, field: string): string {
  return `${collection}\0${field}`;
}

/** A field that has a column. */
export type ColumnField = Field & { schema: ColumnSchema };

/** Whether there is a field with a column; an alias has none. */
export const hasColumn = (field: Field | undefined): field is ColumnField => field?.schema != null;

/** Whether a column of a new row has a value where none is said. */
export const hasDefault = ({ schema }: Pick<ColumnField, 'schema'>): boolean =>
  schema.has_auto_increment || schema.default_value !== null || schema.extras?.default !== undefined;

/** Whether there is a collection that is no folder. */
export const hasTable = ({ collections }: State, name: string): boolean =>
  collections.get(name)?.collection.schema != null;

/** It is part of the primary key; an alias is not. */
export const isPrimary = (field: Field | undefined): boolean => field?.schema?.is_primary_key === true;

/** It asks for an index of its own; those of keys, unique constraints and extras don't count. */
export const isIndexed = (field: Field | undefined): boolean => field?.schema?.is_indexed === true;

/** The primary key fields of a node, in creation order. Usually one; none or several only in adopted tables. */
export function primaryKeyOf(node: CollectionNode): Field[] {
  return [...node.fields.values()].filter(isPrimary);
}

/** Whether a relation points at `collection`. */
function pointsAt(relation: Omit<Relation, 'id'>, collection: string): boolean {
  return relation.one_collection === collection || (relation.one_allowed_collections?.includes(collection) ?? false);
}

/** Relations of any collection that point at `collection`, its own included. */
export function relationsTo(state: State, collection: string): Relation[] {
  const found: Relation[] = [];
  for (const many of state.referencedBy.get(collection) ?? []) {
    for (const relation of state.collections.get(many)?.relations.values() ?? []) {
      if (pointsAt(relation, collection)) found.push(relation);
    }
  }
  return found;
}

/** Plain code-unit order: the one order names are sorted in, on every machine. */
export function byName(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const foundBy = (wordsOf: (node: CollectionNode) => Iterable<string>) => {
  const find = indexed(wordsOf);
  const namesOf = ({ collections }: State, word: string): PersistentSet<string> => find(collections, word);
  return Object.assign(namesOf, { inSteps: ({ collections }: State) => find.inSteps(collections) });
};

/** The collections that stand directly in a group. */
export const groupedIn = foundBy(({ collection: { meta } }) => (meta.group === null ? [] : [meta.group]));

/** The collections with a foreign key that is no relation to a table, which may be their own. */
export const referencesTo = foundBy(
  (node) => new Set((extrasOf(node).constraints ?? []).flatMap(({ references }) => references ?? [])),
);

/** The collections that are partitions of a table. */
export const partitionsOf = foundBy((node) => [extrasOf(node).partition_of?.table ?? []].flat());
