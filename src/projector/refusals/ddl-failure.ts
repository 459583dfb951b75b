/* Translates PostgreSQL's rejection of a planned statement for the caller. SQL text never leaves this module. */
import pg from 'pg';
import { SQLSTATE, driverError, environmentProblem, isConnectionLoss, sqlState } from '../../postgres/errors.js';
import type { Problem } from '../../kernel/problem.js';
import type { Statement } from '../ddl/step.js';
import { isNameTaken } from './offending-rows.js';

/*
 * PostgreSQL's lock table has a fixed size, and a batch holds the locks of all statements until the commit.
 * https://www.postgresql.org/docs/current/runtime-config-locks.html
 */

/** The SQLSTATE of a full lock table and of other memory shortages. */
const OUT_OF_MEMORY = '53200';

/** The settings that determine the size of the lock table. */
export interface LockSettings {
  max_locks_per_transaction: number;
  max_connections: number;
  max_prepared_transactions: number;
}

/** Reads the server's settings. They change only with a restart. */
export async function readLockSettings(client: pg.ClientBase | pg.Pool): Promise<LockSettings> {
  const { rows } = await client.query<LockSettings>(
    `SELECT pg_catalog.current_setting('max_locks_per_transaction')::int AS max_locks_per_transaction,
            pg_catalog.current_setting('max_connections')::int AS max_connections,
            pg_catalog.current_setting('max_prepared_transactions')::int AS max_prepared_transactions`,
  );
  return rows[0] as LockSettings;
}

/** Returns an upper estimate of the lock table entries that a batch holds at its end. */
export function lockEntriesOf(statements: readonly Statement[]): number {
  return statements.reduce((sum, statement) => sum + statement.lock_entries, 0);
}

/**
 * Returns the smallest max_locks_per_transaction with room for `entries`. The table has that many entries per
 * connection.
 */
export function locksPerTransaction(entries: number, settings: LockSettings): number {
  return Math.ceil(entries / (settings.max_connections + settings.max_prepared_transactions));
}

/** True if the lock table was full. PostgreSQL reveals that only through the name of the source file. */
export function isLockTableFull(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === OUT_OF_MEMORY && error.file === 'lock.c';
}

/**
 * Creates the problem of a batch of `entries` that filled the lock table. Retrying the batch unchanged would not help.
 */
export function createTooFewLocksProblem(entries: number, settings: LockSettings | undefined): Problem {
  const setting = 'max_locks_per_transaction';
  const message = `PostgreSQL ran out of lock slots: this change needs about ${entries} at once.`;
  if (settings === undefined) {
    return {
      code: 'DATABASE_REFUSED',
      message: `${message} Raise ${setting} and restart PostgreSQL, or split the change.`,
      details: { sqlstate: OUT_OF_MEMORY, setting, entries },
    };
  }
  const present = settings.max_locks_per_transaction;
  const needed = Math.max(locksPerTransaction(entries, settings), present + 1);
  return {
    code: 'DATABASE_REFUSED',
    message: `${message} Raise ${setting} from ${present} to ${needed} or more and restart PostgreSQL, or split the change.`,
    details: { sqlstate: OUT_OF_MEMORY, setting, present, needed, entries },
  };
}

/**
 * Translates the rejection of a statement.
 * @param completed the number of statements before the failed one
 * @param settings the size of the server's lock table, if known, which turns 53200 into advice
 * @throws the error itself if the database and its connection are not the cause, which means a bug
 */
export function ddlFailure(
  error: unknown,
  statements: readonly Statement[],
  completed: number,
  settings?: LockSettings,
): Problem {
  const state = sqlState(error);
  if (state === undefined && !isConnectionLoss(error)) throw error;
  const location = placeOf(statements[completed]);
  if (isLockTableFull(driverError(error)))
    return { ...createTooFewLocksProblem(lockEntriesOf(statements), settings), ...location };
  const environment = environmentProblem(error);
  if (environment !== undefined)
    return environment.code === 'LOCK_TIMEOUT' ? { ...environment, ...location } : environment;
  return { ...createRefusedProblem(error, state, statements[completed]), ...location };
}

function placeOf(statement: Statement | undefined): Pick<Problem, 'collection' | 'field'> {
  if (statement === undefined) return {};
  const { collection, field } = statement.source;
  return field === null ? { collection } : { collection, field };
}

const DENIED = /^permission denied for schema (.+)$/;

/**
 * Creates a problem with PostgreSQL's message, which names tables, columns and values but never the statement. Other
 * parts of the error may quote expressions.
 */
function createRefusedProblem(error: unknown, sqlstate: string | undefined, statement: Statement | undefined): Problem {
  const reason = messageOf(driverError(error));
  const what = statement === undefined ? 'rejected the change' : `failed to ${statement.summary}`;
  const details = {
    reason,
    sqlstate,
    ...(statement === undefined ? {} : { statement: statement.summary, event: statement.source.event }),
  };
  const needs = sqlstate === SQLSTATE.dependent_objects_still_exist ? dependentsOf(driverError(error)) : [];
  if (needs.length > 0) return createInUseProblem(what, needs, details);
  const code = isNameTaken(sqlstate) ? 'ALREADY_EXISTS' : 'DATABASE_REFUSED';
  const [, schema] = DENIED.exec(reason) ?? [];
  const next =
    schema === undefined
      ? ''
      : `. Grant the database role of the service its privileges again (GRANT USAGE, CREATE ON SCHEMA ${schema} TO …), then repeat the request.`;
  return { code, message: `PostgreSQL ${what}: ${reason}${next}`, details };
}

/** Reports that views, functions or unmanaged tables still depend on an object to be dropped. */
function createInUseProblem(what: string, dependents: readonly string[], details: Record<string, unknown>): Problem {
  const message = `PostgreSQL ${what}: ${dependents.join('; ')}. Change or drop the dependent objects first.`;
  return { code: 'IN_USE', message, details: { ...details, dependents } };
}

/** Returns entries like `view a depends on table b`. The detail of such an error contains only object names. */
function dependentsOf(error: unknown): string[] {
  const detail = (error as { detail?: unknown }).detail;
  return typeof detail === 'string' ? detail.split('\n') : [];
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
