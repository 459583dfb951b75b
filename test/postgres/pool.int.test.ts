import { expect } from 'chai';
import type pg from 'pg';
import { createPool, withClient } from '../../src/postgres/pool.js';
import { createApi } from '../support/api.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { startService } from '../support/service.js';
import { silent } from '../support/instance.js';

/** Session state that outlives a transaction. */
const LEFTOVERS = [
  "SET search_path = ''",
  'SET default_transaction_read_only = on',
  // Long enough not to end the statement that resets it.
  "SELECT set_config('statement_timeout', '60000', false)",
  "SELECT set_config('my.setting', 'left', false)",
  'LISTEN news',
  'SELECT pg_advisory_lock(4711)',
  'CREATE TEMPORARY TABLE pg_temp.left_behind (n integer)',
  'DECLARE left_open CURSOR WITH HOLD FOR SELECT 1',
];

const SESSION = `
  SELECT pg_backend_pid() AS pid, current_setting('search_path') AS path,
         current_setting('default_transaction_read_only') AS read_only,
         current_setting('statement_timeout') AS timeout, coalesce(current_setting('my.setting', true), '') AS custom,
         (SELECT count(*)::int FROM pg_listening_channels()) AS channels,
         (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks,
         to_regclass('pg_temp.left_behind') AS temporary, (SELECT count(*)::int FROM pg_cursors WHERE name <> '') AS cursors`;

describe('a pooled connection', () => {
  let database: TestDatabase;
  let pool: pg.Pool;

  beforeEach(async () => {
    database = await createDatabase();
    pool = createPool({
      connectionString: database.connectionString,
      schema: 'public',
      serviceSchema: 'service',
      max: 1,
      logger: silent,
    });
  });
  afterEach(async () => {
    await pool.end();
    await database.drop();
  });

  const session = async () => withClient(pool, async (client) => (await client.query(SESSION)).rows[0] as object);

  it('is clean when reused', async () => {
    const before = await session();
    for (const leftover of LEFTOVERS) {
      await withClient(pool, (client) => client.query(leftover));
      expect(await session(), leftover).to.deep.equal(before);
    }
  });

  it('is closed if it cannot be cleaned', async () => {
    const before = (await session()) as { pid: number };
    await withClient(pool, async (client) => {
      await client.query('SELECT 1');
      const other = createPool({
        connectionString: database.connectionString,
        schema: 'public',
        serviceSchema: 'service',
        max: 1,
        logger: silent,
      });
      await other.query('SELECT pg_terminate_backend($1)', [before.pid]);
      await other.end();
    });
    expect(((await session()) as { pid: number }).pid).to.not.equal(before.pid);
  });

  it("keeps no settings of an adopted table's functions", async () => {
    const service = await startService({ DB_POOL: '2' });
    const api = createApi(service);
    try {
      await api.sql(`
        CREATE FUNCTION noisy(n bigint) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
          PERFORM set_config('default_transaction_read_only', 'on', false);
          RETURN true; END $$;
        CREATE TABLE t (id integer PRIMARY KEY, n integer, CHECK (noisy(n)));
        INSERT INTO t VALUES (1, 1)`);
      await api.ok('POST', '/schema/adopt', { tables: ['t'] });
      for (const type of ['bigInteger', 'integer', 'bigInteger']) await api.ok('PATCH', '/fields/t/n', { type });
      for (const name of ['a', 'b', 'c', 'd']) await api.ok('POST', '/collections', { collection: name, schema: {} });
    } finally {
      await api.stop();
      await service.stop();
    }
  });
});
