/** Begins the transaction of a command and reads the events that this process lacks. */
import type pg from 'pg';
import { runYielding } from '../../kernel/event-loop.js';
import { ProblemError } from '../../kernel/problem.js';
import { CHECK_QUERY, type CheckRow, isReplaced, toHeadCheck } from '../../log/divergence.js';
import { EVENT_COLUMNS, type EventRow, toEventRecord } from '../../log/read.js';
import { POLICY_QUERY, toPolicy } from '../../log/decisive-events.js';
import type { LinkedRow } from '../../log/decisive-events.js';
import { emptyHead } from '../../log/head.js';
import { advisoryKey } from '../../postgres/locked-session.js';
import { type Backend, backendOf, rememberSession, sessionQuery } from '../../postgres/client.js';
import {
  ExchangeError,
  ReadOnlyServerError,
  SQLSTATE,
  isConnectionLoss,
  isLocked,
  sqlState,
  unavailableProblem,
} from '../../postgres/errors.js';
import { type Parameterised, sendNamed } from '../../postgres/exchange.js';
import { REFUSE_OLDER_RELEASE, own } from '../../postgres/own-tables.js';
import { lostSchema, schemasExist } from '../../postgres/schemas.js';
import { writeLimits } from '../../postgres/limits.js';
import { LogDivergedError, type Point, foldLog, foldPage } from '../../log/fold.js';
import { HELD, type HeldCollections } from '../../features/change-requests/rows.js';
import { type TrashFactsQuery, trashFactsQuery, parentsAmong } from '../../projector/catalog/deletion-facts.js';
import type { Store } from '../../reads/state-store.js';
import { readEvent } from '../../schema/fold/upcasting.js';
import type { State } from '../../schema/model/state.js';
import type { Policy } from '../../schema/policy.js';
import type { TransactionAttempt } from '../keep-alive.js';
import { DivergedError } from '../diverged.js';
import type { PipelineOptions } from '../types.js';

/** Maximum number of events that the first flight returns. A process rarely lacks more. */
const FIRST_PAGE = 200;

export interface StartedTransaction {
  /** The server process of the transaction, and the server's timeline. */
  backend: Backend;
  timeline: number | null;
  /** The state that this process had folded before the transaction. */
  base: Point;
  /** The head of the log. It cannot change while the transaction holds the log lock. */
  point: Point;
  /** Tables that a change request holds. Only that request may change them. */
  held: HeldCollections[];
  /** The policy at the head of the log, which another process may have set. */
  policy: Policy;
  /** The hash of the event that set it. Null if no event did. */
  policyHash: string | null;
  /** Rows of the caller's own query. */
  found: Record<string, unknown>[];
  /** True if the caller's token has been revoked since the request was authenticated. */
  isRevoked: boolean;
  /** Facts that the trash needs about the tables to be deleted. */
  glance: TrashFactsQuery;
  /** The tables of `Begin.alters` that have no inheriting tables. */
  childless: ReadonlySet<string>;
}

/** Milliseconds that a transaction waits for the log lock, and for each table lock. */
export type Limits = Pick<TransactionAttempt, 'lockWait' | 'tableWait'>;

export interface BeginOptions extends Limits, Pick<TransactionAttempt, 'attendance'> {
  /** A query of the caller. It runs in the same flight, after the lock was granted. */
  question?: Parameterised;
  /** See `RequestContext`. */
  pipelineToken?: string | undefined;
  /** Deleted tables that go to the trash. */
  keeps?: readonly string[];
  /** Tables whose columns may change. */
  alters?: readonly string[];
  /** True if the work may be rolled back while the transaction continues. */
  savepoint?: boolean;
  /** True to only read, in one snapshot and without the log lock. */
  unlocked?: boolean;
  /** True to run even if the log is diverged. Such work writes nothing that depends on the log. */
  evenDiverged?: boolean;
}

/** The name of the savepoint that `Begin.savepoint` requests. */
export const SAVEPOINT = 'command';

