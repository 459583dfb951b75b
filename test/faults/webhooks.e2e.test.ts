/**
 * Two services and the receiver of a webhook are killed repeatedly while events are appended. WEBHOOK_KILLS sets
 * the number of kills.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Webhook as Verifier } from 'standardwebhooks';
import { json } from '../support/client.js';
import { freePort } from '../support/free-port.js';
import { type ServiceProcess, spawnService } from '../support/process.js';
import { type TestDatabase, createDatabase, query } from '../support/postgres.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import { withService } from '../support/with-service.js';

const KILLS = Number(process.env['WEBHOOK_KILLS'] ?? 12);
const TOKEN = 'test-admin-token-0123456789abcdef';

interface Live {
  service: ServiceProcess;
  url: string;
}

/**
 * Accepts requests from now on, and verifies each immediately, because a verifier rejects timestamps of more than five
 * minutes ago.
 * @returns the positions of the events, or the errors of requests that are not valid
 */
function acceptAndVerify(receiver: Receiver, secret: string): (number | string)[] {
  const verifier = new Verifier(secret);
  const delivered: (number | string)[] = [];
  receiver.respond = (response, { body, headers }) => {
    try {
      const event = verifier.verify(body, headers as Record<string, string>);
      delivered.push((event as { data: { position: number } }).data.position);
    } catch (error) {
      delivered.push(String(error));
    }
    response.writeHead(204).end();
  };
  return delivered;
}

describe('kill -9 while webhooks deliver', function () {
  this.timeout(900_000);
  let database: TestDatabase;
  let receiver: Receiver;
  const live: Live[] = [];

  const start = async (): Promise<Live> => {
    const service = spawnService({
      DATABASE_URL: database.connectionString,
      ADMIN_TOKEN: TOKEN,
      ADMIN_PASSWORD: 'correct horse',
      WEBHOOK_PRIVATE_NETWORKS: '127.0.0.1',
    });
    return { service, url: (await service.ready()).url };
  };
  const call = (url: string, method: string, path: string, body: object): Promise<Response> =>
    fetch(url + path, {
      method,
      headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });

  before(async () => {
    database = await createDatabase('migrated');
    receiver = await startReceiver(await freePort());
    live.push(await start(), await start());
  });
  after(async () => {
    await Promise.all(live.map(({ service }) => service.end('SIGKILL')));
    await receiver.stop();
    await database.drop();
  });

  it('delivers every event at least once and in order', async () => {
    const [first] = live as [Live, Live];
    const created = await call(first.url, 'POST', '/webhooks', {
      name: 'one',
      url: receiver.url,
      types: ['collection.*'],
    });
    expect(created.status).to.equal(200);
    const { secret } = ((await created.json()) as { data: { secret: string } }).data;
    const delivered = acceptAndVerify(receiver, secret);
    await call(first.url, 'POST', '/collections', { collection: 'busy', schema: {} });

    let over = false;
    let note = 0;
    const writing = (async () => {
      while (!over) {
        note += 1;
        const url = live[note % live.length]?.url ?? '';
        // A killed service gives no response. Whether it committed the change does not matter here.
        await call(url, 'PATCH', '/collections/busy', { meta: { note: `n${note}` } }).catch(() => undefined);
        // Deliveries wait for a pause between changes, for up to five seconds.
        if (note % 20 === 0) await sleep(60);
      }
    })();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const seen = receiver.received.length;
      await until('something is delivered', () => receiver.received.length > seen);
      if (kill % 3 === 0) {
        const index = (kill / 3) % live.length;
        await live[index]?.service.end('SIGKILL');
        live[index] = await start();
      } else {
        await receiver.stop();
        await receiver.start();
      }
    }
    over = true;
    await writing;

    const behind = async (): Promise<unknown> =>
      (
        await query(
          database.connectionString,
          `SELECT (SELECT max(position) FROM service.service_events) - position AS behind FROM service.service_webhooks`,
        )
      )[0]?.['behind'];
    await until('everything is delivered', async () => (await behind()) === '0');
    const rows = await query(
      database.connectionString,
      `SELECT position::int FROM service.service_events WHERE type LIKE 'collection.%' ORDER BY position`,
    );
    expect(delivered, 'in order').to.deep.equal([...delivered].sort((a, b) => Number(a) - Number(b)));
    expect([...new Set(delivered)], 'each event').to.deep.equal(rows.map(({ position }) => position));
    if (KILLS > 12) console.log(`${rows.length} events, ${delivered.length} deliveries, ${KILLS} kills`);
  });
});

describe('a receiver that was away', function () {
  this.timeout(600_000);
  const { service, api, client } = withService({ settings: { WEBHOOK_PRIVATE_NETWORKS: '127.0.0.1' } });
  const FIELDS = 1_000;
  const ROUNDS = 10;

  it('gets 10,000 undelivered events once each and in order, while changes continue', async () => {
    const receiver = await startReceiver();
    try {
      receiver.respond = (response) => void response.writeHead(503, { 'retry-after': '86400' }).end();
      const fields = Array.from({ length: FIELDS }, (_, index) => ({
        field: `f${index}`,
        type: 'boolean',
        interface: 'boolean',
      }));
      await api.ok('POST', '/collections', { collection: 'wide', schema: {}, fields });
      await api.ok('POST', '/collections', { collection: 'other', schema: {} });
      const webhook = { name: 'away', url: receiver.url, types: ['field.updated'] };
      const { data } = await api.ok<{ data: { id: string; secret: string } }>('POST', '/webhooks', webhook);
      for (let round = 0; round < ROUNDS; round += 1) {
        const patches = fields.map(({ field }) => ({ field, meta: { note: `round ${round}` } }));
        expect((await client('/fields/wide', json(patches, 'PATCH'))).status).to.equal(200);
      }
      const delivered = acceptAndVerify(receiver, data.secret);
      for (const enabled of [false, true]) await api.ok('PATCH', `/webhooks/${data.id}`, { enabled });
      const reached = (): boolean => delivered.length >= FIELDS * ROUNDS;
      for (let note = 0; !reached(); note += 1) {
        await api.ok('PATCH', '/collections/other', { meta: { note: `note ${note}` } });
        await sleep(200);
      }
      const rows = await query(
        service.databaseUrl,
        `SELECT position::int FROM service.service_events WHERE type = 'field.updated' ORDER BY position`,
      );
      expect(rows).to.have.length(FIELDS * ROUNDS);
      expect(delivered).to.deep.equal(rows.map(({ position }) => position));
    } finally {
      await receiver.stop();
    }
  });
});
