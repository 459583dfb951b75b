import { expect } from 'chai';
import { dps } from '../support/dps.js';
import { createDatabase, query } from '../support/postgres.js';
import { withService } from '../support/with-service.js';

const KEY = { field: 'id', type: 'integer', interface: 'input', schema: { is_primary_key: true } };

interface Plan {
  accepted: boolean;
  errors?: { message: string }[];
  statements: { sql: string; summary: string; lock: string; rewrites_table: boolean; may_fail: boolean }[];
  warnings: { code: string; level: string; message: string }[];
  tables: { table: string; lock: string }[];
}

const MOOD = "CREATE TYPE mood AS ENUM ('happy', 'so so', 'sad')";
const FEWER = "CREATE TYPE mood AS ENUM ('sad', 'happy')";

describe('labels of an enum', () => {
  const { api, service } = withService({
    settings: { OBJECTS: 'on', DB_SCHEMAS: 'public,app' },
    each: true,
    consistent: true,
  });

  const path = (id = 'mood'): string => `/objects/type/${encodeURIComponent(id)}`;
  const create = (definition = MOOD) => api.ok('POST', '/objects', { kind: 'type', definition });
  const change = (definition: string) => api.ok('PATCH', path(), { definition });
  const object = (kind: string, definition: string) => api.ok('POST', '/objects', { kind, definition });
  const column = (field: string, type: string, more: object = {}) => ({
    field,
    type: 'unknown',
    interface: 'input',
    schema: { data_type: type, ...more },
  });
  const table = (collection: string, fields: object[], schema: object = {}) =>
    api.ok('POST', '/collections', { collection, schema, fields: [KEY, ...fields] });
  const labels = async () =>
    (await api.sql<{ labels: string }>('SELECT enum_range(NULL::mood)::text AS labels'))[0]?.labels;
  const adopt = async (statements: string) => {
    await api.sql(statements);
    await api.ok('POST', '/schema/adopt', { all: true });
  };
  const snapshotNow = () => api.ok<{ objects: object[] }>('GET', '/schema/snapshot');

  it('are removed and reordered, with the columns, arrays, defaults and rows of all tables', async () => {
    await create();
    await table('members', [
      column('feels', 'mood', { default_value: 'sad' }),
      column('felt', 'mood[]', { default_value: '{sad,happy}' }),
    ]);
    await table('other', [column('feels', 'mood', { is_nullable: false, is_indexed: true, is_unique: true })]);
    await api.sql(`INSERT INTO members (id) VALUES (1); INSERT INTO other VALUES (1, 'happy')`);
    const plan = await api.ok<Plan>('PATCH', `${path()}?dry_run`, { definition: FEWER });
    expect(plan.accepted).to.equal(true);
    expect(
      plan.statements.map(({ summary, lock, rewrites_table, may_fail }) => [summary, lock, rewrites_table, may_fail]),
    ).to.deep.equal([['change type mood', 'ACCESS EXCLUSIVE', true, true]]);
    expect(plan.tables.map(({ table: name, lock }) => [name, lock])).to.deep.equal([
      ['members', 'ACCESS EXCLUSIVE'],
      ['other', 'ACCESS EXCLUSIVE'],
    ]);
    expect(plan.warnings.map(({ code }) => code)).to.include('REWRITES_TABLE');
    expect(await labels()).to.equal('{happy,"so so",sad}');
    await change(FEWER);
    expect(await labels()).to.equal('{sad,happy}');
    expect(await api.sql('SELECT feels::text, felt::text FROM members')).to.deep.equal([
      { feels: 'sad', felt: '{sad,happy}' },
    ]);
    await api.sql('INSERT INTO members (id) VALUES (2)');
    expect(await api.sql('SELECT count(*)::int FROM members WHERE feels < felt[2]')).to.deep.equal([{ count: 2 }]);
    expect(await api.sql("SELECT typname FROM pg_type WHERE typname ~ 'dps'")).to.deep.equal([]);
  });

  it('keep values: the change is rejected with the table, the column and the number, and nothing changes', async () => {
    await create();
    await table('members', [column('feels', 'mood'), column('felt', 'mood[]')]);
    await api.sql(`INSERT INTO members VALUES (1, 'so so', '{happy,"so so"}'), (2, 'so so', '{sad}')`);
    const head = await api.head();
    const refused = { status: 422, code: 'DATABASE_REFUSED' };
    const error = await api.refused(refused, 'PATCH', path(), { definition: FEWER });
    expect(error.message).to.contain(
      'column "feels" of table "members" has 2 values of a removed label (so so); column "felt" of table "members" has 1 value of a removed label (so so)',
    );
    const plan = await api.ok<Plan>('PATCH', `${path()}?dry_run`, { definition: FEWER });
    expect([plan.accepted, plan.errors?.[0]?.message]).to.deep.equal([false, error.message]);
    expect(await api.head()).to.equal(head);
    expect(await labels()).to.equal('{happy,"so so",sad}');
  });

  it('change together with the views, functions, triggers, policies, rules and statistics that use them', async () => {
    await create();
    await table('members', [
      column('feels', 'mood', { default_value: 'sad' }),
      { field: 'name', type: 'text', interface: 'input' },
    ]);
    await object('view', "CREATE VIEW happy AS SELECT id, feels FROM members WHERE feels = 'happy'");
    await object('view', 'CREATE VIEW named AS SELECT id FROM happy');
    await object(
      'materialized_view',
      'CREATE MATERIALIZED VIEW counts AS SELECT feels, count(*) AS n FROM members GROUP BY feels',
    );
    await object('function', "CREATE FUNCTION is_fine(a mood) RETURNS boolean LANGUAGE sql AS $$ SELECT a <> 'sad' $$");
    await object('function', 'CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$');
    await object(
      'trigger',
      "CREATE TRIGGER moved BEFORE UPDATE OF feels ON members FOR EACH ROW WHEN (NEW.feels = 'sad') EXECUTE FUNCTION touch()",
    );
    await object('policy', "CREATE POLICY mine ON members USING (feels <> 'sad')");
    await object('rule', "CREATE RULE quiet AS ON DELETE TO members WHERE OLD.feels = 'sad' DO INSTEAD NOTHING");
    await object('statistics', 'CREATE STATISTICS pairs ON feels, name FROM members');
    await api.sql(
      `GRANT SELECT ON happy TO pg_monitor; REVOKE USAGE ON TYPE mood FROM PUBLIC; COMMENT ON TYPE mood IS 'm'; INSERT INTO members VALUES (1, 'happy', 'a')`,
    );
    const before = await snapshotNow();
    const access = () =>
      api.sql(
        "SELECT typacl::text AS a, (SELECT relacl::text FROM pg_class WHERE relname = 'happy') AS b FROM pg_type WHERE oid = 'mood'::regtype",
      );
    const granted = await access();
    await api.ok('PATCH', path(), { definition: FEWER });
    expect(await labels()).to.equal('{sad,happy}');
    expect(await access()).to.deep.equal(granted);
    const text = JSON.stringify(before.objects).replace(MOOD, FEWER);
    expect((await snapshotNow()).objects).to.deep.equal(JSON.parse(text));
    expect(await api.sql('SELECT id, is_fine(feels) AS fine FROM happy')).to.deep.equal([{ id: 1, fine: true }]);
  });

  it('change with checks, indexes, foreign keys, generated columns and their comments and settings', async () => {
    await adopt(`CREATE TYPE mood AS ENUM ('happy', 'so so', 'sad');
      CREATE TABLE moods (feels mood PRIMARY KEY, place integer);
      CREATE TABLE members (id integer PRIMARY KEY, feels mood NOT NULL REFERENCES moods, label text DEFAULT ('sad'::mood)::text,
        CONSTRAINT fine CHECK (feels <> 'sad' OR label IS NOT NULL),
        glad boolean GENERATED ALWAYS AS (feels = 'happy') STORED NOT NULL, again mood GENERATED ALWAYS AS (feels) STORED);
      CREATE INDEX glads ON members (label) WHERE feels = 'happy';
      CREATE UNIQUE INDEX pairs ON members (feels, (feels = 'sad'), id);
      CREATE INDEX glad ON members (glad);
      COMMENT ON INDEX glads IS 'some'; COMMENT ON CONSTRAINT fine ON members IS 'fine'; COMMENT ON COLUMN members.glad IS 'glad';
      INSERT INTO moods VALUES ('happy', 1), ('sad', 2); INSERT INTO members (id, feels) VALUES (1, 'sad'), (2, 'happy')`);
    const shown = () =>
      api.sql(`SELECT pg_get_constraintdef(oid) AS text, obj_description(oid, 'pg_constraint') AS comment FROM pg_constraint WHERE contype <> 'n' AND conrelid IN ('members'::regclass, 'moods'::regclass)
        UNION ALL SELECT pg_get_indexdef(indexrelid), obj_description(indexrelid, 'pg_class') FROM pg_index WHERE indrelid = 'members'::regclass
        UNION ALL SELECT attname || ' ' || format_type(atttypid, -1) || attnotnull::text || pg_get_expr(d.adbin, d.adrelid), col_description(a.attrelid, a.attnum)
          FROM pg_attribute a JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum WHERE a.attrelid = 'members'::regclass ORDER BY 1`);
    const before = await shown();
    await change(FEWER);
    expect(await shown()).to.deep.equal(before);
    expect(await labels()).to.equal('{sad,happy}');
    expect(await api.sql('SELECT id, glad, again::text FROM members ORDER BY id')).to.deep.equal([
      { id: 1, glad: false, again: 'sad' },
      { id: 2, glad: true, again: 'happy' },
    ]);
  });

  it('change in partitions and in tables that inherit', async () => {
    await adopt(`CREATE TYPE mood AS ENUM ('happy', 'so so', 'sad');
      CREATE TABLE events (id integer, feels mood DEFAULT 'sad', CONSTRAINT fine CHECK (feels <> 'happy' OR id > 0)) PARTITION BY RANGE (id);
      CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM (0) TO (10);
      CREATE TABLE events_2 PARTITION OF events (feels DEFAULT 'happy') FOR VALUES FROM (10) TO (20);
      CREATE INDEX sads ON events (id) WHERE feels = 'sad';
      CREATE TABLE parents (id integer PRIMARY KEY, feels mood, CHECK (feels IS NOT NULL));
      CREATE TABLE children (extra mood[] DEFAULT '{sad}') INHERITS (parents);
      INSERT INTO events (id) VALUES (1), (11); INSERT INTO children VALUES (1, 'sad')`);
    const shown = () =>
      api.sql(`SELECT conrelid::regclass::text || pg_get_constraintdef(oid) || conislocal::text || coninhcount::text AS text FROM pg_constraint WHERE contype = 'c'
        UNION ALL SELECT pg_get_indexdef(i.indexrelid) || i.indisvalid::text || coalesce((SELECT inhparent::regclass::text FROM pg_inherits WHERE inhrelid = i.indexrelid), '') FROM pg_index i
          JOIN pg_class c ON c.oid = i.indrelid WHERE c.relname ~ '^(events|parents|children)'
        UNION ALL SELECT adrelid::regclass::text || pg_get_expr(adbin, adrelid) FROM pg_attrdef d JOIN pg_class c ON c.oid = d.adrelid WHERE c.relname ~ '^(events|parents|children)' ORDER BY 1`);
    const before = await shown();
    await change(FEWER);
    expect(await shown()).to.deep.equal(before);
    expect(await labels()).to.equal('{sad,happy}');
    await api.sql(`INSERT INTO children VALUES (2, 'so so')`).then(
      () => expect.fail('the label still exists'),
      (error: Error) => expect(error.message).to.contain('so so'),
    );
  });

  it('change together with defaults, checks and generated columns that contain a removed label', async () => {
    await create();
    await table(
      'members',
      [
        column('feels', 'mood', { default_value: 'so so' }),
        { ...column('dull', 'boolean', { generation_expression: "feels = 'so so'" }), type: 'boolean' },
      ],
      {
        extras: {
          constraints: [{ name: 'fine', definition: "CHECK (feels <> 'so so' OR id > 0)" }],
          indexes: [{ name: 'so', definition: "USING btree (id) WHERE (feels = 'so so')" }],
        },
      },
    );
    const alone = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'PATCH', path(), {
      definition: FEWER,
    });
    expect(alone.message).to.match(/ of table members: it uses a removed label/);
    const text = JSON.stringify(await snapshotNow())
      .replaceAll("'so so'", "'sad'")
      .replaceAll('"so so"', '"sad"')
      .replace("('happy', 'sad', 'sad')", "('sad', 'happy')");
    const diff = await api.ok<object>('POST', '/schema/diff', JSON.parse(text));
    const proof = await api.ok<{ proof: object }>('POST', '/schema/apply?prove', diff);
    expect(proof.proof).to.deep.include({ differences: [], properties: [] });
    await api.ok('POST', '/schema/apply', diff);
    expect(await labels()).to.equal('{sad,happy}');
    await api.sql('INSERT INTO members (id) VALUES (1)');
    expect(await api.sql('SELECT feels::text, dull FROM members')).to.deep.equal([{ feels: 'sad', dull: true }]);
  });

  it('go back and forth between points in time', async () => {
    await create();
    await table('members', [column('feels', 'mood', { default_value: 'sad' })]);
    const before = await api.head();
    await change(FEWER);
    const after = await api.head();
    await api.goTo(before);
    expect(await labels()).to.equal('{happy,"so so",sad}');
    await api.goTo(after);
    expect(await labels()).to.equal('{sad,happy}');
  });

  it('change in the trash, unless a value there does not fit', async () => {
    await create();
    await table('members', [column('feels', 'mood', { default_value: 'sad' })]);
    await table('others', [column('feels', 'mood')]);
    await api.sql(`INSERT INTO members (id) VALUES (1); INSERT INTO others VALUES (1, 'happy')`);
    await api.ok('DELETE', '/collections/members');
    await api.ok('DELETE', '/fields/others/feels');
    await change(FEWER);
    expect(await labels()).to.equal('{sad,happy}');
    const kept = (
      await api.ok<{ data: { collection: string; field: string | null; position: number }[] }>('GET', '/trash')
    ).data;
    for (const { position } of kept) await api.ok('POST', `/trash/${position}/restore`, {});
    expect(await api.sql('SELECT m.feels::text AS a, o.feels::text AS b FROM members m, others o')).to.deep.equal([
      { a: 'sad', b: 'happy' },
    ]);
    await api.ok('DELETE', '/collections/members');
    const fewest = { definition: "CREATE TYPE mood AS ENUM ('happy')" };
    const error = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'PATCH', path(), fewest);
    expect(error.message).to.contain(
      'column "feels" of table "members" in the trash has 1 value of a removed label (sad)',
    );
  });

  it('are rebuilt from every event, are in the SQL export, and no drift remains', async () => {
    await create();
    await table('members', [
      column('feels', 'mood', { default_value: 'so so' }),
      column('felt', 'mood[]', { default_value: '{sad}' }),
    ]);
    await api.ok('PATCH', '/fields/members/feels', { schema: { default_value: 'sad' } });
    await change(FEWER);
    await api.ok('POST', '/fields/members', column('late', 'mood', { default_value: 'happy' }));
    await api.ok('PATCH', '/collections/members', { meta: { note: 'x' } });
    await api.ok('POST', '/collections/members/rename', { to: 'people' });
    await change("CREATE TYPE mood AS ENUM ('happy', 'new', 'sad')");
    const target = await createDatabase();
    try {
      const settings = { DATABASE_URL: service.databaseUrl, OBJECTS: 'on', DB_SCHEMAS: 'public,app' };
      const { code, out, err } = await dps(['rebuild', 'tables', '--into', target.connectionString], settings);
      expect(code, out + err).to.equal(0);
      const shown = `SELECT enum_range(NULL::mood)::text, (SELECT string_agg(pg_get_expr(adbin, adrelid), ' ' ORDER BY adnum) FROM pg_attrdef WHERE adrelid = 'people'::regclass)`;
      expect(await query(target.connectionString, shown)).to.deep.equal(await api.sql(shown));
    } finally {
      await target.drop();
    }
    const { text } = await api.client('/history/snapshot?export=sql');
    expect(text).to.contain("AS ENUM ('happy', 'new', 'sad')");
    expect((await api.ok<{ ok: boolean }>('GET', '/schema/drift')).ok).to.equal(true);
  });

  it('are repaired and accepted after someone changed them by hand', async () => {
    await create();
    await table('members', [column('feels', 'mood', { default_value: 'sad' })]);
    await api.sql("ALTER TYPE mood ADD VALUE 'angry' BEFORE 'so so'; INSERT INTO members (id) VALUES (1)");
    const settings = { DATABASE_URL: service.databaseUrl, OBJECTS: 'on', DB_SCHEMAS: 'public,app' };
    const repaired = await dps(['drift', '--repair'], settings);
    expect(repaired.code, repaired.out + repaired.err).to.equal(0);
    expect(await labels()).to.equal('{happy,"so so",sad}');
    await api.sql(`ALTER TYPE mood RENAME TO old; ${FEWER}; ALTER TABLE members ALTER COLUMN feels DROP DEFAULT,
      ALTER COLUMN feels TYPE mood USING feels::text::mood, ALTER COLUMN feels SET DEFAULT 'sad'; DROP TYPE old`);
    await api.ok('POST', '/schema/drift/accept', { objects: [{ kind: 'type', id: 'mood' }] });
    expect((await api.ok<{ ok: boolean }>('GET', '/schema/drift')).ok).to.equal(true);
    const shown = await api.ok<{ data: { definition: string } }>('GET', path());
    expect(shown.data.definition).to.equal(FEWER);
  });

  it('are merged between environments of one schema', async () => {
    await create();
    await table('members', [column('feels', 'mood', { default_value: 'sad' })]);
    const base = await api.head();
    const theirs = JSON.parse(JSON.stringify(await snapshotNow()).replace(MOOD, FEWER)) as object;
    await api.ok('POST', '/fields/members', { field: 'name', type: 'string', interface: 'input' });
    const merged = await api.ok<object>('POST', '/schema/merge', { base, theirs });
    await api.ok('POST', '/schema/apply', merged);
    expect(await labels()).to.equal('{sad,happy}');
  });

  it('do not change while a domain, a composite type, a range, a partition key or an unmanaged table uses the enum', async () => {
    await create();
    await table('members', [column('feels', 'mood')]);
    await api.sql(`CREATE TABLE unmanaged (a mood); CREATE DOMAIN good AS mood; CREATE TYPE pair AS (a mood, b mood[]); CREATE TYPE span AS RANGE (SUBTYPE = mood);
      CREATE VIEW seen AS SELECT id FROM members WHERE feels IS NOT NULL`);
    const inUse = { status: 409, code: 'IN_USE' };
    const error = await api.refused(inUse, 'PATCH', path(), { definition: FEWER });
    for (const each of [
      'column a of table unmanaged',
      'type good',
      'column a of composite type pair',
      'column b of composite type pair',
      'type span',
      'view seen',
    ])
      expect(error.message).to.contain(`${each} depends on type mood`);
    await api.sql('DROP VIEW seen; DROP TYPE span, pair; DROP DOMAIN good; DROP TABLE unmanaged');
    await object('function', 'CREATE FUNCTION is_good(a mood) RETURNS boolean IMMUTABLE LANGUAGE sql RETURN true');
    await api.sql('ALTER TABLE members ADD CONSTRAINT good CHECK (is_good(feels))');
    expect((await api.refused(inUse, 'PATCH', path(), { definition: FEWER })).message).to.contain('constraint good');
    await api.sql('ALTER TABLE members DROP CONSTRAINT good');
    await object('type', 'CREATE TYPE pair AS (a mood)');
    await table('pairs', [column('both', 'pair')]);
    expect((await api.refused(inUse, 'PATCH', path(), { definition: FEWER })).message).to.contain('"pairs"."both"');
    await api.ok('DELETE', '/collections/pairs?purge');
    await adopt('CREATE TABLE parts (feels mood) PARTITION BY LIST (feels)');
    expect((await api.refused(inUse, 'PATCH', path(), { definition: FEWER })).message).to.contain(
      'the partition key of table parts',
    );
  });
});
