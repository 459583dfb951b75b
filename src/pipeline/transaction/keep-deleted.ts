/*
 * Moves the objects that a batch deletes to the trash. Deciding is pure and knows neither the clock nor the database.
 * The retention time is therefore added to the events later, within the command's transaction.
 */
import type pg from 'pg';
import { isAdopted, type KeptTable, type LogEvent, readRestored } from '../../schema/model/events.js';
import type { Problem, Warning } from '../../kernel/problem.js';
import {
  type TrashTable,
  type TrashFacts,
  type TrashFactsQuery,
  queueTrashFacts,
  readTrashFacts,
  type CountedRows,
  type TrashLocation,
  type ValuesFactsRequest,
  type ValuesFacts,
  readValuesFactsUnlocked,
  explainInherited,
  readValuesFacts,
} from '../../projector/catalog/deletion-facts.js';
import type { Queryable } from '../../postgres/pool.js';
import {
  type CollectionNode,
  type State,
  extrasOf,
  isFolder,
  getRelation,
  tableName,
} from '../../schema/model/state.js';
import type { RetentionOptions, PipelineOptions, RequestContext } from '../types.js';
import { runYielding } from '../../kernel/event-loop.js';
import type { Resumable } from '../../kernel/resumable.js';
import { TIME_TO_COUNT, queryWithin } from '../../projector/catalog/table-facts.js';
import { type Sql, ident, sql, trashOf } from '../../projector/ddl/sql.js';
import { primaryKeyColumns } from '../../projector/ddl/create-table.js';
import { planBatch } from '../../projector/ddl/plan.js';
import { startFolding } from '../../schema/fold/evolve.js';
import { formerNames } from '../../schema/fold/former-names.js';
import { explainDroppedKey, keyBefore, rejectDroppedKey } from './dropped-key.js';
import { type Projection, takeLocks } from './run-ddl.js';

/*
 * Decides whether the trash keeps the values of deleted fields. The row count is certain only while no other session
 * can write, so the locks of the batch are taken first.
 */

interface KeepValues {
  state: State;
  events: readonly LogEvent[];
  schema: string;
  waits: Projection['waits'];
  /** Maximum rows of a table. Null sets no limit, because the values were copied beforehand. */
  copyRows: number | null;
  /** If false, nothing is kept, and the function only looks for deletions that need `purge`. */
  keeps: boolean;
}

interface KeptValues {
  /** Indexes of the events whose fields keep their values in the trash. */
  kept: ReadonlySet<number>;
  warnings: Warning[];
}

/** True if an event deletes a field with its values. */
const deletesField = (event: LogEvent): boolean => event.type === 'field.deleted' && !isAdopted(event);

/** Returns problems if a deletion needs `purge` or the locks are not granted. */
async function keepValues(
  client: pg.ClientBase,
  { state, events, schema, waits, copyRows, keeps }: KeepValues,
): Promise<KeptValues | { problems: Problem[] }> {
  const deletions = await runYielding(deletionsIn(state, events));
  const most = keeps ? copyRows : null;
  // The row count must hold until the commit.
  const isCounted = most !== null && deletions.some(({ never }) => never === undefined);
  const locked = isCounted ? await lockAll(client, { state, events, schema, waits }) : null;
  if (locked !== null) return { problems: locked };
  const factsOf = await readFactsByTable((query) => readValuesFacts(client, query), { deletions, schema, most });
  const problems = deletions.flatMap((at) => [
    ...rejectLossInDescendants(at, factsOf(at)),
    ...(keeps ? rejectDroppedKey(at, factsOf(at), NEEDS_PURGE) : []),
  ]);
  if (problems.length > 0) return { problems };
  if (!keeps) return { kept: new Set(), warnings: [] };
  const kept = new Set<number>();
  const warnings: Warning[] = [];
  for (const at of deletions) {
    const why = explainNotKept(at, factsOf(at), copyRows);
    if (why === null) continue;
    if (why === undefined) kept.add(at.index);
    else warnings.push(...warnNotKept(at, why));
  }
  return { kept, warnings };
}

