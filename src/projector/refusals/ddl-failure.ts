/** Translates PostgreSQL's rejection of a planned statement for the caller. SQL text never leaves this module. */
import { SQLSTATE, driverError, environmentProblem, isConnectionLoss, sqlState } from '../../postgres/errors.js';
import type { Problem } from '../../kernel/problem.js';
import { type LockSettings, isLockTableFull, lockEntriesOf, tooFewLocks } from './too-few-locks.js';
import type { Statement } from '../ddl/statement.js';
import { isNameTaken } from './taken-names.js';

/**
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
  const place = placeOf(statements[completed]);
  if (isLockTableFull(driverError(error))) return { ...tooFewLocks(lockEntriesOf(statements), settings), ...place };
  const environment = environmentProblem(error);
  if (environment !== undefined)
    return environment.code === 'LOCK_TIMEOUT' ? { ...environment, ...place } : environment;
  return { ...refused(error, state, statements[completed]), ...place };
}

function placeOf(statement: Statement | undefined): Pick<Problem, 'collection' | 'field'> {
  if (statement === undefined) return {};
  const { collection, field } = statement.source;
  return field === null ? { collection } : { collection, field };
}

/**
 * PostgreSQL's message names tables, columns and values but never the statement. Its other parts may quote
 * expressions.
 */
function refused(error: unknown, sqlstate: string | undefined, statement: Statement | undefined): Problem {
  const reason = messageOf(driverError(error));
  const what = statement === undefined ? 'the change' : `to ${statement.summary}`;
  const details = {
    reason,
    sqlstate,
    ...(statement === undefined ? {} : { statement: statement.summary, event: statement.source.event }),
  };
  const needs = sqlstate === SQLSTATE.dependent_objects_still_exist ? dependentsOf(driverError(error)) : [];
  if (needs.length > 0) return inUse(what, needs, details);
  const code = isNameTaken(sqlstate) ? 'ALREADY_EXISTS' : 'DATABASE_REFUSED';
  return { code, message: `PostgreSQL refused ${what}: ${reason}`, details };
}

/** Reports that views, functions or unmanaged tables still depend on an object to be dropped. */
function inUse(what: string, dependents: readonly string[], details: Record<string, unknown>): Problem {
  const message = `PostgreSQL refused ${what}: ${dependents.join('; ')}. Change or remove what needs it first.`;
  return { code: 'IN_USE', message, details: { ...details, dependents } };
}

/** Entries like `view a depends on table b`. The detail of such an error contains only object names. */
function dependentsOf(error: unknown): string[] {
  const detail = (error as { detail?: unknown }).detail;
  return typeof detail === 'string' ? detail.split('\n') : [];
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
