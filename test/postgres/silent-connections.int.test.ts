import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { createPool, withClient } from '../../src/postgres/pool.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { startProxy } from '../support/proxy.js';
import { until } from '../support/until.js';

/** Milliseconds: longer than a connection may be silent, plus the time to detect it. */
const STALL = 7_000;

describe('a slow COPY', () => {
  let database: TestDatabase;
  let pool: ReturnType<typeof createPool>;
  const warnings: string[] = [];

  before(async () => {
    database = await createDatabase();
    const logger = { debug() {}, info() {}, warn: (message: string) => void warnings.push(message), error() {} };
    pool = createPool({
      connectionString: database.connectionString,
      schema: 'public',
      serviceSchema: 'service',
      max: 2,
      logger,
    });
    await pool.query(`CREATE TABLE big AS SELECT n, repeat('x', 1000) AS text FROM generate_series(1, 30000) n`);
    await pool.query('CREATE TABLE copied (n integer)');
  });

  after(async () => {
    await pool.end();
    await database.drop();
  });

  it('continues if its rows are not read for a while', async () => {
    let [lines, stalled] = [0, false];
    const slow = new Writable({
      async write(chunk: Buffer, _encoding, done) {
        if (!stalled) await sleep(STALL);
        stalled = true;
        lines += chunk.toString().split('\n').length - 1;
        done();
      },
    });
    await withClient(pool, (client) => pipeline(client.query(copyTo('COPY big TO STDOUT')), slow));
    expect(lines).to.equal(30_000);
    expect(warnings).to.deep.equal([]);
  });

  it('continues if it gets no rows for a while', async () => {
    async function* rows(): AsyncGenerator<string> {
      yield '1\n';
      await sleep(STALL);
      yield '2\n';
    }
    await withClient(pool, (client) =>
      pipeline(Readable.from(rows(), { objectMode: false }), client.query(copyFrom('COPY copied FROM STDIN'))),
    );
    expect((await pool.query('SELECT n FROM copied ORDER BY n')).rows).to.deep.equal([{ n: 1 }, { n: 2 }]);
    expect(warnings).to.deep.equal([]);
  });
});

describe('a query without a response', () => {
  it('fails within seconds, and the pool uses another connection', async () => {
    const database = await createDatabase();
    const proxy = await startProxy(database.connectionString);
    const warnings: string[] = [];
    const pool = createPool({
      connectionString: proxy.connectionString,
      schema: 'public',
      serviceSchema: 'service',
      max: 1,
      logger: { debug() {}, info() {}, warn: (message: string) => void warnings.push(message), error() {} },
    });
    try {
      expect((await pool.query('SELECT 1 AS one')).rows).to.deep.equal([{ one: 1 }]);
      proxy.intercept((sent) => (sent.includes('SELECT 2') ? 'fall silent' : 'pass'));
      const error = await pool.query('SELECT 2 AS two').catch((thrown: unknown) => thrown);
      expect(error).to.be.an('error').with.property('message', 'the connection has gone silent');
      expect(warnings).to.deep.equal(['closing a database connection that has gone silent']);
      proxy.intercept(() => 'pass');
      expect((await pool.query('SELECT 3 AS three')).rows).to.deep.equal([{ three: 3 }]);
    } finally {
      proxy.cut();
      await pool.end();
      await proxy.close();
      await database.drop();
    }
  });
});

describe('an idle connection while another one is silent', () => {
  let database: TestDatabase;
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  let pool: ReturnType<typeof createPool>;
  let warnings: string[];

  beforeEach(async () => {
    database = await createDatabase();
    proxy = await startProxy(database.connectionString);
    warnings = [];
    const logger = { debug() {}, info() {}, warn: (message: string) => void warnings.push(message), error() {} };
    const { connectionString } = proxy;
    pool = createPool({ connectionString, schema: 'public', serviceSchema: 'service', max: 2, logger });
  });
  afterEach(async () => {
    proxy.cut();
    await pool.end();
    await proxy.close();
    await database.drop();
  });

  const pid = async (text = 'SELECT pg_backend_pid() AS pid'): Promise<unknown> =>
    (await pool.query<{ pid: number }>(text)).rows[0]?.pid;

  /** Two idle connections, and a query without a response on another one. */
  async function queryWithSilent(isSilent: (sent: Buffer, of: boolean) => boolean): Promise<unknown[]> {
    const slow = 'SELECT pg_backend_pid() AS pid FROM pg_sleep(0.2)';
    const pids = await Promise.all([pid(slow), pid(slow)]);
    expect(new Set(pids).size).to.equal(2);
    let silent: number | undefined;
    proxy.intercept((sent, connection) => {
      if (sent.includes('SELECT 2')) silent = connection;
      return isSilent(sent, connection === silent) ? 'fall silent' : 'pass';
    });
    const error = await pool.query('SELECT 2').catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'the connection has gone silent');
    return pids;
  }

  it('is probed, and remains open if it responds', async () => {
    const pids = await queryWithSilent((_, isIt) => isIt);
    // Longer than a probe waits for a response.
    await sleep(2_500);
    expect(warnings).to.have.length(1);
    expect(pids).to.include(await pid());
  });

  it('is closed with it if it does not respond', async () => {
    const pids = await queryWithSilent(() => true);
    await until('both connections are closed', () => warnings.length >= 3);
    expect(warnings.toSorted()).to.deep.equal([
      'an idle database connection was lost',
      'closing a database connection that has gone silent',
      'closing a database connection that has gone silent',
    ]);
    proxy.intercept(() => 'pass');
    expect(pids).to.not.include(await pid());
  });
});
