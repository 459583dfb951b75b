/** Deletes objects from a draft together with everything that depends on them. */
import { type State, groupedIn, referencesTo, relationsTo } from '../model/state.js';
import type { Draft } from './draft.js';
import type { NewRelation, Relation } from '../model/model.js';
import { withoutColumns, withoutReferences } from './table-extras.js';

/**
 * Removes a collection. Relations that reference it are removed, but their columns stay. Alias fields of its own
 * relations are removed. It is removed from every one_allowed_collections, and collections grouped in it move to its
 * parent.
 */
export function dropCollection(draft: Draft, state: State, name: string): void {
  const node = draft.get(name);
  if (node === undefined) return;
  for (const relation of node.relations.values()) dropRelation(draft, relation);
  for (const relation of heldRelationsTo(draft, state, name)) {
    if (relation.one_collection === name) dropRelation(draft, relation);
    else draft.putRelation(disallowing(relation, name));
  }
  const { group } = node.collection.meta;
  for (const child of groupedIn(state, name)) {
    const held = draft.get(child)?.collection;
    if (held?.meta.group === name) draft.putCollection({ ...held, meta: { ...held.meta, group } });
  }
  dropReferences(draft, state, name);
  draft.removeCollection(name);
}

/** Also removes foreign keys of other tables that are no relations. */
function dropReferences(draft: Draft, state: State, name: string): void {
  for (const other of referencesTo(state, name)) {
    if (other === name) continue;
    const held = draft.get(other)?.collection;
    if (held?.schema)
      draft.putCollection({ ...held, schema: withoutReferences(held.schema, (table) => table === name) });
  }
}

/**
 * Removes a relation, its alias field on the one side, and its mention in the junction's other relation. Its column
 * stays.
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
 * Replaces a relation. With another target it is a different relation, so the alias field on the old target is removed.
 */
export function changeRelation(draft: Draft, before: Relation, after: NewRelation): void {
  const { one_collection, one_field } = before;
  draft.putRelation(after);
  if (one_collection === null || one_field === null || one_collection === after.one_collection) return;
  dropAlias(draft, one_collection, one_field);
}

/**
 * Removes a field with everything that depends on it: its relation, mentions as sort_field, archive_field,
 * junction_field or one_field, and constraints and indexes of the table that use it. Its parent group replaces it as a
 * group.
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
  for (const other of heldRelationsTo(draft, state, collection)) {
    if (other.one_collection === collection && other.one_field === name)
      draft.putRelation({ ...other, one_field: null });
  }
  releaseField(draft, collection, name);
  dropDefinitions(draft, collection, name);
  draft.removeField(collection, name);
}

/** Removes further constraints and indexes that use the column. */
export function dropDefinitions(draft: Draft, collection: string, column: string): void {
  const table = draft.get(collection)?.collection;
  if (!table?.schema?.extras) return;
  draft.putCollection({ ...table, schema: withoutColumns(table.schema, (name) => name === column) });
}

function disallowing(relation: Relation, collection: string): Relation {
  const allowed = relation.one_allowed_collections?.filter((each) => each !== collection) ?? null;
  return { ...relation, one_allowed_collections: allowed };
}

/** Returns relations in the draft that still reference `collection`. */
function heldRelationsTo(draft: Draft, state: State, collection: string): Relation[] {
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
