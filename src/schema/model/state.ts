/* Defines the state, the result of folding the log. It is an immutable value that shares unchanged parts with the
   previous state. */
import { Map as PersistentMap, Set as PersistentSet } from 'immutable';
import type { TableExtras } from './extras.js';
import type { ColumnSchema, Collection, Field, Relation, TableSchema } from './model.js';
import { type ObjectName, type PrivilegesTarget, TARGETS, objectKey } from './objects.js';
import type { SchemaObject } from './object-document.js';
import { type QualifiedName, objectNameParts, qualifiedId, splitQualifiedId } from './object-ids.js';
import { createAttachment } from '../../kernel/attachment.js';

/* Secondary indexes of persistent maps. An index is built once and updated when a few values change. */

type Index = PersistentMap<string, PersistentSet<string>>;
type ListWords<V> = (value: V) => Iterable<string>;

const indexesByMap = createAttachment<PersistentMap<string, never>, Map<ListWords<never>, Index>>();

/** Returns the keys whose values contain the word. */
type IndexedBy<V> = (map: PersistentMap<string, V>, word: string) => PersistentSet<string>;

/**
 * Creates a lookup of map keys by word. Each `wordsOf` function has its own index, so create each lookup once. The
 * first call for a map builds the index. A word without values returns an empty set.
 */
export function createIndexedLookup<V>(wordsOf: ListWords<V>): IndexedBy<V> {
  return (map, word) => {
    const there = indexesByMap.get(map as PersistentMap<string, never>)?.get(wordsOf);
    return (there ?? build(map, wordsOf)).get(word) ?? PersistentSet<string>();
  };
}

function build<V>(map: PersistentMap<string, V>, wordsOf: ListWords<V>): Index {
  const index = PersistentMap<string, PersistentSet<string>>().asMutable();
  for (const [key, value] of map) for (const word of wordsOf(value)) add(index, word, key);
  const made = index.asImmutable();
  const there = indexesByMap.get(map as PersistentMap<string, never>) ?? new Map<ListWords<never>, Index>();
  indexesByMap.set(map as PersistentMap<string, never>, there.set(wordsOf, made));
  return made;
}

/** If more than 1/16 of the values changed, rebuilding the index is faster than updating it. */
const SHARE = 16;

/**
 * Returns `after` with the indexes of `before` updated.
 * @param keys at least all keys whose values differ
 */
export function carryIndexes<V>(
  before: PersistentMap<string, V>,
  after: PersistentMap<string, V>,
  keys: ReadonlySet<string>,
): PersistentMap<string, V> {
  const there = indexesByMap.get(before as PersistentMap<string, never>);
  if (there === undefined || before === after || keys.size * SHARE > after.size) return after;
  const indexes = new Map<ListWords<never>, Index>();
  for (const [wordsOf, index] of there) {
    const words = wordsOf as ListWords<V>;
    indexes.set(
      wordsOf,
      index.withMutations((next) => {
        for (const key of keys) {
          const [old, now] = [before.get(key), after.get(key)];
          if (old === now) continue;
          for (const word of old === undefined ? [] : words(old)) remove(next, word, key);
          for (const word of now === undefined ? [] : words(now)) add(next, word, key);
        }
      }),
    );
  }
  indexesByMap.set(after as PersistentMap<string, never>, indexes);
  return after;
}

function add(index: Index, word: string, key: string): void {
  index.set(word, (index.get(word) ?? PersistentSet<string>()).add(key));
}

function remove(index: Index, word: string, key: string): void {
  const rest = index.get(word)?.delete(key);
  if (rest === undefined || rest.isEmpty()) index.delete(word);
  else index.set(word, rest);
}

/**
 * Identifies a collection or a field independently of its name, by the event that created it. `12` was created by the
 * event at position 12. `12.3` is the third field of that event. An identity never changes, is the same in every fold
 * of the log, and never appears in a snapshot.
 */
export type Identity = string;

/**
 * The identity of an object that the log does not contain yet, such as one in a draft. Two objects with this identity
 * are different.
 */
export const NEW_IDENTITY: Identity = '';

export interface Identities {
  readonly collection: Identity;
  /** Keyed by field name. */
  readonly fields: ReadonlyMap<string, Identity>;
}

