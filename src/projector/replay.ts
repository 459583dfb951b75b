/*
 * Replays a whole log into an empty database: events, tables and rows. It needs several transactions, because one
 * would need a lock per table. A mark in the database says that it is incomplete, and no service starts on it. The
 * last transaction removes the mark.
 */
import { changesObjects } from '../schema/fold/event-schemas.js';
import { requireManaged } from './catalog/managed.js';
import type pg from 'pg';
import { sendBatch, runScript } from '../postgres/exchange.js';
import { ExchangeError } from '../postgres/errors.js';
import { OperatorError } from '../kernel/problem.js';
import type { Document } from '../log/document-lines.js';
import { findDamagedDocument, keepDocuments } from '../log/documents.js';
import { createChain } from '../log/verification.js';
import type { LogHead } from '../log/head.js';
import { type EventRecord, restoreEvents } from '../log/read.js';
import { logChannel, advisoryKey } from '../postgres/locked-session.js';
import { unmarkRestoring, containsService, migrate, isRestoring, markRestoring } from '../postgres/migrate.js';
import type { LogEvent } from '../schema/model/events.js';
import { evolve } from '../schema/fold/evolve.js';
import { isSequence, isType, objectKey } from '../schema/model/objects.js';
import { type State, initialState } from '../schema/model/state.js';
import { objectTransition } from '../schema/transition/objects.js';
import { transition } from '../schema/transition/transition.js';
import { readEvent } from '../schema/fold/upcasting.js';
import { ddlFailure, readLockSettings, lockEntriesOf } from './refusals/ddl-failure.js';
import { rebuildMetadata } from './metadata/rows.js';
import { CHANGES_PROJECTION, foldChangesOf, replaceChanges } from '../features/change-requests/rows.js';
import { TRASH_PROJECTION } from '../features/trash/rows.js';
import { type Verification, verify } from './verify/index.js';
import { INDEX_PROJECTION } from './verify/pending-indexes.js';

import { runToEnd } from '../kernel/resumable.js';
import { findAwaitedForeignKeys } from './ddl/relation.js';
import { planObjects } from './ddl/objects.js';
import { planBatch } from './ddl/plan.js';
import type { Statement } from './ddl/step.js';
import { findLeftoverTrash, rejectUnsafeOwner } from '../postgres/schemas.js';
import { readDatabase } from '../postgres/server.js';
import type { Logger } from '../postgres/logger.js';
import { objectsOwnerOf } from '../postgres/client.js';
import { createPool } from '../postgres/pool.js';
import { unlimited } from '../postgres/limits.js';
import { type Sql, sql, own } from './ddl/sql.js';

/** Names of the projections, in the order in which operators read them. */
export const PROJECTION_NAMES = ['tables', 'metadata', TRASH_PROJECTION, CHANGES_PROJECTION, INDEX_PROJECTION] as const;
export type ProjectionName = (typeof PROJECTION_NAMES)[number];

/* Groups events so that one transaction can hold their locks: PostgreSQL's lock table has a fixed size. */

export interface Group<E extends LogEvent> {
  events: E[];
  statements: Statement[];
  /** The state after the group. */
  after: State;
}

/** Maximum number of lock entries of a group: a quarter of the capacity of a server with default settings. */
const LOCK_ENTRIES = 1_500;

/** The number of events that are planned together, small enough for their locks. */
const SLICE = 50;

/**
 * Yields groups of events in order, planned for empty tables. A statement's source is the index of the event in its
 * group.
 */
