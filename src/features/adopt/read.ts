import type pg from 'pg';
import type { Note, RejectedAdoption } from '../../projector/inspect/needs.js';
import type {
  AdoptRequest,
  AdoptTables,
  CatalogFindings,
  CatalogTableDocuments,
} from '../../schema/operations/adopt-tables.js';
import { quoteName } from '../../kernel/text.js';
import type { ObjectName } from '../../schema/model/objects.js';
import { type ObjectAdoption, type RefusedObject, nameOfNote, noteNamesOf, readObjectAdoption } from './objects.js';
import { extrasOf, getObject, type State, tableIdOf } from '../../schema/model/state.js';
import type { NewRelation, Collection } from '../../schema/model/model.js';
import { isSystemCollection } from '../../schema/model/system-collections.js';
import { createTimeSlice } from '../../kernel/event-loop.js';
import type { CatalogTable } from '../../projector/catalog/model.js';
import type { CatalogObjects } from '../../projector/catalog/objects.js';
import { createCatalogReading } from '../../projector/catalog/read.js';
import { type Reading, readTogether } from '../../projector/catalog/queries.js';
import { convertTable, refusalOf } from '../../projector/inspect/convert.js';
import { completeKeys, waitingTables } from '../../projector/inspect/keys.js';
import type { Need } from '../../schema/model/extras.js';
import { jsonEqual } from '../../kernel/json.js';
import type { ManagedTables } from '../../projector/catalog/managed.js';
import { needLabel, objectsInOrder, ownerOf, schemaOfNeed, withOwner } from '../../schema/model/order.js';
import { withExtras, withoutManagedTypes } from '../../schema/transition/cascade.js';
import { Draft } from '../../schema/transition/draft.js';
import { readUnlistedObjects, readUnsupportedObjects } from './unsupported-objects.js';

/* Handle types and sequences that were altered by hand after a table that uses them was adopted. When another such
   table is adopted, all tables record the current definition. */

/**
 * @returns the `completed` collections, and the managed collections that recorded a different definition, with the current
 * definition
 */
export function completeNeeds(
  adopted: readonly Collection[],
  { collections }: State,
  completed: readonly Collection[],
): Collection[] {
  const needsByLabel = collectNeeds(adopted);
  const done = new Map(completed.map((each) => [each.collection, each]));
  if (needsByLabel.size === 0) return [...completed];
  for (const { collection } of collections.values()) {
    const before = done.get(collection.collection) ?? collection;
    const now = withCatalogNeeds(before, needsByLabel);
    if (now !== before) done.set(collection.collection, now);
  }
  return [...done.values()];
}

const needsOf = (collection: Collection): readonly Need[] => extrasOf({ collection }).needs ?? [];

/** Returns the needs by label. A sequence counts as owned if any table owns it. */
function collectNeeds(adopted: readonly Collection[]): ReadonlyMap<string, Need> {
  const needsByLabel = new Map<string, Need>();
  for (const need of adopted.flatMap(needsOf)) {
    const label = needLabel(need);
    if (ownerOf(need) !== undefined || !needsByLabel.has(label)) needsByLabel.set(label, need);
  }
  return needsByLabel;
}

/** Returns the collection with the current needs. Returns the same object if they already match. */
function withCatalogNeeds(collection: Collection, needsByLabel: ReadonlyMap<string, Need>): Collection {
  const { schema } = collection;
  const before = needsOf(collection);
  const needs = before.map((need) => toCatalogNeed(need, needsByLabel.get(needLabel(need))));
  if (schema === null || jsonEqual(needs, [...before])) return collection;
  return { ...collection, schema: withExtras(schema, { ...schema.extras, needs }) };
}

/**
 * Returns the current definition of a need. A sequence that a column of an adopted table owns cannot belong to another
 * table.
 */
function toCatalogNeed(need: Need, catalogNeed: Need | undefined): Need {
  if (catalogNeed === undefined) return need;
  return withOwner(catalogNeed, ownerOf(catalogNeed) === undefined ? ownerOf(need) : undefined);
}

export interface Adoption extends CatalogFindings {
  refused: (RejectedAdoption | RefusedObject)[];
  notRepresented: Note[];
}

interface AdoptionTarget extends ManagedTables {
  client: pg.ClientBase;
  /** True if the instance manages objects other than tables. */
  objects?: boolean | undefined;
}

