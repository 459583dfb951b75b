/** The schema as it is when what was changed by hand is taken into it: edits of a draft, judged by whoever asks. */
import { Draft } from '../draft.js';
import { changeRelation, dropCollection, dropField } from '../edits.js';
import { jsonEqual } from '../json.js';
import type { Collection, Field, NewRelation, Relation } from '../model.js';
import { type CollectionNode, type State, groupedIn, relationsTo } from '../state.js';

/** Which differences are meant. */
export interface AcceptRequest {
  /** The collections that are named, with the fields; undefined: all. null: the whole collection. */
  only: ReadonlyMap<string, ReadonlySet<string> | null> | undefined;
  takes(collection: string, field: string | undefined): boolean;
}

/** A table as the catalog has it, in normal form, with the metadata that the log knows. */
export interface FoundTable {
  collection: Collection;
  fields: Field[];
  relations: NewRelation[];
  /** By its name now, the field whose column has another name. */
  renamed?: ReadonlyMap<string, string>;
}

export interface FoundDrift {
  /** That are otherwise than the log says. */
  tables: FoundTable[];
  /** Collections whose table was dropped. */
  gone: string[];
  /** Collections whose table is there under another name. */
  renamed: { from: string; table: FoundTable }[];
}

/** @param found what the catalog says; what `request` doesn't name is left as it is */
export function acceptedState(state: State, found: FoundDrift, request: AcceptRequest): Draft {
  const draft = new Draft(state);
  for (const { from, table } of found.renamed) if (request.takes(from, undefined)) rename(draft, state, from, table);
  for (const name of found.gone) if (request.takes(name, undefined)) dropCollection(draft, state, name);
  for (const table of found.tables) acceptTable(draft, state, table, request);
  return draft;
}

function acceptTable(draft: Draft, state: State, found: FoundTable, request: AcceptRequest): void {
  const name = found.collection.collection;
  const known = state.collections.get(name) as CollectionNode;
  const takes = (field: string) => request.takes(name, field);
  const renamed = renameFields(draft, { known, found, takes });
  dropMissing(draft, state, { known, found, takes });
  if (request.takes(name, undefined)) putTable(draft, found);
  const takesAsIs = (field: string) => takes(field) && !renamed.has(field);
  for (const field of found.fields) {
    if (takesAsIs(field.field) && !jsonEqual(field, known.fields.get(field.field))) draft.putField(field);
  }
  leaveKeys(draft, { known, found, takes });
  for (const relation of found.relations) if (takesAsIs(relation.many_field)) putKey(draft, relation);
}

/** What named a dropped column may have gone with it. */
function putTable(draft: Draft, { collection: { collection, schema } }: FoundTable): void {
  const held = draft.get(collection)?.collection;
  if (held !== undefined && !jsonEqual(held.schema, schema)) draft.putCollection({ ...held, schema });
}

interface Taking {
  known: CollectionNode;
  found: FoundTable;
  takes: (field: string) => boolean;
}

function dropMissing(draft: Draft, state: State, { known, found, takes }: Taking): void {
  const there = new Set(found.fields.map(({ field }) => field));
  for (const { collection, field, schema } of known.fields.values()) {
    if (schema !== null && !there.has(field) && takes(field)) dropField(draft, state, collection, field);
  }
}

/**
 * A column with another name is that field still, whichever of its names was said: its metadata, its relation, and what
 * names it in its own collection go over. Returns the new names of those that were taken.
 */
function renameFields(draft: Draft, { known, found, takes }: Taking): Set<string> {
  const taken = new Set<string>();
  for (const field of found.fields) {
    const from = found.renamed?.get(field.field);
    const before = from === undefined ? undefined : known.fields.get(from);
    if (before === undefined || !(takes(before.field) || takes(field.field))) continue;
    taken.add(field.field);
    draft.removeField(field.collection, before.field);
    draft.putField(field);
    renameMentions(draft, before, field.field);
    moveRelation(draft, before, { to: field.field, found });
  }
  return taken;
}