/**
 * Sends BEGIN, the limits, the log lock, the missing events and the caller's query in one flight. Each statement sees
 * what is committed when it runs, so statements after the lock see everything written under it.
 * @throws LogBusyError, StaleConnectionError, or ProblemError UNAVAILABLE if the managed schema is missing
 */
export async function begin(
  client: pg.ClientBase,
  options: PipelineOptions,
  request: BeginOptions,
): Promise<StartedTransaction> {
  const { store } = options;
  const from = store.point();
  const answered = await sendNamed(client, {
    ...firstFlight(from, options, request),
    session: sessionQuery(client),
  }).catch(throwNotBegun);
  rememberSession(client, answered.session[0]);
  const backend = backendOf(client, answered.tableLimits[0]);
  request.attendance.began(backend);
  const check = answered.check[0] as unknown as CheckRow;
  admit(check, options);
  refuseWithoutSchema(answered.place, options);
  if (request.evenDiverged === true) await recordDivergence(check, { options, from });
  else refuseDiverged(check, from);
  const rows = answered.events as unknown as EventRow[];
  const point = await catchUp(client, store, { from, rows, head: toHead(check) }).catch((error: unknown) => {
    throw error instanceof LogDivergedError ? new DivergedError(from) : error;
  });
  const { policy, hash: policyHash } = toPolicy(answered.policy as unknown as LinkedRow[]);
  return {
    point,
    base: from,
    backend,
    timeline: check.timeline,
    held: answered.held as unknown as HeldCollections[],
    policy,
    policyHash,
    found: answered.question,
    isRevoked: request.pipelineToken !== undefined && answered.token.length === 0,
    glance: { tables: request.keeps ?? [], rows: answered.glance },
    childless: filterChildless(request.alters ?? [], answered.parents, point.state),
  };
}

/** Returns the statements that begin every transaction of a change, up to the log lock. */
export function openingStatements({ location, statementTimeout: statement }: PipelineOptions, limits: Limits) {
  return {
    begin: { text: 'BEGIN ISOLATION LEVEL READ COMMITTED' },
    logLimits: writeLimits({ lock: limits.lockWait, statement }),
    logLock: { text: 'SELECT pg_catalog.pg_advisory_xact_lock($1)', values: [advisoryKey(location, 'log')] },
    tableLimits: writeLimits({ lock: limits.tableWait, statement }),
  } satisfies Record<string, Parameterised>;
}

function firstFlight(from: Point, options: PipelineOptions, request: BeginOptions) {
  const { keeps = [], alters = [], unlocked = false, pipelineToken } = request;
  return {
    ...openingStatements(options, request),
    ...(unlocked && { begin: { text: 'BEGIN ISOLATION LEVEL REPEATABLE READ' }, logLock: undefined }),
    release: REFUSE_OLDER_RELEASE,
    // Commands that do not change the schema can continue without it and report what is missing.
    place: request.evenDiverged === true ? undefined : schemasExist(options.location.schemas),
    check: { text: CHECK_QUERY },
    events: {
      text: `SELECT ${EVENT_COLUMNS} FROM ${own.events} WHERE position > $1 ORDER BY position LIMIT ${FIRST_PAGE}`,
      values: [from.head.position],
    },
    held: { text: HELD },
    policy: { text: POLICY_QUERY },
    question: request.question,
    // Trust rules change under the log lock, so none can end from here to the commit, however long the change takes.
    token: pipelineToken === undefined ? undefined : tokenExists(pipelineToken),
    glance: keeps.length > 0 ? trashFactsQuery(options.location.schema, keeps) : undefined,
    parents: alters.length > 0 ? parentsAmong(options.location.schema, alters) : undefined,
    savepoint: request.savepoint === true ? { text: `SAVEPOINT ${SAVEPOINT}` } : undefined,
  } satisfies Record<string, Parameterised | undefined>;
}

const tokenExists = (id: string): Parameterised => ({
  text: `SELECT true FROM ${own.tokens} WHERE id = $1`,
  values: [id],
});

