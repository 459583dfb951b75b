/**
 * Finds out what blocked a transaction, after the transaction has released its own locks, and creates the problem that
 * names it.
 */
import type pg from 'pg';
import { limitTime } from '../kernel/time.js';
import { advisoryKey } from '../postgres/locked-session.js';
import { lockTimeout } from '../postgres/errors.js';
import { sendBatch } from '../postgres/exchange.js';
import { IDLE } from '../postgres/limits.js';
import {
  HOLDERS,
  type Holder,
  LockedError,
  type NeededLock,
  conflictsOf,
  readHolders,
  holderKey,
} from '../projector/ddl/table-locks.js';
import type { ObjectName } from '../schema/model/objects.js';
import type { Problem } from '../kernel/problem.js';
import type { PipelineOptions } from './types.js';

/** The log lock was not granted in time. */
export class LogBusyError extends Error {
  override readonly name = 'LogBusyError';
}

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
export async function rollbackAndFindHolders(
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
export async function isStillHeld(
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