/** Must be called in a transaction that holds the log's lock, with `state` at the head. */
export async function readAdoption(
  { client, schema, schemas, state, objects: hasObjects = false }: AdoptionTarget,
  request: AdoptRequest,
): Promise<Adoption> {
  const names = 'all' in request ? undefined : request.tables;
  const [catalog, hanging, standalone] = readCatalogFindings(
    client,
    { schema, schemas, state, hasObjects },
    names,
    waitingTables(state),
  );
  const { tables: managedTables, objects } = await catalog;
  const there = [...managedTables.values()];
  const unmanaged = there.filter(({ name }) => !state.collections.has(name));
  const refused = new Map<string, RejectedAdoption>();
  const tables = selectAdoptable(unmanaged, { schema, state }, refused);
  const notes: Note[] = [];
  // PostgreSQL runs the remaining queries while this process converts the tables.
  const converted = await convertAll(tables, { schema, state, objects, notes }, refused);
  const adopted = new Set(converted.tables.map(({ collection }) => collection.collection));
  const together = new Map([...tables].filter(([name]) => adopted.has(name)));
  const keys = completeKeys(there, { schema, state, objects, notes, together });
  const managed = [...converted.tables, ...state.collections.values()];
  const beside = hasObjects
    ? await readObjectAdoption(client, { schema, schemas, state, managed }, request)
    : undefined;
  const shown = beside === undefined ? [] : [...objectsInOrder(state), ...beside.adopted].flatMap(noteNamesOf);
  const hangingNotes = (await hanging).filter(({ table }) => adopted.has(table ?? ''));
  notes.push(...selectUnrepresented({ managed, shown }, [hangingNotes, beside?.notes ?? []]));
  const named = new Set(notes.map(({ kind, name }) => `${kind} ${name}`));
  const others = (await standalone).filter(({ kind, name }) => !named.has(`${kind} ${name}`));
  notes.push(...selectUnrepresented({ managed, shown }, [others]));
  const after = withAdoptedObjects(state, beside);
  const completed = completeNeeds(
    converted.tables.map(({ collection }) => collection),
    state,
    keys.collections,
  );
  return {
    tables: converted.tables.map((table) => ({ ...table, collection: withoutManagedTypes(after, table.collection) })),
    relations: [...converted.relations, ...keys.relations],
    completed: removeManagedTypes(after, completed),
    missing: names?.filter((name) => !managedTables.has(name)) ?? [],
    ...addObjectAdoption([...refused.values()], beside),
    notRepresented: notes.filter(({ kind, name }) => kind !== 'type' || !hasType(after, name)),
  };
}

const hasType = (state: State, id: string): boolean => getObject(state, { kind: 'type', id }) !== undefined;

/** Returns the state with the adopted objects. */
function withAdoptedObjects(state: State, beside: ObjectAdoption | undefined): State {
  const draft = new Draft(state);
  for (const object of beside?.adopted ?? []) draft.putObject(object);
  return draft.toState();
}

/** Returns the completed collections and those whose needs contain a type that is an object now, without these types. */
function removeManagedTypes(after: State, completed: readonly Collection[]): Collection[] {
  const byName = new Map(completed.map((each) => [each.collection, withoutManagedTypes(after, each)]));
  for (const { collection } of after.collections.values()) {
    if (byName.has(collection.collection)) continue;
    const now = withoutManagedTypes(after, collection);
    if (now !== collection) byName.set(collection.collection, now);
  }
  return [...byName.values()];
}

/**
 * Sends all queries in one round trip.
 * @param managed.hasObjects true if the service manages objects other than tables
 * @param tables limits the result to these tables. If absent, all tables and standalone objects are read.
 * @param more tables whose columns and keys are also read
 */
export function readCatalogFindings(
  client: pg.ClientBase,
  { hasObjects = false, ...managed }: ManagedTables & { hasObjects?: boolean },
  tables?: readonly string[],
  more: readonly string[] = [],
) {
  return readTogether(
    client,
    createCatalogReading(managed, tables && [...tables, ...more], tables),
    readUnsupportedObjects(managed, tables),
    tables === undefined ? readUnlistedObjects(managed, hasObjects) : NOTHING,
  );
}

function addObjectAdoption(
  refused: RejectedAdoption[],
  beside: ObjectAdoption | undefined,
): Pick<Adoption, 'refused' | 'objects'> {
  if (beside === undefined) return { refused };
  return {
    refused: [...refused, ...beside.refused],
    objects: { adopted: beside.adopted, missing: beside.missing },
  };
}

/** @param shown names of managed objects other than tables, in the form that notes use */
function selectUnrepresented(
  { managed, shown }: { managed: readonly Pick<CatalogTableDocuments, 'collection'>[]; shown: readonly string[] },
  notes: readonly (readonly Note[])[],
): Note[] {
  const represented = new Set([...representedObjects(managed), ...shown]);
  const tables = new Map(managed.map(({ collection }) => [collection.collection, tableIdOf(collection)]));
  return notes.flat().filter((note) => !represented.has(nameOfNote(note, tables)));
}

