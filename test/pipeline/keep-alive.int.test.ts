import { expect } from 'chai';
import pg from 'pg';
import { keepAlive } from '../../src/pipeline/keep-alive.js';
import { createPool } from '../../src/postgres/pool.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { type Proxy, startProxy } from '../support/proxy.js';
import { until } from '../support/until.js';

/** Milliseconds: longer than a connection may be silent, plus the time to detect it. */
const STALL = 7_000;

describe('a transaction on a silent connection', () => {
  let database: TestDatabase;
  let proxy: Proxy;
  let pool: pg.Pool;
  let worker: pg.Client;
  let ended = (): void => undefined;
  const warnings: object[] = [];

  before(async () => {
    database = await createDatabase();
    proxy = await startProxy(database.connectionString);
    const warn = (_: string, more: object = {}): void => void warnings.push(more);
    const { connectionString } = proxy;
    const logger = { debug() {}, info() {}, warn, error() {} };
    pool = createPool({ connectionString, schema: 'public', serviceSchema: 'service', max: 1, logger });
    worker = new pg.Client(database.connectionString);
    await worker.connect();
  });
  after(async () => {
    ended();
    await worker.end().catch(() => undefined);
    proxy.cut();
    await pool.end();
    await proxy.close();
    await database.drop();
  });

  it('lives as long as its process works, even behind a pooler with another backend', async () => {
    const pid = (await worker.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid ?? 0;
    worker.on('error', () => undefined);
    const client = await pool.connect();
    client.on('error', () => undefined);
    const attendance = keepAlive(client, performance.now() + 60_000);
    attendance.began({ pid, since: null });
    ended = () => {
      attendance.end();
      client.release(true);
    };
    const working = worker.query(`SELECT pg_sleep(${STALL / 1_000})`);
    proxy.intercept((sent) => (sent.includes('SELECT 2') ? 'fall silent' : 'pass'));
    const pending = client.query('SELECT 2').catch((error: unknown) => error);
    const first = await Promise.race([pending.then(() => 'given up'), working.then(() => 'worked')]);
    expect(first).to.equal('worked');
    expect(warnings).to.deep.equal([]);
    expect(await pending).to.have.property('message', 'the connection has gone silent');
    expect(warnings).to.deep.include({ backend: pid });
    // An abandoned session is ended, so that it keeps no locks.
    await until('the session has ended', async () => !(await isThere(pid)));
  });

  async function isThere(pid: number): Promise<boolean> {
    const asker = new pg.Client(database.connectionString);
    await asker.connect();
    try {
      return (await asker.query('SELECT FROM pg_stat_activity WHERE pid = $1', [pid])).rowCount === 1;
    } finally {
      await asker.end();
    }
  }
});
