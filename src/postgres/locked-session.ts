/* A direct session that holds a lock. Only one process can hold it. */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from './logger.js';
import { ServiceClient } from './client.js';
import { type ConnectionOptions, connectionConfig } from './pool.js';
import { unlimited } from './limits.js';
import { watchOwnClient } from './silent-connections.js';

/* Keys of advisory locks. */

/** The purpose of a lock. Each has its own key per database and schema. */
export type LockPurpose =
  'schemas' | 'migrations' | 'log' | 'concurrent-indexes' | 'rebuild-metadata' | 'checkpoints' | `change ${string}`;

/**
 * Returns the key of a lock: 64 bits of a hash, so that services in other schemas and other programs do not use it by
 * accident. The key is decimal text, the form in which bigint parameters are sent.
 */
export function advisoryKey(location: { database: string; schema: string }, purpose: LockPurpose): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([location.database, location.schema, purpose]))
    .digest();
  return hash.readBigInt64BE(0).toString();
}

/**
 * Returns the name of the notification channel for the log of a schema. Channels belong to a database, so the name need
 * not contain that of the database.
 */
export function logChannel(schema: string): string {
  return `service_events_${createHash('sha256').update(schema).digest('hex').slice(0, 16)}`;
}

export interface LockedSession {
  client: pg.Client;
  /** The id of the server process, used to cancel its statements. */
  pid: number;
  close(): Promise<void>;
}

export interface OpenSession {
  connection: ConnectionOptions;
  /** The database name. */
  database: string;
  purpose: LockPurpose;
  logger: Logger;
}

/**
 * Opens a direct session that holds the lock, or returns null if another process holds it. It never waits for the lock,
 * because CREATE INDEX CONCURRENTLY itself waits for waiting sessions. Statements and lock waits have no time limit.
 */
export async function openLockedSession(options: OpenSession): Promise<LockedSession | null> {
  const { connection, database, purpose, logger } = options;
  const config = connectionConfig(connection);
  const client = new ServiceClient(config);
  watchOwnClient(client, config, logger);
  const close = (): Promise<void> => client.end().catch(() => undefined);
  try {
    await client.connect();
    await client.query(unlimited('session'));
    const { rows } = await client.query<{ pid: number; locked: boolean }>(
      `SELECT pg_backend_pid() AS pid, pg_catalog.pg_try_advisory_lock($1) AS locked`,
      [advisoryKey({ database, schema: connection.schema }, purpose)],
    );
    const [row] = rows;
    if (row?.locked === true) return { client, pid: row.pid, close };
  } catch (error) {
    await close();
    throw error;
  }
  await close();
  return null;
}

const CANCEL_EVERY = 200;

/**
 * Repeatedly cancels the statements of a session until `ended`, because a cancel between two statements has no effect.
 */
export async function cancelUntil(
  pool: pg.Pool,
  session: () => { pid: number } | undefined,
  ended: Promise<unknown>,
): Promise<void> {
  let over = false;
  const end = ended.then(
    () => (over = true),
    () => (over = true),
  );
  while (!over) {
    const pid = session()?.pid;
    if (pid !== undefined) await pool.query('SELECT pg_catalog.pg_cancel_backend($1)', [pid]).catch(() => undefined);
    await Promise.race([end, new Promise((resolve) => setTimeout(resolve, CANCEL_EVERY).unref())]);
  }
}
