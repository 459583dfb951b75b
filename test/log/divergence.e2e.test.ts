import { expect } from 'chai';
import type { EventRecord } from '../../src/log/read.js';
import { type Client, type Reply, clientOf, json } from '../support/client.js';
import { dps } from '../support/dps.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { type TestService, startService } from '../support/service.js';
import { cutOff, rewrite, tamper } from '../support/tamper.js';
import { until } from '../support/until.js';

interface Verified {
  ok: boolean;
  broken: { position: number; reason: string } | null;
  divergences: { seen: { position: number }; found: { position: number }; acknowledged: number | null }[];
}

const BEFORE = 8;

/** Ways to replace a log of eight events, and the newest differing position afterwards. */
const REPLACED: Record<string, (url: string) => Promise<unknown>> = {
  'the last events are cut off': (url) => cutOff(url, 3),
  'all events are gone': (url) => cutOff(url, BEFORE),
  'the whole chain is rewritten': (url) =>
    rewrite(url, (events) => events.map((event) => ({ ...event, actor: { id: 'x', name: 'Mallory' } }))),
  'one event in the middle is different': (url) =>
    rewrite(url, (events) => events.map((event) => (event.position === 5 ? { ...event, reason: 'forged' } : event))),
  'the chain is rewritten and continued': (url) =>
    rewrite(url, (events) => {
      const other = events.map((event): EventRecord => ({ ...event, reason: 'forged' }));
      const more = { ...(other.at(-1) as EventRecord), id: '00000000-0000-4000-8000-00000000000a' };
      const data = { patch: [{ op: 'replace', path: '/meta/note', value: 'x' }] };
      return [...other, { ...more, type: 'collection.updated', data }];
    }),
};

