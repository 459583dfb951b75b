/** Edits of a draft that take along what can't stay: the chains of a delete. */
import { type State, groupedIn, referencesTo, relationsTo } from '../model/state.js';
import type { Draft } from './draft.js';
import type { NewRelation, Relation } from '../model/model.js';
import { withoutColumns, withoutReferences } from './table-extras.js';

/**
 * Removes a collection: relations that point at it go, their columns stay; the alias fields that showed its own
 * relations go; it leaves every one_allowed_collections; collections grouped under it move to its parent.
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

/** Foreign keys of other tables that are no relations go too. */
function dropReferences(draft: Draft, state: State, name: string): void {
  for (const other of referencesTo(state, name)) {
    if (other === name) continue;
    const held = draft.get(other)?.collection;
    if (held?.schema)
      draft.putCollection({ ...held, schema: withoutReferences(held.schema, (table) => table === name) });
  }
}

/**
 * Removes a relation, the alias field that showed it on the one side, and the mention of it in the junction's other
 * relation. Its column stays.
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
 * Puts a changed relation. One that points elsewhere now is another relation: the alias field that showed it where it
 * pointed goes with it, as it does with one that is removed.
 */
export function changeRelation(draft: Draft, before: Relation, after: NewRelation): void {
  const { one_collection, one_field } = before;
  draft.putRelation(after);
  if (one_collection === null || one_field === null || one_collection === after.one_collection) return;
  dropAlias(draft, one_collection, one_field);
}

/**
 * Removes a field with what depends on it: the relation it holds, mentions of it as sort_field, archive_field,
 * junction_field or one_field, the table's further constraints and indexes that name it, and its place as a group, which
 * its parent group takes.
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

/** Constraints and indexes beyond what fields say, where they name the column. */
export function dropDefinitions(draft: Draft, collection: string, column: string): void {
  const table = draft.get(collection)?.collection;
  if (!table?.schema?.extras) return;
  draft.putCollection({ ...table, schema: withoutColumns(table.schema, (name) => name === column) });
}

function disallowing(relation: Relation, collection: string): Relation {
  const allowed = relation.one_allowed_collections?.filter((each) => each !== collection) ?? null;
  return { ...relation, one_allowed_collections: allowed };
}

/** Relations that point at `collection` and are still in the draft. */
function heldRelationsTo(draft: Draft, state: State, collection: string): Relation[] {
  return relationsTo(state, collection).flatMap(({ many_collection, many_field }) => {
    const held = draft.get(many_collection)?.relations.get(many_field);
    return held === undefined ? [] : [held];
  });
}

/** Removes an alias field with what names it in its own collection. */
export function dropAlias(draft: Draft, collection: string, name: string): void {
  const alias = draft.get(collection)?.fields.get(name);
  if (alias === undefined || alias.schema !== null) return;
  releaseField(draft, collection, name);
  draft.removeField(collection, name);
}

/** Lets go of a field inside its own collection: fields grouped in it move to its group, sort and archive forget it. */
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
