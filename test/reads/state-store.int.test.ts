import { expect } from 'chai';
import { CAUSE, type Instance, expectDone, startInstance, table } from '../support/instance.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';

describe('the state at the head', () => {
  let database: TestDatabase;
  let instance: Instance;

  beforeEach(async () => {
    database = await createDatabase('migrated');
    instance = await startInstance(database.connectionString);
  });
  afterEach(async () => {
    await instance.stop();
    await database.drop();
  });

  it('never comes from a replaced log', async () => {
    const { store, pipeline } = instance;
    const base = store.point();

    expectDone(await pipeline.apply('create-collection', table('first'), { cause: CAUSE }));
    const committed = store.point();
    expect(committed.head.position).to.equal(1);
    store.reset({ ...base });
    store.publish(committed, base);
    expect(store.point().head.position, 'committed before, answered after').to.equal(0);
    store.publish(committed, store.point());
    expect(store.point().head.position).to.equal(1);
  });

  it('passes listeners the events that this process committed, and only the existence of other events', async () => {
    const { store, pipeline } = instance;
    const received: (string[] | undefined)[] = [];
    store.subscribe((_point, _replaced, events) => void received.push(events?.map(({ type }) => type)));
    expectDone(await pipeline.apply('create-collection', table('first'), { cause: CAUSE }));
    const other = await startInstance(database.connectionString);
    try {
      expectDone(await other.pipeline.apply('create-collection', table('second'), { cause: CAUSE }));
    } finally {
      await other.stop();
    }
    await store.atHead(2);
    expectDone(await pipeline.apply('create-collection', table('third'), { cause: CAUSE }));
    expect(received).to.deep.equal([['collection.created'], undefined, ['collection.created']]);
  });

  it('passes listeners no events if it read others before its own commit', async () => {
    const { store, pipeline } = instance;
    const received: unknown[] = [];
    const other = await startInstance(database.connectionString);
    try {
      expectDone(await other.pipeline.apply('create-collection', table('first'), { cause: CAUSE }));
    } finally {
      await other.stop();
    }
    store.subscribe((_point, _replaced, events) => void received.push(events));
    expectDone(await pipeline.apply('create-collection', table('second'), { cause: CAUSE }));
    expect(received).to.deep.equal([undefined, undefined]);
  });
});
