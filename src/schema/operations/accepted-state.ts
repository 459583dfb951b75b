/** The schema as it is when what was changed by hand is taken into it: a draft, which the caller checks. */
import { extrasOf, type CollectionNode, type State } from '../model/state.js';
import type { Resumable } from '../../kernel/resumable.js';
import { Draft } from '../transition/draft.js';
import { constraintColumns, indexColumns } from '../sql-text/columns.js';
import { changeRelation, dropCollection, dropField } from '../transition/cascade.js';
import { jsonEqual } from '../../kernel/json.js';
import type { TableExtras } from '../model/extras.js';
import type { Collection, Field, NewRelation } from '../model/model.js';
import { withExtras } from '../transition/table-extras.js';
import { type AcceptRequest, requestAfter } from './accept-request.js';
import { type Renames, renamedState } from './renamed-state.js';

/** A table as the catalog has it, in normal form, with the metadata that the log knows. */
export interface FoundTable {
  collection: Collection;
  fields: Field[];
  relations: NewRelation[];
}

/** Foreign keys that are no relations, as a table has them now. */
export interface FoundReferences {
  collection: string;
  constraints: NonNullable<TableExtras['constraints']>;
}

export interface FoundDrift {
  renames: Renames;
  /** That are otherwise than the log says, by the names that they have now. */
  tables: FoundTable[];
  /** Collections whose table was dropped. */
  gone: string[];
  /** Of tables beside those that point at something with another name. */
  references: FoundReferences[];
}

export interface AcceptedState {
  desired: State;
  /** The collections that may differ. */
  touched: ReadonlySet<string>;
}

/** @param found what the catalog says; what `request` doesn't name is left as it is */
export function* acceptedState(state: State, found: FoundDrift, request: AcceptRequest): Resumable<AcceptedState> {
  const renamed = renamedState(state, found.renames);
  const base = yield* renamed.toStateInSteps();
  const meant = requestAfter(request, found.renames);
  const draft = new Draft(base);
  for (const name of found.gone) {
    if (meant.takes(name, undefined)) dropCollection(draft, base, name);
    yield;
  }
  for (const references of found.references) putReferences(draft, references);
  for (const table of found.tables) {
    const names = found.renames.fields.get(table.collection.collection);
    if (names !== undefined) putDefinitions(draft, table, names);
    acceptTable(draft, base, table, meant);
    yield;
  }
  return { desired: yield* draft.toStateInSteps(), touched: new Set([...renamed.touched, ...draft.touched]) };
}

/** Of a table that isn't meant itself: what it points at is called otherwise now. */
function putReferences(draft: Draft, { collection: name, constraints }: FoundReferences): void {
  const held = draft.get(name)?.collection;
  if (!held?.schema) return;
  const found = new Map(constraints.map((each) => [each.name, each]));
  const kept = held.schema.extras?.constraints?.map((each) => found.get(each.name) ?? each) ?? [];
  draft.putCollection({ ...held, schema: withExtras(held.schema, { ...held.schema.extras, constraints: kept }) });
}

/** What names a column that has another name now says that, whatever else of the table is taken. */
function putDefinitions(draft: Draft, found: FoundTable, names: ReadonlyMap<string, string>): void {
  const { collection, fields } = found;
  const held = draft.get(collection.collection) as CollectionNode;
  const { schema } = held.collection;
  const there = extrasOf({ collection });
  const isOld = (columns: Iterable<string>) => [...columns].some((column) => names.has(column));
  const swapped = <T extends Definition>(
    list: T[] = [],
    now: T[] = [],
    columnsOf: (text: string) => Iterable<string>,
  ) =>
    list.map((each) =>
      isOld(columnsOf(each.definition)) ? (now.find(({ name }) => name === each.name) ?? each) : each,
    );
  if (schema?.extras) {
    const constraints = swapped(schema.extras.constraints, there.constraints, constraintColumns);
    const indexes = swapped(schema.extras.indexes, there.indexes, indexColumns);
    draft.putCollection({ ...held.collection, schema: withExtras(schema, { ...schema.extras, constraints, indexes }) });
  }
  for (const field of fields) {
    const known = held.fields.get(field.field);
    if (known?.schema?.generation_expression != null && !jsonEqual(field, known)) draft.putField(field);
  }
}

interface Definition {
  name: string;
  definition: string;
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
