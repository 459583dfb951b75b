import { createHash } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import pg from 'pg';
import { managedCatalog } from '../support/catalog-text.js';
import { HARD_SCHEMA } from '../features/adopt/hard-schema.js';
import { clientOf, json } from '../support/client.js';
import { type Ran, dps } from '../support/dps.js';
import {
  type TestDatabase,
  asSuperuser,
  createDatabase,
  query,
  sql,
  superuserUrl,
  temporaryDirectory,
} from '../support/postgres.js';
import { type TestService, startService } from '../support/service.js';

const HOSTILE = ['a b', "it's", 'say "hi"', '\\.', '__proto__', 'constructor', 'select', 'ünï.cöde', '{"end":true'];

const HARD_ROWS = String.raw`
INSERT INTO "Or ders" ("shop id", number, "select", name, price, span, negative, feeling, stars)
  SELECT i, i, E'tab\t nl\n \\. \\N ' || i, 'n' || i, i, tstzrange(to_timestamp(i * 1000), to_timestamp(i * 1000 + 1)), -i, 'happy', 5
    FROM generate_series(1, 300) i;
INSERT INTO lines (id, "shop id", number, parent, by_name, short_name)
  SELECT i, i, i, nullif(301 - i, i), 'n' || i, chr(92) || '.' FROM generate_series(1, 1) i;
INSERT INTO lines (id, "shop id", number, by_name) SELECT i, i, i, 'n' || i FROM generate_series(2, 300) i;
UPDATE lines SET parent = 301 - id;
INSERT INTO counters (line) SELECT i FROM generate_series(1, 50) i;
INSERT INTO no_key VALUES (1, E'\\.'), (2, ''), (3, NULL), (4, E'\\N'), (NULL, NULL);
INSERT INTO no_columns SELECT FROM generate_series(1, 7);
INSERT INTO events SELECT i, DATE '2023-11-01' + i, 'happy', 'x' FROM generate_series(1, 400) i;
INSERT INTO to_events SELECT i, i, DATE '2023-11-01' + i FROM generate_series(1, 400) i;
INSERT INTO hashed SELECT i, i FROM generate_series(1, 100) i;
INSERT INTO listed VALUES ('sad', 1), (NULL, 2);
`;

/** Tables that no backup contains. */
const UNMANAGED = /unmanaged/;

