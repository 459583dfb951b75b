import { expect } from 'chai';
import pg from 'pg';
import { ExchangeError } from '../../src/postgres/errors.js';
import { sendBatch, sendReads, sendScript } from '../../src/postgres/exchange.js';
import { createPool, withClient } from '../../src/postgres/pool.js';
import { silent } from '../support/instance.js';
import { INSTALL_PGBOUNCER, type Pgbouncer, pgbouncerProgram, startPgbouncer } from '../support/pgbouncer.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';

const LOOK = `SELECT current_setting('search_path') AS path, current_setting('TimeZone') AS zone,
                     current_setting('DateStyle') AS dates, current_setting('statement_timeout') AS statement,
                     current_setting('lock_timeout') AS lock, current_setting('transaction_read_only') AS read_only,
                     current_setting('application_name') AS application`;

const CLEAN = {
  path: '"odd name",public,pg_temp',
  zone: 'UTC',
  dates: 'ISO, MDY',
  statement: '0',
  lock: '0',
  read_only: 'off',
  application: 'data-platform-service',
};

describe('connections through a pooler', function () {
  let database: TestDatabase;
  let pgbouncer: Pgbouncer;
  let pool: pg.Pool;

  before(async function () {
    if (pgbouncerProgram() === null) {
      console.log(`      ${INSTALL_PGBOUNCER}`);
      this.skip();
    }
    database = await createDatabase();
    // One session for all, so that each client sees what others left behind.
    pgbouncer = await startPgbouncer(database.connectionString, { default_pool_size: '1' });
    const connectionString = pgbouncer.through(database.connectionString);
    pool = createPool({
      connectionString,
      pooler: 'transaction',
      direct: database.connectionString,
      schema: 'odd name',
      serviceSchema: 'service',
      max: 3,
      logger: silent,
    });
  });

  after(async () => {
    await pool?.end();
    await pgbouncer?.stop();
    await database?.drop();
  });

  /** Another client of the pooler may leave the session in any state. */
  const dirty = async (...statements: string[]): Promise<void> => {
    const client = new pg.Client(pgbouncer.through(database.connectionString));
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  };

  const LEFT = [
    "SET search_path = 'pg_temp'",
    "SET TimeZone = 'Asia/Kathmandu'",
    "SET DateStyle = 'German'",
    'SET statement_timeout = 60000',
    'SET lock_timeout = 1234',
    'SET default_transaction_read_only = on',
    'SET standard_conforming_strings = off',
    'SET application_name = somebody',
  ];

  const ways: Record<string, (client: pg.PoolClient) => Promise<unknown>> = {
    'a query': async (client) => (await client.query(LOOK)).rows[0],
    'a query with parameters': async (client) => (await client.query<object>(`${LOOK} WHERE $1 = 1`, [1])).rows[0],
    'a named query': async (client) =>
      (await client.query({ name: 'look', text: `${LOOK} WHERE $1`, values: [true] })).rows[0],
    'a script': async (client) => (await sendScript(client, `SELECT 1; ${LOOK}`))[1]?.rows[0],
    'a batch': async (client) => (await sendBatch(client, [{ text: 'SELECT 1' }, { text: LOOK }]))[1]?.rows[0],
    'a batch that begins': async (client) => {
      const results = await sendBatch(client, [{ text: 'BEGIN' }, { text: LOOK }, { text: 'COMMIT' }]);
      expect(results.map(({ command }) => command)).to.deep.equal(['BEGIN', 'SELECT 1', 'COMMIT']);
      return results[1]?.rows[0];
    },
    'a batch that ends and goes on': async (client) => {
      await client.query('BEGIN');
      const results = await sendBatch(client, [{ text: 'ROLLBACK' }, { text: LOOK }]);
      return results[1]?.rows[0];
    },
    'a script that ends and begins': async (client) => {
      await client.query('BEGIN');
      const results = await sendScript(client, `ROLLBACK; BEGIN; ${LOOK}; ROLLBACK`);
      expect(results).to.have.length(4);
      return results[2]?.rows[0];
    },
    'a transaction': async (client) => {
      const begun = await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      expect(begun.command).to.equal('BEGIN');
      const { rows } = await client.query(LOOK);
      await client.query('COMMIT');
      return rows[0];
    },
  };

  for (const [name, look] of Object.entries(ways)) {
    it(`${name} has its settings on a dirty session`, async () => {
      await dirty(...LEFT);
      expect(await withClient(pool, look)).to.deep.equal(CLEAN);
      // Also the second transaction on the same connection.
      await dirty(...LEFT);
      expect(await withClient(pool, look)).to.deep.equal(CLEAN);
    });
  }

  it('leave the session unchanged for others', async () => {
    await dirty("SET TimeZone = 'Asia/Kathmandu'", "SET work_mem = '3MB'");
    await pool.query('SELECT 1');
    const other = new pg.Client(pgbouncer.through(database.connectionString));
    await other.connect();
    const { rows } = await other.query(
      "SELECT current_setting('work_mem') AS memory, current_setting('lock_timeout') AS lock",
    );
    await other.end();
    expect(rows).to.deep.equal([{ memory: '3MB', lock: '1234ms' }]);
  });

  it('return reads as they arrive, each with its rows', async () => {
    await dirty(...LEFT);
    const answers = await withClient(pool, (client) =>
      Promise.all(
        sendReads(client, [{ text: 'SELECT g FROM generate_series(1, 3) g' }, { text: 'SELECT now()::text' }]),
      ),
    );
    expect(answers[0]).to.deep.equal([[1], [2], [3]]);
    expect(answers[1]?.[0]?.[0]).to.match(/\+00$/);
  });

  it('prepare no statements on the session', async () => {
    await withClient(pool, async (client) => {
      await sendBatch(client, [{ text: 'SELECT 1' }, { text: 'SELECT 2' }]);
      await client.query({ name: 'kept', text: 'SELECT $1::int', values: [1] });
      await client.query({ name: 'kept', text: 'SELECT $1::int', values: [1] });
      const { rows } = await client.query("SELECT count(*)::int AS count FROM pg_prepared_statements WHERE name <> ''");
      expect(rows).to.deep.equal([{ count: 0 }]);
    });
  });

  it('assign errors to their statement', async () => {
    await withClient(pool, async (client) => {
      const failing = sendBatch(client, [
        { text: 'BEGIN' },
        { text: 'SELECT 1' },
        { text: 'SELECT 1/0' },
        { text: 'COMMIT' },
      ]);
      const error = await failing.catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(ExchangeError);
      expect((error as ExchangeError).results).to.have.length(2);
      await client.query('ROLLBACK');
      const single = await sendBatch(client, [{ text: 'SELECT 1/0' }]).catch((thrown: unknown) => thrown);
      expect((single as ExchangeError).results).to.have.length(0);
    });
  });

  it('write on a session left read-only, but not on a read-only database', async () => {
    await dirty('SET default_transaction_read_only = on');
    await pool.query('CREATE TABLE public.written (a int)');
    await dirty('SET default_transaction_read_only = on');
    await withClient(pool, (client) =>
      sendBatch(client, [{ text: 'BEGIN' }, { text: 'INSERT INTO public.written VALUES (1)' }, { text: 'COMMIT' }]),
    );
    expect((await pool.query('TABLE public.written')).rows).to.deep.equal([{ a: 1 }]);
  });
});
