import { expect } from 'chai';
import { verifyChain } from '../../src/log/verification.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { CAUSE, type Instance, expectDone, startInstance } from '../support/instance.js';

describe('a large batch', () => {
  let database: TestDatabase;
  let instance: Instance;

  before(async () => {
    database = await createDatabase('migrated');
    instance = await startInstance(database.connectionString, { schema: 'public' });
    const tables = Array.from({ length: 150 }, (_, index) => `CREATE TABLE t${index} (id serial PRIMARY KEY, a text);`);
    await instance.pool.query(tables.join('\n'));
  });

  after(async () => {
    await instance.stop();
    await database.drop();
  });

  const adoptAll = () => instance.pipeline.apply('adopt-tables', { request: { all: true } }, { cause: CAUSE });

  const counts = async () => {
    const count = (table: string) => `(SELECT count(*)::int FROM service.${table}) AS ${table}`;
    const { rows } = await instance.pool.query<Record<string, number>>(
      `SELECT ${['service_events', 'service_collections', 'service_fields'].map(count).join(', ')}`,
    );
    return rows[0];
  };

  it('leaves no rows when its events are rejected, although rows are sent first', async () => {
    await instance.pool.query(`ALTER TABLE service.service_events ADD CONSTRAINT none CHECK (collection <> 't149')`);
    const failure = await adoptAll().then(
      () => null,
      (error: unknown) => error,
    );
    await instance.pool.query('ALTER TABLE service.service_events DROP CONSTRAINT none');
    expect(failure).to.be.an('error');
    expect(await counts()).to.deep.equal({ service_events: 0, service_collections: 0, service_fields: 0 });
    expect(instance.store.current().collections.size).to.equal(0);
  });

  it('writes its rows, its events and an intact chain', async () => {
    expect(expectDone(await adoptAll()).events).to.have.length(150);
    expect(await counts()).to.deep.equal({ service_events: 150, service_collections: 150, service_fields: 300 });
    expect(await verifyChain(instance.pool)).to.deep.include({ ok: true });
  });
});
