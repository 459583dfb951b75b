/** Opens the configured database or an embedded server. */
import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorError } from '../kernel/operator-error.js';
import { startEmbedded } from './embedded/index.js';
import { isConnectionLoss, sqlState } from './errors.js';
import { type Hosts, hostsOf } from './hosts/choose-host.js';
import type { Logger } from './logger.js';
import type { Addresses } from './pool.js';
import { type Seen, isStartupRefused, lostOptions, poolerOf, seeWay } from './pooler.js';

export interface SourceOptions {
  /** Null starts an embedded server in `dataDir`. */
  databaseUrl: string | null;
  /** A direct address, if `databaseUrl` leads through a pooler. */
  directDatabaseUrl?: string | null;
  /** The pooling mode. Null or absent detects it. */
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

/** How long to wait for a server that reports that it is starting or recovering. */
const START_UP_LIMIT_MS = 60_000;
const RETRY_MS = 250;
const CONNECT_TIMEOUT_MS = 10_000;

/** @throws OperatorError with one sentence that says what is wrong and what to do */
export async function openDatabase(options: SourceOptions): Promise<DatabaseSource> {
  const { databaseUrl, logger } = options;
  if (databaseUrl !== null) {
    const addresses = await reachable(databaseUrl, options);
    return { ...addresses, ended: new Promise(() => undefined), stop: () => Promise.resolve() };
  }
  const embedded = await startEmbedded(options);
  if (embedded.orphanStopped) logger.warn('stopped a PostgreSQL server that an earlier run had left behind');
  logger.info('embedded PostgreSQL started', { files: embedded.home });
  return embedded;
}

/** Connects once to each address, so that a wrong one is explained early. */
async function reachable(databaseUrl: string, options: SourceOptions): Promise<Addresses> {
  const { directDatabaseUrl = null, databasePooler: expected = null, logger } = options;
  const seen = await reach(databaseUrl, 'DATABASE_URL');
  const direct = directDatabaseUrl === null ? null : await reach(directDatabaseUrl, 'DIRECT_DATABASE_URL');
  const found = poolerOf({ seen, expected, direct });
  if (found !== undefined) {
    if (/[?&]options=/.test(databaseUrl)) throw lostOptions();
    logger.info('DATABASE_URL leads through a pooler', { mode: found });
  }
  return { connectionString: databaseUrl, pooler: found, direct: directDatabaseUrl ?? undefined };
}

/** @param setting the name of the setting with the address */
async function reach(address: string, setting: string): Promise<Seen> {
  const hosts = hostsOf(address);
  const limit = Date.now() + START_UP_LIMIT_MS;
  for (;;) {
    const connectionString = hosts === null ? address : await chosen(hosts, setting);
    const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await seeWay(client);
    } catch (error) {
      const isComing = sqlState(error) === CANNOT_CONNECT_NOW || (hosts !== null && isConnectionLoss(error));
      if (!isComing || Date.now() > limit) throw unreachable(error, setting);
      hosts?.doubt();
      await sleep(RETRY_MS);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

/** A process that starts during a failover waits for the new primary like others. */
async function chosen(hosts: Hosts, setting: string): Promise<string> {
  try {
    return hosts.of(await hosts.choose(START_UP_LIMIT_MS));
  } catch (error) {
    if (sqlState(error) !== undefined) throw unreachable(error, setting);
    throw new OperatorError(`The database of ${setting} can't be used: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

const CANNOT_CONNECT_NOW = '57P03';

/** SQLSTATE or system error code, and its explanation. */
const EXPLANATIONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its address',
  ENOTFOUND: 'its host name is unknown',
  EAI_AGAIN: 'its host name could not be resolved',
  ETIMEDOUT: 'its host does not answer',
  EHOSTUNREACH: 'its host can not be reached',
  ENETUNREACH: 'its network can not be reached',
  ENOENT: 'its socket does not exist',
  ECONNRESET: 'it closed the connection',
  '28P01': 'it refused the user or the password',
  '28000': 'it refused the user',
  '3D000': 'it has no such database',
  '53300': 'it has no connection left',
  '57P03': 'it is still starting up',
};

function unreachable(cause: unknown, setting: string): OperatorError {
  // Only parameters of the address itself were sent.
  if (isStartupRefused(cause)) return lostOptions();
  const code = sqlState(cause) ?? (cause as NodeJS.ErrnoException).code ?? '';
  const why = Object.hasOwn(EXPLANATIONS, code) ? EXPLANATIONS[code] : (cause as Error).message.replace(/\.$/, '');
  return new OperatorError(`The database of ${setting} can't be used: ${why}.`, { cause });
}
