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

/** Removes an alias field with what names it in its own collection; fields grouped in it move to its group. */
export function dropAlias(draft: Draft, collection: string, name: string): void {
  const node = draft.get(collection);
  const alias = node?.fields.get(name);
  if (node === undefined || alias === undefined || alias.schema !== null) return;
  for (const field of [...node.fields.values()]) {
    if (field.meta.group === name) draft.putField({ ...field, meta: { ...field.meta, group: alias.meta.group } });
  }
  const { meta } = node.collection;
  const cleared = { ...meta };
  if (meta.archive_field === name) cleared.archive_field = null;
  if (meta.sort_field === name) cleared.sort_field = null;
  if (cleared.archive_field !== meta.archive_field || cleared.sort_field !== meta.sort_field) {
    draft.putCollection({ ...node.collection, meta: cleared });
  }
  draft.removeField(collection, name);
}

const without = (names: string[] | null, name: string): string[] | null => names?.filter((each) => each !== name) ?? null;
