import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { catalogText } from '../support/catalog-text.js';
import { HARD_SCHEMA } from '../features/adopt/hard-schema.js';
import { type Reply, clientOf, json } from '../support/client.js';
import { type Ran, dps } from '../support/dps.js';
import { LIBRARY } from '../support/library.js';
import { clientPrograms, run } from '../support/pg-dump.js';
import { type TestDatabase, createDatabase, temporaryDirectory, testServer } from '../support/postgres.js';
import { type TestService, startService } from '../support/service.js';

describe('backup and restore', () => {
  /** The backed-up database. Its service has stopped. */
  let source: string;
  let directory: string;
  let file: string;
  let snapshot: string;
  const databases: TestDatabase[] = [];

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dps-restore-'));
    source = await emptyDatabase();
    const service = await startService({ DATABASE_URL: source });
    try {
      await writeHistory(service);
      await sql(source, HARD_SCHEMA);
      const adopted = await clientOf(service)('/schema/adopt', json({ all: true }));
      expect(adopted.status, adopted.text).to.equal(200);
      snapshot = await snapshotOf(service);
      file = join(directory, 'log.ndjson');
      const exported = await clientOf(service)('/history/export');
      expect(exported.status, exported.text).to.equal(200);
      await writeFile(file, exported.text);
    } finally {
      await service.stop();
    }
  });

  after(async () => {
    for (const database of databases) await database.drop();
    await rm(directory, { recursive: true, force: true });
  });

  async function emptyDatabase(): Promise<string> {
    const database = await createDatabase();
    databases.push(database);
    return database.connectionString;
  }

  /** The log and the schema are equal, and a service starts on the restored database. */
  async function expectSame(connectionString: string): Promise<void> {
    expect(await catalogOf(connectionString)).to.deep.equal(await catalogOf(source));
    expect(await kindsOf(connectionString)).to.deep.equal({
      'change-requests': 'transactional',
      indexes: 'after-commit',
      metadata: 'transactional',
      tables: 'transactional',
      trash: 'transactional',
    });
    const { code, out } = await dps(['verify'], { DATABASE_URL: connectionString });
    expect(out).to.contain('The hash chain is valid').and.contain('match');
    expect(code).to.equal(0);
    const restored = await startService({ DATABASE_URL: connectionString });
    try {
      expect(await snapshotOf(restored)).to.equal(snapshot);
      expect((await clientOf(restored)('/history/export')).text).to.equal(await readFile(file, 'utf8'));
      const created = await clientOf(restored)('/collections', json({ collection: 'after', schema: {} }));
      expect(created.status, created.text).to.equal(200);
    } finally {
      await restored.stop();
    }
  }

  const restoreInto = (connectionString: string, from = file): Promise<Ran> =>
    dps(['restore', '--file', from, '--json'], { DATABASE_URL: connectionString });

  it('restores an exported log with the same hashes and the same schema', async () => {
    const connectionString = await emptyDatabase();
    const { code, out, err } = await restoreInto(connectionString);
    expect(code, err).to.equal(0);
    expect(JSON.parse(out)).to.deep.include({ ok: true, differences: [] });
    await expectSame(connectionString);
  });

  it('replays the log with its DDL, and prints progress lines without a terminal', async () => {
    const connectionString = await emptyDatabase();
    const { code, out, err } = await dps(['rebuild', 'tables', '--into', connectionString], {
      DATABASE_URL: source,
    });
    expect(code, err).to.equal(0);
    expect(out).to.contain('Verified');
    expect(err).to.match(/^replaying: 100 % \(\d+ of \d+\)$/);
    await expectSame(connectionString);
  });

  it('restores into another schema of a database that is in use', async () => {
    const connectionString = await emptyDatabase();
    await sql(connectionString, 'create table of_somebody (id int)');
    const settings = { DATABASE_URL: connectionString, DB_SCHEMA: 'my schema' };
    const { code, err } = await dps(['restore', '--file', file], settings);
    expect(code, err).to.equal(0);
    for (const command of ['verify', 'status', 'doctor']) {
      const ran = await dps([command], settings);
      expect(ran.code, ran.out).to.equal(0);
    }
    await sql(connectionString, `truncate "service_my schema".service_fields`);
    expect((await dps(['rebuild', 'metadata'], settings)).code).to.equal(0);
    expect((await dps(['verify'], settings)).code).to.equal(0);
  });

  it('restores into an embedded server that does not exist yet', async () => {
    const dataDir = await temporaryDirectory();
    try {
      const { code, err } = await dps(['restore', '--file', file], { DATA_DIR: join(dataDir, 'data') });
      expect(code, err).to.equal(0);
      expect((await dps(['verify'], { DATA_DIR: join(dataDir, 'data') })).code).to.equal(0);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  });

  it('shows a bar on a terminal', async () => {
    const lines: string[] = [];
    const rewrite = (line: string): void => void lines.push(line);
    const into = ['rebuild', 'tables', '--into', await emptyDatabase()];
    const { err } = await dps(into, { DATABASE_URL: source }, { rewrite });
    expect(err).to.equal('');
    expect(lines.at(-1)).to.equal('');
    expect(lines.at(-2)).to.match(/^replaying \[#{30}\] 100 %/);
  });

  it('restores a complete copy of the database', async () => {
    const copy = await emptyDatabase();
    const { connectionString } = await testServer();
    await sql(
      connectionString,
      `drop database ${nameOf(copy)}`,
      `create database ${nameOf(copy)} owner ${new URL(source).username} template ${nameOf(source)}`,
    );
    await expectSame(copy);
  });

  it('restores the output of pg_dump', async function () {
    const { majorVersion } = await testServer();
    const programs = await clientPrograms(majorVersion);
    if (programs === null) {
      process.stderr.write(
        `    pg_dump for PostgreSQL ${majorVersion} is not on this machine (postgresql-client): skipped\n`,
      );
      return this.skip();
    }
    const archive = join(directory, 'backup.dump');
    const copy = await emptyDatabase();
    await run(join(programs, 'pg_dump'), ['--format=custom', `--file=${archive}`, source]);
    await run(join(programs, 'pg_restore'), ['--exit-on-error', '--no-owner', `--dbname=${copy}`, archive]);
    await expectSame(copy);
  });

  it('rejects a target that is not empty', async () => {
    const used = await emptyDatabase();
    await sql(used, 'create table of_somebody (id int)');
    const table = await restoreInto(used);
    expect(table.code).to.equal(2);
    expect(table.err).to.contain('is not empty: it contains "of_somebody"');
    const trash = await emptyDatabase();
    await sql(
      trash,
      'create schema service_trash_s1; create schema service_trash_s2; create table service_trash_s2.t ()',
    );
    const left = await restoreInto(trash);
    expect(left.code).to.equal(2);
    expect(left.err).to.contain('is not empty: deleted tables of an earlier service are in "service_trash_s2". ');
    const log = await dps(['rebuild', 'tables', '--into', source], { DATABASE_URL: source });
    expect(log.code).to.equal(2);
    expect(log.err).to.contain('not empty');
  });

  for (const [what, damage, message] of [
    [
      'a changed event',
      (lines: string[]) => lines.with(2, (lines[2] ?? '').replace('"command":"', '"command":"x')),
      'position 3: its hash does not match',
    ],
    ['a missing event', (lines: string[]) => lines.toSpliced(1, 1), 'position 3: position 2 is missing'],
    ['a doubled event', (lines: string[]) => lines.toSpliced(1, 0, lines[1] ?? ''), 'broken at position 2'],
    [
      'a line that was cut off',
      (lines: string[]) => lines.with(-2, (lines.at(-2) ?? '').slice(0, 50)),
      'is not valid JSON',
    ],
    ['another document', () => ['{"version": 1}'], 'Line 1 is not an event'],
  ] as const) {
    it(`rejects ${what} without touching the database`, async () => {
      const damaged = join(directory, 'damaged.ndjson');
      const lines = (await readFile(file, 'utf8')).split('\n');
      await writeFile(damaged, damage(lines).join('\n'));
      const connectionString = await emptyDatabase();
      const { code, err } = await restoreInto(connectionString, damaged);
      expect(code).to.equal(2);
      expect(err).to.contain(message);
      expect(await ownTablesIn(connectionString)).to.deep.equal([]);
    });
  }

  it('rejects a log with a schema that DB_SCHEMAS lacks without touching the database', async () => {
    const two = await emptyDatabase();
    const backup = join(directory, 'schemas.dps');
    const log = join(directory, 'schemas.ndjson');
    const settings = { DATABASE_URL: two, DB_SCHEMAS: 'public,billing' };
    const service = await startService(settings);
    try {
      const client = clientOf(service);
      for (const collection of ['billing.kept', 'billing.deleted']) {
        const created = await client('/collections', json({ collection, schema: { schema: 'billing' } }));
        expect(created.status, created.text).to.equal(200);
      }
      const deleted = await client('/collections/billing.deleted', { method: 'DELETE' });
      expect(deleted.status, deleted.text).to.be.oneOf([200, 204]);
      await writeFile(log, (await client('/history/export')).text);
    } finally {
      await service.stop();
    }
    expect((await dps(['backup', backup], settings)).code).to.equal(0);
    const target = await emptyDatabase();
    const commands = [
      ['restore', '--backup', backup, '--into', target],
      ['restore', '--file', log, '--into', target],
    ];
    for (const command of commands) {
      const { code, err } = await dps(command, { DATABASE_URL: target });
      expect(code, err).to.equal(2);
      expect(err).to.contain('"billing" is missing from DB_SCHEMAS').and.contain('"billing.kept"');
      expect(await ownTablesIn(target)).to.deep.equal([]);
    }
    for (const command of [...commands, ['rebuild', 'tables', '--into', target]]) {
      const { code, err } = await dps(command, { ...settings, DATABASE_URL: two });
      expect(code, err).to.equal(0);
      await sql(target, 'drop schema billing, service, public cascade', 'create schema public');
    }
  });

  it('rejects a target whose transactions are read-only by default', async () => {
    const target = await emptyDatabase();
    await sql(target, `alter database ${nameOf(target)} set default_transaction_read_only = on`);
    const { code, err } = await restoreInto(target);
    expect(code, err).to.equal(2);
    expect(err).to.match(/The database is read-only: .* read-only by default/);
    expect(await ownTablesIn(target)).to.deep.equal([]);
  });

  it('reports errors on the command line', async () => {
    expect(await dps(['restore'], {})).to.deep.include({ code: 2, out: '' });
    expect(
      (await dps(['restore', '--file', join(directory, 'none')], { DATABASE_URL: await emptyDatabase() })).err,
    ).to.contain('cannot be read');
    expect((await dps(['rebuild', 'metadata', '--into', 'x'], { DATABASE_URL: source })).err).to.contain(
      '--into can only be used with "tables"',
    );
    expect((await dps(['rebuild', 'everything'], { DATABASE_URL: source })).err).to.contain(
      'Allowed choices are tables, metadata, trash, change-requests, indexes',
    );
  });
});

/** Creates a history with everything: relations of every kind, names that need quoting, changes, removals. */
async function writeHistory(service: TestService): Promise<void> {
  const client = clientOf(service);
  const must = async (path: string, ...request: Parameters<typeof json>): Promise<Reply> => {
    const reply = await client(path, json(...request));
    expect(reply.status, `${path}: ${reply.text}`).to.be.within(200, 204);
    return reply;
  };
  const collections = Object.keys(LIBRARY.collections).map((collection) => ({ collection, schema: {} }));
  const fields = Object.entries(LIBRARY.collections).flatMap(([collection, own]) =>
    own.map((field) => ({ ...(field as object), collection })),
  );
  const document = {
    version: 1,
    service: 'test',
    vendor: 'postgres',
    collections,
    fields,
    relations: LIBRARY.relations,
  };
  const diff = await must('/schema/diff?force', document);
  await must('/schema/apply', diff.json);
  const input = (name: string, schema: object = {}, type = 'string') => ({
    field: name,
    type,
    schema,
    meta: { interface: 'input' },
  });
  await must('/collections?concurrentIndexCreation', {
    collection: 'it"s a "table"',
    schema: { comment: "it's" },
    fields: [
      input('title', { is_indexed: true }),
      input('size', { default_value: 3 }, 'integer'),
      input('note', {}, 'text'),
    ],
  });
  await must('/collections/articles', { meta: { note: 'ä€🎉\u2028' } }, 'PATCH');
  await must('/fields/articles', input('size', { is_nullable: false, default_value: 1, is_unique: true }, 'integer'));
  await must('/fields/articles/size', { type: 'bigInteger', schema: { is_indexed: true } }, 'PATCH');
  await must('/collections', { collection: 'passing', schema: {} });
  await must('/collections/passing', undefined, 'DELETE');
  await must('/collections/tags', undefined, 'DELETE');
}

async function snapshotOf(service: TestService): Promise<string> {
  return (await clientOf(service)('/schema/snapshot')).text;
}

const nameOf = (connectionString: string): string => new URL(connectionString).pathname.slice(1);

async function ownTablesIn(connectionString: string): Promise<unknown[]> {
  const client = new pg.Client(connectionString);
  await client.connect();
  try {
    return (await client.query(`select relname from pg_class where relname like 'service%'`)).rows;
  } finally {
    await client.end();
  }
}

async function kindsOf(connectionString: string): Promise<object> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; kind: string }>(
      'SELECT name, kind FROM service.service_projections',
    );
    return Object.fromEntries(rows.map(({ name, kind }) => [name, kind]));
  } finally {
    await client.end();
  }
}

/** PostgreSQL's definitions of everything managed. */
async function catalogOf(connectionString: string): Promise<string[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return await catalogText(client);
  } finally {
    await client.end();
  }
}

async function sql(connectionString: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}
