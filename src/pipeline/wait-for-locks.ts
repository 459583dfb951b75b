/**
 * Repeats a transaction until it gets its locks, and if an object disappears while it reads the catalog. A waiting strong lock blocks every later session, and a wait under the
 * log lock blocks every other change. Each attempt therefore waits only briefly, and holds nothing between attempts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { ProblemError, type Problem } from '../kernel/problem.js';
import type { Semaphore } from '../kernel/semaphore.js';
import { limitTime } from '../kernel/time.js';
import { SQLSTATE, isConnectionLoss, isLocked, lockTimeout, sqlState, unavailableProblem } from '../postgres/errors.js';
import { sendBatch } from '../postgres/exchange.js';
import { IDLE } from '../postgres/limits.js';
import { advisoryKey } from '../postgres/locked-session.js';
import { withClient } from '../postgres/pool.js';
import {
  type Holder,
  LockedError,
  holderKey,
  HOLDERS,
  type NeededLock,
  conflictsOf,
  readHolders,
} from '../projector/ddl/table-locks.js';
import type { ObjectName } from '../schema/model/objects.js';
import { type TransactionAttempt, keepAlive } from './keep-alive.js';
import { LogBusyError, StaleConnectionError } from './transaction/begin.js';
import type { OnBlocked, PipelineOptions } from './types.js';

interface LockWaitOptions {
  semaphore: Semaphore;
  options: PipelineOptions;
  /** When the caller gives up waiting (`performance.now`). */
  deadline: number;
  /** True if the client no longer waits. */
  abandoned?: (() => boolean) | undefined;
  onBlocked?: OnBlocked | undefined;
}

/**
 * Milliseconds between attempts while no primary is available, because of a restart or failover. Pauses are random, so
 * that waiting callers do not return all at once.
 */
const AWAY = { first: 100, longest: 1_000 };

/** Milliseconds between two attempts: the first pause, and the longest one with known and with unknown holders. */
const PAUSES = { first: 50, known: 400, unknown: 2_000 };

/** Milliseconds between two checks whether the holder of the log lock is still alive. */
const LOOK_AT_HOLDER = IDLE + 1_000;

/**
 * Number of attempts that may end with an internal error. Functions such as pg_get_viewdef ignore the snapshot of the
 * transaction, so they fail if another session drops the object while the catalog is read. PostgreSQL reports that as an
 * internal error.
 */
const MOST_DROPPED = 3;

/**
 * Runs `work` with a permit of the semaphore on a client of the pool. Each attempt is a new transaction.
 * @throws ProblemError LOCK_TIMEOUT if it is blocked until the deadline, and the errors of `work`
 */
export async function retryWhileLocked<T>(
  trying: LockWaitOptions,
  work: (at: TransactionAttempt) => Promise<T>,
): Promise<T> {
  const { options, deadline } = trying;
  const waited = new Set<string>();
  const failures = { stale: 0, dropped: 0 };
  let pause = PAUSES.first;
  let vacuumWait: number | undefined;
  for (;;) {
    const left = deadline - performance.now();
    const tableWait = Math.max(1, Math.min(options.lockWait, left));
    const ended = await tryOnce(trying, { left, tableWait, ...(vacuumWait && { vacuumWait }) }, work);
    if (ended.kind === 'done') return ended.value;
    if (ended.kind !== 'locked') {
      await waitBeforeRepeating(trying, ended, (failures[ended.kind] += 1));
      continue;
    }
    const { conflict } = ended;
    report(options, conflict);
    await trying.onBlocked?.(lockConflictProblem(conflict));
    vacuumWait = undefined;
    if (willCancelItself(conflict.holders, waited)) vacuumWait = AUTOVACUUM_CANCEL;
    else if (!conflict.log) pause = await waitForHolders(trying, { conflict, pause });
    if (performance.now() >= deadline) throw new ProblemError(lockConflictProblem(conflict));
  }
}

/** @param count the number of attempts that ended like this one */
async function waitBeforeRepeating(
  trying: LockWaitOptions,
  ended: Exclude<AttemptResult<unknown>, { kind: 'done' | 'locked' }>,
  count: number,
): Promise<void> {
  if (ended.kind === 'stale') await waitForServer(trying, ended.error, count);
  else if (count === MOST_DROPPED) throw ended.error;
}

/** @param count the number of attempts */
async function waitForServer(
  { deadline, abandoned, options }: LockWaitOptions,
  error: StaleConnectionError,
  count: number,
): Promise<void> {
  const pause = Math.min(AWAY.longest, AWAY.first * count) * (0.5 + Math.random() / 2);
  if (performance.now() + pause >= deadline) throw error;
  const { message } = error.cause as Error;
  if (count === 1) options.logger.info('a change is waiting for the database', { reason: message || error.message });
  await sleep(pause);
  if (abandoned?.() === true) throw new ProblemError(createClientGoneProblem());
}

