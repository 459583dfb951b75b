import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Outcome } from '../../src/pipeline/index.js';
import { logChannel } from '../../src/postgres/locked-session.js';
import { type Proxy, startProxy } from '../support/proxy.js';
import { type ResponsiveClock, startResponsiveClock } from '../support/responsive-clock.js';
import { INSTALL_PGBOUNCER, type Pgbouncer, pgbouncerProgram, startPgbouncer } from '../support/pgbouncer.js';
import { until } from '../support/until.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
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

/** Milliseconds until a silent connection is detected and closed. */
const NOTICED = 20_000;

for (const path of ['the server', 'a pooler'] as const)
  describe(`a connection to ${path} that goes silent`, () => {
    const pooled = path === 'a pooler';
    let pgbouncer: Pgbouncer | undefined;
    let database: TestDatabase;
    let proxy: Proxy;
    let instance: Instance;
    /** Another process without the proxy. */
    let beside: Instance;
    let other: pg.Client;
    let clock: ResponsiveClock;
    let warnings: string[];

    before(function () {
      if (!pooled || pgbouncerProgram() !== null) return;
      console.log(`      ${INSTALL_PGBOUNCER}`);
      this.skip();
    });

    beforeEach(async () => {
      database = await createDatabase('migrated');
      if (pooled) pgbouncer = await startPgbouncer(database.connectionString);
      proxy = await startProxy(pgbouncer?.through(database.connectionString) ?? database.connectionString);
      warnings = [];
      instance = await startInstance(database.connectionString, {
        lockTimeout: 15_000,
        writeThrough: proxy.connectionString,
        pooled,
        logger: { ...silent, warn: (message: string) => void warnings.push(message) },
      });
      beside = await startInstance(database.connectionString, { lockTimeout: 15_000 });
      other = new pg.Client(database.connectionString);
      await other.connect();
      clock = await startResponsiveClock(database.connectionString);
      expectDone(await create('first'));
    });

    afterEach(async () => {
      proxy.intercept(() => 'pass');
      proxy.answer('through');
      proxy.cut();
      await clock.stop();
      await instance.stop();
      await beside.stop();
      await other.end();
      await proxy.close();
      await pgbouncer?.stop();
      await database.drop();
    });

    const create = (name: string, by: Instance = instance): Promise<Outcome> =>
      by.pipeline.apply('create-collection', table(name, [field('a')]), { cause: CAUSE });

    /** A change that takes several flights. */
    const addField = (name: string): Promise<Outcome> => {
      const input = { collection: 'first', body: field(name), concurrentIndexes: false };
      return instance.pipeline.apply('create-field', command('create-field', input), { cause: CAUSE });
    };

    const messageOf = (outcome: Outcome): string =>
      (outcome.kind === 'refused' && outcome.problems[0]?.message) || outcome.kind;

    const isCommit = (sent: Buffer): boolean => sent.includes(logChannel('public'));

    /** Once. */
    function interceptOnce(matches: (sent: Buffer) => boolean, verdict: 'pass and fall silent' | 'fall silent'): void {
      let met = false;
      proxy.intercept((sent) => {
        if (met || !matches(sent)) return 'pass';
        met = true;
        return verdict;
      });
    }

    it('returns the right response after its COMMIT, and others can write', async () => {
      interceptOnce(isCommit, 'pass and fall silent');
      const writing = clock.timed(create('second'));
      await until(
        'it is committed',
        async () => (await other.query('SELECT FROM service.service_events')).rowCount === 2,
      );
      const [third, waited] = await clock.timed(create('third', beside));
      expectDone(third);
      expect(waited).to.be.below(5_000);
      const [outcome, took] = await writing;
      expect(expectDone(outcome).position).to.equal(2);
      expect(took).to.be.below(NOTICED);
      const [next, tookNext] = await clock.timed(create('fourth'));
      expect(expectDone(next).position).to.equal(4);
      expect(tookNext).to.be.below(5_000);
      expect(warnings).to.include('closing a database connection that has gone silent');
    });

    it('writes nothing before its COMMIT, frees the lock soon, and the message is true', async () => {
      interceptOnce(isCommit, 'fall silent');
      const writing = clock.timed(addField('b'));
      await sleep(500);
      const [third, waited] = await clock.timed(create('third', beside));
      expectDone(third);
      expect(waited).to.be.below(NOTICED);
      const [outcome, took] = await writing;
      expect(refusedWith(outcome)).to.equal('UNAVAILABLE');
      expect(messageOf(outcome)).to.include('Nothing was changed').and.not.include('lock');
      expect(took).to.be.below(NOTICED + 3_000);
      expectDone(await addField('b'));
      // A terminated session releases its locks just before it disappears from the list.
      await until('no session is left in a transaction', async () => {
        const { rowCount } = await other.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'`,
        );
        return rowCount === 0;
      });
    });

    it(`leads to ${pooled ? 'a failure in time' : 'another connection for the change'} before the change begins`, async () => {
      interceptOnce((sent) => sent.includes('BEGIN') || sent.includes('batch_'), 'fall silent');
      const [outcome, took] = await clock.timed(create('second'));
      // The request may also wait for a pooler connection and time out.
      if (pooled) expect(refusedWith(outcome)).to.equal('UNAVAILABLE');
      else expectDone(outcome);
      expect(took).to.be.below(pooled ? 18_000 : NOTICED);
      expectDone(await create('third'));
    });

    it('is replaced during its DDL by another connection, which applies the change once', async () => {
      interceptOnce((sent) => sent.includes('CREATE TABLE'), 'pass and fall silent');
      const [outcome, took] = await clock.timed(create('second'));
      expectDone(outcome);
      expect(took).to.be.below(NOTICED + 1_000);
      const [next, waited] = await clock.timed(create('third'));
      expectDone(next);
      expect(waited).to.be.below(5_000);
    });

    const UNKNOWN = [
      { whether: 'arrived', how: 'pass and fall silent', there: ['first', 'second', 'third'] },
      { whether: 'never arrived', how: 'fall silent', there: ['first', 'third'] },
    ] as const;
    for (const { whether, how: mode, there } of pooled ? [] : UNKNOWN)
      it(`leaves the outcome unknown if a COMMIT ${whether} and cannot be checked, and the next change checks it first`, async () => {
        proxy.intercept((sent) => {
          if (!isCommit(sent)) return 'pass';
          proxy.answer('never');
          return mode;
        });
        const outcome = await create('second');
        expect(refusedWith(outcome)).to.equal('UNAVAILABLE');
        expect(messageOf(outcome)).to.include('is not known').and.not.include('Nothing was changed');
        expect(refusedWith(await create('third'))).to.equal('UNAVAILABLE');
        proxy.intercept(() => 'pass');
        proxy.answer('through');
        expect(expectDone(await create('third')).position).to.equal(there.length);
        expect(warnings).to.include('the outcome of an earlier commit is now known');
        expect([...instance.store.current().collections.keys()]).to.have.members([...there]);
      });

    it('is not confused with a slow server or a busy process', async () => {
      const outcome = await instance.pipeline.underLock(async (client) => {
        await client.query('SELECT pg_sleep(7)');
        await sleep(7_000);
        return (await client.query<{ two: number }>('SELECT 2 AS two')).rows[0]?.two;
      });
      expect(outcome).to.equal(2);
      expect(warnings).to.deep.equal([]);
    });
  });
