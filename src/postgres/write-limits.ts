/** Limits of a transaction that holds the log lock. */
import { BACKEND } from './backend.js';
import { NO_TRANSACTION_LIMIT } from './unlimited.js';
import type { Parameterised } from './exchange.js';

/**
 * Milliseconds after which the server ends an unresponsive transaction that holds the log lock. Its process is stopped,
 * gone or cut off. Others wait no longer than that.
 */
export const IDLE = 5_000;

/**
 * Limits of the current transaction in milliseconds. The statement returns its backend (`backendOf`). A `lock` of 0
 * would mean no limit, which is never allowed. A `statement` of 0 is allowed.
 */
export function writeLimits({ lock, statement }: { lock: number; statement: number }): Parameterised {
  return {
    text: `SELECT ${BACKEND}, pg_catalog.set_config('lock_timeout', $1, true),
                  pg_catalog.set_config('statement_timeout', $2, true), pg_catalog.set_config('idle_in_transaction_session_timeout', $3, true),
                  ${NO_TRANSACTION_LIMIT}`,
    values: [String(Math.max(1, Math.ceil(lock))), String(statement), String(IDLE)],
  };
}
