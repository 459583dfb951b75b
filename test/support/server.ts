/** The PostgreSQL server of a test run: one owner of all databases, one migrated template. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createLogger } from '../../src/logger.js';
import { readDatabase } from '../../src/postgres/server.js';
import { startEmbedded } from '../../src/postgres/embedded/index.js';
import { migrate } from '../../src/postgres/migrate.js';
import { createPool } from '../../src/postgres/pool.js';

export interface ServerAddress {
  /** For a superuser, on the maintenance database. */
  connectionString: string;
  /** The owner of the databases, who is not a superuser. All database names begin with its name. */
  owner: { name: string; password: string };
}

export interface StartedServer {
  address: ServerAddress;
  /** Drops leftovers of tests, and stops the server if it was started here. */
  stop(): Promise<void>;
}

/** The content of a new database: nothing, or the service's own tables. */
export type Content = 'empty' | 'migrated';

/** The server of TEST_DATABASE_URL, or an embedded one in its own directory. */
export async function startTestServer(): Promise<StartedServer> {
  const input = process.env['TEST_DATABASE_URL'];
  if (input !== undefined && input !== '') return prepared(input, () => Promise.resolve());
  const dataDir = await temporaryDirectory();
  const embedded = await startEmbedded({ dataDir, connections: 300, throwaway: true });
  return prepared(embedded.superuserConnectionString, async () => {
    await embedded.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
}

async function prepared(connectionString: string, stop: () => Promise<void>): Promise<StartedServer> {
  const name = `dps_test_${randomBytes(4).toString('hex')}`;
  const address = { connectionString, owner: { name, password: randomBytes(12).toString('hex') } };
  await onMaintenance(address, async (client) => {
    // Guessing the password is impossible, and a single iteration saves 4,096 hashes per connection on both sides.
    await client.query("select set_config(name, '1', false) from pg_settings where name = 'scram_iterations'");
    await client.query(
      `create role ${name} login password '${address.owner.password}'; grant pg_read_all_stats to ${name}`,
    );
  });
  return {
    address,
    async stop() {
      await onMaintenance(address, (client) => dropAll(client, name)).catch(() => undefined);
      await stop();
    },
  };
}

async function dropAll(client: pg.Client, owner: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'select datname as name from pg_database where starts_with(datname, $1)',
    [owner],
  );
  for (const { name } of rows) await client.query(`drop database ${name} with (force)`);
  await client.query(`drop role ${owner}`);
}

async function onMaintenance<T>(address: ServerAddress, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(address.connectionString);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The address of a database for its owner. */
export function ownerUrl({ connectionString, owner }: ServerAddress, database: string): string {
  const url = new URL(connectionString);
  [url.pathname, url.username, url.password] = [`/${database}`, owner.name, owner.password];
  return url.href;
}

/** SQL that creates a database with this content. Copying the files of a template costs half of logging each page. */
export async function creation(address: ServerAddress, content: Content): Promise<(name: string) => string> {
  const template = `${address.owner.name}_${content}`;
  const version = await onMaintenance(address, (client) => prepareTemplate({ client, address, template, content }));
  // Before 15 there was no other way.
  const strategy = version >= 15 ? ' strategy file_copy' : '';
  return (name) => `create database ${name} owner ${address.owner.name} template ${template}${strategy}`;
}

interface Template {
  client: pg.Client;
  address: ServerAddress;
  template: string;
  content: Content;
}

/**
 * All processes of the run share the templates; the first creates them with the current migrations. Returns the
 * server's release.
 */
async function prepareTemplate({ client, address, template, content }: Template): Promise<number> {
  await client.query("select pg_advisory_lock(hashtext('dps test template'))");
  const { rows } = await client.query<{ version: number; found: boolean }>(
    `select current_setting('server_version_num')::int / 10000 as version,
            exists (select from pg_database where datname = $1) as found`,
    [template],
  );
  const { version = 0, found = false } = rows[0] ?? {};
  if (found) return version;
  const making = `${template}_making`;
  await client.query(`drop database if exists ${making} with (force)`);
  // UTF8 and collation C, regardless of the server's defaults.
  await client.query(
    `create database ${making} owner ${address.owner.name} template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C'`,
  );
  if (content === 'migrated') await migrated(ownerUrl(address, making));
  const url = new URL(address.connectionString);
  url.pathname = `/${making}`;
  await onMaintenance({ ...address, connectionString: url.href }, (inside) => inside.query('vacuum (freeze, analyze)'));
  // The first connection writes the catalog cache file for later ones. Each copy inherits it; otherwise every
  // connection to a new database would create its own.
  await onMaintenance({ ...address, connectionString: url.href }, (inside) => inside.query('select'));
  await disconnected(client, making);
  await client.query(`alter database ${making} rename to ${template}`);
  return version;
}

/**
 * The backend of a client that has just disconnected may still exist. A forced drop would terminate it with an
 * unhandled error. Sessions that remain after ten seconds are terminated.
 */
export async function disconnected(maintenance: pg.Client | pg.Pool, database: string): Promise<void> {
  const connections = 'select count(*)::int as count from pg_stat_activity where datname = $1';
  // A pooler keeps its connections, so waiting a hundredth of the time is enough.
  const most = process.env['TEST_POOLER'] === 'transaction' ? 10 : 1_000;
  for (let tries = 0; tries < most; tries++) {
    const { rows } = await maintenance.query<{ count: number }>(connections, [database]);
    if (rows[0]?.count === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function migrated(connectionString: string): Promise<void> {
  const logger = createLogger({ level: 'error', format: 'json' });
  const pool = createPool({ connectionString, schema: 'public', serviceSchema: 'service', max: 1, logger });
  try {
    await migrate({ pool, schema: 'public', serviceSchema: 'service', database: await readDatabase(pool), logger });
  } finally {
    await pool.end();
  }
}

/** Bytes that the servers of a test run may need. */
const ROOM = 2 ** 31;
const MEMORY = '/dev/shm';

/** A new directory for a server: the server's user must be able to enter it if root runs the tests. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(await temporaryPlace(), 'dps-test-'));
  await chmod(directory, process.getuid?.() === 0 ? 0o711 : 0o700);
  return directory;
}

/**
 * In memory if there is space: each database consists of three hundred small files, which are much slower on a
 * journaling disk. TMPDIR overrides it.
 */
async function temporaryPlace(): Promise<string> {
  if (process.env['TMPDIR'] !== undefined) return tmpdir();
  const memory = await statfs(MEMORY).catch(() => null);
  return memory !== null && memory.bavail * memory.bsize >= ROOM && freemem() >= 2 * ROOM ? MEMORY : tmpdir();
}
