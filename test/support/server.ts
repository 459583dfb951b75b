/** The PostgreSQL that a test run works on: one server, one owner of all its databases, one migrated template. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createLogger } from '../../src/logger.js';
import { readDatabase } from '../../src/postgres/database.js';
import { startEmbedded } from '../../src/postgres/embedded/index.js';
import { migrate } from '../../src/postgres/migrate.js';
import { createPool } from '../../src/postgres/pool.js';

/** All that a process needs to join the server of the run; passed on as JSON in TEST_SERVER. */
export interface ServerAddress {
  /** As a superuser, to the maintenance database. */
  connectionString: string;
  /** Who owns the databases: no superuser. All their names begin with the owner's. */
  owner: { name: string; password: string };
}

export interface StartedServer {
  address: ServerAddress;
  /** Drops what tests left behind, and stops the server if it was started here. */
  stop(): Promise<void>;
}

/** UTF8 and collation C, whatever the server's own are. */
const EMPTY = "template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C'";

/** The server of TEST_DATABASE_URL, or an embedded one in a directory of its own. */
export async function startTestServer(): Promise<StartedServer> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given !== undefined && given !== '') return prepared(given, () => Promise.resolve());
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
  await onMaintenance(address, (client) =>
    client.query(`create role ${name} login password '${address.owner.password}'`),
  );
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

/** SQL that makes a database: empty, or a copy of one of ours. */
export function createStatement(address: ServerAddress, name: string, template?: string): string {
  return `create database ${name} owner ${address.owner.name} ${template === undefined ? EMPTY : `template ${template}`}`;
}

/** The address of a database for its owner. */
export function ownerUrl({ connectionString, owner }: ServerAddress, database: string): string {
  const url = new URL(connectionString);
  [url.pathname, url.username, url.password] = [`/${database}`, owner.name, owner.password];
  return url.href;
}

/**
 * The database that those with the service's tables are copied from. All processes of the run share it; who comes
 * first makes it, with the migrations as they are now.
 */
export async function migratedTemplate(address: ServerAddress): Promise<string> {
  const name = `${address.owner.name}_migrated`;
  await onMaintenance(address, async (client) => {
    await client.query("select pg_advisory_lock(hashtext('dps test template'))");
    const found = await client.query('select from pg_database where datname = $1', [name]);
    if (found.rowCount === 1) return;
    const making = `${name}_making`;
    await client.query(`drop database if exists ${making} with (force)`);
    await client.query(createStatement(address, making));
    await migrated(ownerUrl(address, making));
    await client.query(`alter database ${making} rename to ${name}`);
  });
  return name;
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

/** A fresh directory that a server may be started in: where root runs the tests, the server's user must get through. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'dps-test-'));
  await chmod(directory, process.getuid?.() === 0 ? 0o711 : 0o700);
  return directory;
}