/**
 * True if one of the holders is a VACUUM or ANALYZE that the transaction has not waited for yet. An automatic one
 * cancels itself for a lock that waits for deadlock_timeout, which only a superuser may lower. So the transaction waits
 * that long once per process, behind a lock that blocks no reader or writer.
 */
function willCancelItself(holders: readonly Holder[], waited: Set<string>): boolean {
  const fresh = holders.filter((holder) => holder.maintenance && !waited.has(holderKey(holder)));
  for (const holder of fresh) waited.add(holderKey(holder));
  return fresh.length > 0;
}

/** Milliseconds: PostgreSQL's default deadlock_timeout, and time for the cancellation. */
const AUTOVACUUM_CANCEL = 1_500;

interface LockPause {
  conflict: LockConflict;
  pause: number;
}

/** Waits until the known holders have ended. @returns the next pause */
async function waitForHolders(
  { options, deadline, abandoned }: LockWaitOptions,
  { conflict, pause }: LockPause,
): Promise<number> {
  const isKnown = conflict.holders.length > 0;
  let next = pause;
  for (;;) {
    const left = deadline - performance.now();
    if (left <= 0) return next;
    await sleep(Math.min(left, next * (0.5 + Math.random() / 2)));
    if (abandoned?.() === true) throw new ProblemError(createClientGoneProblem());
    next = Math.min(next * 2, isKnown ? PAUSES.known : PAUSES.unknown);
    // If the holders cannot be queried, the next attempt will show whether they still block.
    if (!isKnown || !(await isStillHeld(options, conflict, deadline - performance.now()).catch(() => false)))
      return next;
  }
}

export function createClientGoneProblem() {
  return unavailableProblem('The client disconnected while the change waited for a lock. Nothing was changed.');
}

type AttemptResult<T> =
  | { kind: 'done'; value: T }
  | { kind: 'stale'; error: StaleConnectionError }
  | { kind: 'locked'; conflict: LockConflict }
  /** Another session dropped an object while this one read the catalog. */
  | { kind: 'dropped'; error: unknown };

async function tryOnce<T>(
  { semaphore, options, deadline }: LockWaitOptions,
  { left, ...waits }: { left: number } & Pick<TransactionAttempt, 'tableWait' | 'vacuumWait'>,
  work: (at: TransactionAttempt) => Promise<T>,
): Promise<AttemptResult<T>> {
  const permit = await semaphore.acquire({ timeout: left, refusal: semaphoreTimeout });
  let begun = false;
  try {
    const onClient = async (client: pg.PoolClient): Promise<AttemptResult<T>> => {
      begun = true;
      const lockWait = Math.max(1, Math.min(deadline - performance.now(), LOOK_AT_HOLDER));
      const attendance = keepAlive(client, deadline);
      try {
        return { kind: 'done', value: await work({ client, attendance, lockWait, ...waits }) };
      } catch (error) {
        if (sqlState(error) === SQLSTATE.internal_error) {
          await client.query('ROLLBACK');
          return { kind: 'dropped', error };
        }
        const isLockFailure = error instanceof LogBusyError || error instanceof LockedError || isLocked(error);
        if (!isLockFailure) throw error;
        return { kind: 'locked', conflict: await rollbackAndFindHolders(client, options, error) };
      } finally {
        attendance.end();
      }
    };
    return await withClient(options.pool, onClient, left - permit.waited);
  } catch (error) {
    if (error instanceof StaleConnectionError) return { kind: 'stale', error };
    // The connection failed before any work began. If it is lost during the work, the work throws its own error.
    if (!begun && isConnectionLoss(error))
      return { kind: 'stale', error: new StaleConnectionError('there is no connection', { cause: error }) };
    throw error;
  } finally {
    permit.release();
  }
}

const semaphoreTimeout = () =>
  new ProblemError(lockTimeout('Other changes in this process were in progress the whole time'));

function report({ logger }: PipelineOptions, { holders, log }: LockConflict): void {
  logger.info('a change is waiting for a lock', {
    lock: log ? 'of the log' : 'on a table',
    holders: holders.map(({ pid, application, age, table }) => ({ pid, application, age, table })),
  });
}

/*
 * Finds out what blocked a transaction, after the transaction has released its own locks, and creates the problem that
 * names it.
 */

/** The locks that a transaction waited for, and their holders. */
export interface LockConflict {
  /** The locks on tables and objects that the transaction needs. Empty if unknown, or if it waited for the log lock. */
  locks: readonly NeededLock[];
  holders: readonly Holder[];
  /** True if the transaction waited for the log lock. */
  log: boolean;
}

/** Maximum number of tables to query. */
const MOST = 1_000;

