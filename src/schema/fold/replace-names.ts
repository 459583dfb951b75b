/*
 * Renames collections and fields in a state, including every document member that equals the name. Texts are not
 * changed: commands parse SQL and templates, the fold does not.
 */
import { Set as PersistentSet } from 'immutable';
import type { Json } from '../../kernel/json.js';
import type { TableExtras } from '../model/extras.js';
import type { Collection, CollectionMeta, Field, Relation, TableSchema } from '../model/model.js';
import {
  type CollectionNode,
  type Identities,
  type State,
  type StoredLocation,
  groupedIn,
  partitionsOf,
  referencesTo,
  carryIndexes,
  locationKey,
  tableNameOf,
} from '../model/state.js';
import { indexNameOf } from '../model/constraint-names.js';

/* Maintains the indexes State.indexNames and State.referencedBy. */

type IndexedNode = Pick<CollectionNode, 'collection' | 'fields'> | undefined;

export interface ChangedFields {
  collection: string;
  before: IndexedNode;
  after: IndexedNode;
}

/**
 * Updates State.indexNames, from the names of field indexes to collections, after fields changed. All removals precede
 * additions.
 */
export function renameIndexes(names: State['indexNames'], all: readonly ChangedFields[]): State['indexNames'] {
  const changes = all.filter(({ before, after }) => before?.fields !== after?.fields || isMovedTable(before, after));
  if (changes.length === 0) return names;
  const map = names.asMutable();
  for (const { collection, before, after } of changes) {
    for (const name of namesOnlyIn(before, after)) {
      if (map.get(name) === collection && !hasIndex(after, name)) map.delete(name);
    }
  }
  for (const { collection, before, after } of changes) {
    for (const name of namesOnlyIn(after, before)) if (!map.has(name)) map.set(name, collection);
  }
  return map.wasAltered() ? map.asImmutable() : names;
}

/** True if the node has an index with this name. Another field may have taken over the name. */
function hasIndex(node: IndexedNode, name: string): boolean {
  return [...namesOnlyIn(node, undefined)].includes(name);
}

/** True if the table was renamed or moved to another schema. The keys of its indexes then change as well. */
const isMovedTable = (one: IndexedNode, other: IndexedNode): boolean =>
  one?.collection.schema?.schema !== other?.collection.schema?.schema ||
  one?.collection.schema?.name !== other?.collection.schema?.name;

function* namesOnlyIn(node: IndexedNode, others: IndexedNode): Generator<string> {
  if (node === undefined) return;
  const isSame = (field: Field): boolean => others?.fields.get(field.field) === field && !isMovedTable(node, others);
  for (const field of node.fields.values()) {
    const { schema } = field;
    if (schema?.is_indexed !== true || isSame(field)) continue;
    yield locationKey(node.collection.schema?.schema, indexNameOf(tableNameOf(node), { field: field.field, schema }));
  }
}

type Relations = ReadonlyMap<string, Relation> | undefined;

/** Updates State.referencedBy after the relations of `many` changed from `before` to `after`. */
export function reindex(index: State['referencedBy'], many: string, before: Relations, after: Relations) {
  const old = targetsOf(before);
  const now = targetsOf(after);
  let next = index;
  for (const target of old) {
    if (now.has(target)) continue;
    const rest = next.get(target)?.delete(many);
    next = rest === undefined || rest.isEmpty() ? next.delete(target) : next.set(target, rest);
  }
  for (const target of now) {
    if (!old.has(target)) next = next.set(target, (next.get(target) ?? PersistentSet<string>()).add(many));
  }
  return next;
}

function targetsOf(relations: Relations): Set<string> {
  const targets = new Set<string>();
  for (const relation of relations?.values() ?? []) {
    if (relation.one_collection !== null) targets.add(relation.one_collection);
    for (const allowed of relation.one_allowed_collections ?? []) targets.add(allowed);
  }
  return targets;
}

/** Maps old names to new names. All renames happen at once, so two objects may swap names. */
export type Names = ReadonlyMap<string, string>;

/** Simultaneous renames of collections, or of the fields of one collection. */
export type Renaming = CollectionRenaming | FieldRenaming;

interface CollectionRenaming {
  collections: Names;
  /** The new locations of tables, by the new names of their collections. The event contains them as patches. */
  locations?: ReadonlyMap<string, StoredLocation> | undefined;
}

interface FieldRenaming {
  collection: string;
  fields: Names;
}

