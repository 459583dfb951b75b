import { expect } from 'chai';
import pg from 'pg';
import { verifyChain } from '../../src/log/verification.js';
import type { Outcome } from '../../src/pipeline/index.js';
import { advisoryKey, logChannel } from '../../src/postgres/locked-session.js';
import { readDatabase } from '../../src/postgres/server.js';
import { type Proxy, startProxy } from '../support/proxy.js';
import { until } from '../support/until.js';
import { type TestDatabase, asSuperuser, createDatabase, superuserUrl } from '../support/postgres.js';
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

describe('the pipeline under failures', () => {
  let database: TestDatabase;
  let proxy: Proxy;
  /** Writes through the proxy. */
  let instance: Instance;
  /** Another session in the same database. */
  let other: pg.Client;

  beforeEach(async () => {
    database = await createDatabase('migrated');
    proxy = await startProxy(database.connectionString);
    instance = await startInstance(database.connectionString, {
      // Long enough on a busy machine for the changes that must succeed, and for the check after a lost COMMIT.
      lockTimeout: 5_000,
      writeThrough: proxy.connectionString,
    });
    other = new pg.Client(database.connectionString);
    await other.connect();
    await create('first');
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

  const newField = (collection: string, name: string, type = 'string') =>
    command('create-field', { collection, body: field(name, type), concurrentIndexes: false });

  const addField = (collection: string, name: string, type?: string): Promise<Outcome> =>
    instance.pipeline.apply('create-field', newField(collection, name, type), { cause: CAUSE });

  const exists = async (name: string): Promise<boolean> =>
    (await other.query('SELECT FROM pg_tables WHERE tablename = $1', [name])).rowCount === 1;

  /** Log, tables and state contain these collections, and the next command works. */
  async function expectWhole(...names: string[]): Promise<void> {
    expect((await verifyChain(instance.pool)).ok).to.equal(true);
    const { rows } = await other.query<{ collection: string }>('SELECT collection FROM service.service_collections');
    expect(rows.map((row) => row.collection)).to.have.members(names);
    for (const name of names) expect(await exists(name)).to.equal(true);
    expectDone(await create('next'));
    expect([...instance.store.current().collections.keys()]).to.have.members([...names, 'next']);
  }

  /** Not on the connection `other`: inside a transaction, pg_stat_activity does not change. */
  const waiting = (): Promise<void> =>
    until('a backend waits for a lock', async () => {
      const { rowCount } = await instance.pool.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return (rowCount ?? 0) > 0;
    });

  /** Ends the process that waits for a table, and returns when it has ended. */
  async function terminateWaiting(): Promise<void> {
    const waits = `FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'relation'`;
    let pids: number[] = [];
    await until('a process waits for a table', async () => {
      const { rows } = await instance.pool.query<{ pid: number }>(`SELECT pid ${waits}`);
      pids = rows.map(({ pid }) => pid);
      return pids.length === 1;
    });
    await instance.pool.query('SELECT pg_terminate_backend($1)', pids);
    await until('the process has ended', async () => {
      return (await instance.pool.query('SELECT FROM pg_stat_activity WHERE pid = $1', pids)).rowCount === 0;
    });
  }

  const logKey = async (): Promise<string> =>
    advisoryKey({ database: (await readDatabase(instance.pool)).database, schema: 'public' }, 'log');

  it("times out on the log's lock with LOCK_TIMEOUT", async () => {
    const key = await logKey();
    await other.query('SELECT pg_advisory_lock($1)', [key]);
    const started = Date.now();
    expect(refusedWith(await create('second'))).to.equal('LOCK_TIMEOUT');
    expect(Date.now() - started).to.be.at.least(250);
    await other.query('SELECT pg_advisory_unlock($1)', [key]);
    await expectWhole('first');
  });

  it('times out behind another command of this process with LOCK_TIMEOUT', async () => {
    const key = await logKey();
    await other.query('SELECT pg_advisory_lock($1)', [key]);
    const outcomes = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(create));
    expect(new Set(outcomes.map(refusedWith))).to.deep.equal(new Set(['LOCK_TIMEOUT']));
    await other.query('SELECT pg_advisory_unlock($1)', [key]);
    await expectWhole('first');
  });

  it('times out on a table that a long transaction has locked with LOCK_TIMEOUT', async () => {
    await other.query('BEGIN; LOCK TABLE first IN ROW EXCLUSIVE MODE');
    expect(refusedWith(await addField('first', 'b'))).to.equal('LOCK_TIMEOUT');
    // Statements that do not need the table are not blocked.
    expectDone(await create('second'));
    await other.query('COMMIT');
    expectDone(await addField('first', 'b'));
    await expectWhole('first', 'second');
  });

  it('cancels a slow statement with LOCK_TIMEOUT', async () => {
    const hurried = await startInstance(database.connectionString, { statementTimeout: 100 });
    await other.query('BEGIN; LOCK TABLE first IN ROW EXCLUSIVE MODE');
    const input = newField('first', 'b');
    expect(refusedWith(await hurried.pipeline.apply('create-field', input, { cause: CAUSE }))).to.equal('LOCK_TIMEOUT');
    await other.query('COMMIT');
    await hurried.stop();
    await expectWhole('first');
  });

  it('repeats a transaction after a deadlock', async () => {
    const received: string[] = [];
    const logger = { ...silent, info: (message: string) => void received.push(message) };
    expectDone(await create('second'));
    expectDone(await addField('second', 'first_id', 'integer'));
    // PostgreSQL cancels the session that detects the deadlock. A session checks once, after this time, so the deadlock
    // must have formed by then.
    await asSuperuser(
      database.connectionString,
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = ''4s''', current_database()); END $$`,
    );
    const patient = await startInstance(database.connectionString, { lockTimeout: 20_000, lockWait: 10_000, logger });
    const holder = new pg.Client(await superuserUrl(database.connectionString));
    await holder.connect();
    // The foreign key needs both tables.
    await holder.query(`SET deadlock_timeout = '1min'`);
    await holder.query('BEGIN; LOCK TABLE first IN ROW EXCLUSIVE MODE');
    const relation = command('create-relation', {
      body: { many_collection: 'second', many_field: 'first_id', one_collection: 'first', schema: {} },
    });
    const running = patient.pipeline.apply('create-relation', relation, { cause: CAUSE });
    await waiting();
    await holder.query('LOCK TABLE second IN ROW EXCLUSIVE MODE');
    await holder.query('COMMIT');
    await holder.end();
    const { events } = expectDone(await running);
    expect(events.map((event) => event.type)).to.deep.equal(['relation.created']);
    expect(received).to.include('a change is waiting for a lock');
    await patient.stop();
    await expectWhole('first', 'second');
  });

  it('repeats a transaction after its backend was terminated', async () => {
    // It waits for the table long enough for the test to see it, even on a busy machine.
    const patient = await startInstance(database.connectionString, { lockTimeout: 20_000, lockWait: 10_000 });
    await other.query('BEGIN; LOCK TABLE first IN ROW EXCLUSIVE MODE');
    const input = newField('first', 'b');
    const running = patient.pipeline.apply('create-field', input, { cause: CAUSE });
    await terminateWaiting();
    await other.query('COMMIT');
    expect(expectDone(await running).events).to.have.length(1);
    await patient.stop();
    await expectWhole('first');
  });

  it('uses another connection if the one from the pool is dead', async () => {
    await other.query(
      `SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
    );
    expectDone(await create('second'));
    await expectWhole('first', 'second');
  });

  it('returns UNAVAILABLE while the database is unavailable', async () => {
    proxy.answer('refused');
    proxy.cut();
    expect(refusedWith(await create('second'))).to.equal('UNAVAILABLE');
    const error = await instance.pipeline.underLock(() => Promise.resolve()).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('name', 'ProblemError');
    proxy.answer('through');
    await expectWhole('first');
  });

  it('waits for an unavailable database as long as for a lock, and logs it once', async () => {
    const received: [string, unknown][] = [];
    const logger = { ...silent, info: (...each: [string, unknown]) => void received.push(each) };
    const writeThrough = proxy.connectionString;
    const patient = await startInstance(database.connectionString, { lockTimeout: 20_000, writeThrough, logger });
    proxy.answer('refused');
    proxy.cut();
    const running = patient.pipeline.apply('create-collection', table('second', [field('a')]), { cause: CAUSE });
    const isTold = () => received.some(([message]) => message === 'a change is waiting for the database');
    await until('it waits', isTold);
    const before = proxy.connections();
    await until('it was tried again', () => proxy.connections() > before);
    proxy.answer('through');
    expectDone(await running);
    expect(received.filter(([message]) => message === 'a change is waiting for the database')).to.have.length(1);
    await patient.stop();
    await expectWhole('first', 'second');
  });

  describe('during the commit', () => {
    /** The last batch of a command: the notification and the COMMIT. */
    const isCommit = (sent: Buffer): boolean => sent.includes(logChannel('public'));

    const CHANGES = [
      { flights: 'one flight', change: () => create('second'), whole: ['first', 'second'] },
      { flights: 'several flights', change: () => addField('first', 'b'), whole: ['first'] },
    ];
    for (const { flights, change, whole: full } of CHANGES) {
      it(`finds that ${flights} was committed, and responds normally`, async () => {
        proxy.intercept((sent) => (isCommit(sent) ? 'pass and hang up' : 'pass'));
        const outcome = expectDone(await change());
        expect(outcome.position).to.equal(2);
        expect(instance.store.current().position).to.equal(2);
        proxy.intercept(() => 'pass');
        await expectWhole(...full);
      });

      it(`finds that ${flights} was not committed, and returns UNAVAILABLE without changes`, async () => {
        proxy.intercept((sent) => (isCommit(sent) ? 'hang up' : 'pass'));
        const outcome = await change();
        expect(refusedWith(outcome)).to.equal('UNAVAILABLE');
        expect(outcome.kind === 'refused' && outcome.problems[0]?.message).to.include('Nothing was changed');
        proxy.intercept(() => 'pass');
        await expectWhole('first');
      });
    }

    it('reports an unknown outcome, and the same key makes a retry safe', async () => {
      proxy.intercept((sent) => {
        if (!isCommit(sent)) return 'pass';
        proxy.answer('refused');
        return 'pass and hang up';
      });
      const idempotency = {
        key: 'k',
        requestHash: 'h',
        render: () => ({ status: 200, headers: [], body: 'first answer' }),
      };
      const input = table('second');
      const outcome = await instance.pipeline.apply('create-collection', input, { cause: CAUSE, idempotency });
      expect(refusedWith(outcome)).to.equal('UNAVAILABLE');
      const message = (outcome.kind === 'refused' && outcome.problems[0]?.message) || '';
      expect(message).to.include('is not known').and.include('Idempotency-Key');
      proxy.intercept(() => 'pass');
      proxy.answer('through');
      const again = await instance.pipeline.apply('create-collection', input, { cause: CAUSE, idempotency });
      expect(again).to.deep.equal({ kind: 'replayed', status: 200, headers: [], body: 'first answer' });
      await expectWhole('first', 'second');
    });
  });
});
