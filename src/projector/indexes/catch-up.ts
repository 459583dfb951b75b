/*
 * Processes the log from the checkpoint to the head: skips events without indexes and reconciles the others in order.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { readHeadPosition, EVENT_COLUMNS, type EventRow, toEventRecord } from '../../log/read.js';
import type { Queryable } from '../../postgres/pool.js';
import { REFUSE_OLDER_RELEASE } from '../../postgres/own-tables.js';
import type { Logger } from '../../postgres/logger.js';
import type { LockedSession } from '../../postgres/locked-session.js';
import type { StoredEvent, LogEvent, NewEvent } from '../../schema/model/events.js';
import { readEvent } from '../../schema/fold/upcasting.js';
import { sql, own, type Sql, ident, qualified } from '../ddl/sql.js';
import { INDEX_PROJECTION, type PositionedTarget, renameTarget, readRenames } from '../verify/pending-indexes.js';
import {
  isIndexed,
  extrasOf,
  type State,
  type TableLocation,
  getField,
  locateTable,
  tableName,
} from '../../schema/model/state.js';
import { SQLSTATE, sqlState } from '../../postgres/errors.js';
import { indexName, indexNameOf } from '../../schema/model/constraint-names.js';

/* The progress of the index builder: its row in service_projections. */

/** The failure that stopped the builder, stored as displayed. */
export interface IndexFailure {
  /** The position of the event whose index cannot be built. */
  position: number;
  collection: string;
  field: string;
  sqlstate: string | null;
  message: string;
  /** The number of attempts. */
  attempts: number;
}

const LOAD = sql`
WITH first AS (
  INSERT INTO ${own.projections} (name, kind) VALUES ($1, 'after-commit') ON CONFLICT (name) DO NOTHING
)
SELECT position FROM ${own.projections} WHERE name = $1`;

/** Returns the position up to which all indexes are done. It is 0 at first. */
export async function loadCheckpoint(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ position: number }>(LOAD, [INDEX_PROJECTION]);
  return Number(rows[0]?.position ?? 0);
}

/**
 * SQL that advances the checkpoint. The log must still contain the previous and the new checkpoint, so that a
 * truncation is not hidden. The log may have been cut off since its end was read, and a position without a hash would
 * cause another divergence.
 */
const ADVANCE = sql`
UPDATE ${own.projections} p SET position = target.position, hash = target.hash,
  status = 'running', last_error = NULL, updated_at = now()
FROM ${own.events} target
WHERE target.position = $3 AND p.name = $1 AND p.position = $2 AND (p.position = 0 OR p.hash IS NULL OR EXISTS (
  SELECT FROM ${own.events} e WHERE e.position = p.position AND e.hash = p.hash))`;

/**
 * Advances the checkpoint if it is still at `from`. A process that lost its lock thus cannot overwrite the progress of
 * another one.
 */
export async function advanceCheckpoint(db: Queryable, from: number, to: number): Promise<boolean> {
  if (from === to) return true;
  const { rowCount } = await db.query(ADVANCE, [INDEX_PROJECTION, from, to]);
  return rowCount === 1;
}

const FAIL = sql`
UPDATE ${own.projections} SET status = 'failed', last_error = $2, updated_at = now() WHERE name = $1`;

/** Stores a failure, which is valid until the checkpoint advances. */
export async function recordFailure(db: Queryable, failure: IndexFailure): Promise<void> {
  await db.query(FAIL, [INDEX_PROJECTION, JSON.stringify(failure)]);
}

/* Finds the indexes that an event may have left to build or drop after its commit. Pure. */

interface IndexTarget {
  collection: string;
  field: string;
}

/**
 * Returns the indexes of events that defer an index build or drop an index. A build may have been running during the
 * drop, and DROP INDEX does not see it.
 */
