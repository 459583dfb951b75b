import { expect } from 'chai';
import type pg from 'pg';
import { createPool } from '../../src/postgres/pool.js';
import { type Freshness, createFreshness } from '../../src/reads/freshness.js';
import { createStore } from '../../src/reads/state-store.js';
import { snapshotHash, snapshotOf } from '../../src/schema/snapshot/snapshot.js';
import { startProxy } from '../support/proxy.js';
import { until } from '../support/until.js';
import { CAUSE, type Instance, command, expectDone, field, silent, startInstance, table } from '../support/instance.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { ProblemError } from '../../src/kernel/problem.js';
import { runToEnd } from '../../src/kernel/resumable.js';

describe('reading at the head', () => {
  let database: TestDatabase;
  let writer: Instance;
  let reader: Instance;
  let freshness: Freshness;

  before(async () => {
    database = await createDatabase('migrated');
    writer = await startInstance(database.connectionString);
    reader = await startInstance(database.connectionString);
    freshness = createFreshness({
      connectionString: database.connectionString,
      schema: 'public',
      serviceSchema: 'service',
      logger: silent,
    });
  });

  after(async () => {
    await freshness.close();
    await Promise.all([writer.stop(), reader.stop()]);
    await database.drop();
  });

  const create = async (name: string, fields: object[] = []) =>
    expectDone(await writer.pipeline.apply('create-collection', table(name, fields), { cause: CAUSE }));

  const backends = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                     WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%service_auth_epoch%'`;

  it('returns the newest commit of any process on every process', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { position } = await create(`seen ${round}`);
      const { head } = await freshness.check();
      expect(head).to.equal(position);
      expect((await reader.store.atHead(head)).collections.has(`seen ${round}`)).to.equal(true);
    }
  });

  /** A store that counts its queries. */
  const countingStore = async () => {
    const requestCount = { times: 0 };
    const counting = {
      query: (...args: Parameters<pg.Pool['query']>) => {
        requestCount.times += 1;
        return writer.pool.query(...args);
      },
    } as unknown as pg.Pool;
    const store = createStore({ pool: counting, logger: silent });
    await store.load();
    requestCount.times = 0;
    return { store, asked: requestCount };
  };

  it('waits for a visible commit of its own process instead of reading it', async () => {
    const { store, asked: requested } = await countingStore();
    await create('committed');
    const point = writer.store.point();
    const { position } = point.head;
    const ended = new Promise(setImmediate).then(() => store.publish(point));
    store.expect(point, ended, 10_000);
    expect((await store.atHead(position)).position).to.equal(position);
    expect(requested.times).to.equal(0);
  });

  it('reads the log if the commit is foreign, failed, or late', async () => {
    const { store } = await countingStore();
    await create('expected');
    const point = writer.store.point();
    store.expect(point, Promise.reject(new Error('the connection was lost')), 10_000);
    expect((await store.atHead(point.head.position)).position).to.equal(point.head.position);
    const { position } = await create('later');
    store.expect(writer.store.point(), new Promise(() => undefined), 10);
    expect((await store.atHead(position)).position).to.equal(position);
  });

  it('shares one catch-up among concurrent readers', async () => {
    const { store, asked: requested } = await countingStore();
    const { position } = await create('shared');
    const states = await Promise.all(Array.from({ length: 50 }, () => store.atHead(position)));
    expect(states.every((state) => state.position >= position)).to.equal(true);
    expect(requested.times).to.be.at.most(2);
  });

  it('folds documents equal to those of the writing process', async () => {
    const options = { zeta: 1, a: { y: [1, { d: 1, c: 2 }], x: null }, '10': 1, '9': 2, ü: 'é' };
    await create('ordered', [
      field('f', 'string', { default_value: 'it\'s "x"' }, { options, display_options: options }),
    ]);
    const update = command('update-collection', {
      collection: 'ordered',
      body: { meta: { translations: { 'de-DE': 'b', aa: 1, 'de-AT': { z: 1, y: 2 } } } },
    });
    expectDone(await writer.pipeline.apply('update-collection', update, { cause: CAUSE }));
    const fresh = createStore({ pool: writer.pool, logger: silent });
    await fresh.load();
    const [mine, folded] = [writer.store.current(), fresh.current()];
    expect(runToEnd(snapshotHash(folded, '1.2.3'))).to.equal(runToEnd(snapshotHash(mine, '1.2.3')));
    expect(JSON.stringify(runToEnd(snapshotOf(folded, '1.2.3')))).to.equal(
      JSON.stringify(runToEnd(snapshotOf(mine, '1.2.3'))),
    );
  });

  it('notifies subscribers of every state in order', async () => {
    const positions: number[] = [];
    const end = writer.store.subscribe(({ head }) => positions.push(head.position));
    const first = await create('told 1');
    const second = await create('told 2');
    end();
    await create('not told');
    expect(positions).to.deep.equal([first.position, second.position]);
  });

  it('ignores outdated states', async () => {
    const old = writer.store.point();
    await create('newer');
    const { position } = writer.store.current();
    writer.store.publish(old);
    expect(writer.store.current().position).to.equal(position);
  });

  it('folds again when the log was replaced', async () => {
    const store = createStore({ pool: reader.pool, logger: silent });
    await store.load();
    const { state, head } = store.point();
    store.reset({ state, head: { ...head, hash: '1'.repeat(64) } });
    const { position } = await create('after the restore');
    expect((await store.atHead(position)).collections.has('after the restore')).to.equal(true);
  });

  it('reconnects after its connection was ended', async () => {
    const before = await freshness.check();
    for (let round = 0; round < 5; round += 1) {
      await writer.pool.query(backends);
      expect(await freshness.check()).to.deep.equal(before);
    }
  });

  it('advances the accounts epoch', async () => {
    const { authEpoch } = await freshness.check();
    await writer.pool.query(`DELETE FROM service.service_sessions`);
    // Not a fixed step: a replacement server may continue from an older number.
    expect((await freshness.check()).authEpoch).to.be.greaterThan(authEpoch);
  });

  it('reads the head from an index', async () => {
    const client = await writer.pool.connect();
    try {
      await client.query('BEGIN; SET LOCAL enable_seqscan = off');
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        'EXPLAIN SELECT max(position) FROM service.service_events',
      );
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).to.include('Index Only Scan Backward');
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });

  describe('without the database', () => {
    it("logs the database's error once, and hides missing privileges and tables from HTTP", async () => {
      const warned: unknown[] = [];
      const through = createFreshness({
        connectionString: database.connectionString,
        schema: 'public',
        serviceSchema: 'service',
        logger: { ...silent, warn: (message, more) => void warned.push({ message, ...more }) },
      });
      const fails = async () =>
        expect(await through.check().catch((thrown: unknown) => thrown)).to.be.instanceOf(ProblemError);
      const rename = (from: string, to: string) => writer.pool.query(`ALTER SCHEMA ${from} RENAME TO ${to}`);
      const error = 'relation "service.service_auth_epoch" does not exist';
      const expected = { message: 'the database cannot be read', error };
      try {
        for (let round = 1; round <= 2; round += 1) {
          await through.check();
          await rename('service', 'away');
          for (let count = 0; count < 3; count += 1) await fails();
          await rename('away', 'service');
          await through.check();
          expect(warned).to.deep.equal(Array.from({ length: round }, () => expected));
        }
      } finally {
        await through.close();
      }
    });

    it('rejects with UNAVAILABLE, and recovers', async () => {
      const proxy = await startProxy(database.connectionString);
      const through = createFreshness({
        connectionString: proxy.connectionString,
        schema: 'public',
        serviceSchema: 'service',
        logger: silent,
      });
      const expected = await through.check();
      proxy.answer('refused');
      proxy.cut();
      for (let round = 0; round < 3; round += 1) {
        const error = await through.check().catch((thrown: unknown) => thrown);
        expect(error).to.be.instanceOf(ProblemError);
        expect((error as ProblemError).problem.code).to.equal('UNAVAILABLE');
      }
      proxy.answer('through');
      expect(await through.check()).to.deep.equal(expected);
      await through.close();
      await proxy.close();
    });

    it('does not wait forever on a half-open connection', async () => {
      const proxy = await startProxy(database.connectionString);
      const through = createFreshness({
        connectionString: proxy.connectionString,
        schema: 'public',
        serviceSchema: 'service',
        logger: silent,
        timeout: 3_000,
      });
      const expected = await through.check();
      proxy.fallSilent();
      expect(await through.check()).to.deep.equal(expected);
      await through.close();
      await proxy.close();
    });

    it('rejects after close, and leaves no connection', async () => {
      const pool = createPool({
        connectionString: database.connectionString,
        schema: 'public',
        serviceSchema: 'service',
        max: 1,
        logger: silent,
      });
      const closing = createFreshness({
        connectionString: database.connectionString,
        schema: 'public',
        serviceSchema: 'service',
        logger: silent,
        applicationName: 'closing',
      });
      const pending = closing.check().catch(() => undefined);
      await closing.close();
      await pending;
      const error = await closing.check().catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(ProblemError);
      await until('gone', async () => {
        const { rowCount } = await pool.query(`SELECT FROM pg_stat_activity WHERE application_name = 'closing'`);
        return rowCount === 0;
      });
      await pool.end();
    });
  });
});