/** A collection with all its contents. Nodes are immutable. */
export interface CollectionNode {
  readonly identities: Identities;
  readonly collection: Collection;
  /** Keyed by name, in order of creation. */
  readonly fields: ReadonlyMap<string, Field>;
  /** Relations whose many side is this collection, by many field. */
  readonly relations: ReadonlyMap<string, Relation>;
}

/** An object other than a table. Nodes are immutable. */
export interface ObjectNode {
  /** The position of the event that created the object. */
  readonly identity: Identity;
  readonly object: SchemaObject;
}

export interface State {
  /** Position of the last folded event. 0 before the first event. */
  readonly position: number;
  readonly collections: PersistentMap<string, CollectionNode>;
  /**
   * Maps each referenced collection to the collections with a relation that references it (one_collection or
   * one_allowed_collections).
   */
  readonly referencedBy: PersistentMap<string, PersistentSet<string>>;
  /** Maps the `locationKey` of each field index, built or pending, to the collection of the field. */
  readonly indexNames: PersistentMap<string, string>;
  /** The managed objects other than tables, by `objectKey`. */
  readonly objects: PersistentMap<string, ObjectNode>;
}

export function initialState(): State {
  return {
    position: 0,
    collections: PersistentMap(),
    referencedBy: PersistentMap(),
    indexNames: PersistentMap(),
    objects: PersistentMap(),
  };
}

const contents = new WeakMap<State['collections'], WeakMap<State['objects'], object>>();

/**
 * Returns an object that is the same for states with the same collections and objects, even if their positions differ.
 * Caches use it as the key for everything that is computed from the whole schema.
 */
export function contentOf({ collections, objects }: Pick<State, 'collections' | 'objects'>): object {
  if (objects.isEmpty()) return collections;
  const byObjects = contents.get(collections) ?? new WeakMap<State['objects'], object>();
  contents.set(collections, byObjects);
  const content = byObjects.get(objects) ?? {};
  byObjects.set(objects, content);
  return content;
}

export const getObject = ({ objects }: Pick<State, 'objects'>, name: ObjectName): SchemaObject | undefined =>
  objects.get(objectKey(name))?.object;

/**
 * True if a managed function or aggregate has the name, with any argument types: a call does not show which one
 * PostgreSQL chose.
 */
export const hasFunction = ({ objects }: Pick<State, 'objects'>, { schema, name }: QualifiedName): boolean =>
  objects.some(({ object }) => {
    if (!isCallable(object)) return false;
    const parts = objectNameParts(object);
    return parts.name === name && parts.schema === schema;
  });

const isCallable = ({ kind }: ObjectName): boolean => kind === 'function' || kind === 'aggregate';

/** True if a managed view or materialized view has the id. */
export const hasView = ({ objects }: Pick<State, 'objects'>, id: string): boolean =>
  objects.has(objectKey({ kind: 'view', id })) || objects.has(objectKey({ kind: 'materialized_view', id }));

/** Returns the managed function, procedure, aggregate, sequence or type of privileges. Undefined if there is none. */
export const getTarget = (state: Pick<State, 'objects'>, { type, id }: PrivilegesTarget): SchemaObject | undefined =>
  TARGETS[type].kinds.map((kind) => getObject(state, { kind, id })).find((each) => each !== undefined);

/** Undefined if the field or collection does not exist. */
export function getField(state: State, collection: string, field: string): Field | undefined {
  return state.collections.get(collection)?.fields.get(field);
}

/** Returns the relation whose many side is the field, or undefined. */
export function getRelation(state: State, collection: string, field: string): Relation | undefined {
  return state.collections.get(collection)?.relations.get(field);
}

/** A table in PostgreSQL. */
export interface TableLocation {
  schema: string;
  name: string;
}

/**
 * Returns the location of a collection's table. A name of no collection is that of a table in the default schema.
 * @param schema the default schema
 */
export function locateTable(
  { collections }: Pick<State, 'collections'>,
  collection: string,
  schema: string,
): TableLocation {
  const table = collections.get(collection)?.collection.schema;
  return { schema: table?.schema ?? schema, name: table?.name ?? collection };
}

/** The location in the document of a collection. Empty in the default schema, where the table is named like it. */
export type StoredLocation = Pick<TableSchema, 'schema' | 'name'>;