export function* groupsOf<E extends LogEvent>(
  from: State,
  events: readonly E[],
  schema: string,
  owner?: string,
): Generator<Group<E>, State> {
  let state = from;
  let group: Group<E> = { events: [], statements: [], after: state };
  let entries = 0;
  for (let start = 0; start < events.length;) {
    const slice = planSlice(state, withDifferentTypes(events.slice(start, start + SLICE)), { schema, owner });
    const needed = lockEntriesOf(slice.statements);
    if (entries > 0 && entries + needed > LOCK_ENTRIES) {
      yield group;
      group = { events: [], statements: [], after: state };
      entries = 0;
    }
    const offset = group.events.length;
    group.events.push(...slice.events);
    for (const each of slice.statements) {
      group.statements.push({ ...each, source: { ...each.source, event: each.source.event + offset } });
    }
    group.after = slice.after;
    // A group ends with the event that must be committed before others use its objects.
    entries = slice.statements.some(({ commit }) => commit !== undefined) ? LOCK_ENTRIES : entries + needed;
    state = slice.after;
    start += slice.events.length;
  }
  if (group.events.length > 0) yield group;
  return state;
}

/** The schema and the owner of the new tables. */
interface TableTarget {
  schema: string;
  owner: string | undefined;
}

/**
 * Takes the events up to the second one about a type. A batch, for which the planner is made, changes no type twice. A type
 * with a new definition comes first, because it may lack labels that the tables of earlier events use. No rename follows it.
 */
function withDifferentTypes<E extends LogEvent>(events: E[]): E[] {
  const types = new Set<string>();
  const end = events.findIndex((event: LogEvent, index) => {
    if (isRedefinition(event) && !events.slice(0, index).every(isRedefinition)) return true;
    if (event.type.endsWith('.renamed') && isRedefinition(events[0])) return true;
    if (!changesObjects(event) || !isType(event.subject)) return false;
    if (types.has(objectKey(event.subject))) return true;
    types.add(objectKey(event.subject));
    if (event.type === 'object.renamed') types.add(objectKey({ kind: 'type', id: event.data.to }));
    return false;
  });
  return end < 0 ? events : events.slice(0, end);
}

const isRedefinition = (event: LogEvent | undefined): boolean =>
  event?.type === 'object.updated' &&
  isType(event.subject) &&
  event.data.patch.some(({ path }) => path === '/definition');

/** Takes the events up to the first one that must be committed before others use its objects. */
function planSlice<E extends LogEvent>(state: State, events: E[], { schema, owner }: TableTarget): Group<E> {
  const plan = (some: E[]) =>
    runToEnd(
      planBatch(state, some.map(adaptToEmptyTables), schema, {
        replaying: { awaited: findAwaitedForeignKeys(state, schema) },
        owner,
      }),
    );
  const all = plan(events);
  const last = all.statements.find(({ commit }) => commit !== undefined)?.source.event ?? events.length - 1;
  if (last === events.length - 1) return { events, ...all };
  const first = events.slice(0, last + 1);
  return { events: first, ...plan(first) };
}

/**
 * Adapts an event to a replay. The tables are empty, none existed before, and none inherits. So indexes are built at
 * once, adopted tables are created, and there are no rows to fill.
 */
export function adaptToEmptyTables(event: LogEvent): LogEvent {
  if (event.type === 'collection.adopted') return { ...event, type: 'collection.created', version: 1 };
  const {
    adopted: _,
    concurrent_indexes: __,
    inherited: ___,
    backfill: ____,
    ...data
  } = event.data as { adopted?: boolean; concurrent_indexes?: boolean; inherited?: boolean; backfill?: object };
  return { ...event, data } as LogEvent;
}

/* The empty database into which a log is replayed. */

interface TargetOptions {
  connectionString: string;
  /** The default schema. */
  schema: string;
  /** All managed schemas. Absent for only the default schema. */
  schemas?: readonly string[] | undefined;
  /** The schema of the service's own tables. */
  serviceSchema: string;
  /** The role of OBJECTS_OWNER. Absent or null if there is none. */
  objectsOwner?: string | null | undefined;
  logger: Logger;
}

export interface ReplayTarget {
  /** The connection that holds the log's lock until the replay has ended. */
  client: pg.PoolClient;
  schema: string;
  schemas: readonly string[];
  close(): Promise<void>;
}

/**
 * Creates the service's own tables and the mark for an incomplete database.
 * @throws OperatorError if the database is not empty
 */
