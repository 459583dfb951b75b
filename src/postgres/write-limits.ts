/** What a transaction that holds the log's lock is held to. */
import { BACKEND } from './backend.js';
import { NO_TRANSACTION_LIMIT } from './unlimited.js';
import type { Parameterised } from './exchange.js';

/**
 * Milliseconds that the server keeps a transaction, and the lock of the log, of a process that doesn't say a word: it is
 * stopped, gone, or cut off. Others wait no longer than that.
 */
export const IDLE = 5_000;

/**
 * Limits of the present transaction, in milliseconds, and no other ones; answers the backend that runs it (`backendOf`). A `lock` of 0 would be none,
 * which a lock must never have; a `statement` of 0 is.
 */
export function writeLimits({ lock, statement }: { lock: number; statement: number }): Parameterised {
  return {
    text: `SELECT ${BACKEND}, pg_catalog.set_config('lock_timeout', $1, true),
                  pg_catalog.set_config('statement_timeout', $2, true), pg_catalog.set_config('idle_in_transaction_session_timeout', $3, true),
                  ${NO_TRANSACTION_LIMIT}`,
    values: [String(Math.max(1, Math.ceil(lock))), String(statement), String(IDLE)],
  };
}
