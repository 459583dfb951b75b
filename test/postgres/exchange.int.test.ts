import { expect } from 'chai';
import type pg from 'pg';
import { ExchangeError, SQLSTATE, isConnectionLoss, sqlState } from '../../src/postgres/errors.js';
import { sendBatch, sendReads, sendNamed, runScript } from '../../src/postgres/exchange.js';
import { createPool, withClient } from '../../src/postgres/pool.js';
import { silent } from '../support/instance.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';

describe('several statements at once', () => {
  let database: TestDatabase;
  let pool: pg.Pool;

  before(async () => {
    database = await createDatabase();
    pool = createPool({
      connectionString: database.connectionString,
      schema: 'public',
      serviceSchema: 'service',
      max: 2,
      logger: silent,
    });
  });

  after(async () => {
    await pool.end();
    await database.drop();
  });

  const failureOf = async (work: Promise<unknown>): Promise<ExchangeError> => {
    const error = await work.catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ExchangeError);
    return error as ExchangeError;
  };

  it('return one parsed result each', async () => {
    const results = await withClient(pool, (client) =>
      sendBatch(client, [
        { text: 'SELECT $1::bigint AS n, $2::jsonb AS j, $3::text AS t', values: [7, '{"a":[1]}', null] },
        { text: 'SELECT WHERE false' },
        { text: 'SELECT g FROM generate_series(1, 3) g' },
      ]),
    );
    expect(results.map((result) => result.rows)).to.deep.equal([
      [{ n: 7, j: { a: [1] }, t: null }],
      [],
      [{ g: 1 }, { g: 2 }, { g: 3 }],
    ]);
  });

  it('return results by name, without rows if not sent, and name the failed statement', async () => {
    await withClient(pool, async (client) => {
      const request = {
        one: { text: 'SELECT 1 AS n' },
        none: undefined,
        two: { text: 'SELECT $1::int AS n', values: [2] },
      };
      expect(await sendNamed(client, request)).to.deep.equal({ one: [{ n: 1 }], none: [], two: [{ n: 2 }] });
      const error = await failureOf(
        sendNamed(client, { ...request, wrong: { text: 'SELECT 1 / 0' }, last: request.one }),
      );
      expect([error.at, sqlState(error), error.results.length]).to.deep.equal(['wrong', '22012', 2]);
    });
  });

  it('never reach a COMMIT after a failure, and leave the client usable', async () => {
    await withClient(pool, async (client) => {
      await client.query('CREATE TABLE kept (a int)');
      const error = await failureOf(
        sendBatch(client, [
          { text: 'BEGIN' },
          { text: 'INSERT INTO kept VALUES ($1)', values: [1] },
          { text: 'INSERT INTO kept VALUES ($1 / 0)', values: [1] },
          { text: 'COMMIT' },
        ]),
      );
      expect(error.results).to.have.length(2);
      expect(sqlState(error)).to.equal('22012');
      await client.query('ROLLBACK');
      expect((await client.query('SELECT FROM kept')).rowCount).to.equal(0);
    });
  });

  it('prepare each text once per connection, up to a limit', async () => {
    await withClient(pool, async (client) => {
      const text = 'SELECT $1::int + 1 AS n';
      for (let round = 0; round < 3; round += 1) {
        const results = await sendBatch(client, [
          { text, values: [round] },
          { text, values: [10] },
        ]);
        expect(results.map((result) => result.rows)).to.deep.equal([[{ n: round + 1 }], [{ n: 11 }]]);
      }
      const other = 'SELECT $1::int + 2 AS n';
      const atOnce = await Promise.all([
        sendBatch(client, [{ text: other, values: [1] }]),
        sendBatch(client, [{ text: `${other} /* another */`, values: [2] }]),
      ]);
      expect(atOnce.map((results) => results[0]?.rows)).to.deep.equal([[{ n: 3 }], [{ n: 4 }]]);
      for (let index = 0; index < 200; index += 1) {
        expect((await sendBatch(client, [{ text: `SELECT ${index} AS n` }]))[0]?.rows).to.deep.equal([{ n: index }]);
      }
      const kept = await client.query(`SELECT FROM pg_prepared_statements WHERE name LIKE 'batch%'`);
      expect(kept.rowCount).to.be.within(90, 100);
      const failed = { text: 'SELECT 1 / ($1::int - 1) AS n' };
      for (const value of [2, 1, 3]) {
        const outcome = await sendBatch(client, [{ ...failed, values: [value] }]).catch(() => null);
        expect(outcome?.[0]?.rows ?? null).to.deep.equal(value === 1 ? null : [{ n: value === 2 ? 1 : 0 }]);
      }
    });
  });

  it('use up no names for statements that failures keep from the server, and keep those that completed', async () => {
    const own = createPool({
      connectionString: database.connectionString,
      schema: 'public',
      serviceSchema: 'service',
      max: 1,
      logger: silent,
    });
    try {
      await withClient(own, async (client) => {
        const failing = [
          { text: 'SELECT 1 AS completed' },
          { text: 'SELECT 1 / 0', once: true },
          { text: 'SELECT 2 AS skipped' },
          { text: 'SELECT 3 AS skipped' },
        ];
        for (let round = 0; round < 60; round += 1) await failureOf(sendBatch(client, failing));
        await sendBatch(client, [{ text: 'SELECT 4 AS later' }, ...failing.slice(2)]);
        const kept = await client.query(`SELECT statement FROM pg_prepared_statements WHERE name LIKE 'batch%'`);
        expect(kept.rows.map(({ statement }: { statement: string }) => statement)).to.have.members([
          'SELECT 1 AS completed',
          'SELECT 4 AS later',
          'SELECT 2 AS skipped',
          'SELECT 3 AS skipped',
        ]);
      });
    } finally {
      await own.end();
    }
  });

  it('count completed statements of a script across messages', async () => {
    const padding = `/* ${'x'.repeat(400_000)} */`;
    const statements = Array.from({ length: 10 }, (_, index) => `${padding} SELECT 1 / (7 - ${index}) AS one`);
    const error = await withClient(pool, (client) => failureOf(runScript(client, statements)));
    expect(error.results).to.have.length(7);
    expect(sqlState(error)).to.equal('22012');
    const results = await withClient(pool, (client) => runScript(client, statements.slice(0, 7)));
    expect(results).to.have.length(7);
    expect(results[6]?.rows).to.deep.equal([{ one: 1 }]);
  });

  it('name the statement with a syntax error', async () => {
    const error = await withClient(pool, (client) =>
      failureOf(sendBatch(client, [{ text: 'SELECT 1' }, { text: 'SELECT FROM nowhere' }])),
    );
    expect(error.results).to.have.length(1);
    expect(sqlState(error)).to.equal(SQLSTATE.undefined_table);
  });

  it('return arrays for reads, each before the next one finishes', async () => {
    const holder = await pool.connect();
    await holder.query('SELECT pg_advisory_lock(1)');
    await withClient(pool, async (client) => {
      const names = ['a', 'b"c', 'd\\e', 'f,{g}', ''];
      const answers = sendReads(client, [
        { text: 'SELECT $1::text[], 2::bigint, NULL AS gone, NULL AS gone', values: [names] },
        { text: 'SELECT pg_advisory_xact_lock(1)' },
      ]);
      const order: number[] = [];
      const all = Promise.all(answers.map((answer, index) => answer.then(() => order.push(index))));
      expect(await answers[0]).to.deep.equal([[names, 2, null, null]]);
      expect(order).to.deep.equal([0]);
      holder.release(true);
      await all;
    });
  });

  it('fail for the failed read and all after it', async () => {
    await withClient(pool, async (client) => {
      const [first, second, third] = sendReads(client, [
        { text: 'SELECT 1' },
        { text: 'SELECT FROM nowhere' },
        { text: 'SELECT 3' },
      ]);
      const error = await failureOf(third as Promise<unknown>);
      expect(sqlState(error)).to.equal(SQLSTATE.undefined_table);
      expect(await second?.catch((thrown: unknown) => thrown)).to.equal(error);
      expect(await first).to.deep.equal([[1]]);
      expect((await client.query('SELECT 1 AS one')).rows).to.deep.equal([{ one: 1 }]);
    });
  });

  it('distinguish a lost connection from a rejected statement', async () => {
    const lost = withClient(pool, async (client) => {
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      const sleeping = sendBatch(client, [{ text: 'SELECT pg_sleep(30)' }]);
      await pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
      return sleeping;
    });
    expect(isConnectionLoss(await failureOf(lost))).to.equal(true);
  });
});

