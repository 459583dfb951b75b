import { expect } from 'chai';
import pg from 'pg';
import { createAuth } from '../../src/features/accounts/index.js';
import { type AccountChange, changeAccount } from '../../src/features/accounts/change-account.js';
import { readDatabase } from '../../src/postgres/server.js';
import { createPool } from '../../src/postgres/pool.js';
import { createIndexProjection } from '../../src/projector/indexes/index.js';
import { rebuildMetadataRows } from '../../src/projector/metadata/rebuild.js';
import { rebuildTables } from '../../src/features/projections/index.js';
import { createStoredFolds } from '../../src/reads/stored-folds.js';
import { until } from '../support/until.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { spawnService } from '../support/process.js';
import { type TestService, startService } from '../support/service.js';
import {
  CAUSE,
  type Instance,
  command,
  expectDone,
  field,
  refusedWith,
  silent,
  startInstance,
  table,
} from '../support/instance.js';

describe("a process older than its database's migrations", () => {
  let database: TestDatabase;
  let instance: Instance;
  let other: pg.Client;

  beforeEach(async () => {
    database = await createDatabase();
    instance = await startInstance(database.connectionString);
    other = new pg.Client(database.connectionString);
    await other.connect();
    expectDone(await instance.pipeline.apply('create-collection', table('a', [field('t')]), { cause: CAUSE }));
  });

  afterEach(async () => {
    await instance.stop();
    await other.end();
    await database.drop();
  });

  const migrated = () =>
    other.query(`INSERT INTO service.service_migrations (number, name) VALUES (99, '0099_of_the_future.sql')`);

  const rows = async (name: string): Promise<number> =>
    Number((await other.query<{ count: string }>(`SELECT count(*) FROM ${name}`)).rows[0]?.count);

  /** The error of `work`. */
  const failure = (work: Promise<unknown>): Promise<Error> =>
    work.then(
      () => expect.fail('it was done'),
      (error: unknown) => error as Error,
    );

  it('rejects changes, dry runs and rebuilds, but serves reads', async () => {
    await migrated();
    const input = table('b');
    const outcome = await instance.pipeline.apply('create-collection', input, { cause: CAUSE });
    expect(refusedWith(outcome)).to.equal('UNAVAILABLE');
    expect(outcome.kind === 'refused' && outcome.problems[0]?.message).to.match(/newer release.*Nothing was changed/s);
    const dry = await instance.pipeline.dryRun('create-collection', input, { cause: CAUSE });
    expect(refusedWith(dry)).to.equal('UNAVAILABLE');
    expect(await failure(rebuildTables(instance.pipeline, 'public'))).to.have.property('name', 'ProblemError');
    const connection = { connectionString: database.connectionString, schema: 'public', serviceSchema: 'service' };
    const { database: name } = await readDatabase(instance.pool);
    const place = { connection, database: name, lockTimeout: 5_000, logger: silent };
    expect((await failure(rebuildMetadataRows(place))).message).to.include('newer release');
    expect(await rows('service.service_events')).to.equal(1);
    expect((await instance.store.atHead(1)).collections.has('a')).to.equal(true);
  });

  it('changes no user, token or session', async () => {
    const auth = await createAuth({ pool: instance.pool, secret: 'x'.repeat(40) });
    const change = async <T>(created: AccountChange<T> | Promise<AccountChange<T>>) =>
      changeAccount(instance.pipeline, await created, { cause: CAUSE });
    const user = await change(
      auth.users.create({ email: 'ada@example.com', password: 'correct horse', role: 'admin' }),
    );
    if (!user.ok) throw new Error('not made');
    const { id } = user.value;
    const token = await change(auth.tokens.create(id, {}));
    const grant = await auth.sessions.login({
      email: 'ada@example.com',
      password: 'correct horse',
      network: '127.0.0.1',
    });
    if (!token.ok || grant === null) throw new Error('not made');
    const counts = async () => [
      await rows('service.service_users'),
      await rows('service.service_tokens'),
      await rows('service.service_sessions'),
    ];
    const before = await counts();
    await migrated();
    const changes = [
      change(auth.users.create({ email: 'bob@example.com', role: 'reader' })),
      change(auth.users.update(id, { name: 'Bob' })),
      change(auth.users.remove(id)),
      change(auth.tokens.create(id, {})),
      change(auth.tokens.revoke(id, token.value.id)),
    ];
    for (const result of await Promise.all(changes)) expect(JSON.stringify(result)).to.include('newer release');
    const writes = [
      () => auth.sessions.login({ email: 'ada@example.com', password: 'correct horse', network: '127.0.0.1' }),
      () => auth.sessions.refresh(grant.refresh_token),
      () => auth.sessions.logout(grant.refresh_token),
    ];
    for (const write of writes) expect((await failure(write())).message).to.include('newer release');
    expect(await counts()).to.deep.equal(before);
    expect(await auth.identify(token.value.token, 1)).to.include({ id });
    auth.stop();
  });

  it('builds no deferred index and stores no fold', async () => {
    const input = { collection: 'a', field: 't', body: { schema: { is_indexed: true } }, concurrentIndexes: true };
    expectDone(await instance.pipeline.apply('update-fields', command('update-fields', input), { cause: CAUSE }));
    await migrated();
    const warnings: string[] = [];
    const logger = { ...silent, warn: (message: string) => void warnings.push(message) };
    const indexes = createIndexProjection({
      pool: instance.pool,
      connection: { connectionString: database.connectionString, schema: 'public', serviceSchema: 'service' },
      database: (await readDatabase(instance.pool)).database,
      currentState: () => Promise.resolve(instance.store.current()),
      logger,
    });
    await indexes.retry();
    await indexes.stop();
    expect(warnings).to.deep.equal(['the index build was interrupted']);
    const built = await other.query(`SELECT FROM pg_indexes WHERE tablename = 'a' AND indexdef LIKE '%(t)%'`);
    expect(built.rowCount).to.equal(0);
    const folds = createStoredFolds({ pool: instance.pool, logger, interval: () => 1, secret: 'secret' });
    folds.offer(instance.store.point());
    await folds.close();
    expect(await rows('service.service_folds')).to.equal(0);
    expect(warnings).to.include('a state could not be stored');
  });

  it('returns 503 for changes, gives the reason, and reads normally', async () => {
    const service: TestService = await startService({ DATABASE_URL: database.connectionString });
    await migrated();
    const headers = { Authorization: `Bearer ${service.adminToken}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ collection: 'b', schema: {} });
    const changed = await fetch(`${service.url}/collections`, { method: 'POST', headers, body });
    const login = await fetch(`${service.url}/auth/login`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ email: service.adminEmail, password: service.adminPassword }),
    });
    for (const answer of [changed, login]) {
      expect(answer.status).to.equal(503);
      const { errors } = (await answer.json()) as { errors: { message: string; extensions: { code: string } }[] };
      expect(errors[0]?.extensions.code).to.equal('UNAVAILABLE');
      expect(errors[0]?.message).to.include('newer release');
    }
    expect((await fetch(`${service.url}/collections/a`, { headers })).status).to.equal(200);
    await service.stop();
  });

  it('does not start, and prints the reason', async () => {
    await migrated();
    const service = spawnService({ DATABASE_URL: database.connectionString, DATA_DIR: 'unused' });
    const { code, stderr } = await service.ended();
    expect(code).to.be.above(0);
    expect(stderr).to.include('newer release').and.not.include('    at ');
  });

  it('notices a migration that runs during its write', async () => {
    const pool = createPool({
      connectionString: database.connectionString,
      schema: 'public',
      serviceSchema: 'service',
      max: 1,
      logger: silent,
    });
    const { database: name } = await readDatabase(pool);
    await pool.end();
    expect(name).to.be.a('string');
    await other.query('BEGIN');
    const { advisoryKey } = await import('../../src/postgres/locked-session.js');
    await other.query('SELECT pg_advisory_xact_lock($1)', [advisoryKey({ database: name, schema: 'public' }, 'log')]);
    await migrated();
    const writing = instance.pipeline.apply('create-collection', table('b'), { cause: CAUSE });
    await until('it waits for the migration', async () => {
      const { rowCount } = await instance.pool.query(
        `SELECT FROM pg_locks WHERE NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      return (rowCount ?? 0) > 0;
    });
    await other.query('COMMIT');
    expect(refusedWith(await writing)).to.equal('UNAVAILABLE');
  });
});