export async function openTarget(options: TargetOptions): Promise<ReplayTarget> {
  const { schema, schemas = [schema], serviceSchema, logger } = options;
  const pool = createPool({
    ...options,
    objectsOwner: options.objectsOwner ?? null,
    max: 2,
    applicationName: 'dps restore',
  });
  try {
    const database = await readDatabase(pool);
    const client = await pool.connect();
    client.on('error', () => undefined);
    const close = async (): Promise<void> => {
      // The connection is closed instead of reused, because the lock belongs to the session.
      client.release(true);
      await pool.end();
    };
    try {
      await client.query(unlimited('session'));
      const key = advisoryKey({ database: database.database, schema }, 'log');
      await takeLock(client, key);
      await requireEmpty(client, options);
      // Migrations take the log's lock themselves, on another connection.
      await client.query('SELECT pg_catalog.pg_advisory_unlock($1)', [key]);
      await migrate({ pool, schema, schemas, serviceSchema, database, logger });
      await rejectUnsafeOwner(client, options);
      await takeLock(client, key);
      await requireEmpty(client, options);
      await markRestoring(client);
      return { client, schema, schemas, close };
    } catch (error) {
      await close();
      throw error;
    }
  } catch (error) {
    if (!pool.ended) await pool.end();
    throw error;
  }
}

async function takeLock(client: pg.ClientBase, key: string): Promise<void> {
  const { rows } = await client.query<{ locked: boolean }>('SELECT pg_catalog.pg_try_advisory_lock($1) AS locked', [
    key,
  ]);
  if (rows[0]?.locked === true) return;
  throw new OperatorError('Another session writes to the target. Stop the service that uses it first.');
}

/** Selects objects that make a database non-empty. Objects of extensions (spatial_ref_sys) do not count. */
const FOREIGN: Sql = sql`
SELECT c.relname::text AS name
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
ORDER BY c.relname COLLATE "C" LIMIT 4`;

async function requireEmpty(
  client: pg.ClientBase,
  { schema, schemas = [schema], serviceSchema }: TargetOptions,
): Promise<void> {
  const { rows } = await client.query<{ name: string }>(FOREIGN, [schemas]);
  if (rows.length > 0) {
    const some = rows.slice(0, 3).map(({ name }) => `"${name}"`);
    throw notEmpty(`it contains ${some.join(', ')}${rows.length > 3 ? ' and more' : ''}`);
  }
  const left = await findLeftoverTrash(client, serviceSchema);
  if (left !== null) throw notEmpty(left);
  if (!(await containsService(client, serviceSchema))) return;
  if (await isRestoring(client)) throw notEmpty('an earlier restore into it was interrupted');
  const events = await client.query(`SELECT FROM ${own.events} LIMIT 1`);
  if (events.rowCount !== 0) throw notEmpty('its log contains events');
  // A service has started here. Its later writes would be lost after a failed restore.
  const users = await client.query(`SELECT FROM ${own.users} LIMIT 1`);
  if (users.rowCount !== 0) throw notEmpty('a service has used it, and it contains users');
}

function notEmpty(why: string): OperatorError {
  return new OperatorError(`The target database is not empty: ${why}. Use an empty one (CREATE DATABASE …).`);
}

export interface ReplayOptions {
  target: ReplayTarget;
  /** Pages of the log from its first event. */
  pages: AsyncIterable<EventRecord[]>;
  /**
   * `every-event`: tables go through all their changes. `end-state`: they are created in their final form, which is
   * faster after a long history.
   */
  tables: 'every-event' | 'end-state';
  /** Returns the documents of the events read so far, each once. */
  documents?: () => Document[];
  /** Reports the last event whose tables were replayed. */
  onReplayed?: (position: number) => void;
  /** Reports tables created at the end. */
  onTables?: (done: number, total: number) => void;
  fill?: (client: pg.ClientBase, schema: string, state: State) => Promise<void>;
}

