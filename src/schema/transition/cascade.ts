/* Deletes objects from a draft together with everything that depends on them. */
import { type State, groupedIn, referencesTo, relationsTo, extrasOfTable } from '../model/state.js';
import type { Draft } from './draft.js';
import type { NewRelation, Relation, TableSchema } from '../model/model.js';
import { constraintColumns, indexColumns } from '../sql-text/definitions.js';
import type { TableExtras } from '../model/extras.js';
import { jsonEqual } from '../../kernel/json.js';
import { needLabel } from '../model/order.js';

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
