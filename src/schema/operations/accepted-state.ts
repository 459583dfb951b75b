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
  dropMissing(draft, state, { known, found, takes });
  // What named a dropped column may have gone with it.
  const held = draft.get(name)?.collection;
  if (held !== undefined && request.takes(name, undefined) && !jsonEqual(held.schema, found.collection.schema)) {
    draft.putCollection({ ...held, schema: found.collection.schema });
  }
  for (const field of found.fields) {
    if (takes(field.field) && !jsonEqual(field, known.fields.get(field.field))) draft.putField(field);
  }
  leaveKeys(draft, { known, found, takes });
  for (const relation of found.relations) if (takes(relation.many_field)) putKey(draft, relation);
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
