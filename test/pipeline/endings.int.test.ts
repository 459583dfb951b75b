import { expect } from 'chai';
import pg from 'pg';
import type { Outcome } from '../../src/pipeline/index.js';
import { type Proxy, startProxy } from '../support/proxy.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { type Cluster, startCluster } from '../support/standby.js';
import {
  CAUSE,
  type Instance,
  command,
  expectDone,
  field,
  refusedWith,
  silent,
  startInstance,
  table,
} from '../support/instance.js';

const problemOf = (outcome: Outcome) => (outcome.kind === 'refused' ? outcome.problems[0] : undefined);

describe('a change that PostgreSQL rejects', () => {
  let database: TestDatabase;
  let proxy: Proxy;
  let instance: Instance;
  let other: pg.Client;
  let warnings: string[];

  beforeEach(async () => {
    database = await createDatabase('migrated');
    proxy = await startProxy(database.connectionString);
    warnings = [];
    instance = await startInstance(database.connectionString, {
      writeThrough: proxy.connectionString,
      logger: { ...silent, warn: (message: string) => void warnings.push(message) },
    });
    other = new pg.Client(database.connectionString);
    await other.connect();
    expectDone(await create('first'));
  });

  afterEach(async () => {
    proxy.intercept(() => 'pass');
    await instance.stop();
    await other.end();
    await proxy.close();
    await database.drop();
  });

  const create = (name: string): Promise<Outcome> =>
    instance.pipeline.apply('create-collection', table(name, [field('a')]), { cause: CAUSE });

  const positions = async (): Promise<number> =>
    Number((await other.query<{ count: string }>('SELECT count(*) FROM service.service_events')).rows[0]?.count);

  it('is rejected the same way if its response cannot be stored for its key', async () => {
    proxy.intercept((sent) => (sent.includes('INSERT INTO service.service_idempotency') ? 'hang up' : 'pass'));
    const idempotency = { key: 'k', requestHash: 'h', render: () => ({ status: 409, headers: [], body: 'no' }) };
    const again = await instance.pipeline.apply('create-collection', table('first'), { cause: CAUSE, idempotency });
    expect(refusedWith(again)).to.equal('ALREADY_EXISTS');
    expect(warnings).to.include('a response could not be stored');
    proxy.intercept(() => 'pass');
    // Nothing is stored, so a repeated key is decided again, and the name is available now.
    const gone = command('delete-collection', { collection: 'first' });
    expectDone(await instance.pipeline.apply('delete-collection', gone, { cause: CAUSE }));
    expectDone(await instance.pipeline.apply('create-collection', table('first'), { cause: CAUSE, idempotency }));
  });

  it('returns 503 for a read-only database, and nothing is written', async () => {
    const { rows } = await other.query<{ name: string }>('SELECT quote_ident(current_database()) AS name');
    const name = rows[0]?.name ?? '';
    await other.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    proxy.cut();
    for (const outcome of [await create('second'), await create('second')]) {
      expect(refusedWith(outcome)).to.equal('READ_ONLY');
      expect(problemOf(outcome)?.message).to.include('read-only').and.include('Nothing was changed');
    }
    await other.query(
      `SET default_transaction_read_only = off; ALTER DATABASE ${name} RESET default_transaction_read_only`,
    );
    proxy.cut();
    expect(await positions()).to.equal(1);
    expectDone(await create('second'));
  });
});

describe('a change that needs more lock slots than the server has', () => {
  // Its own server, because all databases of a server share the lock slots.
  let cluster: Cluster;
  let instance: Instance;
  let other: pg.Client;

  before(async () => {
    cluster = await startCluster({ settings: ['max_connections=20', 'max_locks_per_transaction=64'] });
    const { connectionString } = cluster.primary;
    instance = await startInstance(connectionString);
    other = new pg.Client({ connectionString });
    await other.connect();
  });
  after(async () => {
    await other?.end();
    await instance?.stop();
    await cluster?.stop();
  });

  it('is rejected with the setting, its current and its needed value, and writes nothing', async () => {
    await fillLockTable(other, 60);
    const collections = Array.from({ length: 40 }, (_, index) => ({
      collection: `many_${index}`,
      schema: {},
      fields: [field('a', 'string', { is_unique: true })],
    }));
    const input = command('create-collections', { body: collections, concurrentIndexes: false });
    const outcome = await instance.pipeline.apply('create-collections', input, { cause: CAUSE });
    await other.query('ROLLBACK');
    const problem = problemOf(outcome);
    expect(problem).to.include({ code: 'DATABASE_REFUSED' });
    expect(problem?.message).to.match(/ran out of lock slots.*Raise max_locks_per_transaction from \d+ to \d+/s);
    expect(problem?.collection).to.match(/^many_\d+$/);
    expect((await other.query('SELECT FROM service.service_events')).rowCount).to.equal(0);
    expectDone(await instance.pipeline.apply('create-collections', input, { cause: CAUSE }));
  });
});

/** Takes locks until `left` remain, in an open transaction. */
async function fillLockTable(client: pg.Client, left: number): Promise<void> {
  await client.query('BEGIN');
  let next = 1;
  for (let step = 16_384; step >= 1;) {
    await client.query('SAVEPOINT step');
    try {
      await client.query('SELECT count(pg_advisory_xact_lock(77, i)) FROM generate_series($1::int, $2::int) i', [
        next,
        next + step - 1,
      ]);
      next += step;
      // Savepoints that are rolled back one by one would stay in the lock table, so each step is released as a whole.
      await client.query('RELEASE SAVEPOINT step');
    } catch {
      await client.query('ROLLBACK TO SAVEPOINT step');
      step = Math.floor(step / 2);
    }
  }
  await client.query('ROLLBACK');
  await client.query('BEGIN');
  await client.query('SELECT count(pg_advisory_xact_lock(77, i)) FROM generate_series(1, $1::int) i', [next - left]);
}
