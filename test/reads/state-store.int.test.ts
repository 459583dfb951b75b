import { expect } from 'chai';
import { CAUSE, type Instance, done, startInstance, table } from '../support/instance.js';
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

    done(await pipeline.apply('create-collection', table('first'), { cause: CAUSE }));
    const committed = store.point();
    expect(committed.head.position).to.equal(1);
    store.reset({ ...base });
    store.publish(committed, base);
    expect(store.point().head.position, 'committed before, answered after').to.equal(0);
    store.publish(committed, store.point());
    expect(store.point().head.position).to.equal(1);
  });
});