function renameMentions(draft: Draft, { collection, field: from }: Field, to: string): void {
  const named = (name: string | null) => (name === from ? to : name);
  const node = draft.get(collection) as CollectionNode;
  for (const field of node.fields.values()) {
    if (field.meta.group === from) draft.putField({ ...field, meta: { ...field.meta, group: to } });
  }
  const { meta } = node.collection;
  const mentioned = { ...meta, archive_field: named(meta.archive_field), sort_field: named(meta.sort_field) };
  if (!jsonEqual(mentioned, meta)) draft.putCollection({ ...node.collection, meta: mentioned });
  for (const relation of node.relations.values()) {
    const { one_collection_field, junction_field, sort_field } = relation;
    const after = {
      ...relation,
      one_collection_field: named(one_collection_field),
      junction_field: named(junction_field),
      sort_field: named(sort_field),
    };
    if (!jsonEqual(after, relation)) draft.putRelation(after);
  }
}

function moveRelation(draft: Draft, { collection, field }: Field, { to, found }: { to: string; found: FoundTable }) {
  const key = found.relations.find(({ many_field }) => many_field === to);
  const held = draft.get(collection)?.relations.get(field);
  if (held === undefined) return key === undefined ? undefined : draft.putRelation(key);
  const { id: _, ...relation } = held;
  draft.removeRelation(collection, field);
  draft.putRelation({ ...relation, many_field: to, schema: key?.schema ?? null });
}

/** A relation whose foreign key is gone stays one, without. */
function leaveKeys(draft: Draft, { known, found, takes }: Taking): void {
  const there = new Set(found.relations.map(({ many_field }) => many_field));
  for (const { many_collection, many_field, schema } of known.relations.values()) {
    const held = draft.get(many_collection)?.relations.get(many_field);
    if (held === undefined || schema === null || there.has(many_field) || !takes(many_field)) continue;
    draft.putRelation({ ...held, schema: null });
  }
}

function putKey(draft: Draft, relation: NewRelation): void {
  const held = draft.get(relation.many_collection)?.relations.get(relation.many_field);
  if (held === undefined) draft.putRelation(relation);
  else if (!jsonEqual({ id: held.id, ...relation }, held)) changeRelation(draft, held, relation);
}

/** All that the log knows of the collection goes over to the new name: metadata, aliases, relations, what is grouped in it. */
function rename(draft: Draft, state: State, from: string, { collection, fields, relations }: FoundTable): void {
  const known = state.collections.get(from) as CollectionNode;
  const to = collection.collection;
  const touching = [...known.relations.values(), ...relationsTo(state, from)];
  const children = groupedIn(state, from);
  draft.removeCollection(from);
  draft.putCollection({ ...collection, meta: { ...known.collection.meta } });
  const aliases = [...known.fields.values()].filter(({ schema }) => schema === null);
  for (const field of [...aliases, ...fields]) draft.putField({ ...field, collection: to });
  for (const relation of touching) draft.putRelation(moved(relation, from, to));
  for (const relation of relations) {
    const held = draft.get(to)?.relations.get(relation.many_field);
    draft.putRelation(held === undefined ? moved(relation, from, to) : { ...held, schema: relation.schema });
  }
  for (const child of children) {
    const held = draft.get(child)?.collection;
    if (held !== undefined) draft.putCollection({ ...held, meta: { ...held.meta, group: to } });
  }
}

function moved(relation: NewRelation | Relation, from: string, to: string): NewRelation {
  const { id: _, ...body } = { id: 0, ...relation };
  const own = <T extends string | null>(name: T): T => (name === from ? to : name) as T;
  return {
    ...body,
    many_collection: own(body.many_collection),
    one_collection: own(body.one_collection),
    one_allowed_collections: body.one_allowed_collections?.map(own) ?? null,
  };
}