export interface Replayed {
  head: LogHead;
  collections: number;
  /** The number of DDL statements. */
  statements: number;
  verification: Verification;
  /** The first event whose document is missing or does not match its hash. */
  damaged: { position: number; reason: string } | null;
}

type ReplayCheck = Pick<ReplayOptions, 'pages' | 'tables'> & Pick<ReplayTarget, 'schema' | 'schemas'>;

/**
 * Reads a log to its end before anything is written, because a failed replay leaves an unusable database.
 * @throws OperatorError if the chain is broken, or the settings lack a schema that the replay needs
 */
export async function checkReplay({ pages, tables, schema, schemas }: ReplayCheck): Promise<void> {
  const chain = createChain();
  let state = initialState();
  for await (const page of pages)
    for (const record of page) {
      check({ chain }, record);
      const event = readEvent(record);
      state = evolve(state, event);
      // A replay of every event also creates tables that were deleted later.
      const touched = tables === 'every-event' ? state.collections.get(event.collection ?? '') : undefined;
      if (touched !== undefined) requireManaged({ schema, schemas, state: { collections: new Map([['', touched]]) } });
    }
  const missing = chain.end();
  if (missing !== null) throw createBrokenChainError(missing);
  requireManaged({ schema, schemas, state });
}

/** @throws OperatorError if the chain is broken or PostgreSQL rejects a statement; the database is unusable then */
export async function replay(options: ReplayOptions): Promise<Replayed> {
  const { target, tables } = options;
  const run = { ...options, statements: 0, state: initialState(), chain: createChain() };
  for await (const page of options.pages) {
    for (const event of page) check(run, event);
    if (tables === 'every-event') await replayPage(run, page);
    else await restorePage(run, page);
    await storeReadDocuments(run);
  }
  await storeReadDocuments(run);
  const { objects } = run.state;
  if (tables === 'end-state') await makeTables(run);
  // Both ways create types with the tables that use them.
  const types = typesOf(run.state);
  // Sequences get their values together with the rows. Triggers and rules would change the rows, so they follow.
  const sequences = objects.filter(({ object }) => isType(object) || isSequence(object));
  await makeObjects(run, types, sequences);
  await options.fill?.(target.client, target.schema, run.state);
  const missing = run.chain.end();
  if (missing !== null) throw createBrokenChainError(missing);
  await makeObjects(run, sequences, objects);
  const head = run.chain.head();
  await finish(run, head);
  const verification = await verify(target.client, run.state, target.schema);
  const damaged = options.documents === undefined ? null : await findDamagedDocument(target.client, head.position);
  return { head, collections: run.state.collections.size, statements: run.statements, verification, damaged };
}

const typesOf = ({ objects }: State): State['objects'] => objects.filter(({ object }) => isType(object));

/**
 * Creates the tables, objects and rows of a state in an empty database, which gets no events. The database keeps the
 * mark that it is incomplete, so that no service starts on it.
 * @throws OperatorError if PostgreSQL rejects a statement
 */
export async function replayState(target: ReplayTarget, state: State): Promise<void> {
  const run = { target, state, statements: 0 };
  await makeTables(run);
  await makeObjects(run, typesOf(state), state.objects);
  await inTransaction(run, async () => void (await rebuildMetadata(target.client, state, target.schema)));
}

/** The parts of a run that create tables and objects. */
interface Creating extends Pick<ReplayOptions, 'target' | 'onTables'> {
  statements: number;
  state: State;
}

interface Run extends ReplayOptions, Creating {
  chain: ReturnType<typeof createChain>;
}

function check({ chain }: Pick<Run, 'chain'>, event: EventRecord): void {
  const reason = chain.add(event);
  if (reason !== null) throw createBrokenChainError({ position: event.position, reason });
}

const createBrokenChainError = ({ position, reason }: { position: number; reason: string }) =>
  new OperatorError(
    `The hash chain of the log is broken at position ${position}: ${reason}. Nothing after it can be trusted.`,
  );