/** Returns the location of a table. Empty for a folder. */
export function storedLocation({ schema: table }: Collection): StoredLocation {
  return table?.schema === undefined ? {} : { schema: table.schema, name: table.name };
}

/** Returns the table at another location. */
export function withLocation(table: TableSchema, at: StoredLocation): TableSchema {
  const { schema: _, name: __, ...others } = table;
  return { ...at, ...others };
}

/** True if the collections have tables at different locations, apart from the names of the collections. */
export const isElsewhere = ({ schema: one }: Collection, { schema: other }: Collection): boolean =>
  one !== null && other !== null && (one.schema !== other.schema || one.name !== other.name);

/** Returns the name of a collection's table. The state need not contain the collection. */
export const tableName = ({ collections }: Pick<State, 'collections'>, collection: string): string =>
  collections.get(collection)?.collection.schema?.name ?? collection;

/** Returns the name of the collection's table, from which the names of its indexes and constraints derive. */
export const tableNameOf = ({ collection }: Pick<CollectionNode, 'collection'>): string =>
  collection.schema?.name ?? collection.collection;

const NO_EXTRAS: TableExtras = Object.freeze({});

/** Returns the extras of a table. Empty for a folder. */
export function extrasOf(node: Pick<CollectionNode, 'collection'> | undefined): TableExtras {
  return extrasOfTable(node?.collection.schema);
}

/** Returns a frozen empty object if there are none. */
export function extrasOfTable(schema: TableSchema | null | undefined): TableExtras {
  return schema?.extras ?? NO_EXTRAS;
}

/** True if a collection has no table and only groups others. */
export function isFolder({ collection }: Pick<CollectionNode, 'collection'>): boolean {
  return collection.schema === null;
}

/** Returns a map key for a field or relation. Names cannot contain NUL. */
export function memberKey(collection: string, field: string): string {
  return `${collection}\0${field}`;
}

export type ColumnField = Field & { schema: ColumnSchema };

/** True if the field has a column. False for aliases and missing fields. */
export const hasColumn = (field: Field | undefined): field is ColumnField => field?.schema != null;

/** True if new rows get a value for the column without an explicit one. */
export const hasDefault = ({ schema }: Pick<ColumnField, 'schema'>): boolean =>
  schema.has_auto_increment || schema.default_value !== null || schema.extras?.default !== undefined;

/** True if the collection exists and is not a folder. */
export const hasTable = ({ collections }: State, name: string): boolean =>
  collections.get(name)?.collection.schema != null;

/** True if the field is part of the primary key. */
export const isPrimary = (field: Field | undefined): boolean => field?.schema?.is_primary_key === true;

/** True if the field has its own index. Indexes of keys, unique constraints and extras do not count. */
export const isIndexed = (field: Field | undefined): boolean => field?.schema?.is_indexed === true;

/** Returns the primary key fields in order of creation. Only adopted tables can have none or several. */
export function primaryKeyOf(node: CollectionNode): Field[] {
  return [...node.fields.values()].filter(isPrimary);
}

function referencesCollection(relation: Omit<Relation, 'id'>, collection: string): boolean {
  return relation.one_collection === collection || (relation.one_allowed_collections?.includes(collection) ?? false);
}

/** Returns the relations that reference `collection`. They can belong to any collection, including this one. */
export function relationsTo(state: State, collection: string): Relation[] {
  const relations: Relation[] = [];
  for (const many of state.referencedBy.get(collection) ?? []) {
    for (const relation of state.collections.get(many)?.relations.values() ?? []) {
      if (referencesCollection(relation, collection)) relations.push(relation);
    }
  }
  return relations;
}

