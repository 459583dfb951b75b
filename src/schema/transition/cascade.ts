/* Deletes objects from a draft together with everything that depends on them. */
import { jsonEqual } from '../../kernel/json.js';
import { patchBetween } from '../fold/rename-events.js';
import { type NewEvent, newEvent } from '../model/events.js';
import type { TableExtras } from '../model/extras.js';
import type { NewRelation, Relation, TableSchema, Collection, Field } from '../model/model.js';
import { isManagedType, needLabel, sortPartitionsFirst, sortPartitionsLast } from '../model/order.js';
import {
  type State,
  groupedIn,
  referencesTo,
  relationsTo,
  extrasOfTable,
  memberKey,
  byName,
  getRelation,
  primaryKeyOf,
  isPrimary,
} from '../model/state.js';
import { constraintColumns, indexColumns } from '../sql-text/definitions.js';
import {
  type DetachedDocuments,
  type Phase,
  type TransitionContext,
  phase,
  columnChanges,
  relationBody,
  isReplacedRelation,
} from './context.js';
import type { Draft } from './draft.js';

/* Change the extras of a table. Empty members are removed. */

export type Constraint = NonNullable<TableExtras['constraints']>[number];

/** Removes foreign keys to tables for which `gone` is true. Returns the same object if there are none. */
export function withoutReferences(schema: TableSchema, gone: (table: string) => boolean): TableSchema {
  return withoutConstraints(schema, ({ references }) => references !== undefined && gone(references));
}

/** Removes constraints for which `gone` is true. Returns the same object if there are none. */
export function withoutConstraints(schema: TableSchema, gone: (constraint: Constraint) => boolean): TableSchema {
  const constraints = extrasOfTable(schema).constraints ?? [];
  const kept = constraints.filter((each) => !gone(each));
  return kept.length === constraints.length ? schema : withExtras(schema, { ...schema.extras, constraints: kept });
}

/**
 * Removes definitions that use a column for which `gone` is true: constraints, indexes, and sequences that the column
 * owns.
 */
export function withoutColumns(schema: TableSchema, gone: (column: string) => boolean): TableSchema {
  const { constraints = [], indexes = [], needs = [] } = extrasOfTable(schema);
  const kept = {
    constraints: constraints.filter(({ definition }) => ![...constraintColumns(definition)].some(gone)),
    indexes: indexes.filter(({ definition }) => ![...indexColumns(definition)].some(gone)),
    needs: needs.filter((need) => need.kind !== 'sequence' || need.owned_by === undefined || !gone(need.owned_by)),
  };
  const count = (lists: { [list: string]: unknown[] }) => Object.values(lists).flat().length;
  if (count(kept) === count({ constraints, indexes, needs })) return schema;
  return withExtras(schema, { ...schema.extras, ...kept });
}

/** Removes constraints and indexes that `desired` lacks or defines differently. */
export function withoutOthers(schema: TableSchema, desired: TableSchema): TableSchema {
  const { constraints = [], indexes = [] } = extrasOfTable(schema);
  const others = extrasOfTable(desired);
  const kept = {
    constraints: constraints.filter((each) => others.constraints?.some((other) => jsonEqual(each, other))),
    indexes: indexes.filter((each) => others.indexes?.some((other) => jsonEqual(each, other))),
  };
  const same = kept.constraints.length === constraints.length && kept.indexes.length === indexes.length;
  return same ? schema : withExtras(schema, { ...schema.extras, ...kept });
}

/** Adds the needs of `desired` that the table lacks. */
export function withNeeds(schema: TableSchema, desired: TableSchema): TableSchema {
  const needs = extrasOfTable(schema).needs ?? [];
  const labels = new Set(needs.map(needLabel));
  const fresh = (extrasOfTable(desired).needs ?? []).filter((need) => !labels.has(needLabel(need)));
  return fresh.length === 0 ? schema : withExtras(schema, { ...schema.extras, needs: [...needs, ...fresh] });
}

/** Returns the collection without the types in its needs that the state contains as objects. */
export function withoutManagedTypes(state: Pick<State, 'objects'>, collection: Collection): Collection {
  const { schema } = collection;
  const { needs = [] } = extrasOfTable(schema);
  const kept = needs.filter((need) => !isManagedType(state, need));
  if (schema === null || kept.length === needs.length) return collection;
  return { ...collection, schema: withExtras(schema, { ...schema.extras, needs: kept }) };
}

