import { expect } from 'chai';
import pg from 'pg';
import { type Listener, type ListenerOptions, createListener } from '../../src/follow-log.js';
import { logChannel } from '../../src/postgres/locked-session.js';
import { silent } from '../support/instance.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { type Proxy, startProxy } from '../support/proxy.js';
import { until } from '../support/until.js';

describe('the listener', () => {
  let database: TestDatabase;
  let proxy: Proxy;
  let sender: pg.Client;
  let listener: Listener;
  let heard: number[];
  let connects: number;

  beforeEach(async () => {
    database = await createDatabase();
    proxy = await startProxy(database.connectionString);
    sender = new pg.Client(database.connectionString);
    await sender.connect();
    heard = [];
    connects = 0;
  });

  afterEach(async () => {
    await listener.close();
    await sender.end();
    await proxy.close();
    await database.drop();
  });

  function listen(more: Partial<ListenerOptions> = {}): void {
    listener = createListener({
      connectionString: proxy.connectionString,
      schema: 'public',
      serviceSchema: 'service',
      logger: silent,
      onHead: (position) => heard.push(position),
      onConnect: () => {
        connects += 1;
      },
      heartbeat: { every: 60_000, timeout: 60_000 },
      backoff: () => 20,
      ...more,
    });
    listener.start();
  }

  const notify = (payload: string, schema = 'public') =>
    sender.query('SELECT pg_notify($1, $2)', [logChannel(schema), payload]);

  const hears = async (position: number): Promise<void> => {
    await notify(String(position));
    await until(`${position} is heard`, () => heard.includes(position));
  };

  it('receives positions of its schema, and nothing else', async () => {
    listen();
    await until('connected', listener.connected);
    await notify('1', 'other');
    for (const payload of ['', '{', 'null', '-1', '1.5', '1e400', '{"__proto__":1}', ' ', 'x'.repeat(7_000)]) {
      await notify(payload);
    }
    await hears(2);
    expect(heard).to.deep.equal([2]);
    expect(connects).to.equal(1);
    expect(proxy.connections()).to.equal(1);
  });

  it('keeps one connection while heartbeats arrive', async () => {
    listen({ heartbeat: { every: 5, timeout: 5_000 } });
    await until('connected', listener.connected);
    const { rows } = await sender.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE application_name = 'data-platform-service listener' AND datname = current_database()`,
    );
    await until('some heartbeats', async () => {
      const seen = await sender.query<{ query: string }>('SELECT query FROM pg_stat_activity WHERE pid = $1', [
        rows[0]?.pid,
      ]);
      return seen.rows[0]?.query.startsWith('NOTIFY') ?? false;
    });
    await hears(3);
    expect(proxy.connections()).to.equal(1);
    expect(connects).to.equal(1);
    expect(heard, 'a heartbeat is not a position').to.deep.equal([3]);
  });

  it('reconnects after a lost connection, and reports that for the catch-up', async () => {
    listen();
    await until('connected', listener.connected);
    for (let round = 2; round <= 4; round += 1) {
      await sender.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '% listener' AND datname = current_database()`,
      );
      await until('connected again', () => connects === round);
      await hears(round);
    }
  });

  it('reconnects after any outage', async () => {
    listen();
    await until('connected', listener.connected);
    proxy.answer('refused');
    proxy.cut();
    await until('noticed', () => !listener.connected());
    await until('the outage is longer than pg-listen would bear', () => false, 3_500).catch(() => undefined);
    proxy.answer('through');
    await until('connected again', listener.connected);
    await hears(5);
  });

  it('resets its attempts after a connection', async () => {
    const attempts: number[] = [];
    const backoff = (attempt: number): number => {
      attempts.push(attempt);
      return 5;
    };
    proxy.answer('refused');
    listen({ backoff });
    await until('some attempts', () => attempts.length >= 3);
    expect(attempts.slice(0, 3)).to.deep.equal([1, 2, 3]);
    proxy.answer('through');
    await until('connected', listener.connected);
    const before = attempts.length;
    proxy.cut();
    await until('connected again', () => connects === 2);
    expect(attempts.slice(before)[0]).to.equal(1);
  });

  it('starts while the database is unavailable, and reports each attempt', async () => {
    const warnings: object[] = [];
    const warn = (message: string, members?: object) => void warnings.push({ message, ...members });
    proxy.answer('refused');
    listen({ logger: { ...silent, warn }, backoff: (attempt) => 10 * attempt });
    await until('some attempts', () => warnings.length >= 2);
    const [first, second] = warnings.map((each) => ({ ...each, reason: '' }));
    const message = 'not listening for notifications';
    expect(first).to.deep.equal({ message, reason: '', attempt: 1, retry_in: 10 });
    expect(second).to.deep.equal({ message, reason: '', attempt: 2, retry_in: 20 });
    proxy.answer('through');
    await until('connected', listener.connected);
    await hears(1);
  });

  for (const [mode, silence] of [
    ['half open', () => proxy.fallSilent()],
    ['open in one direction', () => proxy.muffle()],
  ] as const) {
    it(`notices a socket that is ${mode}`, async () => {
      listen({ heartbeat: { every: 50, timeout: 2_000 } });
      await until('connected', listener.connected);
      silence();
      await notify('7');
      await until('connected again', () => connects === 2);
      expect(heard).to.deep.equal([]);
      await hears(8);
    });
  }

  it('gives up on a server that never responds', async () => {
    proxy.answer('never');
    listen({ connectTimeout: 100 });
    await until('several attempts', () => proxy.connections() > 2);
    proxy.answer('through');
    await until('connected', listener.connected);
    await hears(1);
  });

  describe('closing', () => {
    it('ends the connection to the server', async () => {
      listen();
      await until('connected', listener.connected);
      await listener.close();
      expect(listener.connected()).to.equal(false);
      await until('the server has noticed', async () => {
        const { rowCount } = await sender.query(
          `SELECT FROM pg_stat_activity WHERE application_name LIKE '% listener' AND datname = current_database()`,
        );
        return rowCount === 0;
      });
    });

    it('ends connection attempts immediately', async () => {
      proxy.answer('refused');
      listen({ backoff: () => 60_000 });
      await until('waiting for the next attempt', () => false, 100).catch(() => undefined);
      // The timeouts of the listener are longer than that of the test.
      await listener.close();
    });

    it('does not wait for an unresponsive server', async () => {
      listen();
      await until('connected', listener.connected);
      proxy.fallSilent();
      // The timeouts of the listener are longer than that of the test.
      await listener.close();
    });

    it('may be called twice and before the start', async () => {
      listen();
      await listener.close();
      await listener.close();
      const never = createListener({
        connectionString: '',
        serviceSchema: 'service',
        schema: 'x',
        logger: silent,
        onHead() {},
        onConnect() {},
      });
      await never.close();
    });
  });
});