/** Returns why the trash cannot keep the values of deleted fields, keyed by event index. Takes no locks. */
async function explainLostValues(
  db: Queryable,
  { state, events, schema, copyRows }: Pick<KeepValues, 'state' | 'events' | 'schema' | 'copyRows'>,
): Promise<Map<number, string>> {
  const deletions = await runYielding(deletionsIn(state, events));
  const until = performance.now() + TIME_TO_COUNT;
  const ask = (question: Sql) => queryWithin<CountedRows & pg.QueryResultRow>(db, question, until - performance.now());
  const factsOf = await readFactsByTable((query) => readValuesFactsUnlocked(db, query, ask), {
    deletions,
    schema,
    most: copyRows,
  });
  return new Map(
    deletions.flatMap((at) => {
      const why = explainNotKept(at, factsOf(at), copyRows);
      return why === undefined
        ? []
        : [[at.index, why ?? 'the column does not exist: it was dropped or renamed by hand']];
    }),
  );
}

type FindValuesFacts = (deletion: Deletion) => ValuesFacts | undefined;

async function readFactsByTable(
  read: (request: ValuesFactsRequest) => Promise<ReadonlyMap<number, ValuesFacts>>,
  { deletions, schema, most }: { deletions: readonly Deletion[]; schema: string; most: number | null },
): Promise<FindValuesFacts> {
  const stored = deletions.filter(({ isStored }) => isStored);
  const places = [...new Map(stored.map(({ table }) => [keyOf(table), table])).values()];
  const facts = await read({ schema, places, most });
  const byKey = new Map(places.map((place, index) => [keyOf(place), facts.get(index)]));
  return ({ table }) => byKey.get(keyOf(table));
}

/**
 * Rejects a deletion that PostgreSQL would extend to inheriting tables, because the caller must ask for that loss
 * (`purge`). Tables that define the column themselves keep it.
 */
function rejectLossInDescendants(
  { collection, field, columns, isStored }: Deletion,
  facts: ValuesFacts | undefined,
): Problem[] {
  const [column = field] = columns;
  if (!isStored || facts === undefined || facts.descendants.length === 0 || !facts.columns.includes(column)) return [];
  const { descendants } = facts;
  const message =
    `Field ${JSON.stringify(field)} of ${JSON.stringify(collection)} cannot be kept in the trash: ${explainInherited(descendants)}. ` +
    'To drop them permanently, repeat the change with "purge".';
  return [
    { code: 'DATABASE_REFUSED', message, collection, field, details: { ...NEEDS_PURGE, inherited_by: descendants } },
  ];
}

async function lockAll(
  client: pg.ClientBase,
  { state, events, schema, waits }: Omit<KeepValues, 'copyRows' | 'keeps'>,
): Promise<Problem[] | null> {
  const { statements } = await runYielding(planBatch(state, events, schema));
  return takeLocks(client, { schema, statements, waits });
}

interface Deletion {
  /** Index of the event in the batch. */
  index: number;
  collection: string;
  field: string;
  /** The location of the table, and the names of its key and column before the batch. */
  table: TrashLocation;
  columns: string[];
  /** The columns of the primary key, if it existed before the batch. */
  key: string[];
  /** False for generated columns and alias fields. */
  isStored: boolean;
  /** The reason why the values are never kept, however many rows there are. */
  never: string | undefined;
}

const keyOf = ({ name, schema = sql`` }: TrashLocation): string => `${schema} ${name}`;

function* deletionsIn(state: State, events: readonly LogEvent[]): Resumable<Deletion[]> {
  if (!events.some(deletesField)) return [];
  const folding = startFolding(state);
  const former = formerNames();
  const hidden = findAliasesOfDeletedRelations(state, events);
  const restored = new Map<string, TrashLocation>();
  const deletions: Deletion[] = [];
  for (const [index, event] of events.entries()) {
    const { collection, field } = event;
    if (collection !== null && field !== null && deletesField(event) && !hidden.has(`${collection}\0${field}`)) {
      const node = folding.node(collection) as CollectionNode;
      const columns = [field, ...primaryKeyColumns(node)].map((name) => former.field(collection, name));
      deletions.push({
        index,
        collection,
        field,
        table: restored.get(former.collection(collection)) ?? locationOf(state, former.collection(collection)),
        columns,
        key: keyBefore(state.collections.get(former.collection(collection)), columns.slice(1)),
        isStored: node.fields.get(field)?.schema?.generation_expression === null,
        never: explainNeverKept(node, field),
      });
    }
    noteRestored(restored, event);
    folding.add({ ...event, position: state.position + 1 + index });
    former.add(event);
    yield;
  }
  return deletions;
}

