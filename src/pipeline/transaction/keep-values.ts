/**
 * Decides whether the values of deleted fields go to the trash. Their number is certain only while no other session can
 * write. So the locks of the batch are taken first.
 */
import type pg from 'pg';
import { runYielding } from '../../kernel/event-loop.js';
import type { Problem } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import type { Warning } from '../../kernel/warning.js';
import { TIME_TO_COUNT, askedWithin } from '../../projector/catalog/asked-within.js';
import type { Sql } from '../../projector/ddl/sql.js';
import { primaryKeyColumns } from '../../projector/ddl/create-table.js';
import { planBatch } from '../../projector/ddl/plan.js';
import {
  type CountedRows,
  type Place,
  type ValuesAsked,
  type ValuesFacts,
  glanceAtValues,
  readValuesFacts,
} from '../../projector/trash/values-facts.js';
import type { Queryable } from '../../postgres/pool.js';
import { startFolding } from '../../schema/fold/evolve.js';
import { formerNames } from '../../schema/fold/former-names.js';
import { type LogEvent, takenFromTrash, isAdopted } from '../../schema/model/events.js';
import { type CollectionNode, type State, getRelation } from '../../schema/model/state.js';
import { type Projection, takeLocks } from './run-ddl.js';

export interface KeepValues {
  state: State;
  events: readonly LogEvent[];
  schema: string;
  waits: Projection['waits'];
  /** Maximum rows of a table. Null sets no limit, because the values were copied beforehand. */
  copyRows: number | null;
  /** If false, the service keeps nothing and only looks for deletions that need `purge`. */
  keeps: boolean;
}

export interface KeptValues {
  /** Indexes of events whose fields keep their values in the trash. */
  kept: ReadonlySet<number>;
  warnings: Warning[];
}

/** True if an event deletes a field with its values. */
export const deletesField = (event: LogEvent): boolean => event.type === 'field.deleted' && !isAdopted(event);

/** Returns problems if a deletion needs `purge` or the locks are not granted. */
export async function keepValues(
  client: pg.ClientBase,
  { state, events, schema, waits, copyRows, keeps }: KeepValues,
): Promise<KeptValues | { problems: Problem[] }> {
  const deletions = await runYielding(deletionsIn(state, events));
  const most = keeps ? copyRows : null;
  // The row count must hold until the commit.
  const isCounted = most !== null && deletions.some(({ never }) => never === undefined);
  const locked = isCounted ? await lockAll(client, { state, events, schema, waits }) : null;
  if (locked !== null) return { problems: locked };
  const factsOf = await factsBy((asked) => readValuesFacts(client, asked), { deletions, schema, most });
  const problems = deletions.flatMap((at) => lostInHeirs(at, factsOf(at)));
  if (problems.length > 0) return { problems };
  if (!keeps) return { kept: new Set(), warnings: [] };
  const kept = new Set<number>();
  const warnings: Warning[] = [];
  for (const at of deletions) {
    const why = reasonAgainst(at, factsOf(at), copyRows);
    if (why === null) continue;
    if (why === undefined) kept.add(at.index);
    else warnings.push(...notKept(at, why));
  }
  return { kept, warnings };
}

/** Returns why the trash cannot keep the values of deleted fields, keyed by event index. Takes no locks. */
export async function whyValuesAreLost(
  db: Queryable,
  { state, events, schema, copyRows }: Pick<KeepValues, 'state' | 'events' | 'schema' | 'copyRows'>,
): Promise<Map<number, string>> {
  const deletions = await runYielding(deletionsIn(state, events));
  const until = performance.now() + TIME_TO_COUNT;
  const ask = (question: Sql) => askedWithin<CountedRows & pg.QueryResultRow>(db, question, until - performance.now());
  const factsOf = await factsBy((asked) => glanceAtValues(db, asked, ask), { deletions, schema, most: copyRows });
  return new Map(
    deletions.flatMap((at) => {
      const why = reasonAgainst(at, factsOf(at), copyRows);
      return why === undefined ? [] : [[at.index, why ?? 'there is no such column: it was dropped or renamed by hand']];
    }),
  );
}

type FactsOf = (deletion: Deletion) => ValuesFacts | undefined;

async function factsBy(
  read: (asked: ValuesAsked) => Promise<ReadonlyMap<number, ValuesFacts>>,
  { deletions, schema, most }: { deletions: readonly Deletion[]; schema: string; most: number | null },
): Promise<FactsOf> {
  const stored = deletions.filter(({ isStored }) => isStored);
  const places = [...new Map(stored.map(({ table }) => [keyOf(table), table])).values()];
  const facts = await read({ schema, places, most });
  const byKey = new Map(places.map((place, index) => [keyOf(place), facts.get(index)]));
  return ({ table }) => byKey.get(keyOf(table));
}