/** Compares by code units, so that names have the same order on every machine. */
export function byName(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the same collection in another state, in which it may have another name. */
export function sameCollection(
  { collections }: State,
  { collection, identities }: CollectionNode,
): CollectionNode | undefined {
  const isSame = (node: CollectionNode | undefined): boolean => node?.identities.collection === identities.collection;
  const named = collections.get(collection.collection);
  return isSame(named) ? named : collections.find(isSame);
}

/** Returns the name of the field with an identity. */
export const fieldNameOf = ({ identities }: CollectionNode, identity: Identity | undefined): string | undefined =>
  [...identities.fields].find(([, each]) => each === identity)?.[0];

/** Returns the collections that differ between two states. */
export const findDifferingNames = (from: State, to: State): string[] =>
  [...new Set([...from.collections.keys(), ...to.collections.keys()])].filter(
    (name) => from.collections.get(name) !== to.collections.get(name),
  );

const createStateLookup = (wordsOf: (node: CollectionNode) => Iterable<string>) => {
  const find = createIndexedLookup(wordsOf);
  return ({ collections }: State, word: string): PersistentSet<string> => find(collections, word);
};

/** Returns the collections directly within a group. */
export const groupedIn = createStateLookup(({ collection: { meta } }) => (meta.group === null ? [] : [meta.group]));

/** Returns the collections with a foreign key to a table that is not a relation. This can include the table itself. */
export const referencesTo = createStateLookup(
  (node) => new Set((extrasOf(node).constraints ?? []).flatMap(({ references }) => references ?? [])),
);

/**
 * Returns a map key for a table, index or sequence in a schema. Names cannot contain NUL.
 * @param schema undefined for the default schema
 */
export const locationKey = (schema: string | undefined, name: string): string =>
  schema === undefined ? name : `${schema}\0${name}`;

/** Returns the collections whose table has this `locationKey`. There is only one, unless the state is invalid. */
export const collectionsAt = createStateLookup((node) => {
  const { schema } = node.collection;
  return schema === null ? [] : [locationKey(schema.schema, tableNameOf(node))];
});

/** Returns the collection with this table, or undefined. */
export function collectionAt(state: State, schema: string | undefined, name: string): string | undefined {
  if (schema !== undefined) return collectionsAt(state, locationKey(schema, name)).first();
  // A table of the default schema is named like its collection, so that most states need no index.
  const own = state.collections.get(name)?.collection.schema;
  return own != null && own.schema === undefined ? name : undefined;
}

export const hasTableAt = (state: State, schema: string | undefined, name: string): boolean =>
  collectionAt(state, schema, name) !== undefined;

/** Returns the collection of a table, or undefined. @param table as in `qualifiedId` */
export function collectionOfTable(state: State, table: string): string | undefined {
  const { schema, name } = splitQualifiedId(table);
  return collectionAt(state, schema, name);
}

/** True if a managed table has the id. */
export const hasTableNamed = (state: State, table: string): boolean => collectionOfTable(state, table) !== undefined;

/** True if a managed table or view, whose row type has its name, or a managed type has the id. */
export const hasTypeNamed = (state: State, id: string): boolean =>
  hasTableNamed(state, id) || hasView(state, id) || getObject(state, { kind: 'type', id }) !== undefined;

/** Returns how the ids of objects name the table of a collection. */
export const tableIdOf = ({ collection, schema }: Pick<Collection, 'collection' | 'schema'>): string =>
  qualifiedId({ schema: schema?.schema, name: schema?.name ?? collection });

/**
 * Groups collections by the schema of their tables. Each group maps the names of tables to collections.
 * @param schema the default schema
 */
export function tablesBySchema(
  state: Pick<State, 'collections'>,
  collections: Iterable<string>,
  schema: string,
): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const groups = new Map<string, Map<string, string>>();
  for (const collection of collections) {
    const at = locateTable(state, collection, schema);
    const group = groups.get(at.schema) ?? new Map<string, string>();
    groups.set(at.schema, group.set(at.name, collection));
  }
  return groups;
}

/** The default schema, and the other schemas with tables or objects of the state. */
export function schemasOf(
  {
    collections,
    objects,
  }: Record<'collections', Pick<State['collections'], 'values'>> & Partial<Pick<State, 'objects'>>,
  schema: string,
): string[] {
  const schemas = new Set([schema]);
  for (const { object } of objects?.values() ?? []) schemas.add(objectNameParts(object).schema ?? schema);
  for (const { collection } of collections.values())
    for (const each of schemasOfTable(collection)) schemas.add(each ?? schema);
  return [...schemas];
}

/** The schemas of a table and of its needs. Undefined stands for the default schema. */
const schemasOfTable = ({ schema }: Collection): (string | undefined)[] => [
  schema?.schema,
  ...(extrasOfTable(schema).needs?.map((need) => (need.kind === 'extension' ? undefined : need.schema)) ?? []),
];

/** Returns the partitions of a table. */
export const partitionsOf = createStateLookup((node) => [extrasOf(node).partition_of?.table ?? []].flat());
