import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { ExaminedCheck } from '../../src/doctor/index.js';
import { OperatorError } from '../../src/kernel/problem.js';
import { type Client, type Reply, clientOf, json } from '../support/client.js';
import { expectConsistent } from '../support/consistent.js';
import { dps } from '../support/dps.js';
import { INSTALL_PGBOUNCER, type Pgbouncer, pgbouncerProgram, startPgbouncer } from '../support/pgbouncer.js';
import { type TestDatabase, asSuperuser, createDatabase } from '../support/postgres.js';
import { type TestService, startService } from '../support/service.js';
import { until } from '../support/until.js';

const dataOf = <T>({ json: body }: Reply): T => (body as { data: T }).data;

/** Milliseconds: longer than a busy server needs to change a setting. */
const LIMIT = 1_000;

describe('a service behind a pooler', function () {
  this.timeout(300_000);
  let database: TestDatabase;
  let pooler: Pgbouncer;
  let address: string;

  before(function () {
    if (pgbouncerProgram() !== null) return;
    console.log(`      ${INSTALL_PGBOUNCER}`);
    this.skip();
  });

  const started: TestService[] = [];

  async function begin(settings: Record<string, string> = {}): Promise<void> {
    database = await createDatabase('migrated');
    pooler = await startPgbouncer(database.connectionString, settings);
    address = pooler.through(database.connectionString);
  }

  afterEach(async () => {
    for (const service of started.splice(0)) await service.stop();
    await pooler?.stop();
    await database?.drop();
  });

  async function start(settings: Record<string, string>): Promise<Client> {
    const service = await startService(settings);
    started.push(service);
    return clientOf(service);
  }

  const both = () => ({ DATABASE_URL: address, DIRECT_DATABASE_URL: database.connectionString });

  const collection = (name: string) => json({ collection: name, schema: {}, fields: [] });

  async function refusalOf(settings: Record<string, string>): Promise<string> {
    const error = await start(settings).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(OperatorError);
    return (error as Error).message;
  }

  describe('at the start', () => {
    it("reports a missing direct address, and accepts the setting's old name", async () => {
      await begin();
      expect(await refusalOf({ DATABASE_URL: address })).to.match(/^The setting DIRECT_DATABASE_URL is required, /);
      await start({ DATABASE_URL: address, LISTEN_DATABASE_URL: database.connectionString });
    });

    it('reports a direct address that connects through a pooler, where LISTEN fails', async () => {
      await begin();
      const message = /^DIRECT_DATABASE_URL cannot be used: it uses a pooler too/;
      expect(await refusalOf({ DATABASE_URL: address, DIRECT_DATABASE_URL: address })).to.match(message);
      expect(await refusalOf({ DATABASE_URL: address, LISTEN_DATABASE_URL: address })).to.match(message);
    });

    it('reports addresses of different databases', async () => {
      await begin();
      const other = await createDatabase();
      const settings = { DATABASE_URL: address, DIRECT_DATABASE_URL: other.connectionString };
      expect(await refusalOf(settings)).to.match(
        /^DIRECT_DATABASE_URL cannot be used: it leads to a different database/,
      );
      await other.drop();
    });

    it('rejects a pooler in statement mode', async () => {
      await begin({ pool_mode: 'statement' });
      const message = /^DATABASE_URL cannot be used: its pooler rejects transactions .*pool_mode/;
      expect(await refusalOf(both())).to.match(message);
    });

    it('detects the pooler, and works the same when it is configured', async () => {
      await begin();
      for (const settings of [{}, { DB_POOLER: 'transaction' }] as Record<string, string>[]) {
        const client = await start({ ...both(), ...settings });
        const name = `told_${Object.keys(settings).length}`;
        expect((await client('/collections', collection(name))).status).to.equal(200);
      }
    });

    it('works in session mode like in transaction mode', async () => {
      await begin({ pool_mode: 'session' });
      const client = await start(both());
      expect((await client('/collections', collection('articles'))).status).to.equal(200);
    });
  });

  it('receives notifications and builds indexes concurrently', async () => {
    await begin();
    const one = await start(both());
    const other = await start(both());
    const fields = [{ field: 'title', type: 'string', interface: 'input', schema: { is_indexed: true } }];
    const created = await one(
      '/collections?concurrentIndexCreation=true',
      json({ collection: 'articles', schema: {}, fields }),
    );
    expect(created.status, created.text).to.equal(200);
    expect((await other('/collections/articles')).status).to.equal(200);
    await until('the index is there', async () => {
      return dataOf<{ lag: number }[]>(await one('/projections')).every(({ lag }) => lag === 0);
    });
    expect(dataOf(await one('/projections/verify'))).to.include({ ok: true });
    for (const name of ['metadata', 'tables', 'indexes']) {
      const rebuilt = await one(`/projections/${name}/rebuild`, { method: 'POST' });
      expect(rebuilt.status, rebuilt.text).to.equal(200);
    }
  });

  it('works on sessions that other clients left dirty', async () => {
    // All clients share one session.
    await begin({ default_pool_size: '1' });
    const client = await start(both());
    // Each change would exceed the limit.
    await asSuperuser(
      database.connectionString,
      `CREATE FUNCTION public.pause() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(${(LIMIT + 100) / 1_000}); RETURN NULL; END $$`,
      'CREATE TRIGGER pause AFTER INSERT ON service.service_events FOR EACH STATEMENT EXECUTE FUNCTION public.pause()',
    );
    const other = new pg.Client(address);
    other.on('error', () => undefined);
    await other.connect();
    const dirt = [
      "SET search_path = 'pg_temp'",
      "SET TimeZone = 'Asia/Kathmandu'",
      // The limits apply to the statement that resets it.
      `SET statement_timeout = ${LIMIT}`,
      'SET lock_timeout = 1',
      'SET standard_conforming_strings = off',
      'SET synchronous_commit = off',
      'SET default_transaction_isolation = serializable',
      'SET default_transaction_read_only = on',
      'LISTEN somebody',
    ];
    const named = [
      'CREATE TEMP TABLE service_events (position int)',
      'CREATE TEMP TABLE articles_0 (id int)',
      'CREATE TEMP SEQUENCE articles_0_id_seq',
      'DECLARE open CURSOR WITH HOLD FOR SELECT generate_series(1, 10)',
      "PREPARE batch_1 AS SELECT 'not ours'",
      'PREPARE freshness AS SELECT 1',
    ];
    for (const statement of named) await other.query(statement);
    for (let round = 0; round < 5; round += 1) {
      for (const statement of dirt) await other.query(statement);
      const written = await client('/collections', collection(`articles_${round}`));
      expect(written.status, written.text).to.equal(200);
      for (const statement of dirt) await other.query(statement);
      expect((await client(`/collections/articles_${round}`)).status).to.equal(200);
      for (const statement of dirt) await other.query(statement);
      const user = await client(
        '/users',
        json({ email: `a${round}@example.com`, role: 'reader', password: 'correct horse' }),
      );
      expect(user.status, user.text).to.be.oneOf([200, 201]);
    }
    await other.end();
    await expectConsistent(database.connectionString);
  });

  it('applies each batch once or not at all, as responded, while the pooler restarts', async () => {
    await begin();
    const client = await start({ ...both(), LOCK_TIMEOUT: '20s' });
    const answers = new Map<string, number>();
    let running = true;
    const writer = async (which: number): Promise<void> => {
      for (let count = 0; running; count += 1) {
        const name = `w${which}_${count}`;
        const { status, text } = await client('/collections', collection(name));
        expect(status, text).to.be.oneOf([200, 503]);
        if (status === 503) expect(text).to.match(/Nothing was changed|is not known/);
        if (!text.includes('is not known')) answers.set(name, status);
        if (status === 503) await sleep(50);
      }
    };
    const writers = Promise.all([0, 1, 2].map(writer));
    for (let restart = 0; restart < 6; restart += 1) {
      await sleep(200 + 130 * restart);
      await pooler.kill();
      await sleep(100);
      await pooler.start();
    }
    const build = () => [...answers.values()].filter((status) => status === 200).length;
    await until('some were made', () => build() > 5);
    running = false;
    await writers;
    // A read fails on a connection of the pool that died with the pooler.
    let reply = await client('/collections');
    await until('it can be read', async () => (reply = await client('/collections')).status === 200);
    const listed = dataOf<{ collection: string }[]>(reply);
    const there = new Set(listed.map((each) => each.collection));
    for (const [name, status] of answers)
      expect(there.has(name), `${name} was answered ${status}`).to.equal(status === 200);
    await expectConsistent(database.connectionString);
  });

  it('reports invalid DB_POOLER and address options', async () => {
    await begin();
    expect(await refusalOf({ ...both(), DB_POOLER: 'none' })).to.match(/^DB_POOLER is none, but /);
    const options = { ...both(), DATABASE_URL: `${address}?options=-c%20work_mem%3D4MB` };
    expect(await refusalOf(options)).to.include('options');
    await pooler.stop();
    pooler = await startPgbouncer(database.connectionString, { ignore_startup_parameters: 'options' });
    address = pooler.through(database.connectionString);
    expect(await refusalOf({ ...options, DATABASE_URL: `${address}?options=-c%20work_mem%3D4MB` })).to.include(
      'options',
    );
    // A pooler can be configured to ignore these settings. Each transaction sets them anyway.
    const client = await start(both());
    expect((await client('/collections', collection('articles'))).status).to.equal(200);
  });

  it('runs commands on the database past the pooler', async () => {
    await begin();
    await start(both());
    await pooler.kill();
    await pooler.start();
    const { code, out } = await dps(['status', '--json'], both());
    expect(code, out).to.equal(0);
    const examined = await dps(['doctor', '--json'], both());
    const { checks } = JSON.parse(examined.out) as { checks: ExaminedCheck[] };
    expect(checks.flatMap(({ findings }) => findings)).to.deep.equal([]);
    const missing = await dps(['doctor', '--json'], { DATABASE_URL: address });
    expect(missing.out).to.include('POOLER_UNUSABLE').and.include('DIRECT_DATABASE_URL is required');
    const wrong = await dps(['doctor', '--json'], { ...both(), DB_POOLER: 'none' });
    expect(wrong.out).to.include('POOLER_UNEXPECTED');
  });
});
