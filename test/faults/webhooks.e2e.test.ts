/**
 * Two services and the receiver of a webhook are killed repeatedly while events are appended. WEBHOOK_KILLS sets
 * the number of kills.
 */
import { expect } from 'chai';
import { freePort } from '../support/free-port.js';
import { type ServiceProcess, spawnService } from '../support/process.js';
import { type TestDatabase, createDatabase, query } from '../support/postgres.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { until } from '../support/until.js';

const KILLS = Number(process.env['WEBHOOK_KILLS'] ?? 12);
const TOKEN = 'test-admin-token-0123456789abcdef';

interface Live {
  service: ServiceProcess;
  url: string;
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
    await call(first.url, 'POST', '/collections', { collection: 'busy', schema: {} });

    let over = false;
    let note = 0;
    const writing = (async () => {
      while (!over) {
        note += 1;
        const url = live[note % live.length]?.url ?? '';
        // A killed service gives no response. Whether it committed the change does not matter here.
        await call(url, 'PATCH', '/collections/busy', { meta: { note: `n${note}` } }).catch(() => undefined);
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
    const delivered = receiver.received.map(
      ({ body }) => (JSON.parse(body) as { data: { position: number } }).data.position,
    );
    expect(delivered, 'in order').to.deep.equal([...delivered].sort((a, b) => a - b));
    expect([...new Set(delivered)], 'each event').to.deep.equal(rows.map(({ position }) => position));
    if (KILLS > 12) console.log(`${rows.length} events, ${delivered.length} deliveries, ${KILLS} kills`);
  });
});