/** Replaces the extras and keeps everything else. */
export function withExtras(schema: TableSchema, extras: TableExtras): TableSchema {
  const { extras: _, ...table } = schema;
  const entries = Object.entries(extras).filter(
    ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  return entries.length === 0 ? table : { ...table, extras: Object.fromEntries(entries) };
}

/**
 * Removes a collection. Relations that reference it are removed, but their columns stay. Alias fields of the
 * collection's own relations are removed. The collection is removed from every one_allowed_collections. Collections
 * grouped in it move to its parent.
 */
export function dropCollection(draft: Draft, state: State, name: string): void {
  const node = draft.get(name);
  if (node === undefined) return;
  for (const relation of node.relations.values()) dropRelation(draft, relation);
  for (const relation of remainingRelationsTo(draft, state, name)) {
    if (relation.one_collection === name) dropRelation(draft, relation);
    else draft.putRelation(disallowCollection(relation, name));
  }
  const { group } = node.collection.meta;
  for (const child of groupedIn(state, name)) {
    const held = draft.get(child)?.collection;
    if (held?.meta.group === name) draft.putCollection({ ...held, meta: { ...held.meta, group } });
  }
  dropReferences(draft, state, name);
  draft.removeCollection(name);
}

/** Removes references to a collection, including foreign keys of other tables that are not relations. */
function dropReferences(draft: Draft, state: State, name: string): void {
  for (const other of referencesTo(state, name)) {
    if (other === name) continue;
    const held = draft.get(other)?.collection;
    if (held?.schema)
      draft.putCollection({ ...held, schema: withoutReferences(held.schema, (table) => table === name) });
  }
}

/**
 * Removes a relation, its alias field on the one side, and its mention in the other relation of the junction. The
 * column stays.
 */
export function dropRelation(draft: Draft, relation: Relation): void {
  const { many_collection, many_field, one_collection, one_field } = relation;
  draft.removeRelation(many_collection, many_field);
  if (one_collection !== null && one_field !== null) dropAlias(draft, one_collection, one_field);
  for (const other of draft.relationsOf(many_collection)) {
    if (other.junction_field === many_field) draft.putRelation({ ...other, junction_field: null });
  }
}

/**
 * Replaces a relation. A relation with another target is a different one, so the alias field on the old target is
 * removed.
 */
export function changeRelation(draft: Draft, before: Relation, after: NewRelation): void {
  const { one_collection, one_field } = before;
  draft.putRelation(after);
  if (one_collection === null || one_field === null || one_collection === after.one_collection) return;
  dropAlias(draft, one_collection, one_field);
}

/**
 * Removes a field with everything that depends on it: its relation, constraints and indexes of the table that use the
 * field, and mentions as sort_field, archive_field, junction_field or one_field. Fields grouped in it move to its
 * parent group.
 */
export function dropField(draft: Draft, state: State, collection: string, name: string): void {
  const own = draft.get(collection)?.relations.get(name);
  if (own !== undefined) dropRelation(draft, own);
  const unless = (field: string | null) => (field === name ? null : field);
  for (const other of draft.relationsOf(collection)) {
    const freed = { ...other, junction_field: unless(other.junction_field), sort_field: unless(other.sort_field) };
    if (freed.junction_field !== other.junction_field || freed.sort_field !== other.sort_field)
      draft.putRelation(freed);
  }
  for (const other of remainingRelationsTo(draft, state, collection)) {
    if (other.one_collection === collection && other.one_field === name)
      draft.putRelation({ ...other, one_field: null });
  }
  releaseField(draft, collection, name);
  dropDefinitions(draft, collection, name);
  draft.removeField(collection, name);
}

/** Removes constraints and indexes in the extras that use the column. */
export function dropDefinitions(draft: Draft, collection: string, column: string): void {
  const table = draft.get(collection)?.collection;
  if (!table?.schema?.extras) return;
  draft.putCollection({ ...table, schema: withoutColumns(table.schema, (name) => name === column) });
}

function disallowCollection(relation: Relation, collection: string): Relation {
  const allowed = relation.one_allowed_collections?.filter((each) => each !== collection) ?? null;
  return { ...relation, one_allowed_collections: allowed };
}

/** Returns relations in the draft that still reference `collection`. */
function remainingRelationsTo(draft: Draft, state: State, collection: string): Relation[] {
  return relationsTo(state, collection).flatMap(({ many_collection, many_field }) => {
    const held = draft.get(many_collection)?.relations.get(many_field);
    return held === undefined ? [] : [held];
  });
}

/** Removes an alias field and references to it in its collection. */
export function dropAlias(draft: Draft, collection: string, name: string): void {
  const alias = draft.get(collection)?.fields.get(name);
  if (alias === undefined || alias.schema !== null) return;
  releaseField(draft, collection, name);
  draft.removeField(collection, name);
}

/**
 * Removes references to a field in its collection: fields grouped in it move to its group, and sort and archive are
 * cleared.
 */
function releaseField(draft: Draft, collection: string, name: string): void {
  const node = draft.get(collection);
  if (node === undefined) return;
  const group = node.fields.get(name)?.meta.group ?? null;
  for (const field of node.fields.values()) {
    if (field.meta.group === name) draft.putField({ ...field, meta: { ...field.meta, group } });
  }
  const { meta } = node.collection;
  if (meta.archive_field !== name && meta.sort_field !== name) return;
  const unless = (field: string | null) => (field === name ? null : field);
  const cleared = { ...meta, archive_field: unless(meta.archive_field), sort_field: unless(meta.sort_field) };
  draft.putCollection({ ...node.collection, meta: cleared });
}

/*
 * Detaches references before their targets are removed: archive_field, sort_field, group, one_field, junction_field,
 * one_allowed_collections, and foreign keys on columns that change their type. Later updates set the desired values.
 */

/** @param held receives the documents that the detaching events change */
export const detachPhases = (change: TransitionContext, held: DetachedDocuments): (() => Phase)[] => [
  () => detachRelations(change, held),
  () => detachReferences(change, held),
  () => detachSurviving(change, held),
];

function detachSurviving(change: TransitionContext, held: DetachedDocuments): Phase {
  const inOrder = sortPartitionsLast(change.surviving, change.from, (each) => each.name);
  return phase(inOrder, ({ name, before }) => {
    const now = held.collections.get(name) ?? before.collection;
    return [...recordDetached(held, now, detachCollection(change, now)), ...detachFields(change, name, held)];
  });
}

function recordDetached(held: DetachedDocuments, before: Collection, after: Collection): NewEvent[] {
  if (after === before) return [];
  held.collections.set(after.collection, after);
  return [newEvent('collection.updated', after.collection, null, { patch: patchBetween(before, after) })];
}

/**
 * Detaches foreign keys that are not relations before other objects of the tables are removed. These foreign keys may
 * depend on a constraint that is also removed, and removed tables may reference each other.
 */
function detachReferences(change: TransitionContext, held: DetachedDocuments): Phase {
  const inOrder = sortPartitionsFirst(change.names, change.from, (each) => each);
  return phase(inOrder, (name) => {
    const collection = change.from.collections.get(name)?.collection;
    if (!collection?.schema) return [];
    const schema = detachTableReferences(change, collection.collection, collection.schema);
    return recordDetached(held, collection, schema === collection.schema ? collection : { ...collection, schema });
  });
}

function detachTableReferences({ to, removals }: TransitionContext, name: string, schema: TableSchema): TableSchema {
  // The foreign keys of a table to itself are dropped with the table.
  if (removals.collections.has(name))
    return withoutReferences(schema, (table) => table !== name && removals.collections.has(table));
  const desired = to.collections.get(name)?.collection.schema;
  const kept = detachTable(schema, { gone: removals.fields.get(name), tables: removals.collections, desired });
  const stays = new Set(kept.extras?.constraints);
  return withoutConstraints(schema, (each) => each.references !== undefined && !stays.has(each));
}

function detachCollection({ from, to, removals }: TransitionContext, collection: Collection): Collection {
  const gone = removals.fields.get(collection.collection);
  const meta = { ...collection.meta };
  meta.archive_field = nullIfRemoved(gone, meta.archive_field);
  meta.sort_field = nullIfRemoved(gone, meta.sort_field);
  // The nearest remaining group replaces a removed group, in the same way as when a group is deleted.
  while (meta.group !== null && removals.collections.has(meta.group)) {
    meta.group = from.collections.get(meta.group)?.collection.meta.group ?? null;
  }
  const same = (Object.keys(meta) as (keyof typeof meta)[]).every((key) => meta[key] === collection.meta[key]);
  const desired = to.collections.get(collection.collection)?.collection.schema;
  const schema = collection.schema && detachTable(collection.schema, { gone, tables: removals.collections, desired });
  return same && schema === collection.schema
    ? collection
    : { ...collection, meta: same ? collection.meta : meta, schema };
}

interface DetachOptions {
  gone: ReadonlySet<string> | undefined;
  tables: ReadonlySet<string>;
  /** The table after the change. */
  desired: TableSchema | null | undefined;
}

/**
 * Removes foreign keys before their target tables, definitions before their columns, and changed definitions before a
 * column takes the name. Adds needs before the columns that use them.
 */
function detachTable(schema: TableSchema, { gone, tables, desired }: DetachOptions): TableSchema {
  const kept = desired == null ? schema : withoutOthers(schema, desired);
  const detached = withoutReferences(kept, (table) => tables.has(table));
  const left = gone === undefined ? detached : withoutColumns(detached, (column) => gone.has(column));
  return desired == null ? left : withNeeds(left, desired);
}

function detachFields(change: TransitionContext, name: string, held: DetachedDocuments): NewEvent[] {
  const events: NewEvent[] = [];
  for (const field of change.from.collections.get(name)?.fields.values() ?? []) {
    const next = releasePrimaryKey(change, detachFieldGroup(change, field));
    if (next === field) continue;
    held.fields.set(memberKey(name, field.field), next);
    events.push(newEvent('field.updated', name, field.field, { patch: patchBetween(field, next) }));
  }
  return events;
}

function detachFieldGroup({ from, removals }: TransitionContext, field: Field): Field {
  const gone = removals.fields.get(field.collection);
  if (gone === undefined || gone.has(field.field)) return field;
  let { group } = field.meta;
  while (group !== null && gone.has(group)) {
    group = from.collections.get(field.collection)?.fields.get(group)?.meta.group ?? null;
  }
  return group === field.meta.group ? field : { ...field, meta: { ...field.meta, group } };
}

/**
 * Removes the primary key from the old column. A table can have only one primary key at a time, so this precedes the
 * creation of the new one.
 */
function releasePrimaryKey({ to, removals }: TransitionContext, field: Field): Field {
  const after = to.collections.get(field.collection)?.fields.get(field.field);
  if (field.schema === null || !isPrimary(field) || after === undefined || isPrimary(after)) return field;
  if (removals.fields.get(field.collection)?.has(field.field)) return field;
  return { ...field, schema: { ...field.schema, is_primary_key: false, is_unique: false } };
}

const nullIfRemoved = (gone: ReadonlySet<string> | undefined, name: string | null): string | null =>
  name !== null && gone?.has(name) ? null : name;

function detachRelations(change: TransitionContext, held: DetachedDocuments): Phase {
  return phase(affectedRelations(change), ([key, relation]) => {
    const next = getRelation(change.to, relation.many_collection, relation.many_field);
    if (next === undefined || isReplacedRelation(relation, next)) return [];
    const detached = detachRelation(change, relation);
    const patch = patchBetween(relationBody(relation), relationBody(detached));
    if (patch.length === 0) return [];
    held.relations.set(key, detached);
    return [newEvent('relation.updated', relation.many_collection, relation.many_field, { patch })];
  });
}

/**
 * Returns the relations of touched collections and the relations that reference these, in order and with partitions
 * first.
 */
function affectedRelations({ from, names }: TransitionContext): readonly [string, Relation][] {
  const concerned = new Map<string, Relation>();
  for (const name of names) {
    const own = from.collections.get(name)?.relations.values() ?? [];
    for (const relation of [...own, ...relationsTo(from, name)]) {
      concerned.set(memberKey(relation.many_collection, relation.many_field), relation);
    }
  }
  const ordered = [...concerned].sort(([a], [b]) => byName(a, b));
  return sortPartitionsFirst(ordered, from, ([, { many_collection }]) => many_collection);
}

function detachRelation(change: TransitionContext, relation: Relation): Relation {
  const { removals } = change;
  const goneHere = removals.fields.get(relation.many_collection);
  const goneThere = relation.one_collection === null ? undefined : removals.fields.get(relation.one_collection);
  const allowed = relation.one_allowed_collections?.filter((name) => !removals.collections.has(name)) ?? null;
  return {
    ...relation,
    one_field: nullIfRemoved(goneThere, relation.one_field),
    junction_field: nullIfRemoved(goneHere, relation.junction_field),
    sort_field: nullIfRemoved(goneHere, relation.sort_field),
    one_allowed_collections: allowed,
    schema: dropsForeignKey(change, relation) ? null : relation.schema,
  };
}

function dropsForeignKey({ from, to }: TransitionContext, relation: Relation): boolean {
  if (relation.schema === null || relation.one_collection === null) return false;
  if (columnChanges(from, to, relation.many_collection, relation.many_field)) return true;
  const target = from.collections.get(relation.one_collection);
  const keys = target === undefined ? [] : primaryKeyOf(target);
  return keys.some((key) => columnChanges(from, to, key.collection, key.field));
}