/** Locates the table of a collection in the state before the batch. */
function locationOf(state: State, collection: string): TrashLocation {
  const schema = state.collections.get(collection)?.collection.schema?.schema;
  return { name: tableName(state, collection), ...(schema !== undefined && { schema: ident(schema) }) };
}

/** Locates a table that the batch restores. Before the batch, it is still in the trash. */
function noteRestored(places: Map<string, TrashLocation>, event: LogEvent): void {
  if (event.type !== 'collection.created') return;
  const taken = readRestored(event.data);
  if (taken !== undefined) places.set(event.collection, { name: taken.name, schema: trashOf(taken) });
}

/** Aliases that are deleted with their relation are reported with the relation. */
function findAliasesOfDeletedRelations(state: State, events: readonly LogEvent[]): ReadonlySet<string> {
  return new Set(
    events.flatMap((event) => {
      if (event.type !== 'relation.deleted') return [];
      const relation = getRelation(state, event.collection, event.field ?? '');
      return relation?.one_field == null ? [] : [`${relation.one_collection}\0${relation.one_field}`];
    }),
  );
}

function explainNeverKept(node: CollectionNode, name: string): string | undefined {
  const schema = node.fields.get(name)?.schema ?? null;
  if (schema === null) return 'it has no column';
  if (schema.generation_expression !== null) return 'its values are generated';
  const key = primaryKeyColumns(node);
  if (key.length === 0) return 'the table has no primary key to match the values to rows';
  // The key has further columns. Without this column, several rows may have the same key.
  if (key.includes(name)) return 'it is part of the primary key, which matches values to rows';
  return undefined;
}

/**
 * Returns why the values cannot be kept. Undefined if nothing prevents it. Null if the column no longer exists and
 * needs no report.
 */
function explainNotKept(
  { columns, key, never }: Deletion,
  facts: ValuesFacts | undefined,
  copyRows: number | null,
): string | null | undefined {
  if (never !== undefined) return never;
  if (facts === undefined || !columns.every((each) => facts.columns.includes(each))) return null;
  if (facts.partitioned) return 'the table is partitioned';
  if (!facts.readable) return 'the database role of the service cannot read the table';
  if (facts.descendants.length > 0) return `${facts.descendants.join(', ')} would lose the column too, by inheritance`;
  return explainDroppedKey(key, facts) ?? explainManyRows(facts, copyRows);
}

function explainManyRows(facts: ValuesFacts, copyRows: number | null): string | undefined {
  if (copyRows === null) return undefined;
  if (facts.rows === null) return 'counting the rows of the table took too long';
  return facts.rows > copyRows
    ? `the table has more than ${copyRows.toLocaleString('en')} rows (KEEP_COPY_ROWS). Delete the field online to keep them`
    : undefined;
}

function warnNotKept(
  { collection, field }: Pick<Deletion, 'collection' | 'field'>,
  why: string | undefined,
): Warning[] {
  if (why === undefined) return [];
  const message = `delete field ${collection}.${field}: the trash does not keep its values, because ${why}`;
  return [{ code: 'DATA_NOT_KEPT', collection, field, message }];
}

export interface KeepInput {
  state: State;
  events: readonly LogEvent[];
  request: Pick<RequestContext, 'purge' | 'online'>;
  waits: KeepValues['waits'];
  options: Pick<PipelineOptions, 'keep' | 'location'>;
  glance: TrashFactsQuery;
  isDryRun: boolean;
}

type KeepResult =
  | {
      kind: 'kept';
      /** The events, with retention times. An event without one drops its object immediately. */
      events: LogEvent[];
      /** Warnings for the plan. */
      warnings: Warning[];
    }
  | { kind: 'refused'; problems: Problem[] };

/** Codes of the warnings of `keepDeleted`. */
export const NOTICED_IN_TABLES: ReadonlySet<string> = new Set(['DATA_NOT_KEPT', 'LEAVES_PUBLICATION']);

