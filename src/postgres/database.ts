/** Identifies the connected database. */
import { OperatorError } from '../kernel/operator-error.js';
import type { Queryable } from './pool.js';

export interface Database {
  /** The database name. */
  database: string;
  /** For people: `18.4`. */
  version: string;
  /** The number that PostgreSQL uses: 180004. */
  versionNumber: number;
}

const OLDEST = 140_000;

/**
 * Reads the version of the server.
 * @throws OperatorError if the service does not support it
 */
export async function readDatabase(db: Queryable): Promise<Database> {
  const { rows } = await db.query<{ database: string; version: string; number: number; encoding: string }>(`
    SELECT current_database() AS database,
           pg_catalog.current_setting('server_version') AS version,
           pg_catalog.current_setting('server_version_num')::int AS number,
           pg_catalog.current_setting('server_encoding') AS encoding`);
  const row = rows[0] as (typeof rows)[number];
  const version = row.version.split(' ')[0] ?? row.version;
  if (row.number < OLDEST) {
    throw new OperatorError(`The database server is PostgreSQL ${version}; this service needs 14 or newer.`);
  }
  if (row.encoding !== 'UTF8') {
    throw new OperatorError(
      `The database "${row.database}" has the encoding ${row.encoding}; this service needs one with UTF8.`,
    );
  }
  return { database: row.database, version, versionNumber: row.number };
}
