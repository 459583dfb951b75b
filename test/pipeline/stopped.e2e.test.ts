import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { advisoryKey } from '../../src/postgres/locked-session.js';
import { until } from '../support/until.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { type ServiceProcess, spawnService } from '../support/process.js';
import { type TestService, startService } from '../support/service.js';

const TOKEN = 'test-admin-token-0123456789-0123456789';

describe("a suspended process that holds the log's lock", () => {
  let database: TestDatabase;
  let stopped: ServiceProcess;
  let service: TestService;
  let other: pg.Client;
  let url: string;

  before(async () => {
    database = await createDatabase('migrated');
    const settings = { DATABASE_URL: database.connectionString, ADMIN_TOKEN: TOKEN, LOCK_TIMEOUT: '20s' };
    stopped = spawnService(settings);
    ({ url } = await stopped.ready());
    service = await startService(settings);
    other = new pg.Client(database.connectionString);
    await other.connect();
  });

  after(async () => {
    stopped.child.kill('SIGCONT');
    await stopped.end('SIGKILL');
    await service.stop();
    await other.end();
    await database.drop();
  });

  const create = (at: string, collection: string): Promise<Response> =>
    fetch(`${at}/collections`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ collection, schema: {} }),
    });

  const holder = async (): Promise<number | undefined> => {
    const { rows: names } = await other.query<{ name: string }>('SELECT current_database() AS name');
    const key = advisoryKey({ database: names[0]?.name ?? '', schema: 'public' }, 'log');
    const { rows } = await other.query<{ pid: number }>(
      `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
          AND (classid::bigint << 32 | objid::bigint) = $1::bigint`,
      [key],
    );
    return rows[0]?.pid;
  };

  it('blocks other writers for less than ten seconds, and continues when resumed', async () => {
    // Its change waits for the metadata rows while it holds the log's lock.
    await other.query('BEGIN; LOCK TABLE service.service_fields IN SHARE MODE');
    const interrupted = create(url, 'interrupted').then(
      ({ status }) => status,
      () => 0,
    );
    await until('it holds the lock', async () => (await holder()) !== undefined);
    stopped.child.kill('SIGSTOP');
    await other.query('ROLLBACK');
    // The other process is still stopped.
    const answer = await create(service.url, 'second');
    expect(answer.status).to.equal(200);
    await sleep(500);
    stopped.child.kill('SIGCONT');
    expect([200, 503]).to.include(await interrupted);
    expect((await create(url, 'third')).status).to.equal(200);
    const verified = await fetch(`${service.url}/history/verify`, { headers: { Authorization: `Bearer ${TOKEN}` } });
    expect(((await verified.json()) as { data: { ok: boolean } }).data.ok).to.equal(true);
  });

  it('blocks them for no longer when it is suspended in the middle of a message', async () => {
    // The state that such a process leaves: a transaction with the lock, and half of the next message.
    const half = new pg.Client({
      connectionString: database.connectionString,
      application_name: 'data-platform-service',
    });
    half.on('error', () => undefined);
    await half.connect();
    const { rows: names } = await other.query<{ name: string }>('SELECT current_database() AS name');
    const key = advisoryKey({ database: names[0]?.name ?? '', schema: 'public' }, 'log');
    const { stream } = (half as unknown as pg.PoolClient).connection;
    await half.query(`BEGIN; SELECT set_config('idle_in_transaction_session_timeout', '5000', true)`);
    await half.query('SELECT pg_advisory_xact_lock($1)', [key]);
    // A Parse without its Sync, so the server is reading instead of idle.
    const text = Buffer.from('\0SELECT 1\0\0\0');
    const length = Buffer.alloc(4);
    length.writeInt32BE(4 + text.length);
    stream.write(Buffer.concat([Buffer.from('P'), length, text, Buffer.from('P'), length.subarray(0, 2)]));
    await sleep(100);
    const answer = await create(service.url, 'after_half');
    expect(answer.status).to.equal(200);
    await half.end().catch(() => undefined);
  });
});
