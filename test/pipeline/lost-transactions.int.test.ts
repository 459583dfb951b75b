import { expect } from 'chai';
import pg from 'pg';
import { isCommitted } from '../../src/pipeline/transaction/commit.js';
import { advisoryKey } from '../../src/postgres/locked-session.js';
import { createPool } from '../../src/postgres/pool.js';
import { silent } from '../support/instance.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

describe('a transaction with a lost COMMIT', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  /** A session that a pooler would hand to one client after another. */
  let session: pg.Client;
  let ended: boolean;

  beforeEach(async () => {
    database = await createDatabase('migrated');
    const { connectionString } = database;
    pool = createPool({ connectionString, schema: 'public', serviceSchema: 'service', max: 2, logger: silent });
    session = new pg.Client(connectionString);
    ended = false;
    session.on('error', () => (ended = true));
    await session.connect();
  });

  afterEach(async () => {
    await session.end().catch(() => undefined);
    await pool.end();
    await database.drop();
  });

  const begin = async (): Promise<{ pid: number; since: string }> => {
    const [, result] = (await session.query(
      'BEGIN; SELECT pg_backend_pid() AS pid, now()::text AS since',
    )) as unknown as pg.QueryResult<{ pid: number; since: string }>[];
    return result?.rows[0] as { pid: number; since: string };
  };

  const holdLog = async (): Promise<void> => {
    const place = { database: new URL(database.connectionString).pathname.slice(1), schema: 'public' };
    await session.query('SELECT pg_advisory_xact_lock($1)', [advisoryKey(place, 'log')]);
  };

  const outcomeOf = (backend: { pid: number; since: string | null }, lockTimeout = 10_000) => {
    const place = { database: new URL(database.connectionString).pathname.slice(1), schema: 'public' };
    const options = { pool, location: place, lockTimeout, logger: silent } as unknown as Parameters<
      typeof isCommitted
    >[1];
    const batch = '00000000-0000-4000-8000-000000000000';
    return isCommitted({ batch, backend, timeline: 1, isWholeChange: false }, options, { looks: [0, 100] });
  };

  it("is terminated while it holds the log's lock", async () => {
    const lost = await begin();
    await holdLog();
    expect(await outcomeOf(lost)).to.equal(false);
    await until('its session is ended', () => ended);
  });

  it('is terminated by its own process only, if the session was ours', async () => {
    const { pid } = await begin();
    await holdLog();
    expect(await outcomeOf({ pid, since: null })).to.equal(false);
    await until('its session is ended', () => ended);
  });

  it('is not confused with a later transaction of the same backend', async () => {
    const lost = await begin();
    await session.query('ROLLBACK');
    await begin();
    await holdLog();
    expect(await outcomeOf(lost, 300)).to.equal(undefined);
    expect((await session.query('SELECT 1 AS one')).rows).to.deep.equal([{ one: 1 }]);
    expect(ended).to.equal(false);
  });
});
