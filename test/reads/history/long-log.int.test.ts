import { positionOf } from '../../../src/log/exported-log.js';
import { expect } from 'chai';
import type pg from 'pg';
import { generatedHistory, writeEvents } from '../../../scripts/bench/logs.js';
import { type History, createHistory } from '../../../src/reads/history/index.js';
import { createStoredFolds } from '../../../src/reads/stored-folds.js';
import { type Store, createStore } from '../../../src/reads/state-store.js';
import { snapshotHash } from '../../../src/schema/snapshot/snapshot.js';
import { type Instance, silent, startInstance } from '../../support/instance.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

const EVENTS = 20_000;

describe('a long log', () => {
  let database: TestDatabase;
  let instance: Instance;
  let history: History;
  let store: Store;
  let queries = 0;

  before(async () => {
    database = await createDatabase('migrated');
    instance = await startInstance(database.connectionString);
    const client = await instance.pool.connect();
    await writeEvents(client, generatedHistory({ events: EVENTS, collections: 50, fields: 6 }));
    client.release();
    const pool = {
      query: (...args: Parameters<pg.Pool['query']>) => {
        queries += 1;
        return instance.pool.query(...args) as unknown;
      },
    } as unknown as pg.Pool;
    const folds = createStoredFolds({ pool, logger: silent, secret: 'secret' });
    store = createStore({ pool, logger: silent, folds });
    await store.load();
    await folds.idle();
    history = createHistory({
      pool,
      store,
      folds,
      release: '1.2.3',
      schema: 'public',
      serviceSchema: 'service',
      keepDeleted: 0,
    });
  });

  after(async () => {
    await instance.stop();
    await database.drop();
  });

  it('is exported no faster than it is read', async () => {
    queries = 0;
    let events = 0;
    for await (const page of history.exported(EVENTS)) {
      events += page.length;
      if (events > page.length * 3) break;
      await new Promise((resolve) => setTimeout(resolve, 30));
      // The current page, and the one that is being read.
      expect(queries).to.be.at.most(events / page.length + 1);
    }
    expect(events).to.be.lessThan(2_000);
  });

  it('is exported completely up to its start position', async () => {
    let expected = 1;
    for await (const page of history.exported(EVENTS - 7)) {
      for (const line of page) expect(positionOf(line)).to.equal(expected++);
    }
    expect(expected).to.equal(EVENTS - 6);
  });

  it('has stored folds for starts and past states', async () => {
    const folds = createStoredFolds({ pool: instance.pool, logger: silent, secret: 'secret' });
    const nearest = await folds.nearest(EVENTS);
    expect(nearest?.head.position).to.be.greaterThan(EVENTS - 6_000);
    const cold = createStore({ pool: instance.pool, logger: silent });
    await cold.load();
    expect(runToEnd(snapshotHash(store.current(), '1'))).to.equal(runToEnd(snapshotHash(cold.current(), '1')));
    const point = await history.at(12_345);
    expect(point.head.position).to.equal(12_345);
  });

  it('counts the events of large batches only once', async () => {
    const page = () => history.batches({ filter: {}, order: 'desc', limit: 3 });
    queries = 0;
    const first = await page();
    const queriesAtFirst = queries;
    queries = 0;
    expect(await page()).to.deep.equal(first);
    expect(queries).to.equal(queriesAtFirst - 1);
    expect(first.map(({ events }) => events)).to.deep.equal([5_000, 5_000, 5_000, 5_000]);
    for (const { types } of first) expect(Object.values(types).reduce((sum, count) => sum + count, 0)).to.equal(5_000);
  });

  it('is not folded if the requested collections have few events', async () => {
    const one = await history.collectionsAt(['collection_7'], 19_000);
    expect([...one.state.collections.keys()]).to.deep.equal(['collection_7']);
    const many = await history.collectionsAt(
      Array.from({ length: 10 }, (_, index) => `collection_${index}`),
      19_001,
    );
    expect(many.state.collections.size, 'too many events').to.equal(50);
    const known = await history.collectionsAt(['collection_7'], 19_001);
    expect(known, 'a state in memory').to.equal(many);
  });

  it('is folded once per position for many readers', async () => {
    queries = 0;
    const points = await Promise.all(Array.from({ length: 50 }, (_, index) => history.at(7_000 + (index % 5))));
    for (const [index, point] of points.entries()) expect(point.head.position).to.equal(7_000 + (index % 5));
    expect(new Set(points).size).to.equal(5);
    expect(queries).to.be.lessThan(40);
  });

  it('costs the same for one and many followers', async () => {
    queries = 0;
    const ending = new AbortController();
    const follow = async (after: number): Promise<number> => {
      let at = after;
      for await (const events of history.tail.follow(after, ending.signal)) {
        for (const { position } of events) expect(position).to.equal(++at);
        if (at === EVENTS) break;
      }
      return at;
    };
    const reached = await Promise.all(Array.from({ length: 100 }, (_, index) => follow(EVENTS - 1_000 - index)));
    expect(new Set(reached)).to.deep.equal(new Set([EVENTS]));
    expect(history.tail.followers()).to.equal(0);
    // 1,100 events in pages of 50.
    expect(queries).to.be.at.most(23);
    ending.abort();
  });

  it('stores recent folds when the process ends', async () => {
    const folds = createStoredFolds({ pool: instance.pool, logger: silent, secret: 'secret' });
    await instance.pool.query('DELETE FROM service.service_folds WHERE position > $1', [EVENTS - 3_000]);
    await folds.close(store.point());
    expect((await folds.nearest(EVENTS))?.head.position).to.equal(EVENTS);
    folds.offer(store.point());
    await folds.idle();
  });
});