/** Reads no standalone objects. Used if only some tables are requested. */
const NOTHING: Reading<Note[]> = { queries: [], make: () => Promise.resolve([]) };

type ManagedState = Pick<AdoptionTarget, 'schema' | 'state'>;

/**
 * Returns the tables that can be adopted: their names and owner allow it, and the parent of a partition is managed or
 * also adopted.
 */
function selectAdoptable(
  tables: readonly CatalogTable[],
  managed: ManagedState,
  refused: Map<string, RejectedAdoption>,
) {
  const fine = new Map<string, CatalogTable>();
  for (const table of tables) {
    const refusal = refusalOf({ table });
    if (refusal === null) fine.set(table.name, table);
    else refused.set(table.name, refusal);
  }
  for (let before = -1; before !== fine.size;) {
    before = fine.size;
    for (const table of fine.values()) {
      const refusal = parentRefusal(table, fine, managed);
      if (refusal === null) continue;
      fine.delete(table.name);
      refused.set(table.name, refusal);
    }
  }
  return fine;
}

function parentRefusal(
  { name, partitionOf }: CatalogTable,
  fine: ReadonlyMap<string, CatalogTable>,
  { schema, state }: ManagedState,
): RejectedAdoption | null {
  if (partitionOf === null) return null;
  const { schema: elsewhere, table } = partitionOf;
  if (elsewhere === schema && (fine.has(table) || state.collections.has(table))) return null;
  const message = `it is a partition of ${quoteName(table)}, which must be adopted before it or together with it`;
  return { table: name, code: 'PARENT_NOT_ADOPTED', message };
}

type Common = ManagedState & { objects: CatalogObjects; notes: Note[] };

async function convertAll(
  tables: ReadonlyMap<string, CatalogTable>,
  common: Common,
  refused: Map<string, RejectedAdoption>,
) {
  const results: { tables: CatalogTableDocuments[]; relations: NewRelation[] } = { tables: [], relations: [] };
  const slice = createTimeSlice();
  for (const table of tables.values()) {
    if (slice.isOver()) await slice.yield();
    const converted = convertTable({ ...common, table, together: tables });
    if (!converted.ok) {
      const message = converted.problems.map((problem) => `${problem.path ?? ''} ${problem.message}`.trim()).join('; ');
      refused.set(table.name, { table: table.name, code: 'NOT_REPRESENTABLE', message });
      continue;
    }
    const { relations, ...rest } = converted.value;
    results.tables.push(rest);
    results.relations.push(...relations);
  }
  const kept = new Set(results.tables.map(({ collection }) => collection.collection));
  const reaches = ({ one_collection: one }: NewRelation) =>
    one !== null && (kept.has(one) || common.state.collections.has(one) || isSystemCollection(one));
  return { tables: results.tables, relations: results.relations.filter(reaches) };
}

/** Returns the objects that the documents of the tables contain. */
function representedObjects(tables: readonly Pick<CatalogTableDocuments, 'collection'>[]): Set<string> {
  const needs = tables.flatMap((table) => extrasOf(table).needs ?? []);
  return new Set(
    needs.map((need) => {
      const schema = schemaOfNeed(need);
      const name = schema === undefined ? need.name : `${schema}.${need.name}`;
      return need.kind === 'enum' || need.kind === 'domain' ? `type ${name}` : `${need.kind} ${name}`;
    }),
  );
}

/* Adopts tables. The catalog is read in the command's transaction. */

/** The effects of an adoption, or of its dry run. */
export interface AdoptionReport {
  /** The names of the adopted collections. */
  adopted: string[];
  /** Foreign keys that became relations. */
  relations: number;
  /** Tables that cannot be adopted, with reasons. Present only if all tables were requested. */
  refused: Adoption['refused'];
  /** Unsupported objects. They stay in the database, and no snapshot contains them. */
  not_represented: Note[];
  /** The adopted objects other than tables. Absent if the instance does not manage them. */
  objects?: ObjectName[];
}

/** @param command the command after `readAdoption` */
export function adoptionReport(command: AdoptTables): AdoptionReport {
  const adoption = command.found as Adoption;
  return {
    adopted: adoption.tables.map(({ collection }) => collection.collection),
    relations: adoption.relations.length,
    refused: adoption.refused,
    not_represented: adoption.notRepresented,
    ...(adoption.objects !== undefined && { objects: adoption.objects.adopted.map(({ kind, id }) => ({ kind, id })) }),
  };
}
