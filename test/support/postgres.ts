/**
 * Test databases on the server of the run (`npm test` starts one for all processes), otherwise on one started on
 * first use. Every spec uses its own database.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { atEnd } from './at-end.js';
import { type Content, type ServerAddress, creation, disconnected, ownerUrl, startTestServer } from './server.js';

export { temporaryDirectory } from './server.js';

export interface TestDatabase {
  /** For the database's owner, who is not a superuser, like the service. */
  connectionString: string;
  /** Drops the database despite open connections. */
  drop(): Promise<void>;
}

export interface TestServer {
  /** The address of the maintenance database for a superuser. */
  connectionString: string;
  /** 15, 18 … */
  majorVersion: number;
  /** A new database: empty, or with the service's own tables as its start creates them. UTF8, collation C. */
  createDatabase(content?: Content): Promise<TestDatabase>;
}

interface Running extends TestServer {
  stop(): Promise<void>;
}

let running: Promise<Running> | null = null;

/** The server of this run. */
export function testServer(): Promise<TestServer> {
  if (running === null) {
    running = start();
    atEnd(stopTestServer);
  }
  return running;
}

/** A new database on the server of this run. */
export async function createDatabase(content: Content = 'empty'): Promise<TestDatabase> {
  return (await testServer()).createDatabase(content);
}

/** The address of the same database for a superuser. */
export async function superuserUrl(connectionString: string): Promise<string> {
  const url = new URL((await testServer()).connectionString);
  url.pathname = new URL(connectionString).pathname;
  return url.href;
}

/** Runs SQL as a superuser on the database of `connectionString`. */
export async function asSuperuser(connectionString: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client(await superuserUrl(connectionString));
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Runs one query on its own connection. */
export async function query(connectionString: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Runs each text in its own session. */
export async function sql(connectionString: string, ...texts: string[]): Promise<void> {
  for (const text of texts) await query(connectionString, text);
}

/** For scripts; tests stop it through a hook. */
export async function stopTestServer(): Promise<void> {
  const server = await running;
  running = null;
  await server?.stop();
}

async function start(): Promise<Running> {
  const joined = process.env['TEST_SERVER'];
  if (joined !== undefined) return onServer(JSON.parse(joined) as ServerAddress, () => Promise.resolve());
  const { address, stop } = await startTestServer();
  return onServer(address, stop);
}

async function onServer(address: ServerAddress, stop: () => Promise<void>): Promise<Running> {
  const maintenance = new pg.Pool({ connectionString: address.connectionString, max: 2 });
  // `end` does not wait for the sockets. The server stops right after, and may still report its end on one of them.
  maintenance.on('error', () => undefined);
  const { rows } = await maintenance.query<{ version: number }>(
    "select current_setting('server_version_num')::int / 10000 as version",
  );
  const creations = new Map<Content, Promise<(name: string) => string>>();
  return {
    connectionString: address.connectionString,
    majorVersion: rows[0]?.version ?? 0,
    async createDatabase(content = 'empty') {
      const name = `${address.owner.name}_${randomBytes(6).toString('hex')}`;
      const statement = creations.get(content) ?? creation(address, content);
      creations.set(content, statement);
      await maintenance.query((await statement)(name));
      return {
        connectionString: ownerUrl(address, name),
        async drop() {
          await disconnected(maintenance, name);
          await maintenance.query(`drop database if exists ${name} with (force)`);
        },
      };
    },
    async stop() {
      await maintenance.end();
      await stop();
    },
  };
}
