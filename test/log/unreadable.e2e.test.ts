import { expect } from 'chai';
import pg from 'pg';
import { type Client, clientOf, json } from '../support/client.js';
import { ACKNOWLEDGED, append } from '../support/append.js';
import { dps } from '../support/dps.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { type TestService, startService } from '../support/service.js';
import { rewrite, tamper } from '../support/tamper.js';

/** Ways to make event 3 of four unreadable. */
const DAMAGES: Record<string, (url: string) => Promise<unknown>> = {
  'an unknown type': (url) =>
    rewrite(url, (events) => events.map((event) => (event.position === 3 ? { ...event, type: 'field.sung' } : event))),
  'an unknown version': (url) =>
    rewrite(url, (events) => events.map((event) => (event.position === 3 ? { ...event, version: 99 } : event))),
  'damaged data with a right hash': (url) =>
    rewrite(url, (events) => events.map((event) => (event.position === 3 ? { ...event, data: { fields: 7 } } : event))),
  'a missing event': (url) =>
    tamper(url, (client) => client.query('DELETE FROM service.service_events WHERE position = 3')),
  'swapped events': (url) =>
    tamper(url, async (client) => {
      await client.query('UPDATE service.service_events SET position = 1000 WHERE position = 3');
      await client.query('UPDATE service.service_events SET position = 3 WHERE position = 4');
      await client.query('UPDATE service.service_events SET position = 4 WHERE position = 1000');
    }),
};

describe('an event that this release cannot read', () => {
  let database: TestDatabase;
  let service: TestService;
  let send: Client;

  beforeEach(async () => {
    database = await createDatabase('migrated');
    await start();
    for (const collection of ['a', 'b', 'c', 'd']) await send('/collections', json({ collection, schema: {} }));
  });

  afterEach(async () => {
    await service.stop();
    await database.drop();
  });

  async function start(): Promise<void> {
    service = await startService({ DATABASE_URL: database.connectionString });
    send = clientOf(service);
  }

  for (const [what, damage] of Object.entries(DAMAGES)) {
    it(`blocks only what needs it: ${what}`, async () => {
      await service.stop();
      await damage(database.connectionString);
      await start();
      for (const path of ['/collections', '/schema/snapshot', '/server/info', '/projections/verify']) {
        const reply = await send(path);
        expect(reply.status, `${path} ${reply.text}`).to.equal(503);
        expect(reply.codes, path).to.deep.equal(['LOG_UNREADABLE']);
        expect(reply.text).to.match(/position 3/i);
      }
      const created = await send('/collections', json({ collection: 'e', schema: {} }));
      expect(created.codes, created.text).to.deep.equal(['LOG_UNREADABLE']);
      expect((await send('/server/health', { token: null })).text).to.match(/position 3/i);
      // Bypasses the client that checks responses against their description, because damaged data is shown as stored.
      const headers = { authorization: `Bearer ${service.adminToken}` };
      expect((await fetch(`${service.url}/history/events`, { headers })).status).to.equal(200);
      expect((await send('/history/verify')).status).to.equal(200);
      expect((await send('/history/export')).status).to.equal(200);
      const ran = await dps(['drift'], { DATABASE_URL: database.connectionString });
      expect(ran.code).to.equal(2);
      expect(ran.err)
        .to.match(/position 3/i)
        .and.not.match(/\n\s+at /);
      const verified = await dps(['verify'], { DATABASE_URL: database.connectionString });
      expect(verified.code, verified.err).to.equal(1);
    });
  }
});

describe('an event of a newer release on a running service', () => {
  it('blocks only what needs it, until the event is readable', async () => {
    const service = await startService();
    try {
      const send = clientOf(service);
      await send('/collections', json({ collection: 'a', schema: {} }));
      await append(service.databaseUrl, [{ ...ACKNOWLEDGED, type: 'table.sung' } as never]);
      expect((await send('/collections')).codes).to.deep.equal(['LOG_UNREADABLE']);
      const created = await send('/collections', json({ collection: 'b', schema: {} }));
      expect(created.codes, created.text).to.deep.equal(['LOG_UNREADABLE']);
      expect((await send('/history/snapshot?at=1')).status).to.equal(200);
      expect((await send('/history/snapshot?at=2')).codes).to.deep.equal(['LOG_UNREADABLE']);
      expect((await send('/history/events/2')).status).to.equal(200);
    } finally {
      await service.stop();
    }
  });
});

describe('verification of the append-only triggers', () => {
  const OFF = {
    disabled: 'ALTER TABLE service.service_events DISABLE TRIGGER service_events_append_only',
    'not for replication': 'ALTER TABLE service.service_events ENABLE TRIGGER service_events_append_only',
    dropped: 'DROP TRIGGER service_events_append_only ON service.service_events',
    'all disabled': 'ALTER TABLE service.service_events DISABLE TRIGGER ALL',
    'another function': `CREATE OR REPLACE FUNCTION service.service_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$`,
    'not for DELETE': `DROP TRIGGER service_events_append_only ON service.service_events;
      CREATE TRIGGER service_events_append_only BEFORE UPDATE OR TRUNCATE ON service.service_events
        FOR EACH STATEMENT EXECUTE FUNCTION service.service_refuse_change();
      ALTER TABLE service.service_events ENABLE ALWAYS TRIGGER service_events_append_only`,
  };
  for (const [what, sql] of Object.entries(OFF)) {
    it(`reports a change to the triggers: ${what}`, async () => {
      const service = await startService();
      try {
        const environment = { DATABASE_URL: service.databaseUrl };
        expect((await dps(['verify'], environment)).code).to.equal(0);
        await tamper(service.databaseUrl, () => Promise.resolve());
        expect((await dps(['verify'], environment)).code).to.equal(0);
        await alter(service.databaseUrl, sql);
        const ran = await dps(['verify'], environment);
        expect(ran.out).to.contain('The trigger that rejects');
        expect(ran.code).to.equal(1);
        const verified = await clientOf(service)('/history/verify');
        expect(verified.json).to.have.nested.property('data.ok', false);
      } finally {
        await service.stop();
      }
    });
  }
});

const alter = async (url: string, sql: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
};