describe('dps backup', () => {
  let service: TestService;
  let source: string;
  let directory: string;
  let file: string;
  const databases: TestDatabase[] = [];

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dps-backup-'));
    source = await emptyDatabase();
    service = await startService({ DATABASE_URL: source });
    await sql(source, HARD_SCHEMA, HARD_ROWS);
    // A row that violates the unvalidated key.
    await sql(
      source,
      `ALTER TABLE counters DROP CONSTRAINT b_second, DROP CONSTRAINT a_first`,
      `UPDATE counters SET twice = 424242 WHERE line = 1`,
      `ALTER TABLE counters ADD CONSTRAINT b_second FOREIGN KEY (twice) REFERENCES lines NOT VALID`,
      `CREATE VIEW a_view AS SELECT 1 AS one`,
      `CREATE FUNCTION of_somebody() RETURNS int LANGUAGE sql AS 'SELECT 1'`,
      `CREATE TABLE said (id int PRIMARY KEY, body xml)`,
      `INSERT INTO said VALUES (1, 'no <b>document</b>')`,
    );
    await call('/schema/adopt', { all: true });
    await sql(source, `CREATE TABLE unmanaged (id int)`);
    for (const collection of HOSTILE) {
      const fields = [{ field: `${collection} value`, type: 'text', interface: 'input' }];
      await call('/collections', { collection, schema: {}, fields });
      const [table, column] = [pg.escapeIdentifier(collection), pg.escapeIdentifier(`${collection} value`)];
      await sql(
        source,
        `INSERT INTO ${table} (${column}) VALUES (${pg.escapeLiteral(collection)}), ('\\.'), (E'\\n\\\\.\\n')`,
      );
    }
    await call('/collections', {
      collection: 'large',
      schema: {},
      fields: [{ field: 'body', type: 'text', interface: 'input' }],
    });
    await sql(source, `INSERT INTO large (body) SELECT repeat(md5(i::text), 8) FROM generate_series(1, 100000) i`);
    await sql(source, `SELECT nextval('invoice_numbers') FROM generate_series(1, 5)`);
    file = join(directory, 'backup.dps');
    const { code, out, err } = await backup(file);
    expect(code, err).to.equal(0);
    expect(out).to.contain('views: a_view').and.contain('functions: of_somebody').and.contain('tables: unmanaged');
  });

  after(async () => {
    await service.stop();
    for (const database of databases) await database.drop();
    await rm(directory, { recursive: true, force: true });
  });

  const backup = (to: string, from = source): Promise<Ran> => dps(['backup', to], { DATABASE_URL: from });
  const restore = (from: string, into: string): Promise<Ran> =>
    dps(['restore', '--backup', from, '--json'], { DATABASE_URL: into });

  async function emptyDatabase(): Promise<string> {
    const database = await createDatabase();
    databases.push(database);
    return database.connectionString;
  }

  async function call(path: string, body: object): Promise<void> {
    const reply = await clientOf(service)(path, json(body));
    expect(reply.status, `${path}: ${reply.text}`).to.equal(200);
  }

  it('restores everything exactly as it was', async () => {
    const target = await emptyDatabase();
    // These database settings differ from those under which the rows were written.
    await sql(
      target,
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET xmloption = document', current_database()); END $$`,
    );
    const { code, out, err } = await restore(file, target);
    expect(code, `${out}\n${err}`).to.equal(0);
    expect(JSON.parse(out)).to.deep.include({ ok: true, differences: [] });
    expect(await managedCatalog(target, UNMANAGED)).to.deep.equal(await managedCatalog(source, UNMANAGED));
    expect(await rowsOf(target)).to.deep.equal(await rowsOf(source));
    expect(await sequencesOf(target)).to.deep.equal(await sequencesOf(source));
    const restored = await startService({ DATABASE_URL: target });
    try {
      const [log, same] = [await clientOf(service)('/history/export'), await clientOf(restored)('/history/export')];
      expect(same.text).to.equal(log.text);
      expect(same.status).to.equal(200);
      const created = await clientOf(restored)('/collections', json({ collection: 'after', schema: {} }));
      expect(created.status, created.text).to.equal(200);
      expect((await dps(['verify'], { DATABASE_URL: target })).code).to.equal(0);
    } finally {
      await restored.stop();
    }
  });

  it('contains no secret that grants access, and is readable only by its owner', async () => {
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    const content = gunzipSync(await readFile(file)).toString();
    const secrets = await query(source, `SELECT value FROM service.service_settings`);
    for (const { value } of secrets as { value: unknown }[]) {
      for (const text of JSON.stringify(value).match(/[\w+/=-]{20,}/g) ?? []) expect(content).not.to.contain(text);
    }
    expect(content).not.to.contain(service.adminToken).and.not.contain(service.adminPassword);
    expect(content).not.to.contain('service_sessions');
    expect(content).to.contain('$argon2id$');
    expect((await readdir(directory)).filter((name) => name.includes('partial'))).to.deep.equal([]);
  });

  it('shows one point in time despite concurrent writes', async () => {
    await sql(source, `CREATE TABLE IF NOT EXISTS moves (a int)`, `DROP TABLE moves`);
    const writer = new pg.Client({ connectionString: source });
    await writer.connect();
    let running = true;
    const writing = (async () => {
      while (running) {
        await writer.query('BEGIN');
        await writer.query(`INSERT INTO "a b" ("a b value") VALUES ('both')`);
        await writer.query(`INSERT INTO "select" ("select value") VALUES ('both')`);
        await writer.query('COMMIT');
      }
    })();
    const meanwhile = join(directory, 'meanwhile.dps');
    try {
      const { code, err } = await backup(meanwhile);
      expect(code, err).to.equal(0);
    } finally {
      running = false;
      await writing;
      await writer.end();
    }
    const target = await emptyDatabase();
    const { code, err } = await restore(meanwhile, target);
    expect(code, err).to.equal(0);
    const [both] = (await query(
      target,
      `SELECT (SELECT count(*) FROM "a b" WHERE "a b value" = 'both')::int AS one,
              (SELECT count(*) FROM "select" WHERE "select value" = 'both')::int AS other`,
    )) as { one: number; other: number }[];
    expect(both?.one).to.equal(both?.other);
  });

  it('restores into an embedded server and back', async () => {
    const dataDir = await temporaryDirectory();
    const place = { DATA_DIR: join(dataDir, 'data') };
    try {
      const restored = await dps(['restore', '--backup', file], place);
      expect(restored.code, restored.err).to.equal(0);
      const again = join(directory, 'again.dps');
      const taken = await dps(['backup', again], place);
      expect(taken.code, taken.err).to.equal(0);
      const bare = (path: string) =>
        readFile(path).then((content) => gunzipSync(content).toString().split('\n').slice(1, -2));
      expect(await bare(again)).to.deep.equal(await bare(file));
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  });

  it('rejects damaged and truncated files without touching the database', async () => {
    const target = await emptyDatabase();
    const small = join(directory, 'small.dps');
    await smallBackup(small);
    const full = await readFile(small);
    const plain = gunzipSync(full);
    const damaged = join(directory, 'damaged.dps');
    const changed = Buffer.from(plain);
    changed[Math.floor(plain.length / 2)]! ^= 1;
    const lines = plain.toString().split('\n');
    const cases: [string, Buffer][] = [
      ['empty', Buffer.alloc(0)],
      ['no backup', Buffer.from('hello')],
      ['no backup, compressed', gzipSync('{"hello":1}\n')],
      ['changed and compressed again', gzipSync(changed)],
      ['a line less', gzipSync(lines.toSpliced(4, 1).join('\n'))],
      ['no end', gzipSync(lines.slice(0, -2).join('\n'))],
      ['something after its end', gzipSync(`${plain.toString()}more\n`)],
      ['a newer format', gzipSync(plain.toString().replace('"version":1', '"version":99'))],
      ['newer release', gzipSync(plain.toString().replace(/"migration":\d+/, '"migration":999'))],
    ];
    for (let part = 1; part < 10; part += 1) {
      cases.push([`cut at ${part}/10`, full.subarray(0, Math.floor((full.length * part) / 10))]);
      const flipped = Buffer.from(full);
      flipped[Math.floor((full.length * part) / 10)]! ^= 0x10;
      cases.push([`a bit at ${part}/10`, flipped]);
    }
    for (const [what, content] of cases) {
      await writeFile(damaged, content);
      const { code, out, err } = await restore(damaged, target);
      expect([code, out], `${what}: ${err}`).to.deep.equal([2, '']);
      expect(err, what)
        .to.match(/backup|file/)
        .and.not.contain('    at ');
      expect(await query(target, `SELECT relname FROM pg_class WHERE relname LIKE 'service%'`), what).to.deep.equal([]);
    }
    expect((await restore(small, target)).code).to.equal(0);
  });

  it('leaves an unusable database when PostgreSQL rejects a row', async () => {
    const [small, wrong] = [join(directory, 'whole.dps'), join(directory, 'wrong.dps')];
    await smallBackup(small);
    const lines = gunzipSync(await readFile(small))
      .toString()
      .split('\n')
      .slice(0, -2);
    // Repeats a key, with a matching checksum.
    lines.splice(lines.indexOf('7') + 1, 0, '7');
    const content = `${lines.join('\n')}\n`;
    const sections = lines.filter((line) => line.startsWith('{"section"')).length;
    const sha256 = createHash('sha256').update(content).digest('hex');
    await writeFile(wrong, gzipSync(`${content}${JSON.stringify({ end: true, sections, sha256 })}\n`));
    const target = await emptyDatabase();
    const { code, out, err } = await restore(wrong, target);
    expect([code, out]).to.deep.equal([2, '']);
    expect(err)
      .to.match(/duplicate|violate/)
      .and.not.match(/\n\s+at /);
    const started = await startService({ DATABASE_URL: target }).catch((error: Error) => error.message);
    expect(started).to.match(/^This database is being restored/);
    expect((await restore(small, target)).err).to.contain('not empty');
  });

  it('writes a whole file or none at all', async () => {
    const kept = join(directory, 'kept.dps');
    await writeFile(kept, 'what was there');
    await truncate(kept, 4);
    for (const [place, message] of [
      [join(directory, 'none', 'x'), 'cannot be written'],
      [directory, 'it is not a file'],
      ['/dev/full', 'it is not a file'],
    ] as const) {
      const { code, err } = await backup(place);
      expect(code, err).to.equal(2);
      expect(err).to.contain(message).and.not.contain('    at ');
    }
    const away = await dps(['backup', kept], { DATABASE_URL: 'postgresql://u:secret-word@127.0.0.1:9/x' });
    expect(away.code).to.equal(2);
    expect(away.err).to.contain('no server listens').and.not.contain('secret-word');
    expect(await readFile(kept, 'utf8')).to.equal('what');
  });

  it('rejects a database that differs from its log', async () => {
    await sql(source, `ALTER TABLE large ADD COLUMN by_hand int`);
    const { code, err } = await backup(join(directory, 'drifted.dps'));
    await sql(source, `ALTER TABLE large DROP COLUMN by_hand`);
    expect(code).to.equal(2);
    expect(err).to.contain('dps drift').and.contain('by_hand');
    expect(await readdir(directory)).not.to.contain('drifted.dps');
  });

  it('names tables that were dropped or replaced by hand, and what to do', async () => {
    await sql(source, `ALTER TABLE large RENAME TO elsewhere`);
    const places = [``, `CREATE MATERIALIZED VIEW large AS SELECT 1 AS one`];
    try {
      for (const place of places) {
        await sql(source, place);
        const { code, err } = await backup(join(directory, 'none'));
        expect([code, err], place).to.deep.equal([
          2,
          'Nothing was written: the table "large" is in the log but not in the database. Run "dps drift" to resolve the differences.',
        ]);
      }
      expect(await readdir(directory)).to.not.include('none');
    } finally {
      await sql(source, `DROP MATERIALIZED VIEW IF EXISTS large`, `ALTER TABLE elsewhere RENAME TO large`);
    }
  });

  it('rejects a target that is not empty', async () => {
    const { code, err } = await restore(file, source);
    expect(code).to.equal(2);
    expect(err).to.match(/writes to the target|not empty/);
  });

  it('rejects a target that a service was started on, even if its log is empty', async () => {
    const used = await emptyDatabase();
    await (await startService({ DATABASE_URL: used })).stop();
    const { code, err } = await restore(file, used);
    expect(code).to.equal(2);
    expect(err).to.contain('not empty: a service has used it');
    await (await startService({ DATABASE_URL: used })).stop();
  });

  it('names a table with forced row security, and restores its rows from a backup of a role that bypasses row security', async () => {
    const from = await emptyDatabase();
    const guarded = await startService({ DATABASE_URL: from, OBJECTS: 'on' });
    try {
      const fields = [{ field: 'owner', type: 'string', interface: 'input' }];
      for (const [path, body] of [
        ['/collections', { collection: 'letters', schema: {}, fields }],
        ['/collections', { collection: 'notes', schema: {}, fields }],
        [
          '/objects',
          {
            kind: 'aggregate',
            definition: 'CREATE AGGREGATE every(*) (SFUNC = int8inc, STYPE = bigint, INITCOND = 0)',
          },
        ],
        ['/objects', { kind: 'statistics', definition: 'CREATE STATISTICS owners ON (lower(owner)) FROM letters' }],
        [
          '/objects',
          {
            kind: 'rule',
            definition: 'CREATE RULE keep AS ON INSERT TO letters DO INSTEAD NOTHING',
            enabled: 'disabled',
          },
        ],
        ['/objects', { kind: 'privileges', definition: 'GRANT SELECT (owner), DELETE ON letters TO pg_monitor' }],
        [
          '/objects',
          {
            kind: 'function',
            definition: `CREATE FUNCTION secret() RETURNS integer LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'`,
          },
        ],
        ['/objects', { kind: 'privileges', definition: 'REVOKE EXECUTE ON FUNCTION secret() FROM PUBLIC' }],
        ['/objects', { kind: 'table_options', definition: 'ALTER TABLE letters SET (fillfactor = 70)' }],
        ['/objects', { kind: 'sequence', definition: 'CREATE SEQUENCE numbers START WITH 1000 INCREMENT BY 5' }],
        ['/objects', { kind: 'privileges', definition: 'GRANT USAGE ON SEQUENCE numbers TO pg_monitor' }],
        ['/objects', { kind: 'type', definition: "CREATE TYPE feelings AS ENUM ('happy', 'sad')" }],
        ['/objects', { kind: 'privileges', definition: 'REVOKE USAGE ON TYPE feelings FROM PUBLIC' }],
        ['/objects', { kind: 'policy', definition: `CREATE POLICY own ON letters USING (owner = 'ada')` }],
        [
          '/objects',
          {
            kind: 'row_security',
            definition: 'ALTER TABLE letters ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
          },
        ],
      ] as const) {
        const reply = await clientOf(guarded)(path, json(body));
        expect(reply.status, reply.text).to.equal(200);
      }
    } finally {
      await guarded.stop();
    }
    const owners = async (connectionString: string): Promise<unknown[]> =>
      (await query(connectionString, 'SELECT owner FROM letters ORDER BY owner')).map(({ owner }) => owner);
    await asSuperuser(from, `INSERT INTO letters (owner) VALUES ('ada'), ('tim')`);
    await sql(
      from,
      'ALTER TABLE notes ENABLE ROW LEVEL SECURITY; ALTER TABLE notes SET (fillfactor = 80); CREATE STATISTICS letters ON (lower(owner)) FROM notes',
    );
    await sql(
      from,
      'CREATE RULE hide AS ON INSERT TO notes DO INSTEAD NOTHING; GRANT SELECT ON notes TO PUBLIC; GRANT EXECUTE ON FUNCTION secret() TO pg_monitor',
    );
    await sql(
      from,
      `SELECT nextval('numbers') FROM generate_series(1, 3); GRANT SELECT ON SEQUENCE numbers TO PUBLIC; CREATE SEQUENCE aside;
        CREATE TYPE beside AS ENUM (); GRANT USAGE ON TYPE feelings TO pg_monitor`,
    );
    const to = join(directory, 'forced.dps');
    const failed = await backup(to, from);
    expect(failed.code, failed.err).to.equal(2);
    expect(failed.err).to.contain('Policies of table "letters" would hide rows').and.contain('BYPASSRLS');
    const taken = await backup(to, await superuserUrl(from));
    expect(taken.code, taken.err).to.equal(0);
    expect(taken.out)
      .to.contain('row security: notes')
      .and.contain('table options: notes')
      .and.contain('statistics objects: letters')
      .and.contain('rules: hide on notes')
      .and.contain('privileges: PUBLIC on notes, PUBLIC on numbers, pg_monitor on feelings, pg_monitor on secret()')
      .and.contain('sequences: aside')
      .and.contain('types: beside');

    const target = await emptyDatabase();
    const { code, out, err } = await restore(to, target);
    expect(code, `${out}\n${err}`).to.equal(0);
    expect(JSON.parse(out)).to.deep.include({ ok: true, differences: [] });
    const rules = await query(
      target,
      `SELECT rulename::text, ev_enabled::text FROM pg_rewrite WHERE rulename IN ('keep', 'hide')`,
    );
    expect(rules).to.deep.equal([{ rulename: 'keep', ev_enabled: 'D' }]);
    const granted = await query(
      target,
      `SELECT has_table_privilege('pg_monitor', 'letters', 'DELETE') AS deletes, has_column_privilege('pg_monitor', 'letters', 'owner', 'SELECT') AS selects, has_function_privilege('pg_monitor', 'secret()', 'EXECUTE') AS executes, has_sequence_privilege('pg_monitor', 'numbers', 'USAGE') AS uses, has_sequence_privilege('pg_monitor', 'numbers', 'SELECT') AS reads, has_type_privilege('pg_monitor', 'feelings', 'USAGE') AS feels`,
    );
    expect(granted).to.deep.equal([
      { deletes: true, selects: true, executes: false, uses: true, reads: false, feels: false },
    ]);
    const options = await query(
      target,
      `SELECT relname::text, reloptions FROM pg_class WHERE relname IN ('letters', 'notes') AND reloptions IS NOT NULL`,
    );
    expect(options).to.deep.equal([{ relname: 'letters', reloptions: ['fillfactor=70'] }]);
    const next = await query(target, `SELECT nextval('numbers')::int AS next, to_regclass('aside') AS aside`);
    expect(next).to.deep.equal([{ next: 1015, aside: null }]);
    expect(await query(target, 'SELECT stxname::text FROM pg_statistic_ext')).to.deep.equal([{ stxname: 'owners' }]);
    expect(await query(target, 'SELECT every(*)::int AS rows FROM generate_series(1, 3)')).to.deep.equal([{ rows: 3 }]);
    expect(await owners(target)).to.deep.equal(['ada']);
    expect(await owners(await superuserUrl(target))).to.deep.equal(['ada', 'tim']);
  });

  async function smallBackup(to: string): Promise<void> {
    const from = await emptyDatabase();
    const small = await startService({ DATABASE_URL: from });
    try {
      const created = await clientOf(small)('/collections', json({ collection: 'letters', schema: {} }));
      expect(created.status, created.text).to.equal(200);
    } finally {
      await small.stop();
    }
    await sql(from, `INSERT INTO letters (id) SELECT generate_series(1, 500)`);
    const { code, err } = await backup(to, from);
    expect(code, err).to.equal(0);
  }
});

/** A checksum of the rows of each non-empty table, including accounts. */
async function rowsOf(connectionString: string): Promise<Record<string, unknown>> {
  const tables = (await query(
    connectionString,
    `SELECT c.oid::regclass::text AS name FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
        AND (relname NOT LIKE 'service%' OR relname IN ('service_users', 'service_tokens')) AND relname <> 'unmanaged'`,
  )) as { name: string }[];
  const rows: Record<string, unknown> = {};
  for (const { name } of tables) {
    const text = `SELECT count(*)::int AS count, md5(string_agg(t::text, '|' ORDER BY t::text)) AS hash FROM ${name} t`;
    [rows[`table ${name}`]] = await query(connectionString, text);
  }
  expect(rows).to.have.nested.property('table large.count', 100_000);
  return rows;
}

async function sequencesOf(connectionString: string): Promise<Record<string, unknown>> {
  const names = (await query(
    connectionString,
    `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace`,
  )) as { name: string }[];
  const sequences: Record<string, unknown> = {};
  for (const { name } of names)
    [sequences[name]] = await query(connectionString, `SELECT last_value, is_called FROM ${name}`);
  expect(names.length).to.be.greaterThan(5);
  return sequences;
}
