/**
 * Creates database connections with identical settings. The managed schema is first in the search path, the time zone
 * is UTC, and dates are in ISO format.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { yieldToEventLoop } from '../kernel/event-loop.js';
import { NotInTimeError, limitTime } from '../kernel/time.js';
import { ServiceClient, type ServiceClientConfig, isPooled } from './client.js';
import { LostConnectionError, isRecoveryConflict } from './errors.js';
import { hostsOf } from './hosts/choose-host.js';
import type { Logger } from './logger.js';
import { watchPool } from './silent-connections.js';

/* Repeats queries that a standby cancelled because they delayed its recovery. */

/** Number of attempts per query. The pause between them (milliseconds) grows with each attempt. */
const TRIES = 3;
const PAUSE = 50;

type Query = (...urlOptions: unknown[]) => Promise<unknown>;

/**
 * Retries queries of the pool itself, each of which is a separate transaction. A cancelled query has changed and
 * returned nothing.
 */
export function retryRecoveryConflicts(pool: pg.Pool): void {
  const query = pool.query.bind(pool) as Query;
  const queryWithRetries: Query = async (...args) => {
    for (let count = 1; ; count += 1) {
      try {
        return await query(...args);
      } catch (error) {
        if (count === TRIES || !isRecoveryConflict(error)) throw error;
        await sleep(PAUSE * count);
      }
    }
  };
  Object.assign(pool, { query: queryWithRetries });
}

/** The addresses of a database. */
export interface Addresses {
  connectionString: string;
  /** The pooling mode of the address. */
  pooler?: 'transaction' | undefined;
  /** The direct address of the server, if different. */
  direct?: string | undefined;
}

export interface ConnectionOptions extends Addresses {
  /** The managed schema, which need not exist yet. */
  schema: string;
  /** The schema of the service's own tables. */
  serviceSchema: string;
  /** The role of OBJECTS_OWNER. Absent or null if there is none. */
  objectsOwner?: string | null;
  /** Shown in pg_stat_activity. */
  applicationName?: string;
  /** Milliseconds that connecting may take. */
  connectTimeout?: number;
  /** Default lock timeout of statements in milliseconds. Absent means no limit. */
  lockTimeout?: number;
}

interface PoolOptions extends ConnectionOptions {
  /** Maximum number of connections. */
  max: number;
  logger: Logger;
}

/** Anything that runs a query: a pool or a client. */
export type Queryable = Pick<pg.ClientBase, 'query'>;

const INT8 = 20;

/**
 * Parses bigint values as numbers. Our bigint columns contain positions and counts far below 2^53. A larger value stays
 * text.
 */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === INT8 ? parsePosition : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

function parsePosition(text: string): number | string {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
}

/** Leaves JSON values as text, for queries that return much JSON. The caller parses them later in time slices. */
export const JSON_AS_TEXT: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === pg.types.builtins.JSONB
      ? (text: string) => text
      : types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** Creates a single connection, which the caller connects and ends. */
export function createClient(options: ConnectionOptions, more: pg.ClientConfig = {}): pg.Client {
  return new ServiceClient({ ...connectionConfig(options), ...more });
}

/**
 * Returns the options for a direct connection. Work that needs a session cannot use a pooler, which assigns one per
 * transaction.
 */
export function toDirectOptions<T extends Addresses>(options: T): T {
  const { direct = options.connectionString } = options;
  return { ...options, connectionString: direct, pooler: undefined, direct: undefined };
}

/** Configures a client, for the pool and for single connections. */
export function connectionConfig(options: ConnectionOptions): ServiceClientConfig {
  const { direct, applicationName = 'data-platform-service' } = options;
  const hosts = hostsOf(options.connectionString);
  const { connectionString, urlOptions } = takeOptions(hosts?.any ?? options.connectionString);
  const settings = { ...options, applicationName };
  return {
    connectionString,
    hosts,
    serviceSchema: options.serviceSchema,
    objectsOwner: options.objectsOwner ?? null,
    application_name: applicationName,
    ...(options.pooler === undefined
      ? // Start-up parameters cost no round trip and apply from the beginning.
        { options: `${urlOptions} ${startupOptions(settings)}`.trimStart() }
      : { settings: transactionSettings(settings) }),
    ...(direct !== undefined && { direct: connectionConfig(toDirectOptions(options)) }),
    connectionTimeoutMillis: options.connectTimeout ?? 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types,
  };
}

