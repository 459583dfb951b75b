/** Creates a draft of the schema with manual changes. The caller checks it. */
import type { Resumable } from '../../kernel/resumable.js';
import type { CollectionNode, State } from '../model/state.js';
import { Draft } from '../transition/draft.js';
import { changeRelation, dropCollection, dropField } from '../transition/cascade.js';
import { jsonEqual } from '../../kernel/json.js';
import type { Collection, Field, NewRelation } from '../model/model.js';
import { type AcceptRequest, requestAfter } from './accept-request.js';
import { type Renames, withRenames } from '../transition/renames.js';

/** A table of the catalog in normal form, with metadata from the log. */
export interface DriftedTable {
  collection: Collection;
  fields: Field[];
  relations: NewRelation[];
}

export interface FoundDrift {
  renames: Renames;
  /** Tables that differ from the log, by their current names. */
  tables: DriftedTable[];
  /** Collections whose table was dropped. */
  gone: string[];
  /** Requested fields that neither the log nor the database contains. */
  missing: readonly { collection: string; field: string }[];
}

export interface AcceptedState {
  desired: State;
  /** Collections that may differ. */
  touched: ReadonlySet<string>;
}

/** @param found catalog data. Objects that `request` does not name are unchanged. */
export function* acceptedState(state: State, found: FoundDrift, request: AcceptRequest): Resumable<AcceptedState> {
  const { state: base, touched } = yield* withRenames(state, found.renames);
  const meant = requestAfter(request, found.renames);
  const draft = new Draft(base);
  for (const name of found.gone) {
    if (meant.takes(name, undefined)) dropCollection(draft, base, name);
    yield;
  }
  for (const table of found.tables) {
    acceptTable(draft, base, table, meant);
    yield;
  }
  return { desired: yield* draft.toState(), touched: new Set([...touched, ...draft.touched]) };
}

function acceptTable(draft: Draft, state: State, found: DriftedTable, request: AcceptRequest): void {
  const name = found.collection.collection;
  const known = state.collections.get(name) as CollectionNode;
  const takes = (field: string) => request.takes(name, field);
  dropMissing(draft, state, { known, found, takes });
  // References to a dropped column may have been removed with it.
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
  found: DriftedTable;
  takes: (field: string) => boolean;
}

function dropMissing(draft: Draft, state: State, { known, found, takes }: Taking): void {
  const there = new Set(found.fields.map(({ field }) => field));
  for (const { collection, field, schema } of known.fields.values()) {
    if (schema !== null && !there.has(field) && takes(field)) dropField(draft, state, collection, field);
  }
}

/** A relation stays without its dropped foreign key. */
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