/** Rolls back and reads the holders of the locks. It terminates a holder of the log lock that makes no progress. */
async function rollbackAndFindHolders(
  client: pg.ClientBase,
  options: PipelineOptions,
  error: unknown,
): Promise<LockConflict> {
  const rollback = { text: 'ROLLBACK' };
  if (error instanceof LogBusyError) {
    const key = advisoryKey(options.location, 'log');
    const results = await sendBatch(client, [rollback, { text: LOG_HOLDER, values: [key] }]);
    const rows = results[1]?.rows ?? [];
    for (const { pid, ended } of rows) {
      if (ended === true) options.logger.warn('a transaction that made no progress was terminated', { backend: pid });
    }
    return { locks: [], holders: rows as unknown as Holder[], log: true };
  }
  const locks = error instanceof LockedError ? error.locks.slice(0, MOST) : [];
  if (locks.length === 0) {
    await sendBatch(client, [rollback]);
    return { locks, holders: [], log: false };
  }
  const question = { text: HOLDERS, values: conflictsOf(options.location.schema, locks) };
  const results = await sendBatch(client, [rollback, question]);
  return { locks, holders: readHolders(results[1]?.rows ?? []), log: false };
}

/** True if one of the holders still holds its lock. Takes no lock and blocks no session. @param within milliseconds */
async function isStillHeld(
  options: PipelineOptions,
  { locks, holders }: LockConflict,
  within: number,
): Promise<boolean> {
  const holdersQuery = options.pool.query(HOLDERS, conflictsOf(options.location.schema, locks));
  const { rows } = await limitTime(holdersQuery, Math.max(1, within));
  const present = new Set((rows as Holder[]).map(holderKey));
  return holders.some((holder) => present.has(holderKey(holder)));
}

/**
 * Milliseconds after which a transaction that only waits for its client counts as stuck. Another process then
 * terminates it.
 */
const STUCK = IDLE + 500;

/**
 * Finds the holder of the log lock. If a service process holds it and has waited for its client longer than `STUCK`,
 * the query terminates that process. PostgreSQL itself ends a process while its transaction is idle, but not while it
 * receives or sends a long message.
 */
const LOG_HOLDER = `
  SELECT pid, transaction, application, age, maintenance, "table", CASE WHEN stuck THEN pg_catalog.pg_terminate_backend(pid) END AS ended
    FROM (
      SELECT l.pid, l.virtualtransaction AS transaction, coalesce(a.application_name, '') AS application,
             extract(epoch FROM statement_timestamp() - a.xact_start)::float8 AS age, false AS maintenance, '' AS "table",
             a.usename = current_user AND a.application_name ~ '^(data-platform-service|dps)' AND a.xact_start IS NOT NULL
               AND a.wait_event_type = 'Client'
               AND greatest(a.state_change, a.query_start) < clock_timestamp() - interval '${STUCK} ms' AS stuck
        FROM pg_catalog.pg_locks l LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
       WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
         AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
         AND (l.classid::bigint << 32 | l.objid::bigint) = $1::bigint) AS h`;

/**
 * Creates the problem for a caller whose time limit has passed. It names applications and processes, but never their
 * statements.
 */
export function lockConflictProblem({ locks, holders, log }: LockConflict): Problem {
  const [first] = holders;
  if (first === undefined) return lockTimeout(log ? 'Another change is in progress' : undefined);
  const objects = new Map(
    locks.flatMap(({ table, object }): [string, ObjectName][] => (object ? [[table, object]] : [])),
  );
  const reason = log ? 'Another change is in progress' : `${lockedLabel(first, objects)} is in use`;
  const others = holders.length > 1 ? ` and ${holders.length - 1} more` : '';
  return {
    ...lockTimeout(`${reason}: ${describeHolder(first)}${others}`),
    ...(log ? {} : lockedSubject(first, objects)),
    details: {
      blocked_by: holders.map((holder) => ({
        ...holderDetails(holder, true),
        ...(log ? {} : lockedSubject(holder, objects)),
      })),
    },
  };
}

type LockedObjects = ReadonlyMap<string, ObjectName>;

function lockedLabel({ table }: Holder, objects: LockedObjects): string {
  if (!objects.has(table)) return `Table ${JSON.stringify(table)}`;
  return table.charAt(0).toUpperCase() + table.slice(1);
}

function lockedSubject({ table }: Holder, objects: LockedObjects): Pick<Problem, 'collection' | 'object'> {
  const object = objects.get(table);
  return object === undefined ? { collection: table } : { object };
}

/** Describes a holder: `by "shop" (process 41 of the database server)`. */
export function describeHolder({ pid, application, age }: Holder): string {
  if (pid === null) return 'by a prepared transaction';
  const name = application === '' ? 'an unnamed application' : JSON.stringify(application);
  const since = age === null ? '' : `, transaction started ${Math.max(0, Math.round(age))} s ago`;
  return `by ${name} (PostgreSQL process ${pid}${since})`;
}

/** Formats a holder for the details of a problem. */
export function holderDetails({ pid, application, age, table }: Holder, log = false): Record<string, unknown> {
  return {
    pid,
    application_name: application,
    age_seconds: age === null ? null : Math.max(0, Math.round(age)),
    ...(log ? {} : { collection: table }),
  };
}
