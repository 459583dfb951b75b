import { expect } from 'chai';
import pg from 'pg';
import { type IndexProjection, createIndexProjection } from '../../../src/projector/indexes/index.js';
import { verify } from '../../../src/projector/verify/index.js';
import { indexName } from '../../../src/schema/model/constraint-names.js';
import { until } from '../../support/until.js';
import { CAUSE, type Instance, command, expectDone, field, silent, startInstance } from '../../support/instance.js';
import { type TestDatabase, asSuperuser, createDatabase, superuserUrl } from '../../support/postgres.js';

const request = { cause: CAUSE };

describe('deferred indexes', () => {
  let database: TestDatabase;
  let instance: Instance;
  const started: IndexProjection[] = [];
  const holders: pg.Client[] = [];

  beforeEach(async () => {
    database = await createDatabase('migrated');
    instance = await startInstance(database.connectionString);
  });
  afterEach(async () => {
    await Promise.all(holders.splice(0).map((holder) => holder.end()));
    await Promise.all(started.splice(0).map((projection) => projection.stop()));
    await instance.stop();
    await database.drop();
  });

  function start(logger = silent, readOnly = () => false): IndexProjection {
    const { pool, store, schema } = instance;
    const projection = createIndexProjection({
      pool,
      connection: { connectionString: database.connectionString, schema, serviceSchema: 'service' },
      database: new URL(database.connectionString).pathname.slice(1),
      currentState: () => Promise.resolve(store.current()),
      logger,
      readOnly,
      pauses: { gather: 5, quiet: 3_600_000, busy: 20, retry: 20, maximum: 100 },
    });
    started.push(projection);
    projection.wake();
    return projection;
  }

  const create = async (collection: string, fields: object[]): Promise<void> => {
    const body = { collection, schema: {}, fields };
    expectDone(
      await instance.pipeline.apply(
        'create-collection',
        command('create-collection', { body, concurrentIndexes: true }),
        request,
      ),
    );
  };
  const setIndexed = async (collection: string, name: string, is_indexed: boolean): Promise<void> => {
    const input = { collection, field: name, body: { schema: { is_indexed } }, concurrentIndexes: true };
    expectDone(await instance.pipeline.apply('update-fields', command('update-fields', input), request));
  };
  const remove = async (collection: string): Promise<void> => {
    expectDone(
      await instance.pipeline.apply('delete-collection', command('delete-collection', { collection }), request),
    );
  };

  const isValid = async (collection: string, name: string): Promise<boolean | null> => {
    const { rows } = await instance.pool.query<{ valid: boolean }>(
      `SELECT i.indisvalid AS valid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname = $1`,
      [indexName(collection, name)],
    );
    return rows[0]?.valid ?? null;
  };
  const checkpoint = async (): Promise<Record<string, unknown>> => {
    const { rows } = await instance.pool.query<Record<string, unknown>>(
      `SELECT position, status, last_error FROM service.service_projections WHERE name = 'indexes'`,
    );
    return rows[0] ?? {};
  };
  const caughtUp = async (): Promise<boolean> => (await checkpoint())['position'] === instance.store.current().position;
  const expectVerified = async (): Promise<void> => {
    const client = await instance.pool.connect();
    try {
      const { differences } = await verify(client, instance.store.current(), instance.schema);
      expect(differences, JSON.stringify(differences)).to.deep.equal([]);
    } finally {
      client.release();
    }
  };
  /** An open snapshot, which CREATE INDEX CONCURRENTLY waits for. */
  const hold = async (connectionString = database.connectionString): Promise<pg.Client> => {
    const holder = new pg.Client({ connectionString });
    await holder.connect();
    holders.push(holder);
    await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await holder.query('SELECT count(*) FROM service.service_events');
    return holder;
  };
  const isBuilding = async (): Promise<boolean> => {
    const { rowCount } = await instance.pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'CREATE INDEX CONCURRENTLY%'
         AND state = 'active' AND pid <> pg_backend_pid()`,
    );
    return (rowCount ?? 0) > 0;
  };

  for (const name of ['articles', 'a b', "it's", '"', 'a"b', '$$', '%I', 'select', '__proto__', 'back\\slash']) {
    it(`builds the index of ${name}.${name}, which is no difference while it is pending`, async () => {
      await create(name, [field(name, 'string', { is_indexed: true }), field('other')]);
      expect(await isValid(name, name)).to.equal(null);
      await expectVerified();
      start();
      await until('the index is built', async () => (await isValid(name, name)) === true && (await caughtUp()));
      await expectVerified();
    });
  }

  it('stops after its check, however often it was woken', async () => {
    await create('posts', [field('slug', 'string', { is_indexed: true })]);
    let looks = 0;
    const projection = start(silent, () => {
      looks += 1;
      return false;
    });
    await until('it looks', () => Promise.resolve(looks > 0));
    for (let time = 0; time < 5; time++) {
      projection.wake();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await until('it is built', caughtUp);
    // The last wake may have come during a check, which is then repeated once.
    await until('it rests', async () => {
      const then = looks;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return looks === then && projection.status().status === 'idle';
    });
  });

  it('skips events without indexes', async () => {
    await create('articles', [field('title')]);
    start();
    await until('it has caught up', caughtUp);
    expect(await checkpoint()).to.deep.include({ status: 'running', last_error: null });
  });

  it('replaces an invalid index of a failed build', async () => {
    await create('articles', [field('title', 'string', { is_indexed: true })]);
    await instance.pool.query(`CREATE INDEX ${indexName('articles', 'title')} ON articles (title)`);
    await asSuperuser(
      database.connectionString,
      `UPDATE pg_index SET indisvalid = false WHERE indexrelid = '${indexName('articles', 'title')}'::regclass`,
    );
    start();
    await until('the index is valid', async () => (await isValid('articles', 'title')) === true);
  });

  it('skips fields that are no longer indexed, and dropped fields and tables', async () => {
    await create('articles', [
      field('title', 'string', { is_indexed: true }),
      field('slug', 'string', { is_indexed: true }),
    ]);
    await create('gone', [field('title', 'string', { is_indexed: true })]);
    await setIndexed('articles', 'title', false);
    const drop = command('delete-field', { collection: 'articles', field: 'slug' });
    expectDone(await instance.pipeline.apply('delete-field', drop, request));
    await remove('gone');
    const projection = start();
    await until('it has caught up', caughtUp);
    expect(await isValid('articles', 'title')).to.equal(null);
    expect(projection.status().lastError).to.equal(null);
    await expectVerified();
  });

  it('stops only this projection for a failed build, shows the reason, and continues when the index is removed', async () => {
    await create('notes', [field('body', 'text', { is_indexed: true })]);
    // Random, so that it does not compress below the limit of an index entry.
    await instance.pool.query(
      `INSERT INTO notes (body) SELECT string_agg(md5(random()::text), '') FROM generate_series(1, 2000)`,
    );
    const projection = start();
    // The process learns it just before its row is updated.
    await until('it has failed', async () => (await checkpoint())['status'] === 'failed');
    expect(projection.status().status).to.equal('failed');
    const row = await checkpoint();
    expect(row).to.include({ status: 'failed', position: 0 });
    expect(row['last_error']).to.include({ collection: 'notes', field: 'body', position: 1, sqlstate: '54000' });

    await create('articles', [field('title', 'string', { is_indexed: true })]);
    projection.wake();
    await until('it is tried again', () => (projection.status().lastError?.attempts ?? 0) > 2);
    expect(await isValid('articles', 'title')).to.equal(null);

    await setIndexed('notes', 'body', false);
    projection.wake();
    await until('the next one is built', async () => (await isValid('articles', 'title')) === true);
    await until('the failure is over', async () => (await checkpoint())['status'] === 'running' && (await caughtUp()));
    await expectVerified();
  });

  it('waits longer after events without indexes, and still builds an index immediately', async () => {
    const projection = start();
    await projection.retry();
    const unsubscribe = instance.store.subscribe((_point, _replaced, events) => projection.wake(events));
    await create('first', [field('title')]);
    await create('articles', [field('title', 'string', { is_indexed: true })]);
    await until('the index is built', async () => (await isValid('articles', 'title')) === true && (await caughtUp()));
    await create('second', [field('title')]);
    unsubscribe();
    projection.wake();
    await until('it has passed the last event', caughtUp);
  });

  it('an index whose name was taken by hand can be removed', async () => {
    await create('articles', [field('title', 'string', { is_indexed: true })]);
    await instance.pool.query(`CREATE TABLE ${indexName('articles', 'title')} (a int)`);
    const projection = start();
    await until('it has failed', () => projection.status().status === 'failed');
    expect(projection.status().lastError).to.include({ field: 'title', sqlstate: '42P07' });
    await setIndexed('articles', 'title', false);
    projection.wake();
    await until('it has caught up', async () => (await caughtUp()) && projection.status().lastError === null);
    await instance.pool.query(`SELECT a FROM ${indexName('articles', 'title')}`);
  });

  it('forgets failures on a read-only server, and waits until it is writable', async () => {
    await create('articles', [field('title', 'string', { is_indexed: true })]);
    const name = indexName('articles', 'title');
    await instance.pool.query(`CREATE TABLE ${name} (a int)`);
    let readOnly = false;
    const projection = start(silent, () => readOnly);
    await until('it has failed', () => projection.status().status === 'failed');
    readOnly = true;
    projection.wake();
    await until('it rests', () => projection.status().status === 'idle');
    expect(projection.status()).to.deep.equal({ status: 'idle', lastError: null });
    await instance.pool.query(`DROP TABLE ${name}`);
    projection.wake();
    await projection.retry();
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(await isValid('articles', 'title')).to.equal(null);
    readOnly = false;
    projection.wake();
    await until('the index is built', async () => (await isValid('articles', 'title')) === true && (await caughtUp()));
  });

  it('stops during a build, and the next start completes it', async () => {
    await create('articles', [field('title', 'string', { is_indexed: true })]);
    const holder = await hold();
    const first = start();
    await until('it builds', isBuilding);
    await first.stop();
    expect(first.status().status).to.equal('stopped');
    expect(await isValid('articles', 'title')).to.not.equal(true);
    await holder.query('COMMIT');
    start();
    await until('the index is built', async () => (await isValid('articles', 'title')) === true && (await caughtUp()));
  });

  it('survives a lost connection during a build', async () => {
    await create('articles', [field('title', 'string', { is_indexed: true })]);
    const holder = await hold();
    start();
    await until('it builds', isBuilding);
    await instance.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND query LIKE 'CREATE INDEX CONCURRENTLY%' AND pid <> pg_backend_pid()`,
    );
    await holder.query('COMMIT');
    await until('the index is built', async () => (await isValid('articles', 'title')) === true && (await caughtUp()));
  });

  it('retries after a deadlock during a build', async () => {
    await create('articles', [field('title', 'string', { is_indexed: true })]);
    // The builder checks for a deadlock once, after this time. The one of the holder is longer.
    await asSuperuser(
      database.connectionString,
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = ''4s''', current_database()); END $$`,
    );
    const holder = await hold(await superuserUrl(database.connectionString));
    await holder.query(`SET deadlock_timeout = '1min'; SELECT count(*) FROM articles`);
    const failures: string[] = [];
    start({ ...silent, error: (message: string) => failures.push(message) });
    await until('it builds', isBuilding);
    await holder.query('ALTER TABLE articles SET (fillfactor = 100)');
    await holder.query('COMMIT');
    await until('the index is built', async () => (await isValid('articles', 'title')) === true && (await caughtUp()));
    expect(failures).to.deep.equal([]);
    await expectVerified();
  });

  it('one process builds at a time, and another takes over', async () => {
    await create('articles', [field('title', 'string', { is_indexed: true })]);
    const holder = await hold();
    const first = start();
    await until('it builds', isBuilding);
    const second = start();
    await until('the second one has looked', () => second.status().status === 'idle');
    await first.stop();
    await holder.query('COMMIT');
    await until('the second one built it', async () => (await isValid('articles', 'title')) === true);
  });

  it('an index removed during its build is dropped', async () => {
    await create('articles', [field('title', 'string', { is_indexed: true })]);
    await instance.pool.query(`CREATE INDEX ${indexName('articles', 'title')} ON articles (title)`);
    const projection = start();
    await until('it has caught up', caughtUp);
    await setIndexed('articles', 'title', false);
    // The index that the write's DROP INDEX missed, because it did not exist yet.
    await instance.pool.query(`CREATE INDEX ${indexName('articles', 'title')} ON articles (title)`);
    projection.wake();
    await until('it has caught up', caughtUp);
    expect(await isValid('articles', 'title')).to.equal(null);
  });
});