describe('a log replaced under a running service', () => {
  let database: TestDatabase;
  let services: TestService[];

  beforeEach(async () => {
    database = await createDatabase('migrated');
    services = [];
  });

  afterEach(async () => {
    for (const service of services) await service.stop();
    await database.drop();
  });

  const start = async (settings: Record<string, string> = {}): Promise<{ service: TestService; send: Client }> => {
    const service = await startService({ DATABASE_URL: database.connectionString, ...settings });
    services.push(service);
    return { service, send: clientOf(service) };
  };

  const create = (send: Client, collection: string): Promise<Reply> =>
    send('/collections', json({ collection, schema: {} }));

  /** A service that has written eight events. */
  const running = async (settings: Record<string, string> = {}) => {
    const one = await start(settings);
    for (let number = 1; number <= BEFORE; number += 1) {
      expect((await create(one.send, `c${number}`)).status).to.equal(200);
    }
    return one;
  };

  const verified = async (send: Client): Promise<Verified> =>
    ((await send('/history/verify')).json as { data: Verified }).data;

  const metric = async (send: Client): Promise<string | undefined> =>
    /^dps_log_divergence_total (\d+)/m.exec((await send('/metrics')).text)?.[1];

  async function expectRefused(send: Client): Promise<void> {
    const reply = await create(send, 'refused');
    expect(reply.status, reply.text).to.equal(503);
    expect(reply.codes).to.deep.equal(['LOG_DIVERGED']);
    expect(reply.text).to.contain('dps acknowledge-log');
    expect((await send('/projections/metadata/rebuild', { method: 'POST' })).codes).to.deep.equal(['LOG_DIVERGED']);
    expect((await send('/projections/tables/rebuild', { method: 'POST' })).codes).to.deep.equal(['LOG_DIVERGED']);
    const health = await send('/server/health', { token: null });
    expect(health.status, health.text).to.equal(503);
    expect(health.text).to.contain('acknowledge-log');
    expect((await send('/collections')).status).to.equal(200);
    expect((await send('/projections/verify')).status).to.equal(200);
    expect((await verified(send)).ok).to.equal(false);
    expect((await verified(send)).divergences.map(({ acknowledged }) => acknowledged)).to.include(null);
  }

  async function expectGoingOn(send: Client, collection: string): Promise<void> {
    const reply = await create(send, collection);
    expect(reply.status, reply.text).to.equal(200);
    expect((await send('/server/health', { token: null })).json).to.have.nested.property('checks.log.ok', true);
    const { ok, divergences } = await verified(send);
    expect(ok).to.equal(true);
    expect(divergences).to.have.length.at.least(1);
    for (const { acknowledged } of divergences) expect(acknowledged).to.be.a('number');
  }

  for (const [what, replace] of Object.entries(REPLACED)) {
    it(`is detected by a read, which fails until the divergence is acknowledged: ${what}`, async () => {
      const { service, send } = await running();
      await replace(database.connectionString);
      expect((await send('/schema/snapshot')).status).to.equal(200);
      await expectRefused(send);
      expect(service.log()).to.contain('the log has forked: it no longer contains the events that were read before');
      expect(await metric(send)).to.equal('1');
      const answer = await send('/history/acknowledge', { method: 'POST', headers: { 'x-reason': 'restored' } });
      const { data } = answer.json as { data: { position: number; divergences: Verified['divergences'] } };
      expect(data.divergences.map(({ seen }) => seen.position)).to.deep.equal([BEFORE]);
      const event = (await send(`/history/events/${data.position}`)).json as { data: Record<string, unknown> };
      expect(event.data).to.deep.include({ type: 'log.acknowledged', collection: null, reason: 'restored' });
      const { divergences, previous_origin, ...more } = event.data['data'] as Record<string, unknown>;
      expect([divergences, more]).to.deep.equal([data.divergences, {}]);
      // Without events and signatures, the origin is unknown.
      if (data.position > 1) expect(previous_origin).to.match(/^data-platform-service\/[0-9a-f]{64}$/);
      await expectGoingOn(send, 'after');
      expect((await send(`/history/snapshot?at=${data.position}`)).status).to.equal(200);
    });

    it(`is detected by a write, and by a process that never read the log: ${what}`, async () => {
      const { send } = await running();
      await replace(database.connectionString);
      const reply = await create(send, 'refused');
      expect(reply.codes, reply.text).to.deep.equal(['LOG_DIVERGED']);
      const other = await start();
      await expectRefused(other.send);
      await expectRefused(send);
      const ran = await dps(['acknowledge-log'], { DATABASE_URL: database.connectionString });
      expect(ran.code, ran.err).to.equal(0);
      expect(ran.out).to.contain(`position ${BEFORE}`);
      await expectGoingOn(other.send, 'after');
      await expectGoingOn(send, 'afterwards');
    });

    it(`is detected through checkpoints after all processes restarted: ${what}`, async () => {
      const { service } = await running();
      await service.stop();
      services = [];
      await replace(database.connectionString);
      const { send, service: next } = await start();
      expect(next.log()).to.contain('the log has forked: it no longer contains the events that were read before');
      await expectRefused(send);
      expect((await send('/history/acknowledge', { method: 'POST' })).status).to.equal(200);
      await expectGoingOn(send, 'after');
    });
  }

  for (const [what, text] of [
    ['deletes its row', 'DELETE FROM service.service_divergences'],
    ['says in its row that it was acknowledged', 'UPDATE service.service_divergences SET acknowledged = 1'],
  ] as const) {
    it(`is detected after a role that ${what} moves the checkpoints`, async () => {
      const { send } = await running();
      await cutOff(database.connectionString, 3);
      await expectRefused(send);
      await tamper(database.connectionString, async (client) => {
        await client.query(text);
        await client.query(`UPDATE service.service_projections p SET position = e.position, hash = e.hash
          FROM (SELECT position, hash FROM service.service_events ORDER BY position DESC LIMIT 1) e WHERE p.position > 0`);
      });
      await expectRefused(send);
      const other = await start();
      await expectRefused(other.send);
      expect((await send('/history/acknowledge', { method: 'POST' })).status).to.equal(200);
      await expectGoingOn(send, 'after');
      await expectGoingOn(other.send, 'afterwards');
    });
  }

  it('is acknowledged once by two processes at the same time', async () => {
    const one = await running();
    const two = await start();
    await cutOff(database.connectionString, 2);
    await expectRefused(two.send);
    const answers = await Promise.all(
      [one, two, one, two].map(({ send }) => send('/history/acknowledge', { method: 'POST' })),
    );
    const all = answers.map((answer) => (answer.json as { data: { divergences: unknown[] } }).data.divergences.length);
    expect(all.sort((a, b) => a - b)).to.deep.equal([0, 0, 0, 1]);
    const events = (await one.send('/history/events?type=log.acknowledged')).json as { data: unknown[] };
    expect(events.data).to.have.length(1);
    await expectGoingOn(one.send, 'after');
    await expectGoingOn(two.send, 'afterwards');
    const again = await dps(['acknowledge-log'], { DATABASE_URL: database.connectionString });
    expect(again.out).to.contain('Nothing to acknowledge');
  });

  it('continues automatically if configured, and records that', async () => {
    const { send } = await running({ ON_LOG_DIVERGENCE: 'continue' });
    await cutOff(database.connectionString, 3);
    const reply = await create(send, 'after');
    expect(reply.status, reply.text).to.equal(200);
    // A projection that lagged behind the former log can reveal a second fork, which is acknowledged in the background.
    await until('every fork is acknowledged', async () => (await verified(send)).ok);
    await expectGoingOn(send, 'afterwards');
    const [event] = ((await send('/history/events?type=log.acknowledged')).json as { data: { reason: string }[] }).data;
    expect(event?.reason).to.equal('ON_LOG_DIVERGENCE=continue');
  });

  it('discards the stored responses of the other log', async () => {
    const { send } = await running();
    const request = json({ collection: 'kept', schema: {} });
    const keyed = { ...request, headers: { ...request.headers, 'idempotency-key': 'k' } };
    expect((await send('/collections', keyed)).status).to.equal(200);
    await cutOff(database.connectionString, 2);
    await send('/history/acknowledge', { method: 'POST' });
    const again = await send('/collections', keyed);
    // The table still exists, unmanaged: the stored response would have reported that it was created.
    expect(again.codes, again.text).to.deep.equal(['ALREADY_EXISTS']);
  });

  it('notifies and ends streams, and rejects cursors of the other log', async () => {
    const { service, send } = await running();
    const response = await fetch(`${service.url}/history/stream?after=6`, {
      headers: { authorization: `Bearer ${service.adminToken}` },
    });
    let text = '';
    const streamed = (async () => {
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk;
    })();
    await until('all events have come', () => /^id: 8-/m.test(text));
    await cutOff(database.connectionString, 2);
    await send('/collections');
    await streamed;
    const ids = [...text.matchAll(/^id: (\S+)$/gm)].map(([, id]) => id ?? '');
    expect(ids.map((id) => id.split('-')[0])).to.deep.equal(['7', '8']);
    const [, match = ''] = /^event: diverged\ndata: (.*)$/m.exec(text) ?? [];
    expect(JSON.parse(match)).to.have.nested.property('seen.position', 8);
    expect(JSON.parse(match)).to.have.nested.property('found.position', 6);
    expect(JSON.parse(match)).to.have.property('fork', 6);
    await send('/history/acknowledge', { method: 'POST' });
    const again = await send('/history/stream', { headers: { 'last-event-id': ids[0] ?? '' } });
    expect(again.status, again.text).to.equal(409);
    expect(again.codes).to.deep.equal(['DIVERGED']);
    for (const path of ['/history/events', '/history/batches', '/history/collections/c1']) {
      expect((await send(`${path}?after=${ids[0]}`)).codes, path).to.deep.equal(['DIVERGED']);
    }
    const sixth = (await send('/history/events/6')).json as { data: { hash: string } };
    expect((await send(`/history/events?after=6-${sixth.data.hash}`)).status).to.equal(200);
    expect((await send(`/history/events?after=6-${sixth.data.hash.slice(0, 8)}`)).status).to.equal(200);
    expect((await send('/history/events?after=6-xyz')).status).to.equal(400);
  });
});
