import { quoted } from '../../kernel/quoted.js';
import { extrasOf, type State } from '../../schema/model/state.js';
import type pg from 'pg';
import type { CatalogFindings, FoundTable, AdoptRequest } from '../../schema/operations/adopt-tables.js';
import type { NewRelation } from '../../schema/model/model.js';
import { isSystemCollection } from '../../schema/model/system-collections.js';
import { createTimeSlice } from '../../kernel/event-loop.js';
import type { CatalogTable } from '../catalog/model.js';
import { type CatalogObjects, objectsReading } from '../catalog/objects.js';
import { catalogReading } from '../catalog/read.js';
import { type Reading, readTogether } from '../catalog/reading.js';
import { convertTable, refusalOf } from './convert.js';
import { completeKeys, waitingTables } from './managed-keys.js';
import { completeNeeds } from './managed-needs.js';
import type { Note, Refused } from './note.js';
import { besideReading, unrepresentedReading } from './unrepresented.js';

export interface Adoption extends CatalogFindings {
  refused: Refused[];
  notRepresented: Note[];
}

interface Place {
  client: pg.ClientBase;
  schema: string;
  state: State;
}

/** Call it in a transaction that holds the log's lock, with `state` at the head. */
export async function readAdoption({ client, schema, state }: Place, request: AdoptRequest): Promise<Adoption> {
  const names = 'all' in request ? undefined : request.tables;
  const [catalog, using, hanging, beside] = readFound(client, schema, names, waitingTables(state));
  const there = await catalog;
  const known = new Set(there.map(({ name }) => name));
  const unmanaged = there.filter(({ name }) => !state.collections.has(name));
  const refused = new Map<string, Refused>();
  const tables = adoptable(unmanaged, { schema, state }, refused);
  const notes: Note[] = [];
  // PostgreSQL runs the remaining queries while this process converts the tables.
  const found = await convertAll(tables, { schema, state, objects: await using, notes }, refused);
  const adopted = new Set(found.tables.map(({ collection }) => collection.collection));
  const together = new Map([...tables].filter(([name]) => adopted.has(name)));
  const keys = completeKeys(there, { schema, state, objects: await using, notes, together });
  for (const each of await hanging) if (adopted.has(each.table ?? '')) notes.push(each);
  const managed = [...found.tables, ...state.collections.values()];
  const named = new Set([...representedBy(managed), ...notes.map(({ kind, name }) => `${kind} ${name}`)]);
  notes.push(...(await beside).filter(({ kind, name }) => !named.has(`${kind} ${name}`)));
  return {
    tables: found.tables,
    relations: [...found.relations, ...keys.relations],
    completed: completeNeeds(
      found.tables.map(({ collection }) => collection),
      state,
      keys.collections,
    ),
    missing: names?.filter((name) => !known.has(name)) ?? [],
    refused: [...refused.values()],
    notRepresented: notes,
  };
}

/**
 * Sends all queries in one round trip.
 * @param tables limits the result to these tables; if absent, all tables and standalone objects are read
 * @param more tables whose columns and keys are also read
 */
export function readFound(
  client: pg.ClientBase,
  schema: string,
  tables?: readonly string[],
  more: readonly string[] = [],
) {
  return readTogether(
    client,
    catalogReading(schema, tables && [...tables, ...more]),
    objectsReading(schema, tables),
    unrepresentedReading(schema, tables),
    tables === undefined ? besideReading(schema) : NOTHING,
  );
}

/** Standalone objects are not read if only some tables are requested. */
const NOTHING: Reading<Note[]> = { queries: [], make: () => Promise.resolve([]) };

type Managed = Pick<Place, 'schema' | 'state'>;

/** Tables whose names and owner allow adoption, and whose parent (for partitions) is managed or is being adopted. */
function adoptable(tables: readonly CatalogTable[], managed: Managed, refused: Map<string, Refused>) {
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
  { schema, state }: Managed,
): Refused | null {
  if (partitionOf === null) return null;
  const { schema: elsewhere, table } = partitionOf;
  if (elsewhere === schema && (fine.has(table) || state.collections.has(table))) return null;
  const message = `it is a partition of ${quoted(table)}, which has to be adopted with it or before it`;
  return { table: name, code: 'PARENT_NOT_ADOPTED', message };
}

type Common = Managed & { objects: CatalogObjects; notes: Note[] };

async function convertAll(tables: ReadonlyMap<string, CatalogTable>, common: Common, refused: Map<string, Refused>) {
  const found: { tables: FoundTable[]; relations: NewRelation[] } = { tables: [], relations: [] };
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
    found.tables.push(rest);
    found.relations.push(...relations);
  }
  const kept = new Set(found.tables.map(({ collection }) => collection.collection));
  const reaches = ({ one_collection: one }: NewRelation) =>
    one !== null && (kept.has(one) || common.state.collections.has(one) || isSystemCollection(one));
  return { tables: found.tables, relations: found.relations.filter(reaches) };
}

/** The objects that the tables represent themselves. */
function representedBy(tables: readonly Pick<FoundTable, 'collection'>[]): Set<string> {
  const needs = tables.flatMap((table) => extrasOf(table).needs ?? []);
  return new Set(
    needs.map(({ kind, name }) => (kind === 'enum' || kind === 'domain' ? `type ${name}` : `${kind} ${name}`)),
  );
}
