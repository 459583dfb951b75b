/**
 * PostgreSQL's lock table has a fixed size, and a batch holds the locks of all statements until the commit.
 * https://www.postgresql.org/docs/current/runtime-config-locks.html
 */
import pg from 'pg';
import type { Problem } from '../../kernel/problem.js';
import type { Statement } from '../ddl/statement.js';

/** The SQLSTATE of a full lock table and of other memory shortages. */
const OUT_OF_MEMORY = '53200';

/** The settings that determine the size of the lock table. */
export interface LockSettings {
  max_locks_per_transaction: number;
  max_connections: number;
  max_prepared_transactions: number;
}

/** The server's current settings, which change only with a restart. */
export async function readLockSettings(client: pg.ClientBase | pg.Pool): Promise<LockSettings> {
  const { rows } = await client.query<LockSettings>(
    `SELECT pg_catalog.current_setting('max_locks_per_transaction')::int AS max_locks_per_transaction,
            pg_catalog.current_setting('max_connections')::int AS max_connections,
            pg_catalog.current_setting('max_prepared_transactions')::int AS max_prepared_transactions`,
  );
  return rows[0] as LockSettings;
}

/** Lock table entries that a batch holds at its end: an upper estimate. */
export function lockEntriesOf(statements: readonly Statement[]): number {
  return statements.reduce((sum, statement) => sum + statement.lock_entries, 0);
}

/** The smallest max_locks_per_transaction with room for `entries`. The table has that many entries per connection. */
export function locksPerTransaction(entries: number, settings: LockSettings): number {
  return Math.ceil(entries / (settings.max_connections + settings.max_prepared_transactions));
}

/** Checks whether the lock table was full. PostgreSQL only reveals it through the source file name. */
export function isLockTableFull(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === OUT_OF_MEMORY && error.file === 'lock.c';
}

/** The rejection of a batch of `entries` that filled the lock table. Retrying it unchanged would not help. */
export function tooFewLocks(entries: number, settings: LockSettings | undefined): Problem {
  const setting = 'max_locks_per_transaction';
  const message = `PostgreSQL ran out of lock slots: this change needs about ${entries} at once.`;
  if (settings === undefined) {
    return {
      code: 'DATABASE_REFUSED',
      message: `${message} Raise ${setting} and restart PostgreSQL, or make the change in smaller parts.`,
      details: { sqlstate: OUT_OF_MEMORY, setting, entries },
    };
  }
  const present = settings.max_locks_per_transaction;
  const needed = Math.max(locksPerTransaction(entries, settings), present + 1);
  return {
    code: 'DATABASE_REFUSED',
    message: `${message} Raise ${setting} from ${present} to ${needed} or more and restart PostgreSQL, or make the change in smaller parts.`,
    details: { sqlstate: OUT_OF_MEMORY, setting, present, needed, entries },
  };
}