type RenameOwn = <T extends string | null>(name: T) => T;

const ownOf =
  (names: Names): RenameOwn =>
  (name) =>
    (name === null ? name : (names.get(name) ?? name)) as typeof name;

/**
 * Returns the state with renamed collections. No collection may have one of the new names, unless it is renamed at the
 * same time.
 * @param touched receives the names whose nodes change
 */
export function withCollectionNames(state: State, names: Names, touched?: Set<string>): State {
  const own = ownOf(names);
  const concerned = new Set<string>(names.keys());
  for (const name of names.keys()) {
    for (const each of [
      ...(state.referencedBy.get(name) ?? PersistentSet<string>()),
      ...groupedIn(state, name),
      ...referencesTo(state, name),
      ...partitionsOf(state, name),
    ])
      concerned.add(each);
  }
  return replaceNodes(state, concerned, (node) => renameCollection(node, own), touched);
}

/** Returns the state with renamed fields. */
export function withFieldNames(
  state: State,
  { collection, fields: names }: FieldRenaming,
  touched?: Set<string>,
): State {
  const own = ownOf(names);
  const concerned = new Set([collection, ...(state.referencedBy.get(collection) ?? [])]);
  const change = (node: CollectionNode): CollectionNode => {
    const held = node.collection.collection === collection ? renameFields(node, names, own) : node;
    return withRelations(held, (relation) =>
      relation.one_collection === collection
        ? changeMembers(relation, { one_field: own(relation.one_field) })
        : relation,
    );
  };
  return replaceNodes(state, concerned, change, touched);
}

/**
 * Replaces each node by the result of `change` under its new name. Unchanged nodes stay the same objects.
 * @param touched receives the names whose nodes change
 */
export function replaceNodes(
  state: State,
  concerned: Iterable<string>,
  change: (node: CollectionNode) => CollectionNode,
  touched = new Set<string>(),
): State {
  const replaced: ReplacedNode[] = [];
  for (const name of concerned) {
    const old = state.collections.get(name);
    const now = old && change(old);
    if (old !== undefined && now !== undefined && now !== old) replaced.push({ old, now });
  }
  if (replaced.length === 0) return state;
  const others = state.collections.withMutations((map) => {
    for (const { old } of replaced) map.delete(nameOf(old));
    for (const { now } of replaced) map.set(nameOf(now), now);
  });
  const names = new Set(replaced.flatMap(({ old, now }) => [nameOf(old), nameOf(now)]));
  for (const name of names) touched.add(name);
  return {
    ...state,
    collections: carryIndexes(state.collections, others, names),
    ...secondaryIndexes(state, replaced),
  };
}

interface ReplacedNode {
  old: CollectionNode;
  now: CollectionNode;
}

const nameOf = ({ collection }: CollectionNode): string => collection.collection;

/** Removes all old names before it adds new ones, because collections may swap names. */
function secondaryIndexes(state: State, replaced: readonly ReplacedNode[]): Pick<State, 'referencedBy' | 'indexNames'> {
  let { referencedBy } = state;
  const fields: ChangedFields[] = [];
  const note = (collection: string, before: CollectionNode | undefined, after: CollectionNode | undefined): void => {
    referencedBy = reindex(referencedBy, collection, before?.relations, after?.relations);
    fields.push({ collection, before, after });
  };
  const isMoved = ({ old, now }: ReplacedNode): boolean => nameOf(old) !== nameOf(now);
  for (const each of replaced) note(nameOf(each.old), each.old, isMoved(each) ? undefined : each.now);
  for (const each of replaced.filter(isMoved)) note(nameOf(each.now), undefined, each.now);
  return { referencedBy, indexNames: renameIndexes(state.indexNames, fields) };
}

/** Returns a copy with changed members, or the same object if nothing changes. */
function changeMembers<T extends object>(value: T, members: Partial<T>): T {
  const differs = (Object.keys(members) as (keyof T)[]).some((name) => members[name] !== value[name]);
  return differs ? { ...value, ...members } : value;
}

function mapChanged<T>(values: T[], change: (value: T) => T): T[] {
  const next = values.map(change);
  return next.every((each, index) => each === values[index]) ? values : next;
}

function withRelations(node: CollectionNode, change: (relation: Relation) => Relation): CollectionNode {
  const before = [...node.relations.values()];
  const after = mapChanged(before, change);
  if (after === before) return node;
  return { ...node, relations: new Map(after.map((relation) => [relation.many_field, relation])) };
}

