import { expect } from 'chai';
import { parseCheckpoint } from '../../src/log/signed-checkpoints/checkpoint.js';
import { type Client, type Reply, clientOf, json } from '../support/client.js';
import { type TestService, startService } from '../support/service.js';
import { type Cluster, type Server, startCluster } from '../support/standby.js';
import { temporaryDirectory } from '../support/postgres.js';
import { until } from '../support/until.js';

describe('checkpoints in an asynchronous cluster', () => {
  let cluster: Cluster;
  let standby: Server;
  let services: TestService[];

  beforeEach(async () => {
    [cluster, services] = [await startCluster(), []];
  });

  afterEach(async () => {
    for (const service of services) await service.stop();
    await cluster.stop();
  });

  const start = async (server: Server, settings: Record<string, string> = {}): Promise<Client> => {
    const service = await startService({ DATABASE_URL: server.connectionString, ...settings });
    services.push(service);
    return clientOf(service);
  };

  let count = 0;
  const create = async (send: Client): Promise<void> => {
    expect((await send('/collections', json({ collection: `c${(count += 1)}`, schema: {} }))).status).to.equal(200);
  };

  const checkpoint = (send: Client): Promise<Reply> => send('/history/checkpoint');
  const positionOf = ({ status, text }: Reply): number => {
    expect(status, text).to.equal(200);
    return parseCheckpoint(Buffer.from(text)).position;
  };

  const mayLook = () => cluster.primary.sql('grant pg_read_all_stats to dps_owner');

  it('sign only positions that the standby has flushed, and wait while it is away', async () => {
    const send = await start(cluster.primary);
    await create(send);
    // Without a standby, a position cannot become safer.
    expect(positionOf(await checkpoint(send))).to.equal(1);
    standby = await cluster.addStandby();
    // Another process, which has not signed anything yet.
    const hidden = await checkpoint(await start(cluster.primary));
    expect([hidden.status, hidden.codes]).to.deep.equal([503, ['UNAVAILABLE']]);
    expect(hidden.text).to.contain('GRANT pg_read_all_stats');
    await mayLook();
    await create(send);
    await until('the standby has it', async () => {
      const reply = await checkpoint(send);
      return reply.status === 200 && positionOf(reply) === 2;
    });
    // Its replication slot keeps it listed after it has stopped.
    await cluster.primary.sql(`select pg_create_physical_replication_slot('expected')`);
    await standby.stop('SIGQUIT');
    await create(send);
    const behind = await checkpoint(send);
    expect(positionOf(behind)).to.equal(2);
    expect((await send('/collections')).headers.get('x-log-position')).to.equal('3');
    await standby.start(cluster.primary);
    await until('the standby has come after', async () => positionOf(await checkpoint(send)) === 3);
  });

  it('wait for the required number of standbys, and report it', async () => {
    await mayLook();
    standby = await cluster.addStandby();
    const send = await start(cluster.primary, { CHECKPOINT_WAIT_FOR_STANDBYS: '2' });
    await create(send);
    await until('one has flushed it', async () => {
      const { status, text } = await checkpoint(send);
      expect(status).to.equal(503);
      expect(text).to.contain('2 standbys must have flushed a position before it is signed, and ');
      return text.includes('and only 1 have');
    });
    await cluster.addStandby();
    await until('both have it', async () => (await checkpoint(send)).status === 200);
    expect(positionOf(await checkpoint(send))).to.equal(1);
  });

  it('never sign what a failover lost, and a standby only serves published ones', async () => {
    await mayLook();
    standby = await cluster.addStandby();
    const folder = await temporaryDirectory();
    const settings = { CHECKPOINT_TO: folder, CHECKPOINT_EVERY: '1' };
    const send = await start(cluster.primary, settings);
    const read = await start(standby, settings);
    const early = await checkpoint(read);
    expect(early.status, early.text).to.be.oneOf([404, 503]);
    for (let number = 0; number < 3; number += 1) await create(send);
    await until('the newest that was published comes there', async () => {
      const reply = await checkpoint(read);
      return reply.status === 200 && positionOf(reply) === 3;
    });
    expect((await read('/history/checkpoint/keys')).status).to.equal(200);
    const rotation = await read('/history/checkpoint/keys', { method: 'POST' });
    expect([rotation.status, rotation.codes]).to.deep.equal([503, ['READ_ONLY']]);
    // The primary signs only what the standby has received.
    await cluster.primary.sql(`select pg_create_physical_replication_slot('expected')`);
    await standby.stop('SIGQUIT');
    await create(send);
    await create(send);
    const signed = (await checkpoint(send)).text;
    expect(parseCheckpoint(Buffer.from(signed)).position).to.equal(3);
    await cluster.primary.stop('SIGQUIT');
    await standby.start(cluster.primary);
    await standby.promote();
    await until('it writes after the failover', () =>
      create(read).then(
        () => true,
        () => false,
      ),
    );
    const after = await checkpoint(read);
    expect(after.status, after.text).to.equal(200);
    const { origin, position } = parseCheckpoint(Buffer.from(after.text));
    expect(origin).to.equal(parseCheckpoint(Buffer.from(signed)).origin);
    expect(position).to.equal(4);
    const third = (await read('/history/events/3')).json as { data: { hash: string } };
    expect(parseCheckpoint(Buffer.from(signed)).hash).to.equal(third.data.hash);
  });
});
