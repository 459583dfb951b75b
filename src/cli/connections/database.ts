/** The service's database, for commands that work on it directly: whether the service runs or not. */
import type pg from 'pg';
import { type Config, readConfig } from '../../config.js';
import { OperatorError } from '../../kernel/operator-error.js';
import { DataDirInUseError, holdsServer, recordedConnection } from '../../postgres/embedded/index.js';
import { type Addresses, createPool, directly } from '../../postgres/pool.js';
import { type DatabaseSource, openDatabase } from '../../postgres/open-database.js';
import type { Invocation } from '../command.js';
import { atDatabase } from './place.js';
import { silentLogger } from './silent-logger.js';

const POOL_SIZE = 3;

/** Runs `work` on a pool of the service's database. An embedded server that isn't running is started for it. */
export function withDatabase<T>(
  config: Config,
  work: (pool: pg.Pool, connectionString: string) => Promise<T>,
): Promise<T> {
  return withServer(config, async (connectionString) => {
    const pool = openPool(connectionString, config);
    try {
      await requireService(pool, config);
      return await work(pool, connectionString);
    } finally {
      await pool.end();
    }
  });
}

/**
 * The same on the bare server, whatever it holds, and past a pooler: what operators do is long, and there is little of it.
 * @param mayBeNew whether an embedded server may be set up for it
 */
export async function withServer<T>(
  config: Config,
  work: (connectionString: string, addresses: Addresses) => Promise<T>,
  mayBeNew = false,
): Promise<T> {
  const source = await openSource(config, mayBeNew);
  try {
    return await work(directly(source).connectionString, source);
  } finally {
    await source.stop();
  }
}

/** The same on the server of another address, which is checked like DATABASE_URL. */
export function withServerAt<T>(
  { environment }: Invocation,
  address: string,
  work: (connectionString: string) => Promise<T>,
): Promise<T> {
  return withServer(readConfig(atDatabase(environment, address)), work);
}

/** A few connections of a command. The caller ends it. */
export function openPool(connectionString: string, { schema, serviceSchema }: Schemas): pg.Pool {
  return createPool({
    connectionString,
    schema,
    serviceSchema,
    max: POOL_SIZE,
    applicationName: 'dps',
    logger: silentLogger,
  });
}

async function openSource(config: Config, mayBeNew: boolean): Promise<DatabaseSource> {
  const { databaseUrl, dataDir } = config;
  const options = { ...config, connections: POOL_SIZE + 10, logger: silentLogger };
  if (databaseUrl === null && !mayBeNew && !(await holdsServer(dataDir))) throw noService(`data directory ${dataDir}`);
  try {
    return await openDatabase(options);
  } catch (error) {
    if (!(error instanceof DataDirInUseError)) throw error;
    // The service is running: its server is ours too.
    const connectionString = await recordedConnection(dataDir);
    return openDatabase({ ...options, databaseUrl: connectionString });
  }
}

type Schemas = Pick<Config, 'schema' | 'serviceSchema'>;

async function requireService(pool: pg.Pool, { serviceSchema }: Schemas): Promise<void> {
  const { rowCount } = await pool.query(
    `select from pg_tables where schemaname = $1 and tablename = 'service_auth_epoch'`,
    [serviceSchema],
  );
  if (rowCount !== 1) throw noService(`schema "${serviceSchema}" of the database`);
}

function noService(place: string): OperatorError {
  return new OperatorError(
    `The ${place} holds no service yet: start the service once, or check DATABASE_URL, DATA_DIR, DB_SCHEMA and SERVICE_SCHEMA.`,
  );
}
