import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { dps } from '../../support/dps.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';
import { withService } from '../../support/with-service.js';

interface Report {
  changed: string[];
  renamed: { from: string; to: string }[];
  renamed_fields: { collection: string; from: string; to: string }[];
  not_accepted: { collection: string; field?: string; code: string; message: string }[];
  not_represented: { table: string; code: string }[];
  events: { type: string; collection: string; field: string | null }[];
}

interface FieldAnswer {
  type: string;
  meta: { [member: string]: unknown };
  schema: { [member: string]: unknown } | null;
}

const plain = (field: string, type: string, schema: object = {}, meta: object = {}) => ({
  field,
  type,
  interface: 'input',
  schema,
  meta,
});
const key = plain('id', 'integer', { is_primary_key: true, has_auto_increment: true });

describe('accepting manual renames', () => {
  let directory: string;
  const databases: TestDatabase[] = [];

  const { service, api } = withService({ settings: { LOCK_TIMEOUT: '5s' }, each: true });
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dps-accept-'));
    const meta = { note: 'kept', sort: 7, group: 'box', translations: [{ language: 'de' }] };
    await api.ok('POST', '/collections', {
      collection: 'a',
      schema: {},
      meta: {
        sort_field: 'n',
        archive_field: 'title',
        archive_value: 'gone',
        display_template: '{{title}} of {{ n }}, {{titles}}',
        item_duplication_fields: ['title', 'n'],
      },
      fields: [
        key,
        { field: 'box', type: 'alias', interface: 'group', schema: null, meta: { special: ['group'] } },
        plain('title', 'string', { is_unique: true, default_value: 'x', comment: 'said' }, meta),
        plain('n', 'integer', { is_indexed: true }),
        { field: 'bs', type: 'alias', interface: 'list', schema: null, meta: { special: ['o2m'] } },
      ],
    });
    await api.ok('POST', '/collections', {
      collection: 'b',
      schema: {},
      fields: [key, plain('a', 'integer', {}, { note: 'points' }), plain('pos', 'float')],
    });
    const relation = { many_collection: 'b', many_field: 'a', one_collection: 'a', one_field: 'bs', sort_field: 'pos' };
    await api.ok('POST', '/relations', { ...relation, schema: { on_delete: 'CASCADE' } });
    await api.sql(`CREATE TABLE k (x int, y int, PRIMARY KEY (x, y));
      CREATE TABLE r (id serial PRIMARY KEY, x int, y int, CONSTRAINT two FOREIGN KEY (x, y) REFERENCES k (x, y),
        CONSTRAINT positive CHECK (x > 0), g int GENERATED ALWAYS AS (x * 2) STORED);
      CREATE INDEX of_x ON r (lower(x::text), y)`);
    await api.ok('POST', '/schema/adopt', { tables: ['k', 'r'] });
  });
  afterEach(async () => {
    for (const database of databases.splice(0)) await database.drop();
    await rm(directory, { recursive: true, force: true });
  });

  const accept = (body: object = {}, query = '') => api.ok<Report>('POST', `/schema/drift/accept${query}`, body);
  const field = async (name: string) => (await api.ok<{ data: FieldAnswer }>('GET', `/fields/${name}`)).data;
  const relationOf = async (name: string) =>
    (await api.ok<{ data: { [member: string]: unknown } }>('GET', `/relations/${name}`)).data;

  async function expectNoDrift(): Promise<void> {
    const drift = await api.ok('GET', '/schema/drift');
    expect(drift, JSON.stringify(drift)).to.deep.include({ ok: true });
    const { data } = await api.ok<{ data: { ok: boolean } }>('GET', '/projections/verify');
    expect(data, JSON.stringify(data)).to.include({ ok: true });
  }

  async function empty(): Promise<string> {
    const database = await createDatabase();
    databases.push(database);
    return database.connectionString;
  }

  /** Replaying the log both ways yields the same database. */
  async function replays(): Promise<void> {
    const [rebuilt, restored] = [await empty(), await empty()];
    const first = await dps(['rebuild', 'tables', '--into', rebuilt], { DATABASE_URL: service.databaseUrl });
    expect(first.code, first.err).to.equal(0);
    const file = join(directory, 'log.ndjson');
    await writeFile(file, (await api.client('/history/export')).text);
    const second = await dps(['restore', '--file', file, '--into', restored], { DATABASE_URL: service.databaseUrl });
    expect(second.code, second.err).to.equal(0);
    for (const there of [rebuilt, restored]) {
      const { code, out, err } = await dps(['verify'], { DATABASE_URL: there });
      expect(out + err)
        .to.contain('The hash chain is valid')
        .and.contain('match');
      expect(code, out).to.equal(0);
    }
  }

  it('keeps the metadata of a column and of everything that names it', async () => {
    const before = await field('a/title');
    await api.sql(`ALTER TABLE a RENAME COLUMN title TO headline; ALTER TABLE a RENAME COLUMN n TO rank;
      ALTER TABLE a RENAME COLUMN id TO key; ALTER TABLE b RENAME COLUMN a TO owner; ALTER TABLE b RENAME COLUMN pos TO place;
      ALTER TABLE k RENAME COLUMN x TO kx; ALTER TABLE r RENAME COLUMN x TO rx`);
    const first = await api.head();
    const report = await accept();
    expect(report.not_accepted).to.deep.equal([]);
    expect(report.changed).to.deep.equal(['a', 'b', 'k', 'r']);
    const names = report.renamed_fields.map(({ collection, from, to }) => `${collection}.${from} ${to}`).sort();
    const all = ['a.id key', 'a.n rank', 'a.title headline', 'b.a owner', 'b.pos place', 'k.x kx', 'r.x rx'];
    expect(names).to.deep.equal(all);
    const batches = await api.sql(`SELECT DISTINCT batch FROM service.service_events WHERE position > $1`, [first]);
    expect(batches).to.have.length(1);
    const headline = await field('a/headline');
    expect(headline).to.deep.include({ type: before.type, meta: { ...before.meta, field: 'headline' } });
    expect(headline.schema).to.deep.include({ default_value: 'x', is_unique: true, comment: 'said' });
    expect((await field('a/rank')).schema).to.include({ is_indexed: true });
    expect((await field('b/owner')).meta).to.include({ note: 'points' });
    const { data } = await api.ok<{ data: { meta: object } }>('GET', '/collections/a');
    expect(data.meta).to.deep.include({
      sort_field: 'rank',
      archive_field: 'headline',
      display_template: '{{headline}} of {{ rank }}, {{titles}}',
      item_duplication_fields: ['headline', 'rank'],
    });
    const relation = await relationOf('b/owner');
    expect(relation).to.deep.include({ one_collection: 'a', one_field: 'bs', sort_field: 'place' });
    expect(relation['schema']).to.deep.include({ constraint_name: 'b_a_foreign', on_delete: 'CASCADE' });
    expect((await api.client('/relations/b/a')).status).to.equal(404);
    await expectNoDrift();
    await replays();
  });

  it('updates the target of a standalone foreign key when only the target is accepted', async () => {
    await api.sql('ALTER TABLE k RENAME COLUMN x TO kx; ALTER TABLE r ADD COLUMN more int');
    const report = await accept({ collections: ['k'] });
    expect(report.changed).to.deep.equal(['k']);
    expect(report.events ?? []).to.deep.equal([]);
    const drift = await api.ok<{ tables: { differences: { field?: string }[] }[] }>('GET', '/schema/drift');
    expect(drift.tables.flatMap(({ differences }) => differences.map((each) => each.field))).to.deep.equal(['more']);
    await api.sql('ALTER TABLE k RENAME TO keys; ALTER TABLE a RENAME TO articles');
    const both = await accept({ collections: ['k', 'a'] });
    expect(both.renamed).to.deep.equal([
      { from: 'a', to: 'articles' },
      { from: 'k', to: 'keys' },
    ]);
    expect(both.not_accepted).to.deep.equal([]);
    expect(await relationOf('b/a')).to.deep.include({ one_collection: 'articles', one_field: 'bs', sort_field: 'pos' });
    expect((await field('articles/title')).meta).to.deep.include({ note: 'kept', group: 'box' });
    await accept();
    await expectNoDrift();
    await replays();
  });

  it('accepts either name of a column with everything that names it, and nothing else', async () => {
    await api.sql(
      'ALTER TABLE r RENAME COLUMN x TO rx; ALTER TABLE r ADD COLUMN more text, ADD CHECK (length(more) > 1)',
    );
    const { renamed_fields: names, not_accepted: left } = await accept({ fields: [{ collection: 'r', field: 'x' }] });
    expect([names, left]).to.deep.equal([[{ collection: 'r', from: 'x', to: 'rx' }], []]);
    const drift = await api.ok<{ tables: { differences: { field?: string; member: string }[] }[] }>(
      'GET',
      '/schema/drift',
    );
    const differing: unknown[] = drift.tables.flatMap(({ differences }) => differences.map(({ field: name }) => name));
    expect(differing).to.include('more').and.not.include('rx');
    await accept();
    await expectNoDrift();
    await replays();
  });
});
