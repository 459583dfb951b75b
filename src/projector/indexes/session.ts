/** A connection of the builder's own, with the lock that lets one process build at a time. */
import type pg from 'pg';
import { advisoryKey } from '../../postgres/advisory.js';
import type { Logger } from '../../postgres/logger.js';
import { ServiceClient } from '../../postgres/client.js';
import { type ConnectionOptions, connectionConfig } from '../../postgres/pool.js';
import { watchOwnClient } from '../../postgres/silent-connections.js';

export interface BuildSession {
  client: pg.Client;
  /** Of the server process, to cancel what it does. */
  pid: number;
  close(): Promise<void>;
}

/**
 * Null when another process builds. Only ever tried, never waited for: a waiting session is what CREATE INDEX
 * CONCURRENTLY itself waits for.
 */
export async function openBuildSession(
  connection: ConnectionOptions,
  database: string,
  logger: Logger,
): Promise<BuildSession | null> {
  const config = connectionConfig({ ...connection, applicationName: 'data-platform-service indexes' });
  const client = new ServiceClient(config);
  watchOwnClient(client, config, logger);
  // A lost connection reaches the query that runs on it; this keeps the event from ending the process.
  client.on('error', () => undefined);
  const close = (): Promise<void> => client.end().catch(() => undefined);
  try {
    await client.connect();
    // A build takes as long as the table is big.
    await client.query(`SET statement_timeout = 0; SET lock_timeout = 0`);
    const { rows } = await client.query<{ pid: number; locked: boolean }>(
      `SELECT pg_backend_pid() AS pid, pg_try_advisory_lock($1) AS locked`,
      [advisoryKey({ database, schema: connection.schema }, 'concurrent-indexes')],
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
