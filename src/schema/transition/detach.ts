/**
 * Detaches references before their targets are removed: archive_field, sort_field, group, one_field, junction_field,
 * one_allowed_collections, and foreign keys on columns that change their type. Later updates set the desired values.
 */
import { memberKey, byName, getRelation, primaryKeyOf, relationsTo, isPrimary } from '../model/state.js';
import {
  type DetachedDocuments,
  type Phase,
  type TransitionContext,
  phase,
  columnChanges,
  relationBody,
  isReplacedRelation,
} from './context.js';
import { type NewEvent, newEvent } from '../model/events.js';
import type { Collection, Field, Relation, TableSchema } from '../model/model.js';
import { sortPartitionsFirst, sortPartitionsLast } from '../model/order.js';
import { patchBetween } from '../fold/rename-events.js';
import { withNeeds, withoutColumns, withoutConstraints, withoutOthers, withoutReferences } from './cascade.js';

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
