/** Connections to the database, all alike: the same schema first in the search path, UTC, ISO dates. */
import pg from 'pg';
import { NotInTimeError, inTime } from '../kernel/in-time.js';
import { LostConnectionError } from './errors.js';
import type { Logger } from './logger.js';
import { ServiceClient, type ServiceClientConfig, isPooled } from './client.js';
import { hostsOf } from './hosts/choose-host.js';
import { startupOptions, transactionSettings } from './session-settings.js';
import { retryRecoveryConflicts } from './recovery-conflict.js';
import { watchPool } from './silent-connections.js';

/** The way to a database. */
export interface Addresses {
  connectionString: string;
  /** What is between us and the server on that way. */
  pooler?: 'transaction' | undefined;
  /** The address of the server itself, where that is another one. */
  direct?: string | undefined;
}

export interface ConnectionOptions extends Addresses {
  /** The schema that is managed; it need not exist yet. */
  schema: string;
  /** The one that our own tables live in. */
  serviceSchema: string;
  /** Shown in pg_stat_activity. */
  applicationName?: string;
  /** Milliseconds a new connection may take. */
  connectTimeout?: number;
  /** Milliseconds that a statement waits for a lock, where it isn't told otherwise; without, for ever. */
  lockTimeout?: number;
}

export interface PoolOptions extends ConnectionOptions {
  /** Connections at most. */
  max: number;
  logger: Logger;
}

/** Anything that runs a query: a pool or a client. */
export type Queryable = Pick<pg.ClientBase, 'query'>;

const INT8 = 20;

/** bigint columns of ours hold positions and counts, far below 2^53; a larger value stays text. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === INT8 ? parsePosition : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

function parsePosition(text: string): number | string {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
}

/** For queries with much JSON: it stays text, to be parsed in time slices and not as it comes in. */
export const JSON_AS_TEXT: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') =>
    oid === pg.types.builtins.JSONB
      ? (text: string) => text
      : types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** A connection of its own. The caller connects and ends it. */
export function createClient(options: ConnectionOptions, more: pg.ClientConfig = {}): pg.Client {
  return new ServiceClient({ ...connectionConfig(options), ...more });
}

/** The same on the server itself: for what needs a session, which a pooler gives to nobody for longer than a transaction. */
export function directly<T extends Addresses>(options: T): T {
  const { direct = options.connectionString } = options;
  return { ...options, connectionString: direct, pooler: undefined, direct: undefined };
}

/** The configuration of one client of ours, for the pool and for dedicated connections. */
export function connectionConfig(options: ConnectionOptions): ServiceClientConfig {
  const { direct, applicationName = 'data-platform-service' } = options;
  const hosts = hostsOf(options.connectionString);
  const { connectionString, given } = takeOptions(hosts?.any ?? options.connectionString);
  const settings = { ...options, applicationName };
  return {
    connectionString,
    hosts,
    serviceSchema: options.serviceSchema,
    application_name: applicationName,
    ...(options.pooler === undefined
      ? // Start-up parameters cost no round trip, and no connection is ever seen without them.
        { options: `${given} ${startupOptions(settings)}`.trimStart() }
      : { settings: transactionSettings(settings) }),
    ...(direct !== undefined && { direct: connectionConfig(directly(options)) }),
    connectionTimeoutMillis: options.connectTimeout ?? 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types,
  };
}

/** A pool. The caller ends it. */
export function createPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    ...connectionConfig(options),
    Client: ServiceClient as unknown as new () => pg.ClientBase,
    max: options.max,
    idleTimeoutMillis: 60_000,
  });
  // An idle connection that breaks is already out of the pool; unheard, the event would end the process.
  pool.on('error', (error) => options.logger.warn('an idle database connection was lost', { error: error.message }));
  watchPool(pool, options.logger);
  hostsOf(options.connectionString)?.tell(options.logger);
  retryRecoveryConflicts(pool);
  return pool;
}

/** Runs `work` on a pool whose connections keep their sessions: `pool`, where no pooler is between. */
export async function withSessions<T>(
  pool: pg.Pool,
  options: PoolOptions,
  work: (pool: pg.Pool) => Promise<T>,
): Promise<T> {
  if (options.pooler === undefined) return work(pool);
  const sessions = createPool({ ...directly(options), max: 1 });
  try {
    return await work(sessions);
  } finally {
    await sessions.end();
  }
}

/**
 * What a transaction may have left on its session: DISCARD ALL without the prepared statements, which are ours. DDL runs
 * functions of others (of an adopted index, of an event trigger), and what these set would meet the next request.
 */
const CLEAN = `SET SESSION AUTHORIZATION DEFAULT; RESET ALL; CLOSE ALL; UNLISTEN *; SELECT pg_advisory_unlock_all();
  DISCARD TEMP; DISCARD SEQUENCES`;

/** Milliseconds after which a connection that doesn't answer is closed instead. */
const CLEAN_LIMIT = 5_000;

/**
 * Runs `work` on a client of the pool. After an error the connection is closed, not reused: whatever state it is in,
 * no caller meets it. Otherwise it is cleaned before it is used again, and no caller waits for that.
 * @param within milliseconds that getting the client may take; by default as long as a new connection
 */
export async function withClient<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  within?: number,
): Promise<T> {
  const client = await connect(pool, within);
  // Errors of a connection that is in use reach its query; this keeps the event from ending the process.
  const ignore = (): void => undefined;
  client.on('error', ignore);
  let broken = true;
  try {
    const result = await work(client);
    broken = client.getTransactionStatus() !== 'I';
    return result;
  } finally {
    void cleaned(client, broken).then((clean) => {
      client.removeListener('error', ignore);
      client.release(!clean);
    });
  }
}

async function connect(pool: pg.Pool, within: number | undefined): Promise<pg.PoolClient> {
  const connecting = pool.connect();
  if (within === undefined) return connecting;
  try {
    return await inTime(connecting, Math.max(1, within));
  } catch (error) {
    if (!(error instanceof NotInTimeError)) throw error;
    connecting.then(
      (client) => client.release(),
      () => undefined,
    );
    throw new LostConnectionError('no connection to the database in time', { cause: error });
  }
}

/** Whether the next user of the connection meets none of what was done on it. */
async function cleaned(client: pg.PoolClient, broken: boolean): Promise<boolean> {
  if (broken) return false;
  // Behind a pooler the session is another's by now; each of our transactions there begins with its settings.
  if (isPooled(client)) return true;
  return inTime(client.query(CLEAN), CLEAN_LIMIT).then(
    () => true,
    () => false,
  );
}

/** pg lets `options` of the address win over those of the configuration; both are wanted, ours last. */
function takeOptions(connectionString: string): { connectionString: string; given: string } {
  if (!URL.canParse(connectionString)) return { connectionString, given: '' };
  const url = new URL(connectionString);
  const given = url.searchParams.get('options');
  if (given === null) return { connectionString, given: '' };
  url.searchParams.delete('options');
  return { connectionString: url.href, given };
}
