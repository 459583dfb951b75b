import { expect } from 'chai';
import { dps } from '../support/dps.js';
import { createDatabase, query } from '../support/postgres.js';
import { withService } from '../support/with-service.js';

const KEY = { field: 'id', type: 'integer', interface: 'input', schema: { is_primary_key: true } };

interface Document {
  kind: string;
  id: string;
  definition: string;
  comment: string | null;
}

interface Plan {
  accepted: boolean;
  statements: { sql: string; summary: string; lock: string; loses_data: boolean; may_fail: boolean }[];
  warnings: { code: string; level: string; message: string }[];
}

interface Snapshot {
  collections: object[];
  fields: object[];
  relations: object[];
  objects: Document[];
}

interface Difference {
  diff: { objects?: { id: string; diff: { path?: string[] }[] }[] };
}

interface Adoption {
  adopted: string[];
  objects: { kind: string; id: string }[];
  not_represented: { table: string | null; kind: string; name: string; code: string }[];
}

const NOTHING = { collections: [], fields: [], relations: [] };
const MOOD = "CREATE TYPE mood AS ENUM ('happy', 'sad')";
const EMAIL = "CREATE DOMAIN email AS text CONSTRAINT email_check CHECK (VALUE LIKE '%@%')";

describe('types', () => {
  const { api, service } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });

  const path = (id = 'mood'): string => `/objects/type/${encodeURIComponent(id)}`;
  const create = (definition = MOOD, more: object = {}) =>
    api.ok('POST', '/objects', { kind: 'type', definition, ...more });
  const change = (definition: string, id = 'mood') => api.ok('PATCH', path(id), { definition });
  const planOf = (definition: string, id = 'mood') => api.ok<Plan>('PATCH', `${path(id)}?dry_run`, { definition });
  const shown = async (id = 'mood') => (await api.ok<{ data: Document }>('GET', path(id))).data;
  const listed = async () => (await api.ok<{ data: Document[] }>('GET', '/objects')).data.map(({ id }) => id);
  const snapshotNow = () => api.ok<Snapshot>('GET', '/schema/snapshot');
  const diffTo = async (snapshot: object) => (await api.ok<Difference>('POST', '/schema/diff', snapshot)).diff;
  const apply = async (snapshot: object, query = '') =>
    api.ok('POST', `/schema/apply${query}`, await api.ok<object>('POST', '/schema/diff', snapshot));
  const column = (field: string, type: string, more: object = {}) => ({
    field,
    type: 'unknown',
    interface: 'input',
    schema: { data_type: type, ...more },
  });
  const table = (collection: string, fields: object[]) =>
    api.ok('POST', '/collections', { collection, schema: {}, fields: [KEY, ...fields] });

  const labels = async (type = 'mood') =>
    (
      await api.sql<{ label: string }>(
        `SELECT enumlabel AS label FROM pg_enum WHERE enumtypid = '${type}'::regtype ORDER BY enumsortorder`,
      )
    ).map(({ label }) => label);

  it('are enums that are created, used, extended, renamed and deleted', async () => {
    await create(MOOD, { comment: 'How somebody feels' });
    expect(await shown()).to.deep.equal({ kind: 'type', id: 'mood', definition: MOOD, comment: 'How somebody feels' });
    await table('members', [column('feels', 'mood', { default_value: 'sad' })]);
    await api.sql(`INSERT INTO members (id) VALUES (1)`);
    const definition = "CREATE TYPE mood AS ENUM ('great', 'happy', 'so so', 'sad', 'angry')";
    const plan = await planOf(definition);
    expect(plan.statements.map(({ sql }) => sql)).to.deep.equal([
      `ALTER TYPE "public"."mood" ADD VALUE 'great' BEFORE 'happy'`,
      `ALTER TYPE "public"."mood" ADD VALUE 'so so' BEFORE 'sad'`,
      `ALTER TYPE "public"."mood" ADD VALUE 'angry'`,
    ]);
    await change(definition);
    expect(await labels()).to.deep.equal(['great', 'happy', 'so so', 'sad', 'angry']);
    const renamed = await planOf(definition.replace('angry', 'furious'));
    expect(renamed.statements.map(({ summary }) => summary)).to.deep.equal(['rename label angry of mood to furious']);
    expect(renamed.warnings.map(({ code }) => code)).to.include('RENAMES_ENUM_LABEL');
    const used = { definition: definition.replace("'sad'", "'blue'") };
    const error = await api.refused({ status: 409, code: 'IN_USE' }, 'PATCH', path(), used);
    expect(error.message).to.contain('label "sad" of type "mood" cannot be renamed while a default');
    await api.ok('PATCH', '/fields/members/feels', { schema: { default_value: null } });
    await change(used.definition);
    expect(await api.sql('SELECT feels::text FROM members')).to.deep.equal([{ feels: 'blue' }]);
  });

  it('are not deleted or turned into domains while columns use them, and the reason names the columns', async () => {
    await create();
    await table('members', [column('feels', 'mood'), column('felt', 'mood[]')]);
    const users = '"members"."feels", "members"."felt"';
    const inUse = { status: 409, code: 'IN_USE' };
    expect((await api.refused(inUse, 'DELETE', path())).message).to.contain(
      `cannot be deleted while columns use it: ${users}`,
    );
    const definition = 'CREATE DOMAIN mood AS text';
    expect((await api.refused(inUse, 'PATCH', path(), { definition })).message).to.contain(users);
    await api.ok('DELETE', '/fields/members/felt?purge');
    await api.ok('DELETE', '/fields/members/feels?purge');
    await api.ok('POST', `${path()}/rename`, { to: 'Feeling' });
    expect((await shown('Feeling')).definition).to.equal(MOOD.replace('mood', '"Feeling"'));
    const plan = await api.ok<Plan>('DELETE', `${path('Feeling')}?dry_run`);
    expect(plan.warnings.map(({ code }) => code)).to.include('DROPS_TYPE');
    await api.ok('DELETE', path('Feeling'));
    expect(await listed()).to.deep.equal([]);
  });

  it('are created again with the views and functions that use them, without their privileges being lost', async () => {
    await create();
    await api.ok('POST', '/objects', { kind: 'view', definition: "CREATE VIEW moods AS SELECT 'happy'::mood AS one" });
    await api.ok('POST', '/objects', {
      kind: 'function',
      definition: "CREATE FUNCTION text_of(feeling mood[]) RETURNS text LANGUAGE sql AS 'SELECT feeling::text'",
    });
    await api.sql('GRANT USAGE ON TYPE mood TO pg_monitor; REVOKE USAGE ON TYPE mood FROM PUBLIC');
    const access = () => api.sql("SELECT typacl::text[] AS list FROM pg_type WHERE oid = 'mood'::regtype");
    const before = await access();
    await change("CREATE TYPE mood AS ENUM ('glad', 'happy')");
    expect(await access()).to.deep.equal(before);
    await change("CREATE TYPE mood AS ENUM ('happy')");
    expect(await api.sql('SELECT one::text, text_of(ARRAY[one]) FROM moods')).to.deep.equal([
      { one: 'happy', text_of: '{happy}' },
    ]);
    expect(await access()).to.deep.equal(before);
    const inUse = { status: 409, code: 'IN_USE', also: [undefined] };
    expect((await api.refused(inUse, 'DELETE', path())).message).to.contain('uses "mood"');
  });

  it('cannot get a label that the same change uses, as a finding reports', async () => {
    await create();
    await table('members', [column('feels', 'mood')]);
    const snapshot = await snapshotNow();
    const text = JSON.stringify(snapshot)
      .replace("('happy', 'sad')", "('happy', 'sad', 'new')")
      .replace(/("data_type":"mood","default_value":)null/, '$1"new"');
    const diff = await api.ok<object>('POST', '/schema/diff', JSON.parse(text));
    const plan = await api.ok<Plan>('POST', '/schema/apply?dry_run', diff);
    const found = plan.warnings.find(({ code }) => code === 'ENUM_LABEL_IN_SAME_TRANSACTION');
    expect(found?.level).to.equal('danger');
    const error = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', '/schema/apply', diff);
    expect(error.message).to.contain('new');
    await change("CREATE TYPE mood AS ENUM ('happy', 'sad', 'new')");
    await apply(JSON.parse(text));
    expect(await diffTo(JSON.parse(text))).to.deep.equal(NOTHING);
  });

  describe('that are domains', () => {
    it('name their constraints, and change in place', async () => {
      await create(
        "CREATE DOMAIN email AS text DEFAULT 'a@b' CHECK (VALUE LIKE '%@%') NOT NULL CHECK (length(VALUE) < 90)",
      );
      expect((await shown('email')).definition).to.equal(
        "CREATE DOMAIN email AS text DEFAULT 'a@b' CONSTRAINT email_check CHECK (VALUE LIKE '%@%') NOT NULL CONSTRAINT email_check1 CHECK (length(VALUE) < 90)",
      );
      await table('members', [column('mail', 'email')]);
      await api.sql('INSERT INTO members (id) VALUES (1)');
      const plan = await planOf(
        "CREATE DOMAIN email AS text CHECK (VALUE LIKE '%@%') CONSTRAINT short CHECK (length(VALUE) < 9)",
        'email',
      );
      expect(plan.statements.map(({ sql, lock, may_fail }) => [sql, lock, may_fail])).to.deep.equal([
        ['ALTER DOMAIN "public"."email" DROP DEFAULT', 'none', false],
        ['ALTER DOMAIN "public"."email" DROP NOT NULL', 'none', false],
        ['ALTER DOMAIN "public"."email" DROP CONSTRAINT IF EXISTS "email_check1"', 'none', false],
        ['ALTER DOMAIN "public"."email" ADD CONSTRAINT "short" CHECK (length(VALUE) < 9)', 'SHARE', true],
      ]);
      await change(
        "CREATE DOMAIN email AS text CHECK (VALUE LIKE '%@%') CONSTRAINT short CHECK (length(VALUE) < 9)",
        'email',
      );
      await api.sql("INSERT INTO members (id, mail) VALUES (2, 'a@bcdef')");
      const failing = {
        definition: "CREATE DOMAIN email AS text CHECK (VALUE LIKE '%@%') CONSTRAINT short CHECK (length(VALUE) < 5)",
      };
      const error = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'PATCH', path('email'), failing);
      expect(error.message).to.contain('email');
    });

    it('are equal if PostgreSQL prints them alike', async () => {
      await create(EMAIL);
      const head = await api.head();
      await change("CREATE DOMAIN public.email text CHECK (VALUE LIKE '%@%')", 'email');
      expect(await api.head()).to.equal(head);
    });

    it('can be over other domains, and are created in order', async () => {
      await create('CREATE DOMAIN zip AS text');
      await create('CREATE DOMAIN a_zip AS zip CHECK (length(VALUE) = 5)');
      await table('members', [column('zip', 'a_zip'), column('old', 'zip[]')]);
      const snapshot = await snapshotNow();
      await apply({ ...snapshot, ...NOTHING, objects: [] }, '?purge');
      expect(await listed()).to.deep.equal([]);
      await apply(snapshot);
      expect(await diffTo(snapshot)).to.deep.equal(NOTHING);
    });
  });

  it('are composite types whose attributes are added and dropped in place', async () => {
    await create('CREATE TYPE address AS (street text, zip varchar(5) COLLATE "C", rate numeric(4, 2))');
    await table('members', [column('home', 'address')]);
    const plan = await planOf('CREATE TYPE address AS (street text, rate numeric(4, 2), city text)', 'address');
    expect(plan.statements.map(({ sql, loses_data }) => [sql, loses_data])).to.deep.equal([
      ['ALTER TYPE "public"."address" DROP ATTRIBUTE "zip"', true],
      ['ALTER TYPE "public"."address" ADD ATTRIBUTE "city" text', false],
    ]);
    await change('CREATE TYPE address AS (street text, rate numeric(4, 2), city text)', 'address');
    const other = { definition: 'CREATE TYPE address AS (street varchar(9), rate numeric(4, 2), city text)' };
    expect((await api.refused({ status: 409, code: 'IN_USE' }, 'PATCH', path('address'), other)).message).to.contain(
      '"members"."home"',
    );
    await api.ok('DELETE', '/collections/members?purge');
    await change(other.definition, 'address');
    expect(
      (await planOf('CREATE TYPE address AS (city text, street text)', 'address')).statements.map(
        ({ summary }) => summary,
      ),
    ).to.deep.equal(['drop type address', 'change type address']);
  });

  it('are range types with their multirange', async () => {
    await create(
      'CREATE TYPE speeds AS RANGE (SUBTYPE = float8, SUBTYPE_DIFF = float8mi, MULTIRANGE_TYPE_NAME = many_speeds)',
    );
    await table('roads', [column('allowed', 'speeds'), column('all', 'many_speeds')]);
    await api.refused({ status: 409, code: 'IN_USE' }, 'PATCH', path('speeds'), {
      definition: 'CREATE TYPE speeds AS RANGE (SUBTYPE = float4)',
    });
    const snapshot = await snapshotNow();
    await apply({ ...snapshot, ...NOTHING, objects: [] }, '?purge');
    await apply(snapshot);
    expect(await diffTo(snapshot)).to.deep.equal(NOTHING);
  });

  it('install the trusted extension that they use', async () => {
    await create('CREATE DOMAIN login AS citext CHECK (length(VALUE::text) > 2)');
    await table('members', [column('login', 'login')]);
    expect(await api.sql("SELECT extname FROM pg_extension WHERE extname = 'citext'")).to.have.length(1);
  });

  for (const [name, definition, message] of [
    ['a base type', 'CREATE TYPE a (INPUT = b, OUTPUT = c)', 'must create an enum, a domain'],
    ['a shell type', 'CREATE TYPE a', 'must create an enum, a domain'],
    ['a repeated label', "CREATE TYPE a AS ENUM ('b', 'b')", 'each label only once'],
    ['a long label', `CREATE TYPE a AS ENUM ('${'b'.repeat(64)}')`, '1 to 63 bytes'],
    ['two statements', "CREATE TYPE a AS ENUM ('b'); DROP TABLE c", 'exactly one statement'],
    ['another schema', "CREATE TYPE service.a AS ENUM ('b')", 'must create the object in'],
    ['a type of another schema', 'CREATE DOMAIN a AS service.b', 'uses the type "service.b"'],
    ['an unknown type', 'CREATE TYPE a AS (b missing)', 'uses the type "missing"'],
    ['a function that is not of PostgreSQL', 'CREATE DOMAIN a AS text CHECK (f(VALUE))', 'that must'],
    ['a query in a constraint', 'CREATE DOMAIN a AS text CHECK (VALUE IN (SELECT 1::text))', 'that must'],
    ['a comment before a constraint', 'CREATE DOMAIN a AS text CONSTRAINT /* x */ b CHECK (true)', 'must'],
    [
      'a function of its own as SUBTYPE_DIFF',
      'CREATE TYPE a AS RANGE (SUBTYPE = float8, SUBTYPE_DIFF = f)',
      'SUBTYPE_DIFF',
    ],
    ['a canonical function', 'CREATE TYPE a AS RANGE (SUBTYPE = float8, CANONICAL = f)', 'must contain only'],
  ] as const)
    it(`reject ${name}`, async () => {
      const body = { kind: 'type', definition };
      const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/objects', body);
      expect(error.message).to.contain(message);
      expect(await listed()).to.deep.equal([]);
    });

  it('cannot have the name of a table or view', async () => {
    await create();
    const taken = { status: 409, code: 'ALREADY_EXISTS' };
    await api.refused(taken, 'POST', '/collections', { collection: 'mood', schema: {}, fields: [KEY] });
    await api.refused({ ...taken, also: ['definition'] }, 'POST', '/objects', {
      kind: 'view',
      definition: 'CREATE VIEW mood AS SELECT 1 AS a',
    });
    await table('other', []);
    await api.refused(taken, 'POST', '/objects', {
      kind: 'type',
      definition: MOOD.replace('mood', 'other'),
    });
  });

  it('change back and forth between points in time, are proved, and are in the SQL export', async () => {
    await create(MOOD, { comment: 'Feelings' });
    await table('members', [column('feels', 'mood', { default_value: 'sad' })]);
    const before = await api.head();
    await create('CREATE TYPE address AS (street text, feels mood[])');
    await api.ok('PATCH', path(), { comment: 'Changed' });
    const changes = await api.ok<object>('POST', '/schema/diff', {
      ...(await snapshotNow()),
      objects: [{ kind: 'type', id: 'mood', definition: MOOD.replace(')', ", 'so so')"), comment: null }],
    });
    const proof = await api.ok<{ proof: object }>('POST', '/schema/apply?prove', changes);
    expect(proof.proof).to.deep.include({ differences: [], properties: [] });
    await api.goTo(before);
    expect((await shown()).comment).to.equal('Feelings');
    expect(await listed()).to.deep.equal(['mood']);
    const { text: sql } = await api.client('/history/snapshot?export=sql');
    expect(sql.indexOf('CREATE TYPE'), sql).to.be.greaterThan(-1).and.lessThan(sql.indexOf('CREATE TABLE'));
  });

  it('are rebuilt from every event, with labels that a later event used and attributes that were dropped', async () => {
    await create();
    await create('CREATE DOMAIN short AS varchar(9) CONSTRAINT short_check CHECK (length(VALUE) > 1)');
    await create('CREATE TYPE address AS (street short, feels mood, zip text)');
    await table('members', [column('feels', 'mood', { default_value: 'sad' }), column('home', 'address')]);
    await change("CREATE TYPE mood AS ENUM ('great', 'happy', 'sad')");
    await api.ok('PATCH', '/fields/members/feels', { schema: { default_value: 'great' } });
    await change('CREATE TYPE address AS (street short, feels mood, town text)', 'address');
    await api.ok('POST', '/objects', {
      kind: 'function',
      definition: "CREATE FUNCTION feeling(a mood) RETURNS address LANGUAGE sql AS $$ SELECT ('x', a, 'y')::address $$",
    });
    await api.ok('POST', '/objects', {
      kind: 'view',
      definition: "CREATE VIEW towns AS SELECT (home).town, feels = 'great' AS fine FROM members",
    });
    await create('CREATE TYPE gone AS RANGE (SUBTYPE = date)');
    await api.ok('POST', `${path('gone')}/rename`, { to: 'days' });
    await api.ok('DELETE', path('days'));
    const facts = `SELECT t.typname AS name, format_type(t.typbasetype, t.typtypmod) AS base, t.typnotnull,
        (SELECT array_agg(e.enumlabel::text ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = t.oid) AS labels,
        (SELECT array_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) ORDER BY a.attnum) FROM pg_attribute a
          WHERE a.attrelid = t.typrelid AND NOT a.attisdropped AND a.attnum > 0) AS attributes
      FROM pg_type t WHERE t.typname IN ('mood', 'short', 'address', 'gone', 'days') ORDER BY 1`;
    const expected = await api.sql(facts);
    expect(expected).to.have.length(3);
    const target = await createDatabase();
    try {
      const settings = { DATABASE_URL: service.databaseUrl, OBJECTS: 'on' };
      const { code, out, err } = await dps(['rebuild', 'tables', '--into', target.connectionString], settings);
      expect(code, out + err).to.equal(0);
      expect(await query(target.connectionString, facts)).to.deep.equal(expected);
      const metadata = await dps(['rebuild', 'metadata'], settings);
      expect(metadata.code, metadata.err).to.equal(0);
    } finally {
      await target.drop();
    }
  });

  describe('that tables need', () => {
    const TYPES = `CREATE TYPE mood AS ENUM ('happy', 'sad'); CREATE DOMAIN email AS text CHECK (VALUE LIKE '%@%');
      CREATE TYPE address AS (street text, feels mood)`;
    const TABLE =
      "CREATE TABLE members (id int PRIMARY KEY, feels mood DEFAULT 'sad'::mood CHECK (feels <> 'happy'::mood), mail email, home address, felt mood[])";

    it('are adopted with everything, and the tables no longer define them', async () => {
      await api.sql(`${TYPES}; ${TABLE}; COMMENT ON TYPE mood IS 'By hand'`);
      const adoption = await api.ok<Adoption>('POST', '/schema/adopt', { all: true });
      expect(adoption.objects.map(({ kind, id }) => `${kind} ${id}`)).to.have.members([
        'type mood',
        'type email',
        'type address',
      ]);
      expect(adoption.not_represented).to.deep.equal([]);
      expect(JSON.stringify((await snapshotNow()).collections)).not.to.contain('needs');
      expect((await shown()).comment).to.equal('By hand');
      const snapshot = await snapshotNow();
      await apply({ ...snapshot, ...NOTHING, objects: [] }, '?purge');
      await apply(snapshot);
      expect(await diffTo(snapshot)).to.deep.equal(NOTHING);
    });

    it('become objects on request, even in another database, and a restored table no longer defines them', async () => {
      await api.sql(`${TYPES}; ${TABLE}`);
      await api.sql('CREATE TABLE others (id int PRIMARY KEY, feels mood)');
      await api.ok('POST', '/schema/adopt', { tables: ['members', 'others'] });
      expect(JSON.stringify((await snapshotNow()).collections)).to.contain('"labels":["happy","sad"]');
      await api.ok('DELETE', '/collections/others');
      const before = await snapshotNow();
      await api.ok('POST', '/schema/adopt', {
        objects: [
          { kind: 'type', id: 'mood' },
          { kind: 'type', id: 'email' },
        ],
      });
      const after = await snapshotNow();
      expect(JSON.stringify(after.collections)).not.to.contain('needs');
      await api.ok('POST', '/trash/others/restore').catch(() => undefined);
      await apply(before);
      expect(await diffTo(before)).to.deep.equal(NOTHING);
      await apply(after);
      expect(await diffTo(after)).to.deep.equal(NOTHING);
      expect(await labels()).to.deep.equal(['happy', 'sad']);
    });

    it('cannot be objects and needs at once', async () => {
      await api.sql(`${TYPES}; ${TABLE}`);
      await api.ok('POST', '/schema/adopt', { tables: ['members'] });
      const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/objects', {
        kind: 'type',
        definition: MOOD,
      });
      expect(error.message).to.contain('extras.needs of collection "members" defines it too');
    });
  });
});