/** Adds retention times to the events. Runs no query if the batch deletes nothing or the trash keeps nothing. */
export async function keepDeleted(client: pg.ClientBase, keeping: KeepInput): Promise<KeepResult> {
  const { state, events, request, waits, options, glance, isDryRun } = keeping;
  const tables = new Map(events.flatMap((event) => tableDeletedBy(state, event)));
  const keeps = options.keep.deleted > 0;
  const deletesFields = events.some(deletesField);
  const asTheyAre: KeepResult = { kind: 'kept', events: [...events], warnings: [] };
  if (request.purge === true) return { ...asTheyAre, warnings: await runYielding(warnPurged(state, events)) };
  if (!deletesFields && (tables.size === 0 || !keeps)) return asTheyAre;
  const { schema } = options.location;
  // An online change copies the values beforehand, so their number does not matter.
  const copyRows = request.online === true ? null : options.keep.copyRows;
  const deleted = { state, events, schema, waits, copyRows };
  const without = async (warnings: Warning[]): Promise<KeepResult> => {
    const values = await keepValues(client, { ...deleted, keeps: false });
    return 'problems' in values ? { kind: 'refused', problems: values.problems } : { ...asTheyAre, warnings };
  };
  if (!keeps) return without([]);
  const facts = await readTrashFacts(client, { schema, state, tables: [...tables.keys()], glance, isDryRun });
  if (!facts.mayCreateSchemas) return without(warnNothingKept(tables.keys(), events));
  const problems = [...tables.keys()].flatMap((name) => rejectUnkeepable(name, facts.tables.get(name)));
  if (problems.length > 0) return { kind: 'refused', problems };
  const values = await keepValues(client, { ...deleted, keeps });
  if ('problems' in values) return { kind: 'refused', problems: values.problems };
  const kept_until = new Date(facts.now.getTime() + options.keep.deleted).toISOString();
  const completed = events.map((event, index): LogEvent => {
    if (event.type === 'field.deleted' && values.kept.has(index))
      return { ...event, data: { ...event.data, kept_until } };
    if (event.type !== 'collection.deleted') return event;
    const [node, table] = [tables.get(event.collection), facts.tables.get(event.collection)];
    if (node === undefined || table === undefined) return event;
    return { ...event, data: { ...event.data, ...createKeptTable(node, table, kept_until) } };
  });
  return { kind: 'kept', events: completed, warnings: [...tableWarnings(tables.keys(), facts), ...values.warnings] };
}

const HAS_PURGE = 'the change has the option purge';

/** Yields warnings for a batch with `purge`, for which the trash keeps neither tables nor values. */
function* warnPurged(state: State, events: readonly LogEvent[]): Resumable<Warning[]> {
  const tables = events.flatMap((event) => tableDeletedBy(state, event).map(([name]) => name));
  const fields = (yield* deletionsIn(state, events)).filter(({ isStored }) => isStored);
  return [
    ...tables.map((name) => warnTableNotKept(name, `the trash does not keep it, because ${HAS_PURGE}`)),
    ...fields.flatMap((each) => warnNotKept(each, HAS_PURGE)),
  ];
}

export interface EstimatedRetention {
  /** The reason why the trash cannot keep an object, by the index of the event that deletes it. */
  lost: ReadonlyMap<number, string>;
  /** The warnings of `keepDeleted`. */
  warnings: Warning[];
}

/**
 * Returns which objects of a plan the trash would not keep. Nothing is locked, so the result only describes the current
 * tables.
 */
export async function estimateKept(
  db: Queryable,
  { state, events, schema, keep, online, purge }: DeletionPlan,
): Promise<EstimatedRetention> {
  const all = (why: string, warnings: Warning[] = []): EstimatedRetention => ({
    lost: new Map(events.map((_, index) => [index, why])),
    warnings,
  });
  if (purge) return all(HAS_PURGE, await runYielding(warnPurged(state, events)));
  if (keep.deleted === 0) return all('this service does not keep deleted objects (KEEP_DELETED)');
  const tables = [...new Set(events.flatMap((event) => tableDeletedBy(state, event).map(([name]) => name)))];
  const facts = await queueTrashFacts(db, { schema, state, tables });
  if (!facts.mayCreateSchemas) return all(MAY_NOT_CREATE, warnNothingKept(tables, events));
  const copyRows = online ? null : keep.copyRows;
  const lost = await explainLostValues(db, { state, events, schema, copyRows });
  const warnings = [
    ...tableWarnings(tables, facts),
    ...[...lost].flatMap(([index, why]) => valuesNotKept(events[index], why)),
  ];
  for (const [index, event] of events.entries()) {
    if (event.type !== 'collection.deleted') continue;
    const why =
      tableDeletedBy(state, event).length === 0 ? 'it has no table' : explainLostTable(facts, event.collection);
    if (why !== undefined) lost.set(index, why);
  }
  return { lost, warnings };
}

