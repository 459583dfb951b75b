import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Client, type Reply, clientOf, json } from '../support/client.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { type Proxy, startProxy } from '../support/proxy.js';
import { type ResponsiveClock, startResponsiveClock } from '../support/responsive-clock.js';
import { type TestService, startService } from '../support/service.js';

/** Milliseconds: the default LOCK_TIMEOUT, and two seconds for what follows it. */
const LOCK_TIMEOUT = 10_000;
const AT_MOST = LOCK_TIMEOUT + 2_000;

describe('a write waits for at most LOCK_TIMEOUT in total', () => {
  let database: TestDatabase;
  let proxy: Proxy;
  let service: TestService;
  let client: Client;
  let other: pg.Client;
  let clock: ResponsiveClock;

  beforeEach(async () => {
    database = await createDatabase('migrated');
    proxy = await startProxy(database.connectionString);
    service = await startService({ DATABASE_URL: proxy.connectionString });
    client = clientOf(service);
    other = new pg.Client(database.connectionString);
    await other.connect();
    clock = await startResponsiveClock(database.connectionString);
    const body = { collection: 'locked', schema: {} };
    expect((await client('/collections', json(body))).status).to.equal(200);
  });
  afterEach(async () => {
    await clock.stop();
    await other.end();
    proxy.answer('through');
    proxy.cut();
    await service.stop();
    await proxy.close();
    await database.drop();
  });

  const lock = () => other.query('BEGIN; LOCK TABLE locked IN ACCESS EXCLUSIVE MODE');

  async function timeRejection(pending: Promise<Reply>): Promise<number> {
    const [{ status, text }, milliseconds] = await clock.timed(pending);
    expect(status, text).to.equal(503);
    return milliseconds;
  }

  /**
   * Sends the requests one after the other, at intervals.
   * @returns how long each waited
   */
  async function writers(): Promise<number[]> {
    const requests: Promise<number>[] = [];
    for (let number = 0; number < 6; number += 1) {
      requests.push(timeRejection(client('/fields/locked', json({ field: `f${number}`, type: 'string' }))));
      await sleep(700);
    }
    return Promise.all(requests);
  }

  it('counts the waits for silent connections and a locked table', async () => {
    await lock();
    proxy.fallSilent();
    expect(Math.max(...(await writers()))).to.be.below(AT_MOST);
  });

  it('counts the waits for a lost COMMIT, lost responses and a locked table', async () => {
    await lock();
    let met = 0;
    proxy.intercept((sent) => {
      if (!sent.includes('lost_commit')) return 'pass';
      met += 1;
      proxy.answer('never');
      return 'pass and fall silent';
    });
    const lost = timeRejection(client('/collections', json({ collection: 'lost_commit', schema: {} })));
    const waited = await writers();
    expect(met).to.be.above(0);
    expect(Math.max(await lost, ...waited)).to.be.below(AT_MOST);
  });

  it('counts the wait for a database that no longer responds', async () => {
    proxy.fallSilent();
    proxy.answer('never');
    expect(Math.max(...(await writers()))).to.be.below(AT_MOST);
  });

  it('counts the wait for a connection that goes silent while it waits for the table', async () => {
    await lock();
    const writing = timeRejection(client('/fields/locked', json({ field: 'b', type: 'string' })));
    await sleep(LOCK_TIMEOUT - 2_000);
    proxy.fallSilent();
    expect(await writing).to.be.below(AT_MOST);
  });
});
