import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createApi } from '../../support/api.js';
import { dps } from '../../support/dps.js';
import { createDatabase, query, sql, temporaryDirectory } from '../../support/postgres.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { startService } from '../../support/service.js';
import { until } from '../../support/until.js';
import { withService } from '../../support/with-service.js';

const PRIVATE = { WEBHOOK_PRIVATE_NETWORKS: '127.0.0.1' };

interface Webhook {
  id: string;
  state: string;
  disabled_because: string | null;
  position: number | null;
  behind: number;
}

const sequencesOf = ({ received }: Receiver): string[] =>
  received.map(({ body }) => (JSON.parse(body) as { sequence: string }).sequence);

describe('webhooks of several processes and databases', () => {
  const { service, api } = withService({ settings: PRIVATE });
  let receiver: Receiver;
  let id: string;

  beforeEach(async () => {
    receiver = await startReceiver();
    const body = { name: 'one', url: receiver.url, types: ['collection.*', 'field.*'] };
    id = (await api.ok<{ data: Webhook }>('POST', '/webhooks', body)).data.id;
  });
  afterEach(async () => {
    await api.ok('DELETE', `/webhooks/${id}`);
    await receiver.stop();
  });

  let count = 0;
  const collection = async (): Promise<void> => {
    await api.ok('POST', '/collections', { collection: `c${(count += 1)}`, schema: {} });
  };
  const upToDate = (source = api): Promise<void> =>
    until(
      'it is up to date',
      async () => (await source.ok<{ data: Webhook }>('GET', `/webhooks/${id}`)).data.behind === 0,
    );

  it('are delivered by one process at a time, once and in order', async () => {
    let open = 0;
    let most = 0;
    receiver.respond = async (response) => {
      most = Math.max(most, (open += 1));
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      response.writeHead(204).end();
    };
    const others = await Promise.all([1, 2].map(() => startService({ ...PRIVATE, DATABASE_URL: service.databaseUrl })));
    try {
      for (let index = 0; index < 30; index += 1) await collection();
      await upToDate();
    } finally {
      for (const other of others) await other.stop();
    }
    const sequences = sequencesOf(receiver);
    expect(sequences).to.have.length(30);
    expect(sequences).to.deep.equal([...new Set(sequences)].sort());
    expect(most).to.equal(1);
  });

  /** Another process leases the webhook while no process delivers to it. Returns the end of the lease. */
  const lease = async (duration: string): Promise<Date> => {
    const text = `UPDATE service.service_webhooks SET owner = gen_random_uuid(), leased_until = now() + $1::interval
       WHERE owner IS NULL AND position = (SELECT max(position) FROM service.service_events) RETURNING leased_until`;
    let leased: { leased_until: Date }[] = [];
    await until('it is leased', async () => (leased = await api.sql(text, [duration])).length === 1);
    return leased[0]?.leased_until ?? new Date(0);
  };

  it('are taken over from a process that ended without giving up its lease', async () => {
    const end = await lease('3 seconds');
    let arrived = 0;
    receiver.respond = (response) => {
      arrived = Date.now();
      response.writeHead(204).end();
    };
    await collection();
    await upToDate();
    expect(receiver.received).to.have.length(1);
    expect(arrived).to.be.at.least(end.getTime());
  });

  it('do not wait for a lease that lies in the future, because the clock of the server was set back', async () => {
    await lease('3 days');
    await collection();
    await upToDate();
    expect(receiver.received).to.have.length(1);
  });

  it('start again with the changed webhook while a delivery is under way', async () => {
    let release = (): void => undefined;
    receiver.respond = (response) => {
      release = () => void response.writeHead(204).end();
    };
    await collection();
    await until('the first request arrives', () => receiver.received.length === 1);
    await collection();
    await api.ok('PATCH', `/webhooks/${id}`, { url: `${receiver.url}/new` });
    receiver.respond = (response) => void response.writeHead(204).end();
    release();
    await upToDate();
    // The first event is repeated, because its webhook changed before the response.
    expect(receiver.received.map(({ path }) => path)).to.deep.equal(['/hook', '/hook/new', '/hook/new']);
    const sequences = sequencesOf(receiver);
    expect(sequences[0]).to.equal(sequences[1]);
  });

  it('are disabled in a copy of the database, and continue there after they are enabled', async () => {
    await collection();
    await upToDate();
    // After pg_restore into another database, the rows still name the former one.
    await sql(service.databaseUrl, `UPDATE service.service_webhooks SET database = '1/1'`);
    await collection();
    const get = async (): Promise<Webhook> => (await api.ok<{ data: Webhook }>('GET', `/webhooks/${id}`)).data;
    await until('it is disabled', async () => (await get()).state === 'disabled');
    expect((await get()).disabled_because).to.equal('copied');
    expect(receiver.received).to.have.length(1);
    await api.ok('PATCH', `/webhooks/${id}`, { enabled: true });
    await upToDate();
    expect(receiver.received).to.have.length(2);
  });

  it('are restored from a backup without secrets, and disabled', async () => {
    await collection();
    await upToDate();
    const { secret } = (await api.ok<{ data: { secret: string } }>('POST', `/webhooks/${id}/secret`)).data;
    const folder = await temporaryDirectory();
    const target = await createDatabase();
    try {
      const file = join(folder, 'backup.dps');
      const backup = await dps(['backup', file], { DATABASE_URL: service.databaseUrl });
      expect(backup.code, backup.err).to.equal(0);
      const restore = await dps(['restore', '--backup', file], { DATABASE_URL: target.connectionString });
      expect(restore.code, restore.err).to.equal(0);
      const [row] = await query(target.connectionString, 'SELECT w::text AS row FROM service.service_webhooks w');
      expect(row?.['row']).to.contain(receiver.url).and.not.contain(secret);
      const restored = await startService({ ...PRIVATE, DATABASE_URL: target.connectionString });
      const other = createApi(restored);
      try {
        const { data } = await other.ok<{ data: Webhook }>('GET', `/webhooks/${id}`);
        expect(data).to.deep.include({ state: 'disabled', disabled_because: 'restored', position: null });
        await other.ok('POST', '/collections', { collection: 'elsewhere', schema: {} });
        const path = `/webhooks/${id}`;
        await other.refused({ status: 409, code: 'INVALID_STATE' }, 'PATCH', path, { enabled: true });
        await other.ok('POST', `${path}/secret`);
        await other.ok('PATCH', path, { enabled: true });
        await other.ok('POST', '/collections', { collection: 'after', schema: {} });
        await upToDate(other);
        const subjects = receiver.received.map(({ body }) => (JSON.parse(body) as { subject: string }).subject);
        expect(subjects.slice(1)).to.deep.equal(['after']);
      } finally {
        await other.stop();
        await restored.stop();
      }
    } finally {
      await target.drop();
      await rm(folder, { recursive: true });
    }
  });
});