const valuesNotKept = (event: LogEvent | undefined, why: string): Warning[] =>
  event?.type === 'field.deleted' && event.field !== null
    ? warnNotKept({ collection: event.collection, field: event.field }, why)
    : [];

interface DeletionPlan {
  state: State;
  events: readonly LogEvent[];
  schema: string;
  keep: RetentionOptions;
  online: boolean;
  purge: boolean;
}

function explainLostTable({ tables }: TrashFacts, collection: string): string | undefined {
  const table = tables.get(collection);
  return table === undefined ? NO_TABLE : explainUnkeepable(table);
}

/** Returns the table of a collection that the event deletes. */
function tableDeletedBy({ collections }: State, event: LogEvent): [string, CollectionNode][] {
  if (event.type !== 'collection.deleted' || isAdopted(event)) return [];
  const node = collections.get(event.collection);
  return node === undefined || isFolder(node) ? [] : [[event.collection, node]];
}

function createKeptTable(
  node: CollectionNode,
  { publications, foreignKeys, keptIn }: TrashTable,
  kept_until: string,
): KeptTable {
  const managed = new Set([
    ...[...node.relations.values()].map(({ schema }) => schema?.constraint_name),
    ...(extrasOf(node).constraints ?? []).map(({ name }) => name),
  ]);
  const byHand = foreignKeys.filter(({ name }) => !managed.has(name));
  return {
    kept_until,
    ...(keptIn !== null && { kept_in: keptIn }),
    ...(publications.length > 0 && { publications: publications.map(({ name }) => name) }),
    ...(byHand.length > 0 && { foreign_keys: byHand }),
  };
}

const PURGE = 'Use "purge" to drop it immediately.';

/** Names the option that permits the change, for clients. */
const NEEDS_PURGE = { option: 'purge' } as const;

/** Finds objects that the role may drop but not move. A missing table has nothing to keep. */
function rejectUnkeepable(collection: string, facts: TrashTable | undefined): Problem[] {
  const why = facts && explainUnkeepable(facts);
  if (why === undefined) return [];
  const message = `Table ${JSON.stringify(collection)} cannot be kept in the trash: ${why}. ${PURGE}`;
  return [{ code: 'IN_USE', message, collection, details: NEEDS_PURGE }];
}

/** Returns the reason why the role may drop the table but not move it. */
function explainUnkeepable({ owned, publications, inherits }: TrashTable): string | undefined {
  if (!owned) return 'the database role of the service does not own it';
  const foreign = publications.find((each) => !each.owned);
  if (foreign !== undefined)
    return `it is in the publication ${JSON.stringify(foreign.name)}, which the database role of the service does not own`;
  return inherits === null ? undefined : `it inherits from ${inherits}, whose queries would still return its rows`;
}

const MAY_NOT_CREATE =
  'the database role of the service cannot create schemas in this database (GRANT CREATE ON DATABASE)';

const NO_SCHEMAS = `the trash keeps nothing, because ${MAY_NOT_CREATE}`;

const NO_TABLE = 'the table does not exist: it was dropped or renamed by hand';

const warnTableNotKept = (collection: string, why: string): Warning => ({
  code: 'DATA_NOT_KEPT',
  collection,
  message: `drop table ${collection}: ${why}`,
});

function warnNothingKept(tables: Iterable<string>, events: readonly LogEvent[]): Warning[] {
  const fields = events.flatMap((event) => {
    const { collection, field } = event;
    if (!deletesField(event) || collection === null || field === null) return [];
    return [
      { code: 'DATA_NOT_KEPT', collection, field, message: `delete field ${collection}.${field}: ${NO_SCHEMAS}` },
    ];
  });
  return [...[...tables].map((name) => warnTableNotKept(name, NO_SCHEMAS)), ...fields];
}

function tableWarnings(names: Iterable<string>, { tables }: TrashFacts): Warning[] {
  return [...names].flatMap((collection) => {
    const facts = tables.get(collection);
    if (facts === undefined) return [warnTableNotKept(collection, `the trash keeps nothing, because ${NO_TABLE}`)];
    return facts.publications.map(({ name }) => ({
      code: 'LEAVES_PUBLICATION',
      collection,
      message: `move table ${collection} to the trash: it leaves the publication ${JSON.stringify(name)}, and a restore does not add it again`,
    }));
  });
}
