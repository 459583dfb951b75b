/** Edits of a draft that take along what can't stay: the chains of a delete. */
import type { Draft } from './draft.js';
import type { Relation } from './model.js';
import type { State } from './state.js';
import { relationsTo } from './state.js';

/**
 * Removes a collection: relations that point at it go, their columns stay; the alias fields that showed its own
 * relations go; it leaves every one_allowed_collections; collections grouped under it move to its parent.
 */
export function dropCollection(draft: Draft, state: State, name: string): void {
  const node = draft.get(name);
  if (node === undefined) return;
  for (const relation of [...node.relations.values()]) dropRelation(draft, relation);
  for (const relation of relationsTo(state, name)) {
    const current = draft.get(relation.many_collection)?.relations.get(relation.many_field);
    if (current === undefined) continue;
    if (current.one_collection === name) dropRelation(draft, current);
    else draft.putRelation({ ...current, one_allowed_collections: without(current.one_allowed_collections, name) });
  }
  const { group } = node.collection.meta;
  for (const child of state.collections.keys()) {
    const held = draft.get(child)?.collection;
    if (held?.meta.group === name) draft.putCollection({ ...held, meta: { ...held.meta, group } });
  }
  draft.removeCollection(name);
}

/**
 * Removes a relation, the alias field that showed it on the one side, and the mention of it in the junction's other
 * relation. Its column stays.
 */
export function dropRelation(draft: Draft, relation: Relation): void {
  const { many_collection, many_field, one_collection, one_field } = relation;
  draft.removeRelation(many_collection, many_field);
  if (one_collection !== null && one_field !== null) dropAlias(draft, one_collection, one_field);
  for (const other of [...(draft.get(many_collection)?.relations.values() ?? [])]) {
    if (other.junction_field === many_field) draft.putRelation({ ...other, junction_field: null });
  }
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
  for (const field of [...node.fields.values()]) {
    if (field.meta.group === name) draft.putField({ ...field, meta: { ...field.meta, group } });
  }
  const { meta } = node.collection;
  if (meta.archive_field !== name && meta.sort_field !== name) return;
  const unless = (field: string | null) => (field === name ? null : field);
  const cleared = { ...meta, archive_field: unless(meta.archive_field), sort_field: unless(meta.sort_field) };
  draft.putCollection({ ...node.collection, meta: cleared });
}

const without = (names: string[] | null, name: string): string[] | null =>
  names?.filter((each) => each !== name) ?? null;

/**
 * Removes a field with what hangs on it: the relation it holds, mentions of it as sort_field, archive_field,
 * junction_field or one_field, and its place as a group, which its parent group takes.
 */
export function dropField(draft: Draft, state: State, collection: string, name: string): void {
  const relation = draft.get(collection)?.relations.get(name);
  if (relation !== undefined) dropRelation(draft, relation);
  for (const other of [...(draft.get(collection)?.relations.values() ?? [])]) {
    const { junction_field, sort_field } = other;
    if (junction_field !== name && sort_field !== name) continue;
    const unless = (field: string | null) => (field === name ? null : field);
    draft.putRelation({ ...other, junction_field: unless(junction_field), sort_field: unless(sort_field) });
  }
  for (const other of relationsTo(state, collection)) {
    const held = draft.get(other.many_collection)?.relations.get(other.many_field);
    if (held?.one_collection === collection && held.one_field === name) draft.putRelation({ ...held, one_field: null });
  }
  releaseField(draft, collection, name);
  draft.removeField(collection, name);
}