function renameCollection(node: CollectionNode, own: RenameOwn): CollectionNode {
  const { collection: before } = node;
  const name = own(before.collection);
  const collection = changeMembers(before, {
    collection: name,
    meta: changeMembers(before.meta, { group: own(before.meta.group) }),
    schema: before.schema && renameReferences(before.schema, own),
  });
  const fields: CollectionNode['fields'] =
    name === before.collection
      ? node.fields
      : new Map([...node.fields].map(([field, value]) => [field, { ...value, collection: name }]));
  const held = collection === before && fields === node.fields ? node : { ...node, collection, fields };
  return withRelations(held, (relation) =>
    changeMembers(relation, {
      many_collection: own(relation.many_collection),
      one_collection: own(relation.one_collection),
      one_allowed_collections: relation.one_allowed_collections && mapChanged(relation.one_allowed_collections, own),
    }),
  );
}

/** Replaces names in the foreign keys that are not relations, and the name of the parent of a partition. */
function renameReferences(schema: TableSchema, own: RenameOwn): TableSchema {
  const { extras } = schema;
  if (extras === undefined) return schema;
  const { constraints, partition_of: parent } = extras;
  const next: Partial<TableExtras> = {};
  if (parent) next.partition_of = changeMembers(parent, { table: own(parent.table) });
  if (constraints)
    next.constraints = mapChanged(constraints, (each) =>
      each.references === undefined ? each : changeMembers(each, { references: own(each.references) }),
    );
  return changeMembers(schema, { extras: changeMembers(extras, next) });
}

function renameFields(node: CollectionNode, names: Names, own: RenameOwn): CollectionNode {
  const fields = new Map<string, Field>();
  for (const [name, field] of node.fields) {
    const meta = changeMembers(field.meta, { group: own(field.meta.group) });
    fields.set(own(name), changeMembers(field, { field: own(name), meta }));
  }
  const held = {
    ...node,
    identities: withNames(node.identities, own),
    collection: renameFieldMentions(node.collection, names, own),
    fields,
  };
  return withRelations(held, (relation) =>
    changeMembers(relation, {
      many_field: own(relation.many_field),
      junction_field: own(relation.junction_field),
      sort_field: own(relation.sort_field),
      one_collection_field: own(relation.one_collection_field),
    }),
  );
}

const withNames = ({ collection, fields }: Identities, own: RenameOwn): Identities => ({
  collection,
  fields: new Map([...fields].map(([name, identity]) => [own(name), identity])),
});

function renameFieldMentions(collection: Collection, names: Names, own: RenameOwn): Collection {
  const { meta, schema } = collection;
  return changeMembers(collection, {
    meta: changeMembers(meta, {
      archive_field: own(meta.archive_field),
      sort_field: own(meta.sort_field),
      item_duplication_fields: renameCopiedFields(meta.item_duplication_fields, names),
    }),
    schema: schema && renameColumnMentions(schema, own),
  });
}

/**
 * Replaces names in the list of fields that a duplicated item copies. `author.name` is a path, not a field of the
 * collection.
 */
function renameCopiedFields(copied: CollectionMeta['item_duplication_fields'], names: Names): Json {
  if (!Array.isArray(copied)) return copied;
  return mapChanged(copied, (each) => (typeof each === 'string' ? (names.get(each) ?? each) : each));
}

/** Replaces names in members that contain only a column name. Definitions in SQL stay unchanged. */
function renameColumnMentions(schema: TableSchema, own: RenameOwn): TableSchema {
  const { extras } = schema;
  if (extras === undefined) return schema;
  const { primary_key: key, needs, unmanaged } = extras;
  const next: Partial<TableExtras> = {};
  if (key) next.primary_key = changeMembers(key, { columns: mapChanged(key.columns, own) });
  if (needs)
    next.needs = mapChanged(needs, (need) =>
      need.kind === 'sequence' && need.owned_by !== undefined
        ? changeMembers(need, { owned_by: own(need.owned_by) })
        : need,
    );
  if (unmanaged)
    next.unmanaged = mapChanged(unmanaged, (each) =>
      each.kind === 'default' || each.kind === 'generated' ? changeMembers(each, { name: own(each.name) }) : each,
    );
  return changeMembers(schema, { extras: changeMembers(extras, next) });
}
