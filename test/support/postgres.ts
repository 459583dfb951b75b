/**
 * The PostgreSQL of a test run: one embedded server, started when the first test asks for it, or the server of
 * TEST_DATABASE_URL. Every spec takes a database of its own.
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbedded } from '../../src/postgres/embedded/index.js';

export interface TestDatabase {
  /** As the database's owner, who is no superuser: what the service works as. */
  connectionString: string;
  /** Drops it, open connections or not. */
  drop(): Promise<void>;
}

export interface TestServer {
  /** As a superuser, to the maintenance database. */
  connectionString: string;
  /** 15, 18 … */
  majorVersion: number;
  /** A fresh, empty database: UTF8, collation C. */
  createDatabase(): Promise<TestDatabase>;
}

interface Running extends TestServer {
  stop(): Promise<void>;
}

let running: Promise<Running> | null = null;

/** The server of this run. */
export function testServer(): Promise<TestServer> {
  running ??= start();
  return running;
}

/** A fresh database on the server of this run. */
export async function createDatabase(): Promise<TestDatabase> {
  return (await testServer()).createDatabase();
}

/** The address of the same database for a superuser. */
export async function superuserUrl(connectionString: string): Promise<string> {
  const url = new URL((await testServer()).connectionString);
  url.pathname = new URL(connectionString).pathname;
  return url.href;
}

/** Runs SQL on the database of `connectionString` as a superuser: for what its owner may not do. */
export async function asSuperuser(connectionString: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client(await superuserUrl(connectionString));
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** For the root hook: after the last test. */
export async function stopTestServer(): Promise<void> {
  const server = await running;
  running = null;
  await server?.stop();
}

/** A fresh directory that a server may be started in: where root runs the tests, the server's user must get through. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'dps-test-'));
  await chmod(directory, process.getuid?.() === 0 ? 0o711 : 0o700);
  return directory;
}

async function start(): Promise<Running> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given !== undefined && given !== '') return onServer(given, () => Promise.resolve());
  const dataDir = await temporaryDirectory();
  const embedded = await startEmbedded({ dataDir, connections: 200, throwaway: true });
  return onServer(embedded.superuserConnectionString, async () => {
    await embedded.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
}

async function onServer(connectionString: string, stop: () => Promise<void>): Promise<Running> {
  const maintenance = new pg.Pool({ connectionString, max: 2 });
  // `end` doesn't wait for the sockets: the server, stopped right after, may still tell one that it is over.
  maintenance.on('error', () => undefined);
  const { rows } = await maintenance.query<{ version: number }>(
    "select current_setting('server_version_num')::int / 10000 as version",
  );
  const owner = { name: `dps_test_${randomBytes(6).toString('hex')}`, password: randomBytes(12).toString('hex') };
  await maintenance.query(`create role ${owner.name} login password '${owner.password}'`);
  return {
    connectionString,
    majorVersion: rows[0]?.version ?? 0,
    async createDatabase() {
      const name = `dps_test_${randomBytes(6).toString('hex')}`;
      await maintenance.query(
        `create database ${name} owner ${owner.name} template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C'`,
      );
      const url = new URL(connectionString);
      url.pathname = `/${name}`;
      const asOwner = new URL(url);
      [asOwner.username, asOwner.password] = [owner.name, owner.password];
      return {
        connectionString: asOwner.toString(),
        async drop() {
          await disconnected(maintenance, name);
          await maintenance.query(`drop database if exists ${name} with (force)`);
        },
      };
    },
    async stop() {
      await maintenance.query(`drop role if exists ${owner.name}`).catch(() => undefined);
      await maintenance.end();
      await stop();
    },
  };
}

/**
 * A client that has just said goodbye may still have its backend for a moment; a forced drop would end that with an
 * error without a handler. A session that is still there after a second is terminated.
 */
async function disconnected(maintenance: pg.Pool, database: string): Promise<void> {
  const connections = 'select count(*)::int as count from pg_stat_activity where datname = $1';
  for (let tries = 0; tries < 50; tries++) {
    const { rows } = await maintenance.query<{ count: number }>(connections, [database]);
    if (rows[0]?.count === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