export function indexTargets(event: LogEvent): IndexTarget[] {
  switch (event.type) {
    case 'collection.created':
      if (event.data.concurrent_indexes !== true) return [];
      return event.data.fields.filter(isIndexed).map(({ field }) => ({ collection: event.collection, field }));
    case 'field.created':
      return event.data.concurrent_indexes === true ? targetOf(event) : [];
    case 'field.updated':
      return event.data.concurrent_indexes === true || touchesIndex(event.data.patch) ? targetOf(event) : [];
    default:
      return [];
  }
}

function targetOf({ collection, field }: NewEvent): IndexTarget[] {
  return field === null ? [] : [{ collection, field }];
}

function touchesIndex(patch: readonly { path: string }[]): boolean {
  return patch.some(({ path }) => path === '' || path === '/schema' || path === '/schema/is_indexed');
}

interface Reconciling {
  /** A connection without a transaction, because CREATE INDEX CONCURRENTLY cannot run in one. */
  client: pg.ClientBase;
  schema: string;
  /** Returns the state at the head of the log when called, or later. */
  currentState: () => Promise<State>;
  stopping?: () => boolean;
}

type Reconciled = 'built' | 'dropped' | 'as it should be';

/**
 * Errors after which the index is looked up again, because the table changed concurrently: undefined_table,
 * undefined_column, duplicate_table and undefined_object.
 */
const MOVED = new Set(['42P01', '42703', '42P07', '42704']);
const LOOKS = 3;

/** Errors that depend on concurrent sessions, not on the index. */
const MOMENTARY = new Set<string>([SQLSTATE.deadlock_detected, SQLSTATE.lock_not_available]);
/** Milliseconds before each retry. After the last one, operators are notified. */
const PAUSES = [100, 300, 1_000, 3_000];

/**
 * Creates or drops an index to match the state instead of the event, so that outdated events cause no work. It keeps
 * a valid index and drops an invalid one, which a failed build left behind. Idempotent.
 * @throws the PostgreSQL error if the index cannot be built
 */
export async function reconcileIndex(reconciling: Reconciling, target: PositionedTarget): Promise<Reconciled> {
  const pauses = PAUSES.values();
  for (let look = 1; ;) {
    try {
      return await reconcileOnce(reconciling, target);
    } catch (error) {
      const state = sqlState(error) ?? '';
      const pause = MOMENTARY.has(state) ? pauses.next().value : undefined;
      if (pause !== undefined && reconciling.stopping?.() !== true) await sleep(pause);
      else if (look < LOOKS && MOVED.has(state)) look += 1;
      else throw error;
    }
  }
}

/** True if a field should have an index. The field is found under any current name. */
export async function isDesired(db: Queryable, state: State, target: PositionedTarget): Promise<boolean> {
  const { collection, field } = await resolveTarget(db, state, target);
  return isIndexed(getField(state, collection, field));
}

/** Translates the target to the names of the state, which is at the target's event or later. */
async function resolveTarget(db: Queryable, state: State, target: PositionedTarget): Promise<IndexTarget> {
  return renameTarget(target, await readRenames(db, target.position, state.position));
}

async function reconcileOnce(reconciling: Reconciling, placed: PositionedTarget): Promise<Reconciled> {
  const { client, schema, currentState } = reconciling;
  const state = await currentState();
  const target = await resolveTarget(client, state, placed);
  const { collection, field } = target;
  const table = locateTable(state, collection, schema);
  const desired = desiredIndex(state, target);
  const name = desired.name ?? indexName(table.name, field);
  const existing = desired.others.has(name) ? NONE : await findIndex(client, table, field, name);
  if (desired.name !== null && existing.valid === true) return 'as it should be';
  const index = qualified(table.schema, name);
  if (existing.valid !== null) {
    // The index may belong to a change that was committed after the state was read.
    if ((await currentState()).position !== state.position) return reconcileOnce(reconciling, placed);
    await client.query(sql`DROP INDEX CONCURRENTLY IF EXISTS ${index}`);
  }
  if (desired.name === null) return existing.valid === null ? 'as it should be' : afterDrop(reconciling, placed);
  await build(client, sql`${ident(name)} ON ${qualified(table.schema, table.name)} (${ident(field)})`, existing);
  return afterBuild(reconciling, placed, name);
}

