/* Opens the configured database or an embedded server, and creates scratch databases. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { OperatorError } from '../kernel/problem.js';
import { startEmbedded } from './embedded/index.js';
import { SQLSTATE, isConnectionLoss, sqlState } from './errors.js';
import { type Hosts, hostsOf } from './hosts/choose-host.js';
import { unlimited } from './limits.js';
import type { Logger } from './logger.js';
import { type Addresses, type Queryable, createClient } from './pool.js';

/** Detects whether an address uses a pooler, and whether the service supports it. */

/** The database addresses do not match each other, or the service cannot use them. */
export class PoolerError extends OperatorError {}

/** The properties of a connection to the database over one route. */
export interface RouteProperties {
  pooled: boolean;
  /** The reason why no transaction can begin. Undefined if one can. */
  refuses: string | undefined;
  database: string;
  /** The system identifier of the cluster. Null if hidden. */
  system: string | null;
}

/** @param client a plain client of the driver, without start-up parameters that a pooler might reject */
async function inspectConnection(client: pg.Client): Promise<RouteProperties> {
  const { rows } = await client.query<{ database: string }>('SELECT pg_catalog.current_database() AS database');
  return {
    pooled: await isThroughPooler(client),
    database: rows[0]?.database ?? '',
    system: await readSystemId(client),
    refuses: await readTransactionError(client),
  };
}

/** True if the connection uses a pooler, which reports process ids of its own. */
export async function isThroughPooler(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_catalog.pg_backend_pid() AS pid');
  return rows[0]?.pid !== (client as unknown as { processID: number }).processID;
}

/** Returns the system identifier, which a cluster shares with its standbys. */
async function readSystemId(client: pg.Client): Promise<string | null> {
  try {
    const { rows } = await client.query<{ system: string }>(
      'SELECT system_identifier::text AS system FROM pg_catalog.pg_control_system()',
    );
    return rows[0]?.system ?? null;
  } catch {
    // Some roles or servers do not allow the query.
    return null;
  }
}

/**
 * Returns why no transaction can begin. In statement mode each statement may use another session, so the pooler rejects
 * BEGIN.
 */
