import { expect } from 'chai';
import { Webhook as Verifier } from 'standardwebhooks';
import { clientOf } from '../../support/client.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { query } from '../../support/postgres.js';
import { startService, type TestService } from '../../support/service.js';
import { tamper } from '../../support/tamper.js';
import { until } from '../../support/until.js';
import { withService } from '../../support/with-service.js';

interface Event {
  type: string;
  data: Record<string, unknown>;
  subject: { kind: string; id: string };
  actor: { name: string };
  command: string;
  reason: string | null;
}

const SETTINGS = { VERIFY_EVERY: '1s', WEBHOOK_PRIVATE_NETWORKS: '127.0.0.1' };

describe('scheduled comparisons', () => {
  const { service, api } = withService({ settings: SETTINGS });
  let second: TestService;
  let receiver: Receiver;
  let secret: string;

  before(async () => {
    second = await startService({ ...SETTINGS, DATABASE_URL: service.databaseUrl });
    receiver = await startReceiver();
    const webhook = { name: 'alerts', url: receiver.url, types: ['drift.*', 'verification.*'] };
    const created = await api.ok<{ data: { secret: string } }>('POST', '/webhooks', webhook);
    secret = created.data.secret;
    const field = { field: 'title', type: 'string', interface: 'input' };
    for (const collection of ['articles', 'authors'])
      await api.ok('POST', '/collections', { collection, schema: {}, fields: [field] });
  });
  after(async () => {
    await receiver.stop();
    await second.stop();
  });

  const received = (): Event[] =>
    receiver.received.map(({ body, headers }) => {
      const event = new Verifier(secret).verify(body, headers as Record<string, string>);
      return (event as { data: Event }).data;
    });
  const next = async (count: number): Promise<Pick<Event, 'type' | 'data'>> => {
    await until(`${count} events were delivered`, () => Promise.resolve(receiver.received.length >= count));
    const { type, data } = received()[count - 1] as Event;
    return { type, data };
  };

  it('delivers an event when drift is found, and when it is resolved', async () => {
    await query(service.databaseUrl, 'ALTER TABLE articles ALTER title TYPE text');
    const tables = { differences: 1, tables: ['articles'] };
    expect(await next(1)).to.deep.equal({ type: 'drift.found', data: tables });
    expect(received()[0]).to.deep.include({
      subject: { kind: 'comparison', id: 'drift' },
      command: 'verify',
      reason: 'The database differs from the log: "articles"',
    });
    await query(service.databaseUrl, 'DROP TABLE authors');
    const more = { differences: 2, tables: ['articles', 'authors'] };
    expect(await next(2)).to.deep.equal({ type: 'drift.found', data: more });
    await api.ok('POST', '/projections/tables/rebuild');
    await query(service.databaseUrl, 'ALTER TABLE articles ALTER title TYPE varchar(255)');
    for (let count = 3; (await next(count)).type !== 'drift.resolved';) count += 1;
    expect(service.log()).to.contain('The database differs from the log: \\"articles\\"');
  });

  it('delivers an event when the verification fails, and when it passes again', async () => {
    const count = receiver.received.length;
    await query(service.databaseUrl, `DELETE FROM service.service_fields WHERE collection = 'articles'`);
    const { type, data } = await next(count + 1);
    expect({ type, data }).to.deep.equal({ type: 'verification.failed', data: { faults: { metadata: 2 } } });
    await api.ok('POST', '/projections/metadata/rebuild');
    expect(await next(count + 2)).to.deep.equal({ type: 'verification.passed', data: {} });
  });

  it('records each result once, although two processes compare', async () => {
    const { data } = await api.ok<{ data: Event[] }>('GET', '/history/events?subject=comparison&limit=100');
    const results = data.map((event) => JSON.stringify([event.type, event.data]));
    results.forEach((result, index) => expect(result).to.not.equal(results[index + 1]));
    expect(data.map(({ type }) => type).filter((type) => !type.startsWith('drift.'))).to.deep.equal([
      'verification.failed',
      'verification.passed',
    ]);
  });
});

describe('scheduled comparisons of a log that cannot be read', () => {
  const { service, api } = withService();

  it('show the fault in the metric and the log of a service that starts afterwards', async () => {
    await api.ok('POST', '/collections', { collection: 'articles', schema: null });
    await tamper(service.databaseUrl, (client) =>
      client.query(`UPDATE service.service_events SET data = '{}' WHERE position = 1`),
    );
    const second = await startService({ VERIFY_EVERY: '1s', DATABASE_URL: service.databaseUrl });
    try {
      await until('the metric shows the fault', async () =>
        (await clientOf(second)('/metrics')).text.includes('dps_comparison_faults{comparison="verification"} 1\n'),
      );
      expect(second.log()).to.contain('The verification failed (faults: hash_chain 1)');
    } finally {
      await second.stop();
    }
  });
});
