/* Time limits of transactions. */
import { BACKEND } from './client.js';
import type { Parameterised } from './exchange.js';

/** Removes time limits for long work, including those of the server, database or role. */

/**
 * SQL that removes all time limits, for the session or until the end of the transaction. It reads the catalog, because
 * transaction_timeout exists only from PostgreSQL 17 on, and setting an unknown parameter is an error.
 */
export const unlimited = (scope: 'session' | 'transaction'): string =>
  `SELECT pg_catalog.set_config(name, '0', ${String(scope === 'transaction')}) FROM pg_catalog.pg_settings
    WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_session_timeout',
                   'idle_in_transaction_session_timeout')`;

/**
 * SQL for a column that removes only transaction_timeout. Frequent transactions use it and set their other limits
 * themselves.
 */
const NO_TRANSACTION_LIMIT = `CASE WHEN pg_catalog.current_setting('transaction_timeout', true) <> '0'
    THEN pg_catalog.set_config('transaction_timeout', '0', true) END`;

/* Sets the limits of a transaction that holds the log lock. */

/**
 * Milliseconds after which the server ends an unresponsive transaction that holds the log lock. Its client process was
 * stopped, killed or disconnected. Other transactions wait for the lock no longer than that.
 */
export const IDLE = 5_000;

/**
 * Returns the statement that limits the current transaction, in milliseconds. Its result contains the backend
 * (`backendOf`). A `lock` of 0 would mean no limit, which is never allowed. A `statement` of 0 is allowed.
 */
export function writeLimits({ lock, statement }: { lock: number; statement: number }): Parameterised {
  return {
    text: `SELECT ${BACKEND}, pg_catalog.set_config('lock_timeout', $1, true),
                  pg_catalog.set_config('statement_timeout', $2, true), pg_catalog.set_config('idle_in_transaction_session_timeout', $3, true),
                  ${NO_TRANSACTION_LIMIT}`,
    values: [String(Math.max(1, Math.ceil(lock))), String(statement), String(IDLE)],
  };
}