/** Creates a pool. The caller must end it. */
export function createPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    ...connectionConfig(options),
    Client: ServiceClient as unknown as new () => pg.ClientBase,
    max: options.max,
    idleTimeoutMillis: 60_000,
  });
  // A broken idle connection has already left the pool. Without a listener the error event would end the process.
  pool.on('error', (error) => options.logger.warn('an idle database connection was lost', { error: error.message }));
  watchPool(pool, options.logger);
  hostsOf(options.connectionString)?.tell(options.logger);
  retryRecoveryConflicts(pool);
  return pool;
}

/** Runs `work` on a pool whose connections keep their sessions. This is `pool` itself if there is no pooler. */
export async function withSessions<T>(
  pool: pg.Pool,
  options: PoolOptions,
  work: (pool: pg.Pool) => Promise<T>,
): Promise<T> {
  if (options.pooler === undefined) return work(pool);
  const sessions = createPool({ ...toDirectOptions(options), max: 1 });
  try {
    return await work(sessions);
  } finally {
    await sessions.end();
  }
}

/**
 * Resets what a transaction may have left in its session: DISCARD ALL, but without our prepared statements. DDL runs
 * foreign functions (of an adopted index or an event trigger) whose settings would otherwise affect the next request.
 */
const CLEAN = `SET SESSION AUTHORIZATION DEFAULT; RESET ALL; CLOSE ALL; UNLISTEN *; SELECT pg_advisory_unlock_all();
  DISCARD TEMP; DISCARD SEQUENCES`;

/** Milliseconds that `CLEAN` may take. After that, the connection is closed instead of reused. */
const CLEAN_LIMIT = 5_000;

/**
 * Runs `work` on a client of the pool. After an error the connection is closed, because its state is unknown. Otherwise
 * it is reset before its next use, and no caller waits for that.
 * @param within milliseconds to get the client. Defaults to the connect timeout.
 */
export async function withClient<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  within?: number,
): Promise<T> {
  const client = await connect(pool, within);
  // The running query receives errors of a connection in use. This listener only keeps the error event from ending the
  // process.
  const ignore = (): void => undefined;
  client.on('error', ignore);
  let broken = true;
  try {
    const result = await work(client);
    broken = client.getTransactionStatus() !== 'I';
    return result;
  } finally {
    void cleanSession(client, broken).then((clean) => {
      client.removeListener('error', ignore);
      client.release(!clean);
    });
  }
}

async function connect(pool: pg.Pool, within: number | undefined): Promise<pg.PoolClient> {
  const connecting = pool.connect();
  if (within === undefined) return connecting;
  try {
    return await limitTime(connecting, Math.max(1, within));
  } catch (error) {
    if (!(error instanceof NotInTimeError)) throw error;
    connecting.then(
      (client) => client.release(),
      () => undefined,
    );
    throw new LostConnectionError('no connection to the database in time', { cause: error });
  }
}

/** Resets the session after use. @returns true if the connection can be reused without side effects */
async function cleanSession(client: pg.PoolClient, broken: boolean): Promise<boolean> {
  if (broken) return false;
  // Behind a pooler, the session already belongs to another client. Our transactions there set everything at their
  // beginning.
  if (isPooled(client)) return true;
  const used = client as unknown as ServiceClient;
  if (!used.needsReset) return true;
  // Waits one turn of the event loop, so that the answer that the caller writes in this turn reaches its socket first.
  await yieldToEventLoop();
  return limitTime(client.query(CLEAN), CLEAN_LIMIT).then(
    () => {
      used.needsReset = false;
      return true;
    },
    () => false,
  );
}

/**
 * Separates `options` from the address, because pg would let them override those of the configuration. The service
 * sends both, its own last.
 */