async function build(client: pg.ClientBase, on: Sql, { partitioned }: ExistingIndex): Promise<void> {
  if (partitioned) await buildUnderLock(client, sql`CREATE INDEX ${on}`);
  else await client.query(sql`CREATE INDEX CONCURRENTLY ${on}`);
}

/** Handles a concurrent change that wants the index again and may have taken the dropped one for its own. */
const afterDrop = async (reconciling: Reconciling, target: PositionedTarget): Promise<Reconciled> =>
  (await isDesired(reconciling.client, await reconciling.currentState(), target))
    ? reconcileOnce(reconciling, target)
    : 'dropped';

/**
 * Builds the index of a partitioned table, which does not support CONCURRENTLY. Writers queue behind its lock, so the
 * wait for the lock is short.
 */
async function buildUnderLock(client: pg.ClientBase, create: Sql): Promise<void> {
  await client.query(sql`BEGIN; SET LOCAL lock_timeout = '200ms'`);
  try {
    await client.query(create);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

/**
 * Handles a concurrent rename or removal. It did not see the new index, and no longer knows the name under which it was
 * built.
 */
async function afterBuild(reconciling: Reconciling, target: PositionedTarget, name: string): Promise<Reconciled> {
  const { client, schema, currentState } = reconciling;
  const state = await currentState();
  const current = await resolveTarget(client, state, target);
  const { name: now } = desiredIndex(state, current);
  if (now === name) return 'built';
  const place = locateTable(state, current.collection, schema).schema;
  await client.query(sql`DROP INDEX CONCURRENTLY IF EXISTS ${qualified(place, name)}`);
  return now === null ? 'dropped' : reconcileOnce(reconciling, target);
}

interface DesiredIndex {
  /** The name that the field's index should have. Null if the field should have no index. */
  name: string | null;
  /** The names of the other indexes of the table. */
  others: ReadonlySet<string>;
}

function desiredIndex(state: State, { collection, field }: IndexTarget): DesiredIndex {
  const others = extrasOf(state.collections.get(collection)).indexes ?? [];
  const column = getField(state, collection, field);
  const name =
    column?.schema?.is_indexed === true
      ? indexNameOf(tableName(state, collection), { field, schema: column.schema })
      : null;
  return { name, others: new Set(others.map((each) => each.name)) };
}

interface ExistingIndex {
  valid: boolean | null;
  partitioned: boolean;
}

const NONE: ExistingIndex = { valid: null, partitioned: false };

/** SQL that finds our index. An index with the same name that is not a plain index of the column is not ours. */
const FIND: Sql = sql`
SELECT t.relkind = 'p' AS partitioned, x.valid
FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
LEFT JOIN LATERAL (
  SELECT i.indisvalid AND i.indisready AND i.indislive AS valid
  FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
  JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attname = $4 AND i.indkey::text = a.attnum::text
  WHERE i.indrelid = t.oid AND c.relname = $3 AND NOT i.indisunique AND NOT i.indisexclusion
    AND i.indpred IS NULL
) x ON true
WHERE n.nspname = $1 AND t.relname = $2 AND t.relkind IN ('r', 'p')`;

async function findIndex(
  client: pg.ClientBase,
  table: TableLocation,
  field: string,
  name: string,
): Promise<ExistingIndex> {
  const { rows } = await client.query<ExistingIndex>(FIND, [table.schema, table.name, name, field]);
  return rows[0] ?? NONE;
}

const PAGE = 1_000;

const QUERY = `SELECT ${EVENT_COLUMNS} FROM ${own.events}
 WHERE position > $1 AND position <= $2 AND (type = 'field.updated' OR data @> '{"concurrent_indexes": true}')
 ORDER BY position LIMIT ${PAGE}`;

/** Yields the events between two positions that may concern an index, in order. */
async function* readIndexEvents(
  db: Queryable,
  { after, upTo }: { after: number; upTo: number },
): AsyncGenerator<StoredEvent, void, undefined> {
  for (let from: number | undefined = after; from !== undefined;) {
    const { rows }: { rows: EventRow[] } = await db.query<EventRow>(QUERY, [from, upTo]);
    for (const row of rows) yield readEvent(toEventRecord(row));
    from = rows.length < PAGE ? undefined : rows.at(-1)?.position;
  }
}

interface CatchUpOptions extends Omit<Reconciling, 'client'> {
  pool: Queryable;
  /** Opens the session that holds the lock for builds. Null if another process is building. */
  openSession: () => Promise<LockedSession | null>;
  logger: Logger;
  stopping: () => boolean;
}

type CatchUpResult = 'done' | 'stopped' | 'busy elsewhere';

/** PostgreSQL rejected an index; `cause` has the reason. */
export class IndexBuildError extends Error {
  override readonly name = 'IndexBuildError';
  readonly position: number;
  readonly target: IndexTarget;

  constructor(position: number, target: IndexTarget, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.position = position;
    this.target = target;
  }
}

/**
 * Number of events without an index after which the checkpoint is stored, so that a restart does not read them again.
 */
const NOTED_EVERY = 10_000;

/** @throws IndexBuildError after storing all earlier progress; the checkpoint stays before the failed event */
export async function catchUp(work: CatchUpOptions): Promise<CatchUpResult> {
  await work.pool.query(REFUSE_OLDER_RELEASE.text);
  let noted = await loadCheckpoint(work.pool);
  let reached = noted;
  const note = async (): Promise<boolean> => {
    const isOurs = await advanceCheckpoint(work.pool, noted, reached);
    noted = reached;
    return isOurs;
  };
  const head = await readHeadPosition(work.pool);
  for await (const event of readIndexEvents(work.pool, { after: noted, upTo: head })) {
    if (work.stopping()) return 'stopped';
    if (indexTargets(event).length > 0) {
      // The checkpoint moved, so another process took over.
      if (!(await note())) return 'busy elsewhere';
      return inSession(work);
    }
    reached = event.position;
    if (reached - noted >= NOTED_EVERY && !(await note())) return 'busy elsewhere';
  }
  reached = Math.max(noted, head);
  return (await note()) ? 'done' : 'busy elsewhere';
}

/**
 * Processes the log while this process holds the lock for builds. No other process moves the checkpoint then, so it is
 * read again and only advances.
 */
async function inSession(work: CatchUpOptions): Promise<CatchUpResult> {
  const session = await work.openSession();
  if (session === null) return 'busy elsewhere';
  try {
    let noted = await loadCheckpoint(work.pool);
    const head = await readHeadPosition(work.pool);
    for await (const event of readIndexEvents(work.pool, { after: noted, upTo: head })) {
      if (work.stopping()) return 'stopped';
      const targets = indexTargets(event);
      if (targets.length > 0) await session.client.query(REFUSE_OLDER_RELEASE.text);
      for (const target of targets) await reconcile(work, session, { position: event.position, target });
      if (targets.length === 0) continue;
      await advanceCheckpoint(work.pool, noted, event.position);
      noted = event.position;
    }
    await advanceCheckpoint(work.pool, noted, Math.max(noted, head));
    return 'done';
  } finally {
    await session.close();
  }
}

async function reconcile(
  work: CatchUpOptions,
  { client }: LockedSession,
  { position, target }: { position: number; target: IndexTarget },
): Promise<void> {
  const started = performance.now();
  try {
    const reconciled = await reconcileIndex({ ...work, client }, { ...target, position });
    const milliseconds = Math.round(performance.now() - started);
    if (reconciled !== 'as it should be')
      work.logger.info(`index ${reconciled}`, { ...target, position, milliseconds });
  } catch (error) {
    throw new IndexBuildError(position, target, error);
  }
}
