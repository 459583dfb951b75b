import { expect } from 'chai';
import { runCli } from '../../../src/cli/command-line.js';
import type { Refused } from '../../support/api.js';
import { withService } from '../../support/with-service.js';

interface Report {
  adopted: string[];
  relations: number;
  refused: { table: string; code: string }[];
  not_represented: { table: string | null; kind: string; name: string; code: string; message: string }[];
  events?: { type: string; collection: string }[];
}

interface DriftAnswer {
  ok: boolean;
  tables: { table: string; kind: string; differences: { field?: string; member: string }[] }[];
  unmanaged: string[];
}

const TABLES = `
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TABLE people (id serial PRIMARY KEY, name text NOT NULL, feels mood DEFAULT 'sad');
CREATE TABLE pets (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "of" integer REFERENCES people ON DELETE CASCADE);
CREATE TABLE visits (pet bigint REFERENCES pets, day date, PRIMARY KEY (pet, day), note varchar(20) CHECK (note <> ''));
CREATE VIEW names AS SELECT name FROM people;
CREATE TABLE " odd" (id integer)`;

describe('POST /schema/adopt, GET /schema/drift', () => {
  const { service, api } = withService({ each: true });
  beforeEach(async () => {
    await api.sql(TABLES);
  });

  const adopted = ['collection.adopted people', 'collection.adopted pets', 'collection.adopted visits'];
  const relations = ['relation.created pets.of', 'relation.created visits.pet'];

  it('adopts everything with one event per table, and lists the rest', async () => {
    const report = await api.appends<Report>([...adopted, ...relations], 'POST', '/schema/adopt', { all: true });
    expect(report.adopted).to.deep.equal(['people', 'pets', 'visits']);
    expect(report.refused.map(({ table, code }) => [table, code])).to.deep.equal([[' odd', 'NAME_NOT_ALLOWED']]);
    expect(report.not_represented.map(({ table, kind, name, code }) => [table, kind, name, code])).to.deep.equal([
      ['people', 'view', 'names', 'VIEW_NOT_REPRESENTED'],
    ]);
    const { data } = await api.ok<{ data: { field: string; type: string; schema: Record<string, unknown> }[] }>(
      'GET',
      '/fields/people',
    );
    expect(data.map(({ field, type }) => [field, type])).to.deep.equal([
      ['id', 'integer'],
      ['name', 'text'],
      ['feels', 'unknown'],
    ]);
    expect(data[0]?.schema).to.include({ has_auto_increment: true, is_primary_key: true });
    expect(data[2]?.schema).to.include({ data_type: 'mood', default_value: 'sad' });
    expect(await api.ok('GET', '/projections/verify')).to.have.nested.property('data.ok', true);
  });

  it('lists default privileges by name and keeps them', async () => {
    await api.sql('ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT ON TABLES TO pg_monitor');
    await api.sql('ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC');
    const account = new URL(service.databaseUrl).username;
    const { not_represented: notes } = await api.ok<Report>('POST', '/schema/adopt', { all: true });
    expect(
      notes
        .filter(({ code }) => code.includes('DEFAULT'))
        .map(({ table, kind, name, code }) => [table, kind, name, code]),
    ).to.deep.equal([
      [
        null,
        'default privileges',
        `tables of ${account} in public: INSERT, SELECT to pg_monitor`,
        'DEFAULT_PRIVILEGES_NOT_REPRESENTED',
      ],
      [null, 'global default privileges', `functions of ${account}: none`, 'GLOBAL_DEFAULT_PRIVILEGES_NOT_REPRESENTED'],
    ]);
    await api.ok('POST', '/collections', { collection: 'fresh', schema: {} });
    expect(await api.sql(`SELECT count(*)::int AS rows FROM pg_default_acl`)).to.deep.equal([{ rows: 2 }]);
    expect(await api.sql(`SELECT has_table_privilege('pg_monitor', 'fresh', 'INSERT') AS granted`)).to.deep.equal([
      { granted: true },
    ]);
  });

  it('previews the adoption without changes', async () => {
    const report = await api.appends<Report>([], 'POST', '/schema/adopt?dry_run', { tables: ['people', 'pets'] });
    expect(report.events?.map(({ type, collection }) => `${type} ${collection}`)).to.deep.equal([
      'collection.adopted people',
      'collection.adopted pets',
      'relation.created pets',
    ]);
    await api.refused({ status: 404, code: 'NOT_FOUND' }, 'GET', '/collections/people');
  });

  it('rejects unknown, managed and malformed names', async () => {
    await api.appends(['collection.adopted people'], 'POST', '/schema/adopt', { tables: ['people'] });
    const refuse = (status: number, code: string, at: string, body: unknown) =>
      api.refused({ status, code, at }, 'POST', '/schema/adopt', body);
    await refuse(404, 'NOT_FOUND', 'tables[1]', { tables: ['pets', 'nowhere'] });
    await refuse(409, 'ALREADY_EXISTS', 'tables[0]', { tables: ['people'] });
    await refuse(400, 'INVALID_PAYLOAD', 'tables[0]', { tables: [' odd'] });
    await refuse(400, 'INVALID_PAYLOAD', 'tables[1]', { tables: ['pets', 'pets'] });
    await refuse(400, 'INVALID_PAYLOAD', 'tables', { tables: [] });
    await refuse(400, 'INVALID_PAYLOAD', 'all', { all: false });
    await refuse(400, 'INVALID_PAYLOAD', 'more', { all: true, more: 1 });
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/schema/adopt', {});
    await api.refused({ status: 400, code: 'INVALID_QUERY' }, 'POST', '/schema/adopt?force', { all: true });
  });

  it('is available to admins, and drift also to auditors', async () => {
    const tokens = new Map<string, string>();
    for (const role of ['auditor', 'reader']) {
      const user = { email: `${role}@example.com`, name: role, role, password: 'long enough 1' };
      const { data } = await api.ok<{ data: { id: string } }>('POST', '/users', user);
      const { data: created } = await api.ok<{ data: { token: string } }>('POST', `/users/${data.id}/tokens`, {
        name: 't',
      });
      tokens.set(role, created.token);
    }
    const status = async (role: string, method: string, path: string): Promise<number> => {
      const headers = { authorization: `Bearer ${tokens.get(role) ?? ''}`, 'content-type': 'application/json' };
      const body = method === 'POST' ? '{"all":true}' : null;
      return (await fetch(service.url + path, { method, headers, body })).status;
    };
    expect(await status('auditor', 'POST', '/schema/adopt')).to.equal(403);
    expect(await status('reader', 'GET', '/schema/drift')).to.equal(403);
    expect(await status('auditor', 'GET', '/schema/drift')).to.equal(200);
  });

  it('lists drift with its repairs', async () => {
    await api.ok('POST', '/schema/adopt', { tables: ['people', 'pets'] });
    expect(await api.ok<DriftAnswer>('GET', '/schema/drift')).to.deep.include({
      ok: true,
      unmanaged: [' odd', 'visits'],
    });
    await api.sql('ALTER TABLE people ADD COLUMN by_hand integer');
    const drift = await api.ok<DriftAnswer>('GET', '/schema/drift');
    expect(drift.ok).to.equal(false);
    expect(drift.tables.map(({ table, kind }) => [table, kind])).to.deep.equal([['people', 'different']]);
    expect(drift.tables[0]?.differences[0]).to.deep.include({
      field: 'by_hand',
      member: 'column',
      expected: null,
      found: 'integer',
    });
  });

  it('never alters a column of an unknown type, and leaves partitions unchanged', async () => {
    await api.sql(`CREATE TABLE parts (id integer, at date) PARTITION BY RANGE (at);
      CREATE TABLE parts_all PARTITION OF parts DEFAULT`);
    await api.ok('POST', '/schema/adopt', { tables: ['people', 'parts', 'parts_all'] });
    const refuse = (expected: Refused, method: string, path: string, body?: unknown) =>
      api.refused(expected, method, path, body);
    await refuse({ status: 400, code: 'INVALID_PAYLOAD' }, 'PATCH', '/fields/people/feels', { type: 'string' });
    await api.appends(['field.updated people.feels'], 'PATCH', '/fields/people/feels', { meta: { note: 'a mood' } });
    const field = { field: 'more', type: 'text', meta: { interface: 'input' } };
    await refuse({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/fields/parts', field);
    await refuse({ status: 409, code: 'IN_USE' }, 'DELETE', '/collections/parts');
    await api.appends(['collection.deleted parts_all'], 'DELETE', '/collections/parts_all');
    await api.appends(['collection.deleted parts'], 'DELETE', '/collections/parts');
    expect(await api.ok('GET', '/projections/verify')).to.have.nested.property('data.ok', true);
  });

  it('changes adopted tables like all others', async () => {
    await api.ok('POST', '/schema/adopt', { all: true });
    await api.ok('PATCH', '/fields/people/id', { schema: { comment: 'counts' } });
    await api.ok('PATCH', '/fields/people/name', { schema: { is_unique: true, is_indexed: true } });
    await api.ok('PATCH', '/fields/visits/note', { schema: { max_length: 40 } });
    await api.ok('POST', '/fields/visits', { field: 'more', type: 'text', meta: { interface: 'input' } });
    await api.ok('PATCH', '/fields/people/id', { schema: { has_auto_increment: false } });
    await api.ok('DELETE', '/collections/visits');
    await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/collections/people');
    await api.sql('DROP VIEW names');
    await api.ok('DELETE', '/collections/people');
    expect(await api.ok('GET', '/projections/verify')).to.have.nested.property('data.ok', true);
    expect(await api.ok<DriftAnswer>('GET', '/schema/drift')).to.deep.include({ ok: true });
  });

  it('resolves drift by deleting a collection that was dropped by hand', async () => {
    const isRight = async (): Promise<boolean> => (await api.ok<DriftAnswer>('GET', '/schema/drift')).ok;
    const gone = async (text: string, path: string): Promise<void> => {
      await api.sql(text);
      expect(await isRight()).to.equal(false);
      await api.ok('DELETE', path);
      expect(await isRight(), path).to.equal(true);
    };
    await api.sql(`DROP VIEW names; CREATE TABLE keyed (id integer PRIMARY KEY, a integer, b integer, c integer,
      CONSTRAINT chk CHECK (a > 0), UNIQUE (a, b)); CREATE INDEX by_a ON keyed ((a + 1)) WHERE b > 0;
      CREATE TABLE parts (id integer, at date) PARTITION BY RANGE (at);
      CREATE TABLE pointing (id integer PRIMARY KEY, pair_a integer, pair_b integer,
        FOREIGN KEY (pair_a, pair_b) REFERENCES keyed (a, b))`);
    await api.ok('POST', '/schema/adopt', { all: true });
    await gone('ALTER TABLE keyed DROP COLUMN c', '/fields/keyed/c');
    await gone('ALTER TABLE pets DROP COLUMN "of"', '/fields/pets/of');
    await gone('ALTER TABLE pointing DROP COLUMN pair_a', '/fields/pointing/pair_a');
    await gone('ALTER TABLE keyed DROP COLUMN a', '/fields/keyed/a');
    await api.sql('DROP TABLE visits');
    await api.ok('DELETE', '/fields/visits/note');
    await gone('SELECT', '/collections/visits');
    await gone('DROP TABLE parts', '/collections/parts');
    await gone('DROP TABLE keyed', '/collections/keyed');
    expect(await api.ok('GET', '/projections/verify')).to.have.nested.property('data.ok', true);
  });

  it('resolves drift by repeating the manual change to a column', async () => {
    await api.sql(`CREATE TABLE bare (id integer PRIMARY KEY, a integer UNIQUE, b integer, c integer
      GENERATED BY DEFAULT AS IDENTITY, d integer GENERATED ALWAYS AS (b) STORED, e integer NOT NULL DEFAULT 1);
      CREATE INDEX ON bare (b)`);
    await api.ok('POST', '/schema/adopt', { tables: ['bare'] });
    for (const [text, field, schema] of [
      ['DROP CONSTRAINT bare_a_key', 'a', { is_unique: false }],
      ['ALTER c DROP IDENTITY', 'c', { has_auto_increment: false }],
      ['ALTER d DROP EXPRESSION', 'd', { generation_expression: null }],
      ['ALTER e DROP NOT NULL, ALTER e DROP DEFAULT', 'e', { is_nullable: true, default_value: null }],
    ] as const) {
      await api.sql(`ALTER TABLE bare ${text}`);
      await api.ok('PATCH', `/fields/bare/${field}`, { schema });
      expect(await api.ok<DriftAnswer>('GET', '/schema/drift'), text).to.deep.include({ ok: true });
    }
    await api.sql('DROP INDEX bare_b_idx; ALTER TABLE bare DROP CONSTRAINT bare_pkey');
    await api.ok('PATCH', '/fields/bare/b', { schema: { is_indexed: false } });
    await api.ok('PATCH', '/fields/bare', [
      { field: 'id', schema: { is_primary_key: false } },
      { field: 'b', schema: { is_primary_key: true } },
    ]);
    expect(await api.ok<DriftAnswer>('GET', '/schema/drift')).to.deep.include({ ok: true });
  });

  it('resolves drift by adopting an equal table again, with its rows', async () => {
    await api.sql('DROP VIEW names');
    await api.ok('POST', '/schema/adopt', { tables: ['people', 'pets', 'visits'] });
    await api.sql(`ALTER TABLE people ALTER COLUMN name DROP NOT NULL; ALTER TABLE visits ALTER COLUMN note TYPE text;
      ALTER TABLE visits ALTER COLUMN note SET DEFAULT 'none'`);
    await api.ok('PATCH', '/fields/people/name', { schema: { is_nullable: true } });
    await api.ok('PATCH', '/fields/visits/note', { type: 'text', schema: { default_value: 'none', max_length: null } });
    expect(await api.ok<DriftAnswer>('GET', '/schema/drift')).to.include({ ok: true });
    await api.sql(`INSERT INTO people (name) VALUES ('Ann'); INSERT INTO pets ("of") VALUES (1);
      ALTER TABLE pets ADD COLUMN by_hand integer`);
    const field = { field: 'by_hand', type: 'integer', meta: { interface: 'input' } };
    await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', '/fields/pets', field);
    await api.sql('ALTER TABLE pets RENAME TO aside');
    await api.ok('DELETE', '/collections/pets');
    expect(await api.ok<DriftAnswer>('GET', '/schema/drift')).to.deep.include({
      ok: true,
      unmanaged: [' odd', 'aside'],
    });
    await api.sql('ALTER TABLE aside RENAME TO pets');
    await api.ok('POST', '/schema/adopt', { tables: ['pets'] });
    const relation = { many_collection: 'visits', many_field: 'pet', one_collection: 'pets' };
    await api.ok('POST', '/relations', relation);
    expect(await api.ok<DriftAnswer>('GET', '/schema/drift')).to.include({ ok: true });
    expect(await api.sql('SELECT * FROM pets')).to.deep.equal([{ id: '1', of: 1, by_hand: null }]);
    await api.sql('DROP TABLE people CASCADE');
    await api.ok('DELETE', '/collections/people');
    expect(await api.ok<DriftAnswer>('GET', '/schema/drift')).to.include({ ok: true });
  });

  it('returns the same report to dps adopt', async () => {
    const dps = async (...args: string[]): Promise<[code: number, out: string]> => {
      const out: string[] = [];
      const put = (text: string): number => out.push(text);
      const terminal = { print: put, note: put, read: () => Promise.resolve('') };
      const code = await runCli(args, { environment: { DATABASE_URL: service.databaseUrl }, terminal });
      return [code, out.join('\n')];
    };
    expect(await dps('adopt')).to.have.property('0', 2);
    expect((await dps('adopt', 'people', '--dry-run'))[1]).to.include('Would adopt 1 table');
    expect(await dps('adopt', '--all')).to.have.property('0', 1);
    expect(await dps('adopt', 'people')).to.have.property('0', 2);
    expect(await dps('drift')).to.deep.equal([0, 'The database matches the log.\nNot managed:  odd.']);
    await api.sql('ALTER TABLE people ALTER COLUMN name DROP NOT NULL; CREATE INDEX by_hand ON pets ("of")');
    const [code, out] = await dps('drift', '--json');
    expect(code).to.equal(1);
    expect((JSON.parse(out) as DriftAnswer).tables.map(({ table }) => table)).to.deep.equal(['people', 'pets']);
    expect(await dps('drift', '--repair')).to.have.property('0', 1);
    expect(await dps('drift', '--allow-drop')).to.have.property('0', 2);
    expect(await dps('drift', '--repair', '--allow-drop')).to.have.property('0', 0);
    const events = await api.sql<{ name: string }>(
      `SELECT DISTINCT actor ->> 'name' AS name FROM service.service_events`,
    );
    expect(events.map(({ name }) => name)).to.satisfy((names: string[]) =>
      names.every((name) => name.endsWith('(dps)')),
    );
    // The running service sees changes made by another process.
    await api.ok('GET', '/collections/people');
  });
});
