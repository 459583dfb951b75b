/** The empty database into which a log is replayed. */
import type pg from 'pg';
import { OperatorError } from '../../kernel/operator-error.js';
import { advisoryKey } from '../../postgres/advisory.js';
import { readDatabase } from '../../postgres/database.js';
import type { Logger } from '../../postgres/logger.js';
import { holdsService, migrate } from '../../postgres/migrate.js';
import { createPool } from '../../postgres/pool.js';
import { unlimited } from '../../postgres/unlimited.js';
import { isRestoring, markRestoring } from '../../postgres/restoring.js';
import { type Sql, sql, own } from '../ddl/sql.js';

export interface TargetOptions {
  connectionString: string;
  /** The managed schema. */
  schema: string;
  /** The schema of the service's own tables. */
  serviceSchema: string;
  logger: Logger;
}

export interface ReplayTarget {
  /** Holds the log's lock for its whole life. */
  client: pg.PoolClient;
  schema: string;
  close(): Promise<void>;
}

/**
 * Creates the service's own tables and the mark for an incomplete database.
 * @throws OperatorError if the database is not empty
 */
export async function openTarget(options: TargetOptions): Promise<ReplayTarget> {
  const { schema, serviceSchema, logger } = options;
  const pool = createPool({ ...options, max: 2, applicationName: 'dps restore' });
  try {
    const database = await readDatabase(pool);
    const client = await pool.connect();
    client.on('error', () => undefined);
    const close = async (): Promise<void> => {
      // The connection is closed instead of reused, because the lock belongs to the session.
      client.release(true);
      await pool.end();
    };
    try {
      await client.query(unlimited('session'));
      const key = advisoryKey({ database: database.database, schema }, 'log');
      await takeLock(client, key);
      await requireEmpty(client, options);
      // Migrations take the log's lock themselves, on another connection.
      await client.query('SELECT pg_catalog.pg_advisory_unlock($1)', [key]);
      await migrate({ pool, schema, serviceSchema, database, logger });
      await takeLock(client, key);
      await requireEmpty(client, options);
      await markRestoring(client);
      return { client, schema, close };
    } catch (error) {
      await close();
      throw error;
    }
  } catch (error) {
    if (!pool.ended) await pool.end();
    throw error;
  }
}

async function takeLock(client: pg.ClientBase, key: string): Promise<void> {
  const { rows } = await client.query<{ locked: boolean }>('SELECT pg_catalog.pg_try_advisory_lock($1) AS locked', [
    key,
  ]);
  if (rows[0]?.locked === true) return;
  throw new OperatorError('Something else is writing to the target: stop the service that uses it first.');
}

/** Objects of extensions (spatial_ref_sys) do not count. */
const FOREIGN: Sql = sql`
SELECT c.relname::text AS name
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
ORDER BY c.relname COLLATE "C" LIMIT 4`;

async function requireEmpty(client: pg.ClientBase, { schema, serviceSchema }: TargetOptions): Promise<void> {
  const { rows } = await client.query<{ name: string }>(FOREIGN, [schema]);
  if (rows.length > 0) {
    const some = rows.slice(0, 3).map(({ name }) => `"${name}"`);
    throw notEmpty(`it holds ${some.join(', ')}${rows.length > 3 ? ' and more' : ''}`);
  }
  if (!(await holdsService(client, serviceSchema))) return;
  if (await isRestoring(client)) throw notEmpty('an earlier restore into it was broken off');
  const events = await client.query(`SELECT FROM ${own.events} LIMIT 1`);
  if (events.rowCount !== 0) throw notEmpty('its log holds events');
  // A service has started here. Its later writes would be lost after a failed restore.
  const users = await client.query(`SELECT FROM ${own.users} LIMIT 1`);
  if (users.rowCount !== 0) throw notEmpty('a service was started on it, and it holds users');
}

function notEmpty(why: string): OperatorError {
  return new OperatorError(`The target database is not empty: ${why}. Name an empty one (CREATE DATABASE …).`);
}