/** Replays events and their DDL group by group. */
async function replayPage(run: Run, page: readonly EventRecord[]): Promise<void> {
  let done = 0;
  for (const group of groupsOf(run.state, page.map(readEvent), run.target.schema, objectsOwnerOf(run.target.client))) {
    await inTransaction(run, async () => {
      await restoreEvents(run.target.client, page.slice(done, done + group.events.length));
      await runGroup(run, group);
    });
    done += group.events.length;
    run.state = group.after;
    run.onReplayed?.(run.state.position);
  }
}

async function restorePage(run: Run, page: readonly EventRecord[]): Promise<void> {
  for (const event of page) run.state = evolve(run.state, readEvent(event));
  await restoreEvents(run.target.client, page);
}

async function storeReadDocuments({ target: { client }, documents }: Run): Promise<void> {
  const read = documents?.() ?? [];
  if (read.length > 0) await sendBatch(client, keepDocuments(read));
}

async function makeTables(run: Creating): Promise<void> {
  const events = runToEnd(transition(initialState(), run.state, run.state.collections.keys()));
  let done = 0;
  for (const group of groupsOf(initialState(), events, run.target.schema, objectsOwnerOf(run.target.client))) {
    await inTransaction(run, () => runGroup(run, group));
    done += group.events.length;
    run.onTables?.(done, events.length);
  }
}

/**
 * Creates the other objects last, in their final form, because they may read rows and because the tables that they use
 * change during the replay.
 */
async function makeObjects(run: Creating, from: State['objects'], to: State['objects']): Promise<void> {
  if (from.size === to.size) return;
  const [before, after] = [
    { ...run.state, objects: from },
    { ...run.state, objects: to },
  ];
  const { first: early, last: late } = objectTransition(before, after);
  const events = [...early, ...late];
  const { schema, client } = run.target;
  const owner = objectsOwnerOf(client);
  const { first, last } = planObjects({ before, after, events, schema, owner, facts: undefined });
  await inTransaction(run, () => runGroup(run, { events, statements: [...first, ...last], after }));
}

async function runGroup(run: Creating, { events, statements }: Group<LogEvent & { position?: number }>): Promise<void> {
  try {
    await runScript(
      run.target.client,
      statements.map((statement) => statement.sql),
    );
    run.statements += statements.length;
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    await run.target.client.query('ROLLBACK');
    const settings = await readLockSettings(run.target.client);
    const { message } = ddlFailure(error, statements, error.results.length, settings);
    const position = events[statements[error.results.length]?.source.event ?? 0]?.position;
    throw new OperatorError(position === undefined ? message : `Event ${position}: ${message}`, { cause: error });
  }
}

async function inTransaction(
  { target: { client } }: Pick<Creating, 'target'>,
  work: () => Promise<void>,
): Promise<void> {
  await client.query('BEGIN');
  try {
    await work();
    await client.query('COMMIT');
  } catch (error) {
    if (client.getTransactionStatus() !== 'I') await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

const KIND = { [INDEX_PROJECTION]: 'after-commit' } as Record<string, string>;

/** Writes the rows and checkpoints, and removes the mark. From here on, the database is ready for the service. */
async function finish(run: Run, head: LogHead): Promise<void> {
  const { client, schema } = run.target;
  await inTransaction(run, async () => {
    await rebuildMetadata(client, run.state, schema);
    await replaceChanges(client, await foldChangesOf(client, { after: 0, upTo: head.position }));
    await sendBatch(client, [
      ...PROJECTION_NAMES.map((name) => ({
        text: `INSERT INTO ${own.projections} (name, kind, position, hash) VALUES ($1, $2, $3, $4)
               ON CONFLICT (name) DO UPDATE
                  SET position = excluded.position, hash = excluded.hash, updated_at = now()`,
        values: [name, KIND[name] ?? 'transactional', head.position, head.position === 0 ? null : head.hash],
      })),
      { text: `SELECT pg_catalog.pg_notify($1, $2)`, values: [logChannel(schema), String(head.position)] },
    ]);
    await unmarkRestoring(client);
  });
}
