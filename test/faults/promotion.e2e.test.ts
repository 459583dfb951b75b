import { expect } from 'chai';
import { type Client, clientOf, json } from '../support/client.js';
import { spawnService } from '../support/process.js';
import { type TestService, startService } from '../support/service.js';
import { type Cluster, type Server, startCluster } from '../support/standby.js';
import { until } from '../support/until.js';

describe('a promoted standby and a demoted primary', () => {
  let cluster: Cluster;
  let services: TestService[];

  beforeEach(async () => {
    cluster = await startCluster();
    services = [];
  });

  afterEach(async () => {
    for (const service of services) await service.stop();
    await cluster.stop();
  });

  const serve = async ({ connectionString }: Server, settings: Record<string, string> = {}) => {
    // Replication takes long on a busy machine.
    const patience = { POSITION_TIMEOUT: '20s' };
    const service = await startService({ DATABASE_URL: connectionString, ...patience, ...settings });
    services.push(service);
    return { service, send: clientOf(service) };
  };
  const create = (send: Client, collection: string, more: object = {}) =>
    send('/collections', json({ collection, schema: {}, ...more }));
  const becomesWritable = (send: Client, collection: string): Promise<void> =>
    until('a change is accepted', async () => (await create(send, collection)).status === 200);

  it('continue without a restart: changes, accounts, indexes, notifications', async () => {
    const old = await serve(cluster.primary);
    expect((await create(old.send, 'before')).status).to.equal(200);
    const standby = await cluster.addStandby();
    const [one, other] = [await serve(standby), await serve(standby)];
    expect((await create(one.send, 'too_early')).codes).to.deep.equal(['READ_ONLY']);
    await old.service.stop();
    await cluster.primary.stop();
    await standby.promote();
    await becomesWritable(one.send, 'after');
    expect((await other.send('/collections/after')).status).to.equal(200);

    const login = json({ email: one.service.adminEmail, password: one.service.adminPassword });
    expect((await one.send('/auth/login', login)).status).to.equal(200);
    const fields = [{ field: 'title', type: 'string', interface: 'input', schema: { is_indexed: true } }];
    const indexed = await one.send(
      '/collections?concurrentIndexCreation=true',
      json({ collection: 'indexed', schema: {}, fields }),
    );
    expect(indexed.status, indexed.text).to.equal(200);
    await until('the index is built', async () => {
      const { data } = (await other.send('/projections')).json as { data: { name: string; lag: number }[] };
      return data.every(({ lag }) => lag === 0);
    });
    const listening = async (send: Client): Promise<boolean> =>
      /^dps_listener_connected 1$/m.test((await send('/metrics')).text);
    await until('it listens', () => listening(one.send));
    await until('it listens', () => listening(other.send));
    expect((await one.send('/collections')).headers.get('x-log-lag')).to.equal(null);
    expect((await one.send('/projections/verify')).json).to.have.nested.property('data.ok', true);
    expect((await one.send('/metrics')).text).to.match(/^dps_standby 0$/m);
  });

  it("become read-only when the server returns as a standby, and show the new primary's changes", async () => {
    const first = await serve(cluster.primary, { PRIMARY_URL: 'https://other.example.com' });
    expect((await create(first.send, 'before')).status).to.equal(200);
    const standby = await cluster.addStandby();
    const second = await serve(standby);
    await cluster.primary.stop();
    await standby.promote();
    await becomesWritable(second.send, 'after');
    await cluster.primary.start(standby);

    let refused = await create(first.send, 'refused');
    await until('its server is seen as a standby', async () => {
      refused = await create(first.send, 'refused');
      return refused.codes[0] === 'READ_ONLY';
    });
    expect(refused.json).to.have.nested.property('errors[0].extensions.primary', 'https://other.example.com');
    const position = (await create(second.send, 'later')).headers.get('x-log-position') ?? '';
    const reply = await first.send('/collections/later', { headers: { 'x-log-position-at-least': position } });
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.headers.get('x-log-lag')).to.match(/^[\d.]+$/);
    const output = first.service.log();
    expect(output).to.contain('the database server is a standby');
    expect(output).not.to.contain('LISTEN during recovery');
  });

  it('wait for a primary that no service has set up, and take over when promoted', async () => {
    const standby = await cluster.addStandby();
    const starting = serve(standby);
    const waiting = spawnService({ DATABASE_URL: standby.connectionString });
    let output = '';
    waiting.child.stderr?.on('data', (text: string) => (output += text));
    await until('it says what it waits for', () => output.includes('This process waits for it'));
    const ended = await waiting.end('SIGTERM');
    expect(ended.code, ended.stderr).to.equal(0);
    expect(ended.stderr).to.contain('The database is a standby and does not contain a service yet. Start this release');
    await standby.promote();
    const { send } = await starting;
    expect((await create(send, 'first')).status).to.equal(200);
  });

  it('start on a standby once the service on its primary has set it up', async () => {
    const standby = await cluster.addStandby();
    const starting = serve(standby);
    const { send } = await serve(cluster.primary);
    const position = (await create(send, 'first')).headers.get('x-log-position') ?? '';
    const reader = await starting;
    const headers = { 'x-log-position-at-least': position };
    expect((await reader.send('/collections/first', { headers })).status).to.equal(200);
  });
});
