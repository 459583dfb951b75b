import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import pg from 'pg';
import { type Client, clientOf, json } from '../support/client.js';
import { type TestService, startService } from '../support/service.js';
import { type Cluster, type Server, startCluster } from '../support/standby.js';
import { until } from '../support/until.js';

const run = promisify(execFile);

function hostsOf(...servers: Server[]): string {
  const [first] = servers.map(({ connectionString }) => new URL(connectionString));
  const places = servers.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return `postgresql://${first?.username}:${first?.password}@${places}${first?.pathname}?target_session_attrs=read-write`;
}

describe('a failover', () => {
  let cluster: Cluster;
  let services: TestService[];

  beforeEach(async () => {
    // A primary that fails keeps what it acknowledged.
    cluster = await startCluster({ durable: true });
    services = [];
  });
  afterEach(async () => {
    for (const service of services) await service.stop();
    await cluster.stop();
  });

  const serve = async (settings: Record<string, string>) => {
    const service = await startService(settings);
    services.push(service);
    return { service, send: clientOf(service) };
  };
  const create = async (send: Client, collection: string): Promise<void> => {
    const reply = await send('/collections', json({ collection, schema: {} }));
    expect(reply.status, reply.text).to.equal(200);
  };
  const position = (reply: { headers: Headers }) => Number(reply.headers.get('x-log-position'));
  const written = async ({ connectionString }: Server): Promise<number> => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    try {
      const { rows } = await client.query<{ count: string }>('SELECT count(*) FROM service.service_events');
      return Number(rows[0]?.count);
    } finally {
      await client.end();
    }
  };

  it('the service reports that a failover lost acknowledged events, and writes nothing to the returned old primary', async () => {
    const { primary } = cluster;
    const standby = await cluster.addStandby();
    const address = hostsOf(primary, standby);
    const one = await serve({ DATABASE_URL: address });
    await create(one.send, 'kept');
    // At first the standby has no log.
    await until('it is on the standby', async () => (await written(standby).catch(() => 0)) === 1);
    const blind = await serve({ DATABASE_URL: address });
    await standby.stop();
    for (const name of ['lost_1', 'lost_2', 'lost_3']) await create(one.send, name);
    await primary.stop('SIGQUIT');
    await standby.start(primary);
    await standby.promote();

    await until('it reads', async () => (await one.send('/collections')).status === 200);
    const read = await one.send('/collections');
    expect(position(read)).to.equal(1);
    expect(read.text).not.to.contain('lost_1');
    for (const { send } of [one, blind]) {
      const refused = await send('/collections', json({ collection: 'refused', schema: {} }));
      expect(refused.codes, refused.text).to.deep.equal(['LOG_DIVERGED']);
    }
    const acknowledged = await one.send('/history/acknowledge', { method: 'POST' });
    const { divergences } = (
      acknowledged.json as { data: { divergences: { fork: number; seen: { position: number } }[] } }
    ).data;
    // A process that only listened may have seen fewer events.
    expect(divergences.map(({ fork }) => fork)).to.deep.equal(divergences.map(() => 1));
    expect(divergences.map(({ seen }) => seen.position)).to.include(4);
    await create(blind.send, 'after');

    // This server still acts as the primary, and has more events than its replacement.
    await primary.start();
    for (let turn = 0; turn < 4; turn += 1) {
      await create(one.send, `one_${turn}`);
      await create(blind.send, `blind_${turn}`);
    }
    const late = await serve({ DATABASE_URL: address });
    await create(late.send, 'late');
    expect(position(await late.send('/collections'))).to.equal(position(await one.send('/collections')));
    expect(await written(primary)).to.equal(4);
    expect(await written(standby)).to.equal(12);
    // All services of this process share the choice, and the last one started reports it.
    expect(blind.service.log()).to.contain('the address now leads to a different server');
  });

  it('a running service detects a failover to a server restored from a backup', async () => {
    const { primary } = cluster;
    const { data } = primary as Server & { data: string };
    const { service, send } = await serve({ DATABASE_URL: primary.connectionString });
    await create(send, 'kept');
    await primary.stop();
    await run('cp', ['-a', data, `${data}.backup`]);
    await primary.start();
    for (const name of ['lost_1', 'lost_2']) await create(send, name);
    await primary.stop('SIGQUIT');
    await rm(data, { recursive: true });
    await run('cp', ['-a', `${data}.backup`, data]);
    await primary.start();

    await until('it reads', async () => (await send('/collections')).status === 200);
    expect(position(await send('/collections'))).to.equal(1);
    const refused = await send('/collections', json({ collection: 'refused', schema: {} }));
    expect(refused.codes, refused.text).to.deep.equal(['LOG_DIVERGED']);
    expect(service.log()).to.contain('the log has forked: it no longer contains the events that were read before');
    expect((await send('/history/acknowledge', { method: 'POST' })).status).to.equal(200);
    await create(send, 'lost_1');
    expect((await send('/history/verify')).json).to.have.nested.property('data.ok', true);
  });
});