/**
 * Returns the tables that have no inheriting tables. The query covered only the default schema, so tables of other schemas
 * are left out.
 */
function filterChildless(
  alters: readonly string[],
  parents: StartedTransaction['found'] | undefined,
  { collections }: State,
): ReadonlySet<string> {
  const names = new Set(parents?.map(({ name }) => name));
  const isElsewhere = (name: string) => collections.get(name)?.collection.schema?.schema !== undefined;
  return new Set(alters.filter((table) => !names.has(table) && !isElsewhere(table)));
}

/** The log lock was not granted in time. */
export class LogBusyError extends Error {
  override readonly name = 'LogBusyError';
}

/**
 * The connection was lost before any work. After a restart of the server, a pool is full of such connections. The work
 * is repeated on a new one.
 */
export class StaleConnectionError extends Error {
  override readonly name = 'StaleConnectionError';
}

/** Rejects an answer of a standby or a former primary. A new connection reaches the current primary. */
function admit(check: CheckRow, { watch }: PipelineOptions): void {
  if (check.timeline === null) throw new StaleConnectionError('the server is a standby', { cause: notWritable() });
  try {
    watch?.admit(check);
  } catch (cause) {
    throw new StaleConnectionError('the server is no longer the primary', { cause });
  }
}

const notWritable = () => new ReadOnlyServerError('the server accepts no changes');

/**
 * Rethrows an error from before COMMIT. Work that was lost with its connection was not committed, so it is retried.
 * After COMMIT, another error is used.
 */
export function throwNotCommitted(error: unknown): never {
  if (isConnectionLoss(error)) throw new StaleConnectionError('the connection was lost', { cause: error });
  throw error;
}

function throwNotBegun(error: unknown): never {
  if (error instanceof ExchangeError && error.at === 'logLock' && isLocked(error)) throw new LogBusyError();
  if (isConnectionLoss(error)) throw new StaleConnectionError('the connection was lost', { cause: error });
  // The server was the primary when the connection was made, but no longer is.
  if (sqlState(error) === SQLSTATE.read_only_sql_transaction)
    throw new StaleConnectionError('the server accepts no changes', { cause: notWritable() });
  throw error;
}

/** Statements with IF EXISTS would silently do nothing if the schema was renamed. */
function refuseWithoutSchema(rows: StartedTransaction['found'] | undefined, { location }: PipelineOptions): void {
  const lost = rows?.[0]?.['lost'];
  if (rows?.[0]?.['there'] === false)
    throw new ProblemError(
      unavailableProblem(`${lostSchema(typeof lost === 'string' ? lost : location.schema)} Nothing was changed.`),
    );
}

interface Missing {
  from: Point;
  rows: EventRow[];
  head: Point['head'];
}

function refuseDiverged(row: CheckRow, from: Point): void {
  const check = toHeadCheck(row);
  if (isReplaced(check, from.head)) throw new DivergedError(from);
  if (check.forgotten !== null || check.pending !== null) throw new DivergedError(from);
}

/** Records divergences that only this process knows before it discards its state. */
async function recordDivergence(
  row: CheckRow,
  { options, from }: { options: PipelineOptions; from: Point },
): Promise<void> {
  const check = toHeadCheck(row);
  if (await options.watch?.examine(check, from.head)) throw new DivergedError(from);
}

async function catchUp(client: pg.ClientBase, store: Store, { from, rows, head }: Missing): Promise<Point> {
  const events = rows.map((row) => readEvent(toEventRecord(row)));
  let point = await runYielding(foldPage(from, events));
  if (point.head.position < head.position) {
    point = await foldLog(client, point);
  }
  if (point.head.hash !== head.hash) throw new LogDivergedError(head.position, 'is not the one that was folded');
  store.publish(point, from);
  return point;
}

function toHead({ position, hash, occurred_at }: CheckRow): Point['head'] {
  if (position === null || hash === null || occurred_at === null) return emptyHead();
  return { position, hash, occurred_at: occurred_at.toISOString() };
}
