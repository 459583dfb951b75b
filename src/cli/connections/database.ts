import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { type Config, readConfig } from '../../config.js';
import { OperatorError } from '../../kernel/problem.js';
import { DataDirInUseError, containsServer, recordedConnection } from '../../postgres/embedded/index.js';
import { type Addresses, createPool, toDirectOptions } from '../../postgres/pool.js';
import {
  type DatabaseSource,
  openDatabase,
  readDatabaseTraits,
  withScratchDatabase,
} from '../../postgres/open-database.js';
import type { Invocation } from '../command.js';
import type { Logger } from '../../postgres/logger.js';

type Environment = Invocation['environment'];

/**
 * Returns the settings with the location in the options. An explicit data directory takes precedence over DATABASE_URL.
 */
export function withLocation(environment: Environment, values: Invocation['values']): Environment {
  const { dataDir, databaseUrl } = values as { dataDir?: string; databaseUrl?: string };
  if (dataDir !== undefined) return { ...atDatabase(environment, undefined), DATA_DIR: dataDir };
  return databaseUrl === undefined ? environment : atDatabase(environment, databaseUrl);
}

const OTHERS = ['DIRECT_DATABASE_URL', 'LISTEN_DATABASE_URL', 'DB_POOLER'];

/**
 * Returns the settings with another DATABASE_URL.
 * @param url undefined for the embedded server
 */
function atDatabase(environment: Environment, url: string | undefined): Environment {
  const others = ['DATABASE_URL', ...OTHERS].flatMap((name) => [name, `${name}_FILE`]);
  return { ...environment, ...Object.fromEntries(others.map((name) => [name, undefined])), DATABASE_URL: url };
}

const doNothing = (): void => undefined;

/** Discards log lines, because commands print their own messages. */
export const silentLogger: Logger = { debug: doNothing, info: doNothing, warn: doNothing, error: doNothing };

const POOL_SIZE = 3;

/**
 * Runs `work` with a pool of connections to the service's database. If an embedded server is stopped, it runs for this
 * time.
 */
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
 * Connects to the server itself and not to a pooler, because operator commands run for a long time. The content of the
 * database is not checked.
 * @param mayBeNew true if an embedded server may be set up
 */
export async function withServer<T>(
  config: Config,
  work: (connectionString: string, addresses: Addresses) => Promise<T>,
  mayBeNew = false,
): Promise<T> {
  const source = await openSource(config, mayBeNew);
  try {
    return await work(toDirectOptions(source).connectionString, source);
  } finally {
    await source.stop();
  }
}

/** Connects to a server at another address. The address is validated like DATABASE_URL. */
export function withServerAt<T>(
  { environment }: Invocation,
  address: string,
  work: (connectionString: string) => Promise<T>,
): Promise<T> {
  return withServer(readConfig(atDatabase(environment, address)), work);
}

/**
 * Runs `work` on an empty database, which is dropped afterwards. The database is on the server of `pool`, or on an embedded
 * server if the account cannot create databases.
 */
export async function withEmptyDatabase<T>(
  config: Config,
  { pool, connectionString }: { pool: pg.Pool; connectionString: string },
  work: (connectionString: string) => Promise<T>,
): Promise<T> {
  const { can_create: canCreate } = await readDatabaseTraits(pool);
  if (!canCreate) return withScratchServer(config, work);
  return withScratchDatabase({ server: connectionString, setting: 'DATABASE_URL', original: pool }, work);
}

async function withScratchServer<T>(config: Config, work: (connectionString: string) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'dps-verify-'));
  try {
    return await withServer({ ...config, databaseUrl: null, dataDir }, work, true);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Opens a few connections for a command. The caller closes the pool. */
export function openPool(connectionString: string, { schema, serviceSchema, objectsOwner }: Schemas): pg.Pool {
  return createPool({
    connectionString,
    schema,
    serviceSchema,
    objectsOwner,
    max: POOL_SIZE,
    applicationName: 'dps',
    logger: silentLogger,
  });
}

async function openSource(config: Config, mayBeNew: boolean): Promise<DatabaseSource> {
  const { databaseUrl, dataDir } = config;
  const options = { ...config, connections: POOL_SIZE + 10, logger: silentLogger };
  if (databaseUrl === null && !mayBeNew && !(await containsServer(dataDir)))
    throw noService(`data directory ${dataDir}`);
  try {
    return await openDatabase(options);
  } catch (error) {
    if (!(error instanceof DataDirInUseError)) throw error;
    // If the service is running, its embedded server can be used.
    const connectionString = await recordedConnection(dataDir);
    return openDatabase({ ...options, databaseUrl: connectionString });
  }
}

type Schemas = Pick<Config, 'schema' | 'serviceSchema' | 'objectsOwner'>;

async function requireService(pool: pg.Pool, { serviceSchema }: Schemas): Promise<void> {
  const { rowCount } = await pool.query(
    `select from pg_tables where schemaname = $1 and tablename = 'service_auth_epoch'`,
    [serviceSchema],
  );
  if (rowCount !== 1) throw noService(`schema "${serviceSchema}" of the database`);
}

function noService(address: string): OperatorError {
  return new OperatorError(
    `The ${address} does not contain a service. Start the service once, or check DATABASE_URL, DATA_DIR, DB_SCHEMA and SERVICE_SCHEMA.`,
  );
}