describe('new connections', () => {
  let database: TestDatabase;

  before(async () => {
    database = await createDatabase();
  });

  after(() => database.drop());

  const onPool = async <T>(connectionString: string, work: (pool: pg.Pool) => Promise<T>): Promise<T> => {
    const pool = createPool({ connectionString, serviceSchema: 'service', schema: 'a b"\\c', max: 1, logger: silent });
    try {
      return await work(pool);
    } finally {
      await pool.end();
    }
  };

  it('use UTC and search our schema first, regardless of the options in the address', async () => {
    const url = new URL(database.connectionString);
    url.searchParams.set('options', '-c work_mem=5MB -c TimeZone=Asia/Tokyo');
    const settings = await onPool(url.href, async (pool) => {
      await pool.query(`CREATE SCHEMA "a b""\\c"`);
      const { rows } = await pool.query(
        `SELECT current_schema() AS schema, current_setting('TimeZone') AS zone, current_setting('work_mem') AS memory`,
      );
      return rows as unknown[];
    });
    expect(settings).to.deep.equal([{ schema: 'a b"\\c', zone: 'UTC', memory: '5MB' }]);
  });

  it('detect a dead peer on both sides within half a minute', async () => {
    const { rows } = await onPool(database.connectionString, (pool) =>
      pool.query(`SELECT name, setting FROM pg_settings WHERE name LIKE 'tcp_keepalives%' ORDER BY name`),
    );
    expect(rows.map(({ setting }: { setting: string }) => setting)).to.deep.equal(['3', '10', '5']);
  });

  it('are not reused after an error or with an open transaction', async () => {
    await onPool(database.connectionString, async (pool) => {
      const pid = (client: pg.ClientBase) =>
        client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid').then(({ rows }) => rows[0]?.pid);
      const first = await withClient(pool, pid);
      expect(await withClient(pool, pid)).to.equal(first);
      await withClient(pool, (client) => client.query('BEGIN'));
      const second = await withClient(pool, pid);
      expect(second).to.not.equal(first);
      await withClient(pool, () => Promise.reject(new Error('ours'))).catch(() => undefined);
      expect(await withClient(pool, pid)).to.not.equal(second);
    });
  });

  it('parse positions as numbers, and larger values as text', async () => {
    const rows = await onPool(database.connectionString, async (pool) => {
      const result = await pool.query('SELECT 9007199254740991::bigint AS a, 9007199254740993::bigint AS b');
      return result.rows as unknown[];
    });
    expect(rows).to.deep.equal([{ a: 9007199254740991, b: '9007199254740993' }]);
  });
});
