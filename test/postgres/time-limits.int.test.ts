import { initialState } from '../../src/schema/model/state.js';
import { expect } from 'chai';
import pg from 'pg';
import { beginSnapshot } from '../../src/features/backup/contents.js';
import { advisoryKey } from '../../src/postgres/locked-session.js';
import { readDatabase } from '../../src/postgres/server.js';
import { migrate } from '../../src/postgres/migrate.js';
import { createClient, createPool } from '../../src/postgres/pool.js';
import { createIndexProjection } from '../../src/projector/indexes/index.js';
import { rebuildMetadataRows } from '../../src/projector/metadata/rebuild.js';
import { createProjections } from '../../src/features/projections/index.js';
import { openTarget } from '../../src/projector/replay.js';
import { CAUSE, type Instance, expectDone, silent, startInstance, table } from '../support/instance.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';

/** Milliseconds. No other statement takes so long, even on a busy machine. */
const LIMIT = 1_200;
const LONGER = 2_000;

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('database time limits', () => {
  let database: TestDatabase;
  let instance: Instance;
  let other: pg.Client;
  const place = () => ({ connectionString: database.connectionString, schema: 'public', serviceSchema: 'service' });
  let limits: string[];

  before(async () => {
    database = await createDatabase('migrated');
    other = new pg.Client(database.connectionString);
    await other.connect();
    const { rows } = await other.query<{ name: string }>(
      `SELECT name FROM pg_settings WHERE name IN ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`,
    );
    limits = rows.map(({ name }) => name);
    await limited(database.connectionString);
    instance = await startInstance(database.connectionString);
    expectDone(await instance.pipeline.apply('create-collection', table('a'), { cause: CAUSE }));
  });
  after(async () => {
    await instance.stop();
    await other.end();
    await database.drop();
  });

  async function limited(connectionString: string): Promise<void> {
    const client = new pg.Client(connectionString);
    await client.connect();
    const name = client.escapeIdentifier(new URL(connectionString).pathname.slice(1));
    for (const limit of limits) await client.query(`ALTER DATABASE ${name} SET ${limit} = '${LIMIT}ms'`);
    await client.end();
  }

  /** Runs `work` while another session has the lock for longer than the limits. */
  async function runBehindLock<T>(lock: string, work: () => Promise<T>): Promise<T> {
    await other.query(`SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0`);
    if (limits.includes('transaction_timeout')) await other.query('SET transaction_timeout = 0');
    await other.query(`BEGIN; ${lock}`);
    const [result] = await Promise.all([work(), pause(LONGER).then(() => other.query('ROLLBACK'))]);
    return result;
  }

  const logLock = async () => {
    const { database: name } = await readDatabase(instance.pool);
    return `SELECT pg_advisory_xact_lock(${advisoryKey({ database: name, schema: 'public' }, 'log')})`;
  };

  it('do not affect changes, which have their own', async () => {
    await runBehindLock(await logLock(), async () => {
      expectDone(await instance.pipeline.apply('create-collection', table('b'), { cause: CAUSE }));
    });
  });

  it('do not affect metadata rebuilds', async () => {
    const { database: name } = await readDatabase(instance.pool);
    const options = { connection: place(), database: name, lockTimeout: 10_000, logger: silent };
    const { position } = await runBehindLock(await logLock(), () => rebuildMetadataRows(options));
    expect(position).to.equal((await instance.store.load(), instance.store.point().head.position));
  });

  it('do not affect verification, neither waiting nor folding', async () => {
    const { database: name } = await readDatabase(instance.pool);
    const { pool, pipeline, store } = instance;
    const slow = {
      atHead: async (head: number) => {
        await pause(LONGER);
        return store.atHead(head);
      },
    };
    const options = { pool, pipeline, store: slow, connection: place(), database: name };
    const indexes = createIndexProjection({
      pool,
      connection: place(),
      database: name,
      currentState: () => Promise.resolve(store.current()),
      logger: silent,
    });
    const projections = createProjections({ ...options, indexes, lockTimeout: 10_000, logger: silent });
    const { ok } = await runBehindLock('LOCK TABLE service.service_fields IN ACCESS EXCLUSIVE MODE', () =>
      projections.verify(),
    );
    expect(ok).to.equal(true);
  });

  it('do not affect backups, neither waiting nor writing', async () => {
    const client = createClient(place());
    await client.connect();
    const moment = {
      schema: 'public',
      state: initialState(),
      head: { position: 1, hash: '' },
      tables: ['a'],
      lockTimeout: 10_000,
    };
    try {
      await runBehindLock('LOCK TABLE public.a IN ACCESS EXCLUSIVE MODE', () => beginSnapshot(client, moment));
      await pause(LONGER);
      expect((await client.query('SELECT FROM public.a')).rowCount).to.equal(0);
      await client.query('ROLLBACK');
      const { rows } = await client.query<{ setting: string }>(
        `SELECT current_setting('statement_timeout') AS setting`,
      );
      expect(rows[0]?.setting, 'for the transaction alone').to.equal(`${LIMIT}ms`);
    } finally {
      await client.end();
    }
  });

  it('do not affect a migration that waits for another', async () => {
    const empty = await createDatabase('empty');
    await limited(empty.connectionString);
    const pool = createPool({ ...place(), connectionString: empty.connectionString, max: 3, logger: silent });
    const holder = await pool.connect();
    try {
      const database = await readDatabase(pool);
      const key = advisoryKey({ database: database.database, schema: 'public' }, 'migrations');
      await holder.query(`SET statement_timeout = 0; SELECT pg_advisory_lock(${key})`);
      const released = pause(LONGER).then(() => holder.query('SELECT pg_advisory_unlock_all()'));
      await migrate({ pool, schema: 'public', serviceSchema: 'service', database, logger: silent });
      await released;
      const { rowCount } = await pool.query('SELECT FROM service.service_migrations');
      expect(rowCount).to.be.at.least(1);
    } finally {
      holder.release();
      await pool.end();
      await empty.drop();
    }
  });

  it('do not affect a replay', async () => {
    const empty = await createDatabase('empty');
    await limited(empty.connectionString);
    const target = await openTarget({ ...place(), connectionString: empty.connectionString, logger: silent });
    try {
      await target.client.query('BEGIN');
      await pause(LONGER);
      await target.client.query(`SELECT pg_sleep(${LONGER / 1000})`);
      await target.client.query('COMMIT');
    } finally {
      await target.close();
      await empty.drop();
    }
  });
});