async function readTransactionError(client: pg.Client): Promise<string | undefined> {
  try {
    await client.query('BEGIN');
    await client.query('ROLLBACK');
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

interface DatabaseRoutes {
  /** The properties found for DATABASE_URL. */
  seen: RouteProperties;
  /** The value of DB_POOLER, or null. */
  expected: 'none' | 'transaction' | null;
  /** The properties found for DIRECT_DATABASE_URL, or null if it is not set. */
  direct: RouteProperties | null;
}

/**
 * Returns the pooling mode of DATABASE_URL.
 * @throws PoolerError that names the missing or wrong setting
 */
export function poolerOf({ seen, expected, direct }: DatabaseRoutes): Addresses['pooler'] {
  if (seen.refuses !== undefined) throw new PoolerError(statementMode(seen.refuses));
  const isPooled = expected === null ? seen.pooled : expected === 'transaction';
  if (direct !== null) requireDirect(direct, seen, expected);
  else if (isPooled) throw new PoolerError(DIRECT_MISSING);
  return isPooled ? 'transaction' : undefined;
}

function requireDirect(direct: RouteProperties, seen: RouteProperties, expected: DatabaseRoutes['expected']): void {
  if (direct.pooled && expected !== 'none') throw createPooledError('DIRECT_DATABASE_URL', ' too');
  if (!isSamePlace(direct, seen)) throw new PoolerError(ELSEWHERE);
}

const isSamePlace = (one: RouteProperties, other: RouteProperties): boolean =>
  one.database === other.database && (one.system === null || other.system === null || one.system === other.system);

const statementMode = (reason: string): string =>
  `DATABASE_URL cannot be used: its pooler rejects transactions (${reason}). Configure the pooler for ` +
  'transaction pooling (PgBouncer: pool_mode = transaction), or set DATABASE_URL to the server itself.';

/** True if a pooler rejected the start-up parameters of a session. */
export const isStartupRefused = (error: unknown): boolean =>
  sqlState(error) === PROTOCOL_VIOLATION && /startup parameter/.test((error as Error).message);

const PROTOCOL_VIOLATION = '08P01';

/** Creates the error for a pooler that rejected a connection although none was expected. */
export const createUnexpectedPoolerError = (cause: unknown): PoolerError =>
  new PoolerError(
    'DB_POOLER is none, but DATABASE_URL uses a pooler that rejects session settings. Remove DB_POOLER.',
    { cause },
  );

/** Creates the error for an address that contains `options`, which a pooler does not pass on. */
export const createLostOptionsError = (): PoolerError =>
  new PoolerError(
    'DATABASE_URL cannot be used: its pooler does not pass its options on. Set them for the role or the database (ALTER ROLE … ' +
      'SET, ALTER DATABASE … SET).',
  );

const DIRECT_MISSING =
  'The setting DIRECT_DATABASE_URL is required, because DATABASE_URL uses a pooler. LISTEN, migrations and ' +
  'concurrent index builds need their own session. Set it to the address of the server itself.';

const createPooledError = (setting: string, also = ''): PoolerError =>
  new PoolerError(`${setting} cannot be used: it uses a pooler${also}. Set it to the address of the server itself.`);

const ELSEWHERE =
  'DIRECT_DATABASE_URL cannot be used: it leads to a different database than DATABASE_URL. Set it to the address of the ' +
  'same database without the pooler.';

interface SourceOptions {
  /** Null starts an embedded server in `dataDir`. */
  databaseUrl: string | null;
  /** A direct address, if `databaseUrl` uses a pooler. */
  directDatabaseUrl?: string | null;
  /** The pooling mode of `databaseUrl`. If null or absent, the service detects it. */
  databasePooler?: 'none' | 'transaction' | null;
  dataDir: string;
  /** Maximum connections of an embedded server. */
  connections: number;
  logger: Logger;
}

export interface DatabaseSource extends Addresses {
  /** Resolves with the last output of the embedded server when it has ended. Never resolves for an external server. */
  ended: Promise<string>;
  /** Stops the embedded server. */
  stop(): Promise<void>;
}

/** Milliseconds to wait for a server that reports that it is starting or recovering. */
const START_UP_LIMIT_MS = 60_000;
const RETRY_MS = 250;
const CONNECT_TIMEOUT_MS = 10_000;

/** @throws OperatorError with one sentence that names the problem and the fix */
export async function openDatabase(options: SourceOptions): Promise<DatabaseSource> {
  const { databaseUrl, logger } = options;
  if (databaseUrl !== null) {
    const addresses = await checkAddresses(databaseUrl, options);
    return { ...addresses, ended: new Promise(() => undefined), stop: () => Promise.resolve() };
  }
  const embedded = await startEmbedded(options);
  if (embedded.orphanStopped) logger.warn('stopped a PostgreSQL server of an earlier run');
  logger.info('embedded PostgreSQL started', { files: embedded.home });
  return embedded;
}

/** Connects once to each address, so that a wrong one is explained early. */
async function checkAddresses(databaseUrl: string, options: SourceOptions): Promise<Addresses> {
  const { directDatabaseUrl = null, databasePooler: expected = null, logger } = options;
  const seen = await inspectServer(databaseUrl, 'DATABASE_URL');
  const direct = directDatabaseUrl === null ? null : await inspectServer(directDatabaseUrl, 'DIRECT_DATABASE_URL');
  const pooler = poolerOf({ seen, expected, direct });
  if (pooler !== undefined) {
    if (/[?&]options=/.test(databaseUrl)) throw createLostOptionsError();
    logger.info('DATABASE_URL uses a pooler', { mode: pooler });
  }
  return { connectionString: databaseUrl, pooler: pooler, direct: directDatabaseUrl ?? undefined };
}

/** @param setting the name of the setting that contains the address */
async function inspectServer(address: string, setting: string): Promise<RouteProperties> {
  const hosts = hostsOf(address);
  const limit = Date.now() + START_UP_LIMIT_MS;
  for (;;) {
    const connectionString = hosts === null ? address : await chooseHost(hosts, setting);
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await inspectConnection(client);
    } catch (error) {
      const isComing = sqlState(error) === CANNOT_CONNECT_NOW || (hosts !== null && isConnectionLoss(error));
      if (!isComing || Date.now() > limit) throw createUnreachableError(error, setting);
      hosts?.doubt();
      await sleep(RETRY_MS);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

/** Chooses one of several hosts. A process that starts during a failover waits for the new primary like all others. */
async function chooseHost(hosts: Hosts, setting: string): Promise<string> {
  try {
    return hosts.of(await hosts.choose(START_UP_LIMIT_MS));
  } catch (error) {
    if (sqlState(error) !== undefined) throw createUnreachableError(error, setting);
    throw new OperatorError(`The database of ${setting} cannot be used: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

const CANNOT_CONNECT_NOW = '57P03';

/** Explanations for operators, by SQLSTATE or system error code. */
const EXPLANATIONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server listens at its address',
  ENOTFOUND: 'its host name does not exist',
  EAI_AGAIN: 'its host name could not be resolved',
  ETIMEDOUT: 'its host does not respond',
  EHOSTUNREACH: 'its host is not reachable',
  ENETUNREACH: 'its network is not reachable',
  ENOENT: 'its socket does not exist',
  ECONNRESET: 'it closed the connection',
  '28P01': 'it rejected the role or the password',
  '28000': 'it rejected the role',
  '3D000': 'the database does not exist',
  '53300': 'it has no free connection',
  '57P03': 'it is still starting up',
};

function createUnreachableError(cause: unknown, setting: string): OperatorError {
  // We sent no start-up parameters, so the rejected ones come from the address.
  if (isStartupRefused(cause)) return createLostOptionsError();
  const code = sqlState(cause) ?? (cause as NodeJS.ErrnoException).code ?? '';
  const why = Object.hasOwn(EXPLANATIONS, code) ? EXPLANATIONS[code] : (cause as Error).message.replace(/\.$/, '');
  return new OperatorError(`The database of ${setting} cannot be used: ${why}.`, { cause });
}

/* Creates scratch databases, in which backups are restored and changes are proved. */

const PREFIX = 'dps_scratch_';
/** Names that no person chooses. */
const SCRATCH_NAME = `^${PREFIX}[0-9a-f]{24}$`;

interface ScratchOptions {
  /** The address of the server. */
  server: string;
  /** The name of the setting that contains the address. */
  setting: string;
  /** The scratch database sorts text like this database, because partition bounds and keys depend on the order. */
  original: Queryable;
}

/**
 * Runs `work` on an empty database and drops it afterwards, even after a failure. It also drops the databases that killed
 * processes left behind.
 * @throws OperatorError if the server cannot be used
 */
export async function withScratchDatabase<T>(
  { server, setting, original }: ScratchOptions,
  work: (connectionString: string) => Promise<T>,
): Promise<T> {
  const name = `${PREFIX}${randomBytes(12).toString('hex')}`;
  // The name of the application marks the database as used. Advisory locks would be local to one database.
  const client = createClient({
    connectionString: server,
    schema: 'public',
    serviceSchema: 'public',
    applicationName: name,
  });
  try {
    await client.connect().catch((error: unknown) => {
      throw isStartupRefused(error) ? createPooledError(setting) : createUnreachableError(error, setting);
    });
    await createScratchDatabase(client, { name, setting, original });
    try {
      return await work(otherDatabase(server, name));
    } finally {
      // If this fails, the next call drops the database.
      await drop(client, name).catch(() => undefined);
    }
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function createScratchDatabase(
  client: pg.Client,
  { name, setting, original }: Pick<ScratchOptions, 'setting' | 'original'> & { name: string },
): Promise<void> {
  const { major, ...locale } = await readDatabaseTraits(original);
  const found = await readDatabaseTraits(client);
  if (found.major !== major)
    throw new OperatorError(
      `The server of ${setting} runs PostgreSQL ${found.major}, but the database of the service runs PostgreSQL ${major}. Use a server of the same major version.`,
    );
  if (!found.can_create)
    throw new OperatorError(`The role of ${setting} cannot create databases. Run ALTER ROLE … CREATEDB for it.`);
  try {
    await client.query(unlimited('session'));
    await dropLeftovers(client);
    await client.query(`CREATE DATABASE ${name} TEMPLATE template0 ${localeOptions(locale)}`);
  } catch (cause) {
    const { message } = cause as Error;
    throw new OperatorError(`The server of ${setting} cannot create a scratch database: ${message}.`, { cause });
  }
}

/** Drops the scratch databases of this role that no running process uses. */
async function dropLeftovers(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT d.datname::text AS name FROM pg_catalog.pg_database d
      WHERE d.datname::text ~ $1::text AND pg_catalog.pg_get_userbyid(d.datdba) = current_user
        AND NOT EXISTS (SELECT FROM pg_catalog.pg_stat_activity a WHERE a.application_name = d.datname::text)`,
    [SCRATCH_NAME],
  );
  for (const { name } of rows) await drop(client, name);
}

/** FORCE ends sessions that a lost connection left behind. PostgreSQL waits only five seconds until they have ended. */
async function drop(client: pg.Client, name: string, tries = 3): Promise<void> {
  try {
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  } catch (error) {
    if (tries === 1 || sqlState(error) !== SQLSTATE.object_in_use) throw error;
    await drop(client, name, tries - 1);
  }
}

interface DatabaseTraits extends DatabaseLocale {
  /** The major version of PostgreSQL. */
  major: number;
  /** True if the role can create databases. */
  can_create: boolean;
}

interface DatabaseLocale {
  encoding: string;
  collate: string;
  ctype: string;
  /**
   * The provider of the locale. c: C library, i: ICU, b: PostgreSQL. Null before PostgreSQL 15, which supports only the
   * C library.
   */
  provider: string | null;
  locale: string | null;
}

/** Reads the locale as JSON members, because older releases lack these columns or name them differently. */
export async function readDatabaseTraits(db: Queryable): Promise<DatabaseTraits> {
  const { rows } = await db.query<DatabaseTraits>(`
  SELECT pg_catalog.current_setting('server_version_num')::int / 10000 AS major,
         r.rolcreatedb OR r.rolsuper AS can_create, pg_catalog.pg_encoding_to_char(d.encoding) AS encoding,
         d.datcollate::text AS collate, d.datctype::text AS ctype, pg_catalog.to_jsonb(d) ->> 'datlocprovider'::text AS provider,
         coalesce(pg_catalog.to_jsonb(d) ->> 'datlocale'::text, pg_catalog.to_jsonb(d) ->> 'daticulocale'::text) AS locale
    FROM pg_catalog.pg_database d, pg_catalog.pg_roles r
   WHERE d.datname = current_database() AND r.rolname = current_user`);
  return rows[0] as DatabaseTraits;
}

/** Returns the options of CREATE DATABASE. */
function localeOptions({ encoding, collate, ctype, provider, locale }: DatabaseLocale): string {
  const text = (value: string): string => pg.escapeLiteral(value);
  const options = `ENCODING ${text(encoding)} LC_COLLATE ${text(collate)} LC_CTYPE ${text(ctype)}`;
  if (provider === 'i' && locale !== null) return `${options} LOCALE_PROVIDER icu ICU_LOCALE ${text(locale)}`;
  if (provider === 'b' && locale !== null) return `${options} LOCALE_PROVIDER builtin BUILTIN_LOCALE ${text(locale)}`;
  return provider === null ? options : `${options} LOCALE_PROVIDER libc`;
}

/** Returns the address with another database. The address may contain several hosts, which URL cannot parse. */
const otherDatabase = (connectionString: string, name: string): string =>
  connectionString.replace(/^([a-z]+:\/\/[^/?]*)(?:\/[^?]*)?/, `$1/${name}`);