/** PostgreSQL drops the column from inheriting tables too, so the caller must ask for that loss. */
function lostInHeirs({ collection, field, columns, isStored }: Deletion, facts: ValuesFacts | undefined): Problem[] {
  const [column = field] = columns;
  if (!isStored || facts === undefined || facts.heirs.length === 0 || !facts.columns.includes(column)) return [];
  const { heirs } = facts;
  const [table, inherits] = heirs.length === 1 ? ['table', 'inherits'] : ['tables', 'inherit'];
  const message =
    `The field ${JSON.stringify(field)} of ${JSON.stringify(collection)} cannot be kept in the trash: ` +
    `the ${table} ${heirs.join(', ')} ${inherits} the column and would lose it too. ` +
    'To drop it permanently from all of them, repeat the change with "purge".';
  return [{ code: 'DATABASE_REFUSED', message, collection, field, details: { inherited_by: heirs } }];
}

async function lockAll(
  client: pg.ClientBase,
  { state, events, schema, waits }: Omit<KeepValues, 'copyRows' | 'keeps'>,
): Promise<Problem[] | null> {
  const { statements } = await runYielding(planBatch(state, events, schema));
  return takeLocks(client, { schema, statements, waits });
}

interface Deletion {
  /** Index of the event. */
  index: number;
  collection: string;
  field: string;
  /** The location of the table, and the names of its key and column before the batch. */
  table: Place;
  columns: string[];
  /** False for generated columns and alias fields. */
  isStored: boolean;
  /** Why the values are not kept, regardless of the rows. */
  never: string | undefined;
}

const keyOf = ({ name, position = 0 }: Place): string => `${position} ${name}`;

function* deletionsIn(state: State, events: readonly LogEvent[]): Resumable<Deletion[]> {
  if (!events.some(deletesField)) return [];
  const folding = startFolding(state);
  const former = formerNames();
  const hidden = aliasesGoingAlong(state, events);
  const restored = new Map<string, Place>();
  const found: Deletion[] = [];
  for (const [index, event] of events.entries()) {
    const { collection, field } = event;
    if (collection !== null && field !== null && deletesField(event) && !hidden.has(`${collection}\0${field}`)) {
      const node = folding.node(collection) as CollectionNode;
      const columns = [field, ...primaryKeyColumns(node)].map((name) => former.field(collection, name));
      found.push({
        index,
        collection,
        field,
        table: restored.get(former.collection(collection)) ?? { name: former.collection(collection) },
        columns,
        isStored: node.fields.get(field)?.schema?.generation_expression === null,
        never: neverKept(node, field),
      });
    }
    noteRestored(restored, event);
    folding.add({ ...event, position: state.position + 1 + index });
    former.add(event);
    yield;
  }
  return found;
}

/** A table that the batch restores is in the trash before it. */
function noteRestored(places: Map<string, Place>, event: LogEvent): void {
  if (event.type !== 'collection.created') return;
  const taken = takenFromTrash(event.data);
  if (taken !== undefined) places.set(event.collection, { name: taken.name, position: taken.position });
}

/** Aliases that are deleted with their relation are reported with the relation. */
function aliasesGoingAlong(state: State, events: readonly LogEvent[]): ReadonlySet<string> {
  return new Set(
    events.flatMap((event) => {
      if (event.type !== 'relation.deleted') return [];
      const relation = getRelation(state, event.collection, event.field ?? '');
      return relation?.one_field == null ? [] : [`${relation.one_collection}\0${relation.one_field}`];
    }),
  );
}

function neverKept(node: CollectionNode, name: string): string | undefined {
  const schema = node.fields.get(name)?.schema ?? null;
  if (schema === null) return 'it has no column';
  if (schema.generation_expression !== null) return 'its values are computed from others';
  const key = primaryKeyColumns(node);
  if (key.length === 0) return 'the table has no primary key by which they could be restored';
  // Without this column, several rows may share the rest of the key.
  if (key.includes(name)) return 'it is part of the primary key, by which they would be restored';
  return undefined;
}

/** Undefined if there is no reason. Null if the column no longer exists and needs no report. */
function reasonAgainst(
  { columns, never }: Deletion,
  facts: ValuesFacts | undefined,
  copyRows: number | null,
): string | null | undefined {
  if (never !== undefined) return never;
  if (facts === undefined || !columns.every((each) => facts.columns.includes(each))) return null;
  if (facts.partitioned) return 'the table is partitioned';
  if (!facts.readable) return "the service's account may not read the table";
  if (facts.heirs.length > 0) return `${facts.heirs.join(', ')} would lose the column too, by inheritance`;
  if (copyRows === null) return undefined;
  if (facts.rows === null) return 'the rows of the table could not be counted in time';
  return facts.rows > copyRows
    ? `the table has more than ${copyRows.toLocaleString('en')} rows (KEEP_COPY_ROWS); deleted online, they are kept`
    : undefined;
}

function notKept({ collection, field }: Pick<Deletion, 'collection' | 'field'>, why: string | undefined): Warning[] {
  if (why === undefined) return [];
  const message = `delete field ${collection}.${field}: its values are not kept in the trash, because ${why}`;
  return [{ code: 'DATA_NOT_KEPT', collection, field, message }];
}
