import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { verifyChain } from '../../src/log/verification.js';
import type { Outcome } from '../../src/pipeline/index.js';
import { HOLDERS, conflictsOf } from '../../src/projector/ddl/table-locks.js';
import { rebuildTables } from '../../src/features/projections/index.js';
import { type ResponsiveClock, startResponsiveClock } from '../support/responsive-clock.js';
import { until } from '../support/until.js';
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

/** Milliseconds of one attempt. */
const LOCK_WAIT = 200;

/** Milliseconds for the rest of a change. */
const SLACK = 1_300;

describe('a change during application transactions', () => {
  let database: TestDatabase;
  let one: Instance;
  /** Another process on the same database. */
  let two: Instance;
  let application: pg.Client;
  let another: pg.Client;
  let clock: ResponsiveClock;

  const connected = async (name: string): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: database.connectionString, application_name: name });
    await client.connect();
    return client;
  };

  beforeEach(async () => {
    database = await createDatabase('migrated');
    const options = { lockTimeout: 50_000, lockWait: LOCK_WAIT };
    [one, two] = [
      await startInstance(database.connectionString, options),
      await startInstance(database.connectionString, options),
    ];
    application = await connected('shop');
    another = await connected('reports');
    clock = await startResponsiveClock(database.connectionString);
    for (const name of ['a', 'b', 'c']) {
      expectDone(await one.pipeline.apply('create-collection', table(name, [field('t')]), { cause: CAUSE }));
    }
  });

  afterEach(async () => {
    await clock.stop();
    await application.end();
    await another.end();
    await one.stop();
    await two.stop();
    await database.drop();
  });

  const update = (collection: string, schema: object) =>
    command('update-fields', { collection, field: 't', body: { schema }, concurrentIndexes: false });

  const tighten = (instance: Instance, collection: string): Promise<Outcome> =>
    instance.pipeline.apply('update-fields', update(collection, { is_nullable: false }), { cause: CAUSE });

  const logLockHeld = async (): Promise<boolean> =>
    (
      await another.query(
        `SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      )
    ).rowCount !== 0;

  /** Waits until a change has met the open transaction at least once. */
  const met = () => until('a change has met it', async () => !(await logLockHeld()));

  it('blocks no plan, because a plan takes neither a lock nor a turn of the process', async () => {
    const work: { end?: (value: null) => void } = {};
    const held = one.pipeline.underLock(() => new Promise<null>((resolve) => (work.end = resolve)));
    // PostgreSQL grants the lock before the work begins.
    await until('the work under the lock has begun', async () => (await logLockHeld()) && work.end !== undefined);
    // The lock is released only after the plan.
    const plan = await one.pipeline.plan('update-fields', update('a', { is_nullable: false }), { cause: CAUSE });
    expect(plan.kind).to.equal('planned');
    work.end?.(null);
    await held;
  });

  it('waits for a table without blocking other sessions', async () => {
    await application.query('BEGIN; SELECT count(*) FROM a');
    let over = false;
    const waiting = tighten(one, 'a').finally(() => (over = true));
    await sleep(LOCK_WAIT / 2);
    const longest = { change: 0, select: 0 };
    for (let round = 0; round < 10; round += 1) {
      for (const instance of [one, two]) {
        const [outcome, took] = await clock.timed(
          instance.pipeline.apply('update-fields', update('b', { comment: `${round}` }), { cause: CAUSE }),
        );
        expectDone(outcome);
        expectDone(
          await instance.pipeline.apply('update-fields', update('b', { comment: `again ${round}` }), {
            cause: CAUSE,
          }),
        );
        longest.change = Math.max(longest.change, took);
      }
      const [, read] = await clock.timed(another.query('SELECT count(*) FROM a'));
      longest.select = Math.max(longest.select, read);
      expect(over).to.equal(false);
    }
    expect(longest.change).to.be.below(LOCK_WAIT + SLACK);
    expect(longest.select).to.be.below(LOCK_WAIT + SLACK);
    await application.query('COMMIT');
    const [outcome, took] = await clock.timed(waiting);
    expectDone(outcome);
    expect(took).to.be.below(400 + SLACK);
    expect((await verifyChain(one.pool)).ok).to.equal(true);
  });

  it("takes the log's lock once per blocking transaction, however long that lasts", async () => {
    const received: string[] = [];
    const logger = { ...silent, info: (message: string) => void received.push(message) };
    const patient = await startInstance(database.connectionString, {
      lockTimeout: 50_000,
      lockWait: LOCK_WAIT,
      logger,
    });
    await application.query('BEGIN; SELECT count(*) FROM a');
    const waiting = tighten(patient, 'a');
    await until('it has met that transaction', () => received.includes('a change is waiting for a lock'));
    // It checks for that transaction without taking a lock.
    for (let look = 0; look < 20; look += 1) {
      expect(await logLockHeld()).to.equal(false);
      await sleep(20);
    }
    await application.query('COMMIT');
    expectDone(await waiting);
    await patient.stop();
  });

  it('names the blocking application, but not its statements', async () => {
    const hurried = await startInstance(database.connectionString, { lockTimeout: 3_000, lockWait: 100 });
    await application.query(`BEGIN; SELECT count(*), 'secret' FROM a`);
    const pid = (await application.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
    const outcome = await tighten(hurried, 'a');
    expect(refusedWith(outcome)).to.equal('LOCK_TIMEOUT');
    const [problem] = outcome.kind === 'refused' ? outcome.problems : [];
    expect(problem?.message)
      .to.include('"a"')
      .and.include('"shop"')
      .and.include(String(pid))
      .and.include('Nothing was');
    expect(problem?.collection).to.equal('a');
    const blockers = problem?.details?.['blocked_by'] as Record<string, unknown>[];
    expect(blockers).to.have.length(1);
    expect(blockers[0]).to.include({ pid, application_name: 'shop', collection: 'a' });
    expect(blockers[0]?.['age_seconds']).to.be.at.least(0);
    expect(JSON.stringify(problem)).not.to.include('secret');
    await application.query('COMMIT');
    await hurried.stop();
  });

  it("finds the holder of a partition's lock without waiting for it", async () => {
    await application.query(`CREATE TABLE split (id integer) PARTITION BY RANGE (id);
      CREATE TABLE split_1 PARTITION OF split FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (id);
      CREATE TABLE split_1_1 PARTITION OF split_1 FOR VALUES FROM (0) TO (5)`);
    await application.query('BEGIN; LOCK TABLE split_1_1 IN ACCESS EXCLUSIVE MODE');
    const { rows } = await one.pool.query(
      HOLDERS,
      conflictsOf('public', [{ table: 'split', lock: 'ACCESS EXCLUSIVE' }]),
    );
    expect(rows).to.have.length(1);
    expect(rows[0]).to.include({ application: 'shop', table: 'split' });
    await application.query('COMMIT');
  });

  it('decides again after each pause', async () => {
    await application.query('BEGIN; SELECT count(*) FROM a');
    const waiting = tighten(one, 'a');
    await sleep(LOCK_WAIT);
    await met();
    const gone = command('delete-field', { collection: 'a', field: 't' });
    const other = two.pipeline.apply('delete-field', gone, { cause: CAUSE });
    await application.query('COMMIT');
    const outcomes = [await waiting, await other];
    // Both orders are valid. A missing object cannot be changed.
    if (outcomes[0]?.kind === 'refused') expect(refusedWith(outcomes[0])).to.equal('NOT_FOUND');
    expectDone(outcomes[1] as Outcome);
  });

  it('requests all locks before it uses one', async () => {
    const hurried = await startInstance(database.connectionString, { lockTimeout: 3_000, lockWait: 100 });
    const relation = command('create-relation', {
      body: { many_collection: 'a', many_field: 'c_id', one_collection: 'c', schema: {} },
    });
    const body = field('c_id', 'integer');
    expectDone(
      await one.pipeline.apply(
        'create-field',
        command('create-field', { collection: 'a', body, concurrentIndexes: false }),
        { cause: CAUSE },
      ),
    );
    expectDone(await one.pipeline.apply('create-relation', relation, { cause: CAUSE }));
    await application.query('BEGIN; SELECT FROM c');
    // Deleting it also drops a foreign key of a, so it needs both tables, and c is locked.
    const outcome = await hurried.pipeline.apply(
      'delete-collection',
      command('delete-collection', { collection: 'a' }),
      { cause: CAUSE },
    );
    expect(refusedWith(outcome)).to.equal('LOCK_TIMEOUT');
    expect(outcome.kind === 'refused' && outcome.problems[0]?.collection).to.equal('c');
    await application.query('COMMIT');
    expectDone(
      await hurried.pipeline.apply('delete-collection', command('delete-collection', { collection: 'a' }), {
        cause: CAUSE,
      }),
    );
    await hurried.stop();
  });

  it('behaves the same in a dry run', async () => {
    await application.query('BEGIN; SELECT count(*) FROM a');
    const input = update('a', { is_nullable: false });
    const waiting = one.pipeline.dryRun('update-fields', input, { cause: CAUSE });
    await sleep(LOCK_WAIT);
    expectDone(await two.pipeline.apply('update-fields', update('b', { comment: 'b' }), { cause: CAUSE }));
    await application.query('COMMIT');
    expect(await waiting).to.include({ kind: 'planned', accepted: true });
  });

  it('rebuilds tables the same way, completely or not at all', async () => {
    await application.query('ALTER TABLE a DROP COLUMN t; ALTER TABLE b DROP COLUMN t; BEGIN; SELECT count(*) FROM b');
    const waiting = rebuildTables(one.pipeline, 'public');
    await sleep(LOCK_WAIT);
    expectDone(await two.pipeline.apply('update-fields', update('c', { comment: 'c' }), { cause: CAUSE }));
    await application.query('COMMIT');
    const { left, differences } = await waiting;
    expect([left, differences]).to.deep.equal([[], []]);
  });

  it('is abandoned when its client disconnects while it waits', async () => {
    await application.query('BEGIN; SELECT count(*) FROM a');
    let gone = false;
    const input = update('a', { is_nullable: false });
    const waiting = one.pipeline.apply('update-fields', input, { cause: CAUSE, abandoned: () => gone });
    await sleep(LOCK_WAIT);
    gone = true;
    expect(refusedWith(await waiting)).to.equal('UNAVAILABLE');
    await application.query('COMMIT');
    expect(one.store.current().position).to.equal(3);
  });

  it('happens once for two concurrent requests with the same key', async () => {
    await application.query('BEGIN; SELECT count(*) FROM a');
    const idempotency = { key: 'k', requestHash: 'h', render: () => ({ status: 200, headers: [], body: 'first' }) };
    const input = update('a', { is_nullable: false });
    const both = [one, two].map((each) => each.pipeline.apply('update-fields', input, { cause: CAUSE, idempotency }));
    await sleep(LOCK_WAIT * 2);
    await application.query('COMMIT');
    const kinds = (await Promise.all(both)).map(({ kind }) => kind);
    expect(kinds).to.have.members(['done', 'replayed']);
  });
});

describe('a change to a table that is vacuumed automatically', () => {
  // Its own server, because a server has one interval for all of its databases.
  let cluster: Cluster;
  let instance: Instance;
  let application: pg.Client;
  let clock: ResponsiveClock;

  before(async () => {
    cluster = await startCluster({ settings: ['autovacuum=on', 'autovacuum_naptime=1s'] });
    await cluster.primary.sql('grant pg_read_all_stats to dps_owner');
    const { connectionString } = cluster.primary;
    instance = await startInstance(connectionString, { lockTimeout: 50_000, lockWait: LOCK_WAIT });
    application = new pg.Client({ connectionString });
    await application.connect();
    clock = await startResponsiveClock(connectionString);
    expectDone(await instance.pipeline.apply('create-collection', table('a', [field('t')]), { cause: CAUSE }));
  });
  after(async () => {
    await clock?.stop();
    await application?.end();
    await instance?.stop();
    await cluster?.stop();
  });

  it('gets the table, because the autovacuum cancels itself for a long waiter', async () => {
    await application.query(`ALTER TABLE a SET (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0,
      autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1)`);
    await application.query(`INSERT INTO a (t) SELECT repeat('x', 200) FROM generate_series(1, 50000) i`);
    await application.query('DELETE FROM a');
    const running = `SELECT FROM pg_stat_progress_vacuum WHERE relid = 'a'::regclass`;
    await until('it is vacuumed', async () => (await application.query(running)).rowCount === 1);
    let ended = false;
    let longest = 0;
    const reading = (async () => {
      while (!ended) {
        const [, waited] = await clock.timed(application.query('SELECT count(*) FROM (SELECT FROM a LIMIT 1) x'));
        longest = Math.max(longest, waited);
      }
    })();
    const input = command('update-fields', {
      collection: 'a',
      field: 't',
      body: { schema: { is_nullable: false } },
      concurrentIndexes: false,
    });
    const [outcome, took] = await clock.timed(instance.pipeline.apply('update-fields', input, { cause: CAUSE }));
    ended = true;
    await reading;
    expectDone(outcome);
    expect(took).to.be.below(4_000 + SLACK);
    // Below deadlock_timeout: the wait happens behind a lock that blocks no reader.
    expect(longest).to.be.below(900);
  });
});
