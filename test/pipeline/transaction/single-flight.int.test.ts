/** Changes in one flight, and everything that can differ between their decision and their guard. */
import { expect } from 'chai';
import pg from 'pg';
import { verifyChain } from '../../../src/log/verification.js';
import type { Outcome } from '../../../src/pipeline/index.js';
import type { RequestContext } from '../../../src/pipeline/types.js';
import { advisoryKey } from '../../../src/postgres/locked-session.js';
import { requireRejected } from '../../../src/pipeline/transaction/single-flight.js';
import { ExchangeError } from '../../../src/postgres/errors.js';
import { DEFAULT_POLICY, type Policy } from '../../../src/schema/policy.js';
import {
  CAUSE,
  type Instance,
  command,
  expectDone,
  field,
  refusedWith,
  startInstance,
  table,
} from '../../support/instance.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';
import { type Proxy, startProxy } from '../../support/proxy.js';
import { until } from '../../support/until.js';
import { type Wire, createWire } from '../../support/wire.js';

describe('a change in one round trip', () => {
  let database: TestDatabase;
  let proxy: Proxy;
  let wire: Wire;
  let instance: Instance;
  /** Another process. */
  let beside: Instance;
  /** Someone with a SQL prompt. */
  let other: pg.Client;
  let key: string;

  beforeEach(async () => {
    database = await createDatabase('migrated');
    proxy = await startProxy(database.connectionString);
    instance = await startInstance(database.connectionString, { writeThrough: proxy.connectionString, max: 1 });
    beside = await startInstance(database.connectionString);
    other = new pg.Client(database.connectionString);
    await other.connect();
    const { rows } = await other.query<{ name: string }>('SELECT current_database() AS name');
    key = advisoryKey({ database: rows[0]?.name ?? '', schema: 'public' }, 'log');
    wire = createWire();
    proxy.intercept((sent, connection) => {
      wire.feed(sent, connection);
      return 'pass';
    });
    expectDone(await create('first'));
  });
  afterEach(async () => {
    await instance.stop();
    await beside.stop();
    await other.end();
    await proxy.close();
    await database.drop();
  });

  const create = (name: string, by = instance, more: Partial<RequestContext> = {}): Promise<Outcome> =>
    by.pipeline.apply('create-collection', table(name, [field('a')]), { cause: CAUSE, ...more });

  const annotate = (note: string, more: Partial<RequestContext> = {}): Promise<Outcome> => {
    const input = command('update-collection', { collection: 'first', body: { meta: { note } } });
    return instance.pipeline.apply('update-collection', input, { cause: CAUSE, ...more });
  };

  /** The flights since the last call, by their first statement, without resets of sessions. */
  const flights = (): string[] =>
    wire
      .take()
      .map(([first = '']) => first.trim().split(/\s/)[0] ?? '')
      .filter((first) => first !== 'SET');

  const waiting = (count: number): Promise<void> =>
    until(`${count} wait for the log lock`, async () => {
      const { rowCount } = await instance.pool.query(
        `SELECT FROM pg_locks WHERE NOT granted AND locktype = 'advisory'
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      return rowCount === count;
    });

  /** Runs a change, and `meddle` after the change was decided and before it gets the log lock. */
  async function runBetween<T>(change: () => Promise<T>, ...meddle: string[]): Promise<T> {
    await other.query('BEGIN');
    await other.query('SELECT pg_advisory_xact_lock($1)', [key]);
    flights();
    const changing = change();
    await waiting(1);
    for (const sql of meddle) await other.query(sql);
    await other.query('COMMIT');
    return changing;
  }

  const FAILED = ['BEGIN', 'ROLLBACK', 'BEGIN'];

  async function expectIntact(): Promise<void> {
    expect((await verifyChain(instance.pool)).ok).to.equal(true);
    const { rows } = await other.query<{ collection: string }>('SELECT collection FROM service.service_collections');
    expect([...instance.store.current().collections.keys()]).to.have.members(rows.map(({ collection }) => collection));
  }

  it('creates a table with a single BEGIN', async () => {
    flights();
    expect(expectDone(await create('second')).position).to.equal(2);
    expect(flights()).to.deep.equal(['BEGIN']);
    await other.query('SELECT a FROM second');
    await expectIntact();
  });

  it('is not tried on a connection whose server process is unknown', async () => {
    proxy.cut();
    flights();
    expectDone(await annotate('a'));
    expectDone(await annotate('b'));
    expect(flights()).to.deep.equal(['BEGIN', 'INSERT', 'BEGIN']);
  });

  it('updates metadata of a collection and of a field', async () => {
    flights();
    expectDone(await annotate('a'));
    const input = { collection: 'first', field: 'a', body: { meta: { note: 'b' } }, concurrentIndexes: false };
    expectDone(await instance.pipeline.apply('update-fields', command('update-fields', input), { cause: CAUSE }));
    expect(flights()).to.deep.equal(['BEGIN', 'BEGIN']);
    const { rows } = await other.query(
      `SELECT c.meta ->> 'note' AS c, f.meta ->> 'note' AS f FROM service.service_collections c
         JOIN service.service_fields f USING (collection) WHERE field = 'a'`,
    );
    expect(rows).to.deep.equal([{ c: 'a', f: 'b' }]);
    await expectIntact();
  });

  it('stores the response under its key, and returns it again', async () => {
    const idempotency = { key: 'k', requestHash: 'h', render: () => ({ status: 200, headers: [], body: 'kept' }) };
    flights();
    expectDone(await annotate('a', { idempotency }));
    expect(flights()).to.deep.equal(['BEGIN']);
    expect(await annotate('a', { idempotency })).to.include({ kind: 'replayed', body: 'kept' });
    expect((await annotate('b', { idempotency: { ...idempotency, requestHash: 'other' } })).kind).to.equal('refused');
    await expectIntact();
  });

  it('is not tried for changes that lock tables, or for a folder', async () => {
    flights();
    const input = command('create-field', { collection: 'first', body: field('b'), concurrentIndexes: false });
    expectDone(await instance.pipeline.apply('create-field', input, { cause: CAUSE }));
    expect(flights()).to.have.length(3);
    await other.query('CREATE TABLE folder (a int)');
    const folder = command('create-collection', {
      body: { collection: 'folder', schema: null },
      concurrentIndexes: false,
    });
    expect(refusedWith(await instance.pipeline.apply('create-collection', folder, { cause: CAUSE }))).to.equal(
      'ALREADY_EXISTS',
    );
    await expectIntact();
  });

  it('is decided again if another process commits first', async () => {
    await other.query('SELECT pg_advisory_lock($1)', [key]);
    const [theirs, ours] = await (async () => {
      const first = create('second', beside);
      await waiting(1);
      flights();
      const second = create('second');
      await waiting(2);
      await other.query('SELECT pg_advisory_unlock($1)', [key]);
      return Promise.all([first, second]);
    })();
    expectDone(theirs);
    expect(refusedWith(ours)).to.equal('ALREADY_EXISTS');
    expect(flights().slice(0, 3)).to.deep.equal(FAILED);
    expect(expectDone(await create('third')).position).to.equal(3);
    expect(expectDone(await create('fourth')).position).to.equal(4);
    await expectIntact();
  });

  it('is not tried after another process has committed, until a change finds nothing new', async () => {
    expectDone(await create('second', beside));
    flights();
    expectDone(await annotate('a'));
    expect(flights().slice(0, 3)).to.deep.equal(FAILED);
    expectDone(await annotate('b'));
    expect(flights()).to.deep.equal(['BEGIN', 'INSERT']);
    expectDone(await annotate('c'));
    expect(flights()).to.deep.equal(['BEGIN']);
    await expectIntact();
  });

  it('is carried out once for two processes with the same key', async () => {
    const idempotency = { key: 'k', requestHash: 'h', render: () => ({ status: 200, headers: [], body: 'kept' }) };
    await other.query('SELECT pg_advisory_lock($1)', [key]);
    const first = create('second', beside, { idempotency });
    await waiting(1);
    const second = create('second', instance, { idempotency });
    await waiting(2);
    await other.query('SELECT pg_advisory_unlock($1)', [key]);
    expectDone(await first);
    expect((await second).kind).to.equal('replayed');
    await expectIntact();
  });

  it('is evaluated against a policy that this process has not read yet', async () => {
    const policy: Policy = { ...DEFAULT_POLICY, findings: { LOSES_DATA: 'refuse' } };
    const { events } = expectDone(
      await beside.pipeline.apply('update-policy', command('update-policy', { policy }), { cause: CAUSE }),
    );
    // The head is known, and the policy is not.
    await instance.store.atHead(2);
    flights();
    const outcome = expectDone(await create('second'));
    expect(flights().slice(0, 3)).to.deep.equal(FAILED);
    expect(outcome.events[0]?.context).to.deep.equal({ policy: events[0]?.hash });
    await expectIntact();
  });

  it('begins again if a change request now holds tables', async () => {
    const held = `INSERT INTO service.service_changes (id, state, collections, held, opened_position, request)
                  VALUES (gen_random_uuid(), 'running', '{first}', '{first}', 1, '{}')`;
    expectDone(await runBetween(() => annotate('a'), held));
    expect(flights().slice(0, 3)).to.deep.equal(FAILED);
    await expectIntact();
  });

  it('is rejected with LOG_DIVERGED if a divergence was recorded', async () => {
    const noted = `INSERT INTO service.service_divergences (seen_position, seen_hash, found_position, found_hash)
                   VALUES (9, repeat('a', 64), 1, repeat('b', 64))`;
    expect(refusedWith(await runBetween(() => annotate('a'), noted))).to.equal('LOG_DIVERGED');
    expect(flights().slice(0, 2)).to.deep.equal(['BEGIN', 'ROLLBACK']);
    flights();
    expect(refusedWith(await annotate('b'))).to.equal('LOG_DIVERGED');
  });

  it('is rejected with LOG_DIVERGED if the log lost a checkpoint', async () => {
    const lost = `UPDATE service.service_projections SET position = 7, hash = repeat('a', 64) WHERE name = 'metadata'`;
    expect(refusedWith(await runBetween(() => create('second'), lost))).to.equal('LOG_DIVERGED');
    expect((await other.query(`SELECT to_regclass('second') AS there`)).rows).to.deep.equal([{ there: null }]);
  });

  it('is rejected with LOG_DIVERGED if the log lost its last event', async () => {
    expectDone(await create('second'));
    const lost = [
      'ALTER TABLE service.service_events DISABLE TRIGGER ALL',
      'DELETE FROM service.service_events WHERE position = 2',
      'ALTER TABLE service.service_events ENABLE TRIGGER ALL',
      `UPDATE service.service_projections SET position = 1, hash = (SELECT hash FROM service.service_events)`,
    ];
    expect(refusedWith(await runBetween(() => create('third'), ...lost))).to.equal('LOG_DIVERGED');
    expect((await other.query(`SELECT to_regclass('third') AS there`)).rows).to.deep.equal([{ there: null }]);
  });

  it('is rejected if the database was migrated by a newer release', async () => {
    const migrated = `INSERT INTO service.service_migrations (number, name) VALUES (99, 'newer')`;
    const outcome = await runBetween(() => annotate('a'), migrated);
    expect(refusedWith(outcome)).to.equal('UNAVAILABLE');
  });

  it('is rejected if the managed schema was renamed', async () => {
    const outcome = await runBetween(() => annotate('a'), 'ALTER SCHEMA public RENAME TO elsewhere');
    expect(refusedWith(outcome)).to.equal('UNAVAILABLE');
    await other.query('ALTER SCHEMA elsewhere RENAME TO public');
    expectDone(await annotate('a'));
  });

  it('is rejected with the usual error if its table was created by hand', async () => {
    const outcome = await runBetween(() => create('second'), 'CREATE TABLE second (b int)');
    expect(refusedWith(outcome)).to.equal('ALREADY_EXISTS');
    expect(flights().slice(0, 3)).to.deep.equal(FAILED);
    await other.query('SELECT b FROM second');
    await expectIntact();
  });

  it('counts as rejected only if a statement had no result', () => {
    const failed = new ExchangeError(new Error('a value cannot be parsed'), [{ command: 'COMMIT', rows: [] }]);
    expect(() => requireRejected(failed, 2)).not.to.throw();
    expect(() => requireRejected(failed, 1)).to.throw(failed.message);
  });

  describe('whose connection is lost', () => {
    /** Applies the verdict to the first flight only. */
    function interceptOnce(verdict: 'pass and hang up' | 'hang up'): void {
      let met = false;
      proxy.intercept((sent) => {
        if (met || !(sent.includes('batch_') || sent.includes('BEGIN'))) return 'pass';
        met = true;
        return verdict;
      });
    }

    it('is repeated if it never arrived', async () => {
      interceptOnce('hang up');
      expect(expectDone(await create('second')).position).to.equal(2);
      await expectIntact();
    });

    it('is found in the log if it arrived', async () => {
      interceptOnce('pass and hang up');
      expect(expectDone(await create('second')).position).to.equal(2);
      await expectIntact();
    });

    it('changes nothing if it arrives after its change has failed', async () => {
      const writeThrough = proxy.connectionString;
      const impatient = await startInstance(database.connectionString, { writeThrough, lockTimeout: 3_000, max: 1 });
      const update = (note: string) => {
        const input = command('update-collection', { collection: 'first', body: { meta: { note } } });
        return impatient.pipeline.apply('update-collection', input, { cause: CAUSE });
      };
      const count = async () => (await other.query('SELECT FROM service.service_events')).rowCount;
      try {
        expectDone(await update('a'));
        let met = false;
        proxy.intercept((sent) => {
          const isFirst = !met && sent.includes('batch_');
          met ||= isFirst;
          if (isFirst) return 'hang up and pass later';
          return met && sent.includes('READ COMMITTED') ? 'hang up' : 'pass';
        });
        const outcome = await update('b');
        expect(refusedWith(outcome)).to.equal('UNAVAILABLE');
        expect(await count()).to.equal(2);
        proxy.passNow();
        await until('the server has carried it out, or has rejected it', async () => {
          const { rowCount } = await other.query(
            `SELECT FROM pg_stat_activity
              WHERE datname = current_database() AND state = 'idle in transaction (aborted)'`,
          );
          return rowCount === 1 || (await count()) === 3;
        });
        expect(await count()).to.equal(2);
        proxy.intercept(() => 'pass');
        proxy.cut();
        expectDone(await update('b'));
        expect(await count()).to.equal(3);
      } finally {
        await impatient.stop();
      }
    });

    /** The batches of lost flights that must no longer be applied. */
    const ended = async () =>
      (await other.query<{ key: string }>(`SELECT key FROM service.service_idempotency WHERE actor = ''`)).rows;

    it('leaves a row at which it fails, and removes those of the day before', async () => {
      await other.query(
        `INSERT INTO service.service_idempotency (actor, key, request_hash, status, headers, body, position, event_hash, created_at)
         VALUES ('', 'old', '', 0, '{}', 'null', 0, '', now() - interval '25 hours')`,
      );
      interceptOnce('hang up');
      expectDone(await create('second'));
      expect(await ended())
        .to.have.length(1)
        .and.not.deep.include({ key: 'old' });
    });

    it('leaves no row if a newer release has migrated the database', async () => {
      interceptOnce('pass and hang up');
      const migrated = `INSERT INTO service.service_migrations (number, name) VALUES (99, 'newer')`;
      expect(refusedWith(await runBetween(() => create('second'), migrated))).to.equal('UNAVAILABLE');
      expect(await ended()).to.deep.equal([]);
    });

    it('is rejected with "Nothing was changed" if it was not sent, and no server can be reached', async () => {
      const cut = await startInstance(proxy.connectionString, { lockTimeout: 3_000, max: 1 });
      try {
        expectDone(await create('second', cut));
        proxy.answer('refused');
        cut.pool.on('acquire', (client) => client.connection.stream.destroy());
        const outcome = await create('third', cut);
        expect(outcome).to.have.nested.property('problems[0].message').that.includes('Nothing was changed');
      } finally {
        await cut.stop();
      }
    });

    it('is carried out once while it waits for the log lock', async () => {
      await other.query('SELECT pg_advisory_lock($1)', [key]);
      interceptOnce('pass and hang up');
      const changing = create('second');
      await waiting(1);
      await other.query('SELECT pg_advisory_unlock($1)', [key]);
      expect(expectDone(await changing).position).to.equal(2);
      expect(expectDone(await create('third')).position).to.equal(3);
      await expectIntact();
    });
  });
});