function takeOptions(connectionString: string): { connectionString: string; urlOptions: string } {
  if (!URL.canParse(connectionString)) return { connectionString, urlOptions: '' };
  const url = new URL(connectionString);
  const options = url.searchParams.get('options');
  if (options === null) return { connectionString, urlOptions: '' };
  url.searchParams.delete('options');
  return { connectionString: url.href, urlOptions: options };
}

/*
 * Builds the settings of each connection. A direct session gets them as start-up parameters. Behind a pooler, a session
 * is shared and in an unknown state, so each transaction begins by setting them.
 */

interface SettingsOptions {
  /** The managed schema. */
  schema: string;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Default lock timeout of statements in milliseconds. Absent means no limit. */
  lockTimeout?: number | undefined;
}

/**
 * Settings that affect how PostgreSQL reads and writes rows, values and definitions. They override those of the database
 * or role.
 */
const SPELLING = {
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  quote_all_identifiers: 'off',
  // The body of a function is not checked, because it may use objects that the same change creates later.
  check_function_bodies: 'off',
  // A query fails if a policy would hide rows from the service. Otherwise it would miss them silently.
  row_security: 'off',
};

/**
 * Keepalive settings in seconds and milliseconds. With them, the server notices within half a minute that a client's
 * machine does not respond, and releases its locks. They are ignored on Unix sockets.
 */
const KEEPALIVE = {
  tcp_keepalives_idle: '10',
  tcp_keepalives_interval: '5',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '25000',
};

/**
 * Settings that another client may have left in a shared session and that would affect our statements. Each is reset to
 * the value of the server, database or role.
 */
const AS_CONFIGURED = [
  'statement_timeout',
  'idle_in_transaction_session_timeout',
  'synchronous_commit',
  'default_tablespace',
  'default_table_access_method',
  'array_nulls',
  'transform_null_equals',
];

/** Settings like those of `AS_CONFIGURED` that require privileges. They are reset only if they were changed. */
const PRIVILEGED = { role: 'none', session_replication_role: 'origin' };

/** Returns the value of the start-up parameter `options`. */
export function startupOptions(options: SettingsOptions): string {
  const settings = { ...commonSettings(options), ...KEEPALIVE };
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\\s]/g, (character) => `\\${character}`)}`)
    .join(' ');
}

/**
 * Returns one statement that applies the settings until the end of the transaction. It does not rely on the current
 * search path.
 */
export function transactionSettings(options: SettingsOptions): string {
  const { applicationName } = options;
  const settings = { application_name: applicationName, lock_timeout: '0', ...commonSettings(options) };
  const assignments = Object.entries(settings).map(([name, value]) => setLocally(name, literal(value)));
  const back = AS_CONFIGURED.map((name) => setLocally(name, 'NULL'));
  const privileged = Object.entries(PRIVILEGED).map(
    ([name, value]) =>
      `CASE WHEN pg_catalog.current_setting('${name}') OPERATOR(pg_catalog.<>) '${value}' THEN ${setLocally(name, 'NULL')} END`,
  );
  // The role is reset first, because another role may not be allowed to set the rest.
  return `SELECT ${[...privileged, ...assignments, ...back].join(', ')}`;
}

function commonSettings({ schema, lockTimeout }: SettingsOptions): Record<string, string> {
  const lock: Record<string, string> = lockTimeout === undefined ? {} : { lock_timeout: String(lockTimeout) };
  return { search_path: searchPath(schema), client_min_messages: 'warning', ...SPELLING, ...lock };
}

/**
 * Returns the search path. `public` follows the managed schema because extensions usually create their types there.
 * Temporary tables come last. By default they come first, where a temporary object could hide a type or sequence of the
 * user.
 */
function searchPath(schema: string): string {
  const own = schema === 'public' ? '' : `"${schema.replaceAll('"', '""')}",`;
  return `${own}public,pg_temp`;
}

const setLocally = (name: string, value: string): string => `pg_catalog.set_config('${name}', ${value}, true)`;

const literal = (value: string): string => `'${value.replaceAll("'", "''")}'`;
