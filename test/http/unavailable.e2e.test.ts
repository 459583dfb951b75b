import { expect } from 'chai';
import pg from 'pg';
import { type Proxy, startProxy } from '../support/proxy.js';
import { until } from '../support/until.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { type TestService, startService } from '../support/service.js';
import { expectConsistent } from '../support/consistent.js';
import { type Client, clientOf, json } from '../support/client.js';

describe('an unavailable database', () => {
  let database: TestDatabase;
  let proxy: Proxy;
  let service: TestService;
  let client: Client;

  before(async () => {
    database = await createDatabase('migrated');
    proxy = await startProxy(database.connectionString);
    service = await startService({ DATABASE_URL: proxy.connectionString, LOCK_TIMEOUT: '2s' });
    client = clientOf(service);
  });
  after(async () => {
    await service.stop();
    await proxy.close();
    await database.drop();
  });

  it('returns 503 with Retry-After to every request, and nothing is lost or created', async () => {
    const create = (collection: string) => client('/collections', json({ collection, schema: {} }));
    expect((await create('before')).status).to.equal(200);
    proxy.answer('refused');
    proxy.cut();
    for (const ask of [
      () => client('/collections'),
      () => client('/schema/snapshot'),
      () => create('meanwhile'),
      () => client('/auth/login', { ...json({ email: 'a@example.com', password: 'x' }), token: null }),
    ]) {
      const { status, headers, json: reported } = await ask();
      const message = 'The database is not reachable. Nothing was changed. Try again later.';
      expect([status, reported]).to.deep.equal([503, { errors: [{ message, extensions: { code: 'UNAVAILABLE' } }] }]);
      expect(headers.get('retry-after')).to.equal('2');
    }
    for (const path of ['/server/ping', '/server/live'])
      expect((await client(path, { token: null })).status).to.equal(200);
    expect((await client('/server/ready', { token: null })).status).to.equal(503);
    expect((await client('/server/health', { token: null })).status).to.equal(503);
    proxy.answer('through');
    await until(
      'the service is well again',
      async () => (await client('/server/health', { token: null })).status === 200,
    );
    expect((await create('after')).status).to.equal(200);
    const { state } = await expectConsistent(database.connectionString);
    expect([...state.collections.keys()].sort()).to.deep.equal(['after', 'before']);
  });

  it('is not ready while its disk is full, gives the reason, and is ready after the next change', async () => {
    const owner = new pg.Client(database.connectionString);
    await owner.connect();
    // PostgreSQL reports this when it cannot extend a file.
    await owner.query(`
      CREATE FUNCTION raise_disk_full() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE disk_full USING MESSAGE = 'could not extend file: No space left on device'; END $$;
      CREATE TRIGGER is_full BEFORE INSERT ON service.service_events EXECUTE FUNCTION raise_disk_full()`);
    const create = () => client('/collections', json({ collection: 'on_full_disk', schema: {} }));
    const refused = await create();
    expect([refused.status, ...refused.codes], refused.text).to.deep.equal([503, 'UNAVAILABLE']);
    expect(refused.text).to.contain('The disk of the database server is full (SQLSTATE 53100)');
    const ready = await client('/server/ready', { token: null });
    expect([ready.status, ready.text.includes('The disk of the database server is full')]).to.deep.equal([503, true]);
    expect((await client('/collections')).status).to.equal(200);
    await owner.query('DROP FUNCTION raise_disk_full() CASCADE');
    await owner.end();
    expect((await create()).status).to.equal(200);
    expect((await client('/server/ready', { token: null })).status).to.equal(200);
  });

  it('serves reads while transactions are read-only by default, explains why it rejects changes, and recovers', async () => {
    const owner = new pg.Client(database.connectionString);
    await owner.connect();
    const name = owner.escapeIdentifier(owner.database ?? '');
    const logged = service.log().length;
    const create = () => client('/collections', json({ collection: 'on_read_only', schema: {} }));
    const ready = () => client('/server/ready', { token: null });
    await owner.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    proxy.cut();
    const credentials = { email: service.adminEmail, password: service.adminPassword };
    const login = () => client('/auth/login', { ...json(credentials), token: null });
    for (const request of [create, login]) {
      const refused = await request();
      expect([refused.status, ...refused.codes], refused.text).to.deep.equal([503, 'READ_ONLY']);
      expect(refused.text).to.contain('its transactions are read-only by default');
    }
    expect((await client('/collections')).status).to.equal(200);
    const unready = await ready();
    expect([unready.status, unready.text.includes('Remove default_transaction_read_only')]).to.deep.equal([503, true]);
    expect(service.log().slice(logged)).to.contain('read-only').and.not.contain('    at ');
    await owner.query('SET default_transaction_read_only = off');
    await owner.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    await owner.end();
    await until('every session is writable again', async () => (await ready()).status === 200);
    await until('the change succeeds', async () => (await create()).status === 200);
  });

  it('keeps no request waiting for a token lookup on a silent connection', async () => {
    const unknown = { token: 'dps_unknown-token-0123456789' };
    expect((await client('/collections', unknown)).status).to.equal(401);
    proxy.muffle();
    // Reads use another connection, which detects the failure first.
    for (let tries = 0; (await client('/collections', unknown)).status !== 401; tries++) {
      expect(tries, 'connections that are silent are used again').to.be.below(5);
    }
  });

  it('keeps the metrics available to known users, and reports the outage', async () => {
    const measures = (token?: string | null) => client('/metrics', token === undefined ? {} : { token });
    const before = await measures();
    expect(before.text)
      .to.match(/^dps_database_up 1$/m)
      .and.match(/^dps_log_head_position [1-9]/m);
    for (const mode of ['refused', 'never'] as const) {
      proxy.answer(mode);
      if (mode === 'refused') proxy.cut();
      else proxy.fallSilent();
      const { status, text } = await measures();
      expect(status, text).to.equal(200);
      expect(text)
        .to.match(/^dps_database_up 0$/m)
        .and.match(/^process_cpu_seconds_total /m);
      // A stale value would be wrong.
      expect(text).not.to.match(/^dps_log_head_position|^dps_projection_(lag_events|failed)\{/m);
      expect((await measures(null)).status).to.equal(401);
      const unknown = await measures('dps_unknown-token-0123456789');
      expect([unknown.status, ...unknown.codes]).to.deep.equal([503, 'UNAVAILABLE']);
      proxy.answer('through');
      proxy.cut();
      await until('the database is back', async () => (await measures()).text.includes('dps_database_up 1'));
    }
  });
});
