import { expect } from 'chai';
import pg from 'pg';
import { until } from '../support/until.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { type TestService, startService } from '../support/service.js';
import { type Client, clientOf, json } from '../support/client.js';

describe('an open transaction of an application', function () {
  this.timeout(60_000);
  let database: TestDatabase;
  let service: TestService;
  let beside: TestService;
  let client: Client;
  let application: pg.Client;

  before(async () => {
    database = await createDatabase('migrated');
    const settings = { DATABASE_URL: database.connectionString, LOCK_TIMEOUT: '5s', LOCK_WAIT: '150ms' };
    service = await startService(settings);
    beside = await startService(settings);
    client = clientOf(service);
    application = new pg.Client({ connectionString: database.connectionString, application_name: 'shop' });
    await application.connect();
    for (const collection of ['a', 'b']) {
      const fields = [{ field: 't', type: 'string', meta: { interface: 'input' }, schema: {} }];
      expect((await client('/collections', json({ collection, schema: {}, fields }))).status).to.equal(200);
    }
    await application.query(`BEGIN; SELECT count(*) AS private FROM a`);
  });

  after(async () => {
    await application.end();
    await service.stop();
    await beside.stop();
    await database.drop();
  });

  const tighten = json({ schema: { is_nullable: false } }, 'PATCH');
  const head = async (): Promise<string | null> => (await client('/collections')).headers.get('x-log-position');

  it('is named in the 503 of a change of its table, while other tables can change on any process', async () => {
    const position = Number(await head());
    let isOver = false;
    const waiting = client('/fields/a/t', tighten).finally(() => (isOver = true));
    const others = [client, clientOf(beside)].map((each, index) =>
      each('/fields/b/t', json({ meta: { note: `${index}` } }, 'PATCH')),
    );
    for (const { status, text } of await Promise.all(others)) expect(status, text).to.equal(200);
    expect(isOver, 'they waited for it').to.equal(false);
    const { status, headers, text } = await waiting;
    expect(status).to.equal(503);
    expect(Number(headers.get('retry-after'))).to.be.above(0);
    const { errors } = JSON.parse(text) as { errors: { message: string; extensions: Record<string, unknown> }[] };
    const { message, extensions } = errors[0] as (typeof errors)[number];
    expect(extensions).to.include({ code: 'LOCK_TIMEOUT', collection: 'a' });
    const [blocker] = extensions['blocked_by'] as Record<string, unknown>[];
    expect(blocker).to.include({ application_name: 'shop', collection: 'a' });
    expect(blocker?.['pid']).to.be.a('number');
    expect(message).to.include('"shop"');
    expect(text).not.to.include('private');
    expect(Number(await head())).to.equal(position + 2);
  });

  it('ends the wait when the client disconnects', async () => {
    const position = await head();
    const waits = (): number => service.log().split('a change is waiting for a lock').length;
    const before = waits();
    const gone = new AbortController();
    const pending = fetch(`${service.url}/fields/a/t`, {
      method: 'PATCH',
      headers: { Authorization: `Bearer ${service.adminToken}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ schema: { is_nullable: false } }),
      signal: gone.signal,
    }).catch(() => undefined);
    await until('it waits', () => waits() > before);
    gone.abort();
    await pending;
    await until(
      'it was given up',
      () => service.log().includes('disconnected') || /"code":"UNAVAILABLE"/.test(service.log()),
    );
    await application.query('COMMIT');
    expect(await head()).to.equal(position);
    expect((await client('/fields/a/t', tighten)).status).to.equal(200);
  });

  it('is named when drift of its table is to be accepted', async () => {
    await application.query('ALTER TABLE b ADD more integer');
    await application.query('BEGIN; LOCK b IN SHARE UPDATE EXCLUSIVE MODE');
    const { status, text, json: body } = await client('/schema/drift/accept', json({}));
    await application.query('COMMIT');
    expect(status, text).to.equal(503);
    const [error] = (body as { errors: { extensions: Record<string, unknown> }[] }).errors;
    expect(error?.extensions).to.include({ code: 'LOCK_TIMEOUT', collection: 'b' });
    expect(error?.extensions).to.have.nested.property('blocked_by[0].application_name', 'shop');
  });
});
