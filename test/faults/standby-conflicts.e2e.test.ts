import { expect } from 'chai';
import pg from 'pg';
import { createPool } from '../../src/postgres/pool.js';
import { type Client, type Reply, clientOf, json } from '../support/client.js';
import { silent } from '../support/instance.js';
import { query } from '../support/postgres.js';
import { startProxy } from '../support/proxy.js';
import { type TestService, startService } from '../support/service.js';
import { type Cluster, type Server, startCluster } from '../support/standby.js';
import { until } from '../support/until.js';

describe('a standby in trouble', () => {
  let cluster: Cluster;
  let standby: Server;
  let services: TestService[];

  beforeEach(async () => {
    cluster = await startCluster();
    services = [];
  });

  afterEach(async () => {
    for (const service of services) await service.stop();
    await cluster.stop();
  });

  const serve = async (connectionString: string): Promise<Client> => {
    const service = await startService({ DATABASE_URL: connectionString, POSITION_TIMEOUT: '20s' });
    services.push(service);
    return clientOf(service);
  };
  const create = async (send: Client, collection: string): Promise<string> => {
    const reply = await send('/collections', json({ collection, schema: {} }));
    expect(reply.status, reply.text).to.equal(200);
    return reply.headers.get('x-log-position') ?? '';
  };
  const metric = (text: string, name: string): string | undefined => new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1];

  it('repeats a query that was cancelled to follow the primary', async () => {
    standby = await cluster.addStandby();
    await standby.sql(`alter system set max_standby_streaming_delay = '10ms'`, 'select pg_reload_conf()');
    const { primary } = cluster;
    const owner = new pg.Client(primary.connectionString);
    await owner.connect();
    const { connectionString } = standby;
    const pool = createPool({ connectionString, schema: 'public', serviceSchema: 'service', max: 2, logger: silent });
    try {
      await owner.query('create table t (a int); insert into t values (1)');
      await until('the table is there', async () => {
        const { rows } = await pool.query<{ found: boolean }>(`select to_regclass('t') is not null as found`);
        return rows[0]?.found === true;
      });
      // The first query holds its lock until the standby cancels it, too late for the second one.
      const slow = pool.query(
        'select a, pg_sleep(case when exists (select from t where a = 2) then 0 else 20 end) from t',
      );
      await until('it is asked', async () => {
        const response = await standby.sql(
          `select from pg_stat_activity where query like '%pg_sleep%' and wait_event = 'PgSleep'`,
        );
        return response.length === 1;
      });
      await owner.query('begin; lock table t in access exclusive mode; insert into t values (2); commit');
      expect((await slow).rows).to.have.length(2);
    } finally {
      await pool.end();
      await owner.end();
    }
  });

  it('serves reads while standby queries are cancelled all the time, and never returns 500', async () => {
    const write = await serve(cluster.primary.connectionString);
    await create(write, 'first');
    standby = await cluster.addStandby();
    await standby.sql(`alter system set max_standby_streaming_delay = 0`, 'select pg_reload_conf()');
    const read = await serve(standby.connectionString);
    const owner = new pg.Client(cluster.primary.connectionString);
    await owner.connect();
    const statuses: Record<number, number> = {};
    const one = async (path: string): Promise<void> => {
      const reply: Reply = await read(path);
      statuses[reply.status] = (statuses[reply.status] ?? 0) + 1;
    };
    for (let round = 1; round <= 15; round += 1) {
      const locked = owner.query('begin; lock table service.service_events in access exclusive mode; commit');
      const paths = ['/collections', '/history/events', '/history/verify', '/history/snapshot?at=1', '/users'];
      await Promise.all([locked, ...paths.map(one)]);
    }
    await owner.end();
    expect(Object.keys(statuses).filter((status) => status !== '503')).to.deep.equal(['200']);
    await until('it has followed the primary', async () => (await read('/collections')).status === 200);
  });

  it('notices and reports a different log, and never mixes both logs', async () => {
    const write = await serve(cluster.primary.connectionString);
    await create(write, 'shared');
    const [one, other] = [await cluster.addStandby(), await cluster.addStandby()];
    const proxy = await startProxy(one.connectionString);
    const read = await serve(proxy.connectionString);
    // The other standby stops following and becomes the primary of another history.
    await other.stop();
    const lost = await create(write, 'lost');
    const headers = { 'x-log-position-at-least': lost };
    expect((await read('/collections/lost', { headers })).status).to.equal(200);
    const { data } = (await write(`/history/events/${lost}`)).json as { data: { hash: string } };
    await cluster.primary.stop('SIGQUIT');
    await one.stop();
    await other.start();
    await other.promote();
    const second = await serve(other.connectionString);
    const follower = await cluster.addStandby(other);
    expect(await create(second, 'instead')).to.equal(lost);
    // A log without it is another divergence.
    await until('the follower has it', async () => {
      const there = `SELECT FROM service.service_collections WHERE collection = 'instead'`;
      return (await query(follower.connectionString, there)).length === 1;
    });
    proxy.leadTo(follower.connectionString);

    await until('the log has forked', async () => (await read('/collections/instead')).status === 200);
    expect((await read('/collections/lost')).status).to.equal(404);
    const place = { 'x-log-position-at-least': `${lost}-${data.hash.slice(0, 16)}` };
    expect((await read('/collections', { headers: place })).codes).to.deep.equal(['DIVERGED']);
    expect(metric((await read('/metrics')).text, 'dps_log_divergence_total')).to.equal('1');
    const health = await read('/server/health', { token: null });
    expect([health.status, health.text]).to.satisfy(
      ([status, text]: [number, string]) => status === 503 && /has forked/.test(text),
    );
    await proxy.close();
  });

  it('reports its lag when its primary is gone, and still serves reads', async () => {
    const write = await serve(cluster.primary.connectionString);
    await create(write, 'first');
    standby = await cluster.addStandby();
    const read = await serve(standby.connectionString);
    const lag = async (): Promise<number> => Number((await read('/collections')).headers.get('x-log-lag'));
    await until('it has caught up', async () => (await lag()) === 0);
    await cluster.primary.stop('SIGQUIT');
    await until('it is behind', async () => (await lag()) > 0);
    const first = await lag();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await lag()).to.be.greaterThan(first + 0.2);
    expect((await read('/collections/first')).status).to.equal(200);
  });
});
