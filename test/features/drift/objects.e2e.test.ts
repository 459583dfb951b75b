/* oxlint-disable max-lines -- Each kind of object has a short block, and all share one helper. */
import { expect } from 'chai';
import { dps as runDps } from '../../support/dps.js';
import { withService } from '../../support/with-service.js';

interface ObjectDrift {
  object: { kind: string; id: string };
  kind: string;
  differences: { member: string; found: unknown }[];
  repair: { database: { sql: string; drops: boolean }[]; log: { type: string; data: object }[] };
}

interface Drift {
  ok: boolean;
  tables: object[];
  unmanaged: string[];
  objects: ObjectDrift[];
  unmanaged_objects: { kind: string; id: string }[];
}

const AUTHORS = {
  collection: 'authors',
  schema: {},
  fields: [
    { field: 'id', type: 'integer', interface: 'input', schema: { is_primary_key: true, has_auto_increment: true } },
    { field: 'name', type: 'string', interface: 'input' },
    { field: 'age', type: 'integer', interface: 'input' },
  ],
};

const ADULTS = 'CREATE VIEW adults AS SELECT id, name FROM authors WHERE age > 17';
const AGES = 'CREATE MATERIALIZED VIEW ages AS SELECT age, count(*) AS authors FROM authors GROUP BY age';
const TWICE = 'CREATE FUNCTION twice(value integer) RETURNS integer LANGUAGE sql AS $$ SELECT value * 2 $$';
const INDEX = { name: 'ages_age', unique: true, definition: 'USING btree (age)' };
const FACTS = `SELECT c.relname, c.relacl::text, c.reloptions, pg_get_viewdef(c.oid) AS query, obj_description(c.oid) AS comment,
    (SELECT array_agg(indexdef ORDER BY indexdef) FROM pg_indexes WHERE tablename = c.relname) AS indexes
  FROM pg_class c WHERE c.relname IN ('adults', 'ages', 'initials', 'doubled')
  UNION ALL SELECT p.proname, NULL, NULL, pg_get_functiondef(p.oid), obj_description(p.oid), NULL FROM pg_proc p
   WHERE p.proname = 'twice' ORDER BY 1`;

interface ChangeByHand {
  object: { kind: string; id: string };
  kind: 'different' | 'missing';
  members: string[];
  /** Selects what the repair restores. */
  catalog: string;
}

function withObjects() {
  const { api, service } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });
  const drift = () => api.ok<Drift>('GET', '/schema/drift');
  const dps = (...args: string[]) => runDps(args, { DATABASE_URL: service.databaseUrl, OBJECTS: 'on' });

  /** A change by hand of one object is reported, repaired, and accepted when it is made again. */
  async function expectHandled(change: string, { object, kind, members, catalog }: ChangeByHand): Promise<void> {
    const before = await api.sql(catalog);
    await api.sql(change);
    const found = await drift();
    expect(found).to.deep.include({ ok: false, tables: [], unmanaged_objects: [] });
    expect(found.objects.map((each) => [each.object, each.kind])).to.deep.equal([[object, kind]]);
    expect(found.objects[0]?.differences.map(({ member }) => member)).to.deep.equal(members);
    const repaired = await dps('drift', '--repair');
    expect(repaired.code, repaired.out + repaired.err).to.equal(0);
    expect(await api.sql(catalog)).to.deep.equal(before);
    await api.sql(change);
    await api.ok('POST', '/schema/drift/accept', { objects: [object] });
    expect(await drift()).to.deep.include({ ok: true, objects: [] });
  }

  return { api, drift, dps, expectHandled };
}

describe('drift of views', () => {
  const { api, drift, dps } = withObjects();

  beforeEach(async () => {
    await api.ok('POST', '/collections', AUTHORS);
    await api.ok('POST', '/objects', { kind: 'view', definition: ADULTS, comment: 'Adults' });
    await api.ok('POST', '/objects', {
      kind: 'view',
      definition: 'CREATE VIEW initials WITH (security_barrier = true) AS SELECT left(name, 1) AS initial FROM adults',
    });
    await api.ok('POST', '/objects', { kind: 'materialized_view', definition: AGES, indexes: [INDEX] });
    await api.ok('POST', '/objects', { kind: 'function', definition: TWICE, comment: 'Doubles' });
    await api.ok('POST', '/objects', {
      kind: 'view',
      definition: 'CREATE VIEW doubled AS SELECT id, twice(age) AS age FROM authors',
    });
    await api.sql('GRANT SELECT ON initials TO PUBLIC');
  });

  for (const [title, change, expected, members] of [
    [
      'another query',
      `CREATE OR REPLACE VIEW adults AS SELECT id, name FROM authors WHERE age > 20`,
      'view adults different',
      ['definition'],
    ],
    ['another comment', `COMMENT ON VIEW adults IS 'Changed'`, 'view adults different', ['comment']],
    ['another option', 'ALTER VIEW initials RESET (security_barrier)', 'view initials different', ['definition']],
    ['a new index', 'CREATE INDEX extra ON ages (authors)', 'materialized_view ages different', ['indexes']],
    ['a dropped index', 'DROP INDEX ages_age', 'materialized_view ages different', ['indexes']],
    [
      'another body of a function',
      'CREATE OR REPLACE FUNCTION twice(value integer) RETURNS integer LANGUAGE sql AS $$ SELECT value + value $$',
      'function twice(integer) different',
      ['definition'],
    ],
    [
      'another setting of a function',
      'ALTER FUNCTION twice(integer) SECURITY DEFINER',
      'function twice(integer) different',
      ['definition'],
    ],
    [
      'another comment of a function',
      `COMMENT ON FUNCTION twice(integer) IS 'Changed'`,
      'function twice(integer) different',
      ['comment'],
    ],
    [
      'another argument name',
      `ALTER VIEW doubled RENAME TO gone; DROP VIEW gone; DROP FUNCTION twice(integer);
       CREATE FUNCTION twice(number integer) RETURNS integer LANGUAGE sql AS $$ SELECT number * 2 $$;
       COMMENT ON FUNCTION twice(integer) IS 'Doubles';
       CREATE VIEW doubled AS SELECT id, twice(age) AS age FROM authors`,
      'function twice(integer) different',
      ['definition'],
    ],
    [
      'a dropped function',
      'DROP VIEW doubled; DROP FUNCTION twice(integer)',
      'function twice(integer) missing, view doubled missing',
      ['function', 'view'],
    ],
    ['a dropped view', 'DROP VIEW initials', 'view initials missing', ['view']],
    [
      'a dropped materialized view',
      'DROP MATERIALIZED VIEW ages',
      'materialized_view ages missing',
      ['materialized_view'],
    ],
  ] as const) {
    it(`reports ${title}, repairs it and accepts it`, async () => {
      const before = await api.sql(FACTS);
      const snapshot = await api.ok('GET', '/schema/snapshot');
      await api.sql(change);
      const found = await drift();
      expect(found).to.deep.include({ ok: false, tables: [], unmanaged: [] });
      // The privileges on a view are not managed.
      expect(found.unmanaged_objects.filter(({ kind }) => kind !== 'privileges')).to.deep.equal([]);
      expect(found.objects.map(({ object, kind }) => `${object.kind} ${object.id} ${kind}`).join(', ')).to.equal(
        expected,
      );
      expect(found.objects.flatMap(({ differences }) => differences.map(({ member }) => member))).to.deep.equal(
        members,
      );
      const repaired = await dps('drift', '--repair', '--allow-drop');
      expect(repaired.code, repaired.out + repaired.err).to.equal(0);
      const after = await api.sql(FACTS);
      // Privileges of a dropped view are lost.
      const isDropped = title.startsWith('a dropped view');
      const without = (rows: object[]) => rows.map((row) => (isDropped ? { ...row, relacl: null } : row));
      expect(without(after)).to.deep.equal(without(before));
      expect(await drift()).to.deep.include({ ok: true, objects: [] });
      expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(snapshot);

      await api.sql(change);
      const again = (await drift()).objects;
      const head = await api.head();
      await api.ok('POST', '/schema/drift/accept', { objects: again.map(({ object }) => object) });
      expect(await drift()).to.deep.include({ ok: true, objects: [] });
      const events = await api.sql(
        'SELECT type, data FROM service.service_events WHERE position > $1 ORDER BY position',
        [head],
      );
      const planned = again.flatMap(({ repair }) => repair.log);
      expect(events).to.have.deep.members(
        planned.map(({ type, data }) => ({ type, data: { ...data, adopted: true } })),
      );
      const log = await api.ok<{ objects: object[] }>('GET', '/schema/snapshot');
      const { diff } = await api.ok<{ diff: object }>('POST', '/schema/diff', log);
      expect(diff).to.deep.equal({ collections: [], fields: [], relations: [] });
    });
  }

  it('does not drop an index without --allow-drop', async () => {
    await api.sql('CREATE INDEX extra ON ages (authors)');
    const { code, out } = await dps('drift', '--repair');
    expect(code).to.equal(1);
    expect(out).to.contain('skipped: DROP INDEX').and.contain('materialized_view:ages: different');
    await api.sql('DROP INDEX extra');
  });

  it('lists views and functions that someone created as unmanaged, which is no drift', async () => {
    await api.sql('CREATE VIEW by_hand AS SELECT name FROM authors');
    await api.sql(`CREATE FUNCTION by_hand() RETURNS integer LANGUAGE sql AS 'SELECT 1'`);
    const unmanaged_objects = [
      { kind: 'function', id: 'by_hand()' },
      { kind: 'privileges', id: 'public on initials' },
      { kind: 'view', id: 'by_hand' },
    ];
    expect(await drift()).to.deep.include({ ok: true, unmanaged_objects });
    expect((await dps('drift')).out).to.contain(
      'Not managed: function:by_hand(), privileges:public on initials, view:by_hand.',
    );
  });

  it('accepts only what the request names, including in the shell', async () => {
    await api.sql(
      `COMMENT ON VIEW adults IS 'One'; COMMENT ON VIEW initials IS 'Two'; ALTER TABLE authors ADD more text`,
    );
    await api.ok('POST', '/schema/drift/accept', { collections: ['authors'] });
    expect((await drift()).objects.map(({ object }) => object.id)).to.deep.equal(['adults', 'initials']);
    const { code, out, err } = await dps('drift', '--accept', 'view:adults');
    expect(code, out + err).to.equal(0);
    expect(out).to.contain('~ view:adults').and.contain('Accepted the drift of 0 tables and 1 object.');
    expect((await drift()).objects.map(({ object }) => object.id)).to.deep.equal(['initials']);
    const rest = await api.ok('POST', '/schema/drift/accept', {});
    expect(rest).to.deep.include({ objects: { changed: [{ kind: 'view', id: 'initials' }], deleted: [] } });
  });

  it('accepts a table that was dropped with its views', async () => {
    await api.sql('DROP TABLE authors CASCADE');
    await api.ok('POST', '/schema/drift/accept', {});
    expect(await drift()).to.deep.include({ ok: true });
    const { data } = await api.ok<{ data: { id: string }[] }>('GET', '/objects');
    expect(data.map(({ id }) => id)).to.deep.equal(['twice(integer)']);
  });

  it('keeps what a request could not send out of the log, with the reason', async () => {
    await api.sql('CREATE INDEX " odd" ON ages (age)');
    const report = await api.ok<{ not_accepted: object[] }>('POST', '/schema/drift/accept', {});
    expect(report.not_accepted).to.have.length(1);
    expect(report.not_accepted[0]).to.deep.include({
      collection: 'ages',
      object: { kind: 'materialized_view', id: 'ages' },
      code: 'NOT_REPRESENTABLE',
    });
    await api.sql('DROP INDEX " odd"');
  });

  it('rejects names of objects that the log does not contain', async () => {
    const body = { objects: [{ kind: 'view', id: 'nobody' }] };
    const error = await api.refused({ status: 404, code: 'NOT_FOUND' }, 'POST', '/schema/drift/accept', body);
    expect(error.message).to.equal('view "nobody" does not exist');
  });
});

describe('drift of triggers', () => {
  const { api, drift, expectHandled } = withObjects();
  const ID = 'mark on authors';
  const CATALOG = `SELECT pg_get_triggerdef(t.oid) AS definition, tgenabled, obj_description(t.oid, 'pg_trigger') AS comment
    FROM pg_trigger t WHERE NOT tgisinternal`;

  beforeEach(async () => {
    await api.ok('POST', '/collections', AUTHORS);
    await api.ok('POST', '/objects', {
      kind: 'function',
      definition: 'CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
    });
    await api.ok('POST', '/objects', {
      kind: 'trigger',
      definition: 'CREATE TRIGGER mark BEFORE UPDATE ON authors FOR EACH ROW EXECUTE FUNCTION mark()',
      comment: 'Marks',
      enabled: 'always',
    });
  });

  for (const [change, kind, members] of [
    [
      'CREATE OR REPLACE TRIGGER mark AFTER UPDATE ON authors EXECUTE FUNCTION mark(); ALTER TABLE authors ENABLE ALWAYS TRIGGER mark',
      'different',
      ['definition'],
    ],
    ['ALTER TABLE authors DISABLE TRIGGER mark', 'different', ['enabled']],
    ['COMMENT ON TRIGGER mark ON authors IS NULL', 'different', ['comment']],
    ['DROP TRIGGER mark ON authors', 'missing', ['trigger']],
  ] as const)
    it(`reports, repairs and accepts ${change}`, () =>
      expectHandled(change, { object: { kind: 'trigger', id: ID }, kind, members: [...members], catalog: CATALOG }));

  it('lists triggers that someone created as unmanaged, and accepts a table that was dropped with its trigger', async () => {
    await api.sql('CREATE TRIGGER by_hand AFTER DELETE ON authors EXECUTE FUNCTION mark()');
    const unmanaged_objects = [{ kind: 'trigger', id: 'by_hand on authors' }];
    expect(await drift()).to.deep.include({ ok: true, unmanaged_objects });
    await api.sql('DROP TABLE authors');
    await api.ok('POST', '/schema/drift/accept', { collections: ['authors'] });
    expect(await drift()).to.deep.include({ ok: true, objects: [], unmanaged_objects: [] });
  });
});

describe('drift of policies and table options', () => {
  const { api, drift, expectHandled } = withObjects();
  const POLICY = { kind: 'policy', id: 'own on authors' };
  const SWITCHES = { kind: 'row_security', id: 'authors' };
  const OPTIONS = { kind: 'table_options', id: 'authors' };
  const CATALOG = `SELECT c.reloptions, c.relrowsecurity, c.relforcerowsecurity, p.polname, p.polcmd, p.polpermissive, p.polroles::text,
      pg_get_expr(p.polqual, c.oid) AS using, obj_description(p.oid, 'pg_policy') AS comment
    FROM pg_class c LEFT JOIN pg_policy p ON p.polrelid = c.oid WHERE c.relname = 'authors'`;

  beforeEach(async () => {
    await api.ok('POST', '/collections', AUTHORS);
    const definition = 'CREATE POLICY own ON authors FOR SELECT TO pg_monitor USING (age > 17)';
    await api.ok('POST', '/objects', { kind: 'policy', definition, comment: 'Adults' });
    const switches = 'ALTER TABLE authors ENABLE ROW LEVEL SECURITY';
    await api.ok('POST', '/objects', { kind: 'row_security', definition: switches });
    const options = 'ALTER TABLE authors SET (fillfactor = 70)';
    await api.ok('POST', '/objects', { kind: 'table_options', definition: options });
  });

  for (const [change, object, kind, member] of [
    ['ALTER POLICY own ON authors USING (true)', POLICY, 'different', 'definition'],
    ['ALTER POLICY own ON authors TO PUBLIC', POLICY, 'different', 'definition'],
    ['COMMENT ON POLICY own ON authors IS NULL', POLICY, 'different', 'comment'],
    ['DROP POLICY own ON authors', POLICY, 'missing', 'policy'],
    ['ALTER TABLE authors FORCE ROW LEVEL SECURITY', SWITCHES, 'different', 'definition'],
    ['ALTER TABLE authors DISABLE ROW LEVEL SECURITY', SWITCHES, 'missing', 'row_security'],
    ['ALTER TABLE authors SET (fillfactor = 80)', OPTIONS, 'different', 'definition'],
    ['ALTER TABLE authors RESET (fillfactor)', OPTIONS, 'missing', 'table_options'],
  ] as const)
    it(`reports, repairs and accepts ${change}`, () =>
      expectHandled(change, { object, kind, members: [member], catalog: CATALOG }));

  it('lists policies and row security that someone created, and a policy that someone renamed', async () => {
    await api.ok('POST', '/collections', { ...AUTHORS, collection: 'editors' });
    await api.sql(`
      CREATE POLICY by_hand ON editors USING (true);
      ALTER TABLE editors ENABLE ROW LEVEL SECURITY;
      ALTER POLICY own ON authors RENAME TO adults`);
    const found = await drift();
    expect(found.unmanaged_objects).to.have.deep.members([
      { kind: 'policy', id: 'by_hand on editors' },
      { kind: 'row_security', id: 'editors' },
      { kind: 'policy', id: 'adults on authors' },
    ]);
    expect(found.objects.map(({ object, kind }) => [object, kind])).to.deep.equal([[POLICY, 'missing']]);
    await api.sql('ALTER POLICY adults ON authors RENAME TO own');
    await api.sql('DROP TABLE editors');
    await api.ok('POST', '/schema/drift/accept', { collections: ['editors'] });
    expect(await drift()).to.deep.include({ ok: true, objects: [], unmanaged_objects: [] });
  });
});

describe('drift of statistics objects', () => {
  const { api, drift, expectHandled } = withObjects();
  const AGES = { kind: 'statistics', id: 'ages' };
  const CATALOG = `SELECT stxname, stxkind::text, pg_get_statisticsobjdef_columns(oid) AS columns,
      obj_description(oid, 'pg_statistic_ext') AS comment FROM pg_statistic_ext ORDER BY 1`;

  beforeEach(async () => {
    await api.ok('POST', '/collections', AUTHORS);
    const definition = 'CREATE STATISTICS ages ON (age % 10) FROM authors';
    await api.ok('POST', '/objects', { kind: 'statistics', definition, comment: 'Ages' });
  });

  for (const [change, kind, member] of [
    [
      `DROP STATISTICS ages; CREATE STATISTICS ages ON (age % 5) FROM authors; COMMENT ON STATISTICS ages IS 'Ages'`,
      'different',
      'definition',
    ],
    ['COMMENT ON STATISTICS ages IS NULL', 'different', 'comment'],
    ['DROP STATISTICS ages', 'missing', 'statistics'],
  ] as const)
    it(`reports, repairs and accepts ${change}`, () =>
      expectHandled(change, { object: AGES, kind, members: [member], catalog: CATALOG }));

  it('lists a statistics object that someone renamed, and accepts a column that was dropped with it', async () => {
    await api.sql('ALTER STATISTICS ages RENAME TO years');
    const found = await drift();
    expect(found.unmanaged_objects).to.deep.equal([{ kind: 'statistics', id: 'years' }]);
    expect(found.objects.map(({ object, kind }) => [object, kind])).to.deep.equal([[AGES, 'missing']]);
    await api.sql('ALTER STATISTICS years RENAME TO ages; ALTER TABLE authors DROP COLUMN age');
    await api.ok('POST', '/schema/drift/accept', { collections: ['authors'] });
    expect(await drift()).to.deep.include({ ok: true, objects: [], unmanaged_objects: [] });
  });
});

describe('drift of sequences', () => {
  const { api, drift, dps, expectHandled } = withObjects();
  const NUMBERS = { kind: 'sequence', id: 'numbers' };
  const CATALOG = `SELECT q.seqtypid::regtype::text, seqstart, seqincrement, seqmin, seqmax, seqcache, seqcycle, obj_description(seqrelid) AS comment
      FROM pg_sequence q WHERE seqrelid = 'numbers'::regclass`;

  beforeEach(() =>
    api.ok('POST', '/objects', {
      kind: 'sequence',
      definition: 'CREATE SEQUENCE numbers START WITH 5 CACHE 3',
      comment: 'Numbers',
    }),
  );

  for (const [change, kind, member] of [
    ['ALTER SEQUENCE numbers AS integer START 9 CYCLE', 'different', 'definition'],
    ['COMMENT ON SEQUENCE numbers IS NULL', 'different', 'comment'],
    ['DROP SEQUENCE numbers', 'missing', 'sequence'],
  ] as const)
    it(`reports, repairs and accepts ${change}`, () =>
      expectHandled(change, { object: NUMBERS, kind, members: [member], catalog: CATALOG }));

  it('repairs a sequence that someone attached to a column, and keeps its value', async () => {
    await api.ok('POST', '/collections', AUTHORS);
    await api.sql("SELECT nextval('numbers'); ALTER SEQUENCE numbers CYCLE OWNED BY authors.age");
    const value = () => api.sql('SELECT last_value, is_called FROM numbers');
    const before = await value();
    expect((await drift()).objects).to.have.length(1);
    const attached = await dps('drift', '--repair');
    expect(attached.code, 'the options differ, which only a detached sequence shows').to.equal(1);
    const options = await dps('drift', '--repair');
    expect(options.code, options.out + options.err).to.equal(0);
    expect(await value()).to.deep.equal(before);
  });
});

describe('drift of types', () => {
  const { api, expectHandled } = withObjects();
  const CATALOG = `SELECT typname, typnotnull, typdefault, obj_description(t.oid) AS comment,
      (SELECT array_agg(enumlabel::text ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid) AS labels,
      (SELECT array_agg(pg_get_constraintdef(k.oid)) FROM pg_constraint k WHERE k.contypid = t.oid AND k.contype = 'c') AS checks
      FROM pg_type t WHERE typname IN ('mood', 'zip') ORDER BY 1`;

  beforeEach(async () => {
    const definition = "CREATE TYPE mood AS ENUM ('happy', 'sad')";
    await api.ok('POST', '/objects', { kind: 'type', definition, comment: 'Feelings' });
    await api.ok('POST', '/objects', {
      kind: 'type',
      definition: 'CREATE DOMAIN zip AS text CHECK (length(VALUE) = 5)',
    });
  });

  for (const [change, id, kind, member] of [
    ["ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'", 'mood', 'different', 'definition'],
    ["ALTER TYPE mood ADD VALUE 'new'", 'mood', 'different', 'definition'],
    ['COMMENT ON TYPE mood IS NULL', 'mood', 'different', 'comment'],
    ['DROP TYPE mood', 'mood', 'missing', 'type'],
    ["ALTER DOMAIN zip SET DEFAULT '12345'", 'zip', 'different', 'definition'],
    ['ALTER DOMAIN zip DROP CONSTRAINT zip_check', 'zip', 'different', 'definition'],
  ] as const)
    it(`reports, repairs and accepts ${change}`, () =>
      expectHandled(change, { object: { kind: 'type', id }, kind, members: [member], catalog: CATALOG }));
});

describe('drift of a type that a column uses', () => {
  const { api, drift, dps } = withObjects();
  const definition = "CREATE TYPE mood AS ENUM ('happy', 'sad')";
  const labels = async () =>
    (await api.sql<{ labels: string }>('SELECT enum_range(NULL::mood)::text AS labels'))[0]?.labels;

  beforeEach(async () => {
    await api.ok('POST', '/objects', { kind: 'type', definition });
    const feels = { field: 'feels', type: 'unknown', interface: 'input', schema: { data_type: 'mood' } };
    await api.ok('POST', '/collections', { ...AUTHORS, fields: [...AUTHORS.fields, feels] });
    await api.sql("ALTER TYPE mood ADD VALUE 'by hand' BEFORE 'sad'");
    await api.sql("INSERT INTO authors (feels) VALUES ('by hand')");
  });

  it('cannot remove a label that someone added and that a row contains, and accepts it', async () => {
    expect((await drift()).objects.map(({ object, kind }) => [object, kind])).to.deep.equal([
      [{ kind: 'type', id: 'mood' }, 'different'],
    ]);
    const { code, out, err } = await dps('drift', '--repair');
    expect(code, out + err).to.equal(1);
    expect(out + err).to.contain('mood');
    expect(await labels()).to.equal('{happy,"by hand",sad}');
    await api.ok('POST', '/schema/drift/accept', { objects: [{ kind: 'type', id: 'mood' }] });
    expect(await drift()).to.deep.include({ ok: true, objects: [] });
    const { data } = await api.ok<{ data: { definition: string } }>('GET', '/objects/type/mood');
    expect(data.definition).to.contain("ENUM ('happy', 'by hand', 'sad')");
  });
});

describe('drift of aggregates', () => {
  const { api, drift, expectHandled } = withObjects();
  const TOTAL = { kind: 'aggregate', id: 'total(integer)' };
  const definition = `CREATE AGGREGATE total(integer) (SFUNC = add, STYPE = integer, INITCOND = '0')`;
  const CATALOG = `SELECT agginitval, aggtransspace, prorettype::regtype::text, obj_description(p.oid, 'pg_proc') AS comment,
    (SELECT total(id) FROM authors) AS result FROM pg_aggregate JOIN pg_proc p ON p.oid = aggfnoid WHERE proname = 'total'`;

  beforeEach(async () => {
    await api.ok('POST', '/collections', AUTHORS);
    await api.ok('POST', '/objects', {
      kind: 'function',
      definition: 'CREATE FUNCTION add(integer, integer) RETURNS integer LANGUAGE sql RETURN $1 + $2',
    });
    await api.ok('POST', '/objects', { kind: 'aggregate', definition, comment: 'Adds' });
  });

  for (const [change, kind, member] of [
    [definition.replace('CREATE', 'CREATE OR REPLACE').replace("'0'", "'00'"), 'different', 'definition'],
    [definition.replace('CREATE', 'CREATE OR REPLACE').replace("'0'", "'0', SSPACE = 9"), 'different', 'definition'],
    [`COMMENT ON AGGREGATE total(integer) IS NULL`, 'different', 'comment'],
    ['DROP AGGREGATE total(integer)', 'missing', 'aggregate'],
  ] as const)
    it(`reports, repairs and accepts ${change}`, () =>
      expectHandled(change, { object: TOTAL, kind, members: [member], catalog: CATALOG }));

  it('lists an aggregate that someone created, and adopts it', async () => {
    const other = { kind: 'aggregate', id: 'other(integer)' };
    await api.sql(definition.replace('total', 'other'));
    expect(await drift()).to.deep.include({ ok: true, unmanaged_objects: [other] });
    await api.ok('POST', '/schema/adopt', { objects: [other] });
    expect(await drift()).to.deep.include({ ok: true, unmanaged_objects: [] });
  });
});

describe('drift of rules', () => {
  const { api, drift, expectHandled } = withObjects();
  const KEEP = { kind: 'rule', id: 'keep on authors' };
  const CATALOG = `SELECT rulename, ev_enabled, pg_get_ruledef(oid) AS definition, obj_description(oid, 'pg_rewrite') AS comment
      FROM pg_rewrite WHERE ev_class = 'authors'::regclass ORDER BY 1`;

  beforeEach(async () => {
    await api.ok('POST', '/collections', AUTHORS);
    const definition = 'CREATE RULE keep AS ON DELETE TO authors WHERE old.age > 17 DO INSTEAD NOTHING';
    await api.ok('POST', '/objects', { kind: 'rule', definition, comment: 'Keeps', enabled: 'always' });
  });

  for (const [change, kind, member] of [
    [
      'CREATE OR REPLACE RULE keep AS ON DELETE TO authors WHERE old.age > 20 DO INSTEAD NOTHING',
      'different',
      'definition',
    ],
    ['COMMENT ON RULE keep ON authors IS NULL', 'different', 'comment'],
    ['ALTER TABLE authors DISABLE RULE keep', 'different', 'enabled'],
    ['DROP RULE keep ON authors', 'missing', 'rule'],
  ] as const)
    it(`reports, repairs and accepts ${change}`, () =>
      expectHandled(change, { object: KEEP, kind, members: [member], catalog: CATALOG }));

  it('lists a rule that someone created', async () => {
    await api.sql('CREATE RULE other AS ON INSERT TO authors DO INSTEAD NOTHING');
    expect(await drift()).to.deep.include({
      ok: true,
      unmanaged_objects: [{ kind: 'rule', id: 'other on authors' }],
    });
    await api.sql('DROP RULE other ON authors');
  });
});

describe('drift of privileges', () => {
  const { api, drift, expectHandled } = withObjects();
  const GRANTED = { kind: 'privileges', id: 'pg_monitor on authors' };
  const CATALOG = `SELECT x.privilege_type, x.is_grantable, NULL AS attname FROM pg_class c, aclexplode(c.relacl) x
      WHERE c.oid = 'authors'::regclass AND x.grantee = 'pg_monitor'::regrole
      UNION ALL SELECT x.privilege_type, x.is_grantable, a.attname FROM pg_attribute a, aclexplode(a.attacl) x
      WHERE a.attrelid = 'authors'::regclass ORDER BY 1, 2, 3`;

  beforeEach(async () => {
    await api.ok('POST', '/collections', AUTHORS);
    const definition = [{ name: 'DELETE' }, { name: 'SELECT', columns: ['id', 'age'], grantable: true }];
    await api.ok('POST', '/objects', { ...GRANTED, definition });
  });

  for (const [change, kind, member] of [
    ['GRANT INSERT ON authors TO pg_monitor', 'different', 'definition'],
    ['GRANT DELETE ON authors TO pg_monitor WITH GRANT OPTION', 'different', 'definition'],
    ['REVOKE SELECT (age) ON authors FROM pg_monitor', 'different', 'definition'],
    ['GRANT SELECT ON authors TO pg_monitor; REVOKE SELECT ON authors FROM pg_monitor', 'different', 'definition'],
    ['REVOKE ALL ON authors FROM pg_monitor', 'missing', 'privileges'],
  ] as const)
    it(`reports, repairs and accepts ${change}`, () =>
      expectHandled(change, { object: GRANTED, kind, members: [member], catalog: CATALOG }));

  it('lists privileges that someone granted', async () => {
    await api.sql('GRANT SELECT ON authors TO PUBLIC');
    expect(await drift()).to.deep.include({
      ok: true,
      unmanaged_objects: [{ kind: 'privileges', id: 'public on authors' }],
    });
    await api.sql('REVOKE SELECT ON authors FROM PUBLIC');
  });
});

describe('drift of privileges on functions', () => {
  const { api, expectHandled } = withObjects();
  const GRANTED = { kind: 'privileges', id: 'pg_monitor on twice(integer)' };
  const REVOKED = { kind: 'privileges', id: 'public on twice(integer)' };
  const CATALOG = `SELECT x.grantee::regrole::text, x.is_grantable FROM pg_proc p, aclexplode(p.proacl) x
      WHERE p.oid = 'twice(integer)'::regprocedure AND x.grantee <> p.proowner ORDER BY 1`;

  beforeEach(async () => {
    await api.ok('POST', '/objects', { kind: 'function', definition: TWICE });
    await api.ok('POST', '/objects', { ...GRANTED, definition: [{ name: 'EXECUTE' }] });
    await api.ok('POST', '/objects', { ...REVOKED, definition: [] });
  });

  for (const [change, object, kind, member] of [
    ['GRANT EXECUTE ON FUNCTION twice TO PUBLIC', REVOKED, 'missing', 'privileges'],
    ['GRANT EXECUTE ON FUNCTION twice TO pg_monitor WITH GRANT OPTION', GRANTED, 'different', 'definition'],
    ['REVOKE ALL ON FUNCTION twice FROM pg_monitor', GRANTED, 'missing', 'privileges'],
  ] as const)
    it(`reports, repairs and accepts ${change}`, () =>
      expectHandled(change, { object, kind, members: [member], catalog: CATALOG }));
});

describe('drift of privileges on sequences', () => {
  const { api, drift, dps, expectHandled } = withObjects();
  const GRANTED = { kind: 'privileges', id: 'pg_monitor on sequence numbers' };
  const SEQUENCE = { kind: 'sequence', id: 'numbers' };
  const CATALOG = `SELECT x.privilege_type, x.is_grantable FROM pg_class c, aclexplode(c.relacl) x
      WHERE c.relname = 'numbers' AND x.grantee = 'pg_monitor'::regrole ORDER BY 1`;

  beforeEach(async () => {
    await api.ok('POST', '/objects', { kind: 'sequence', definition: 'CREATE SEQUENCE numbers' });
    await api.ok('POST', '/objects', { ...GRANTED, definition: [{ name: 'USAGE' }] });
  });

  for (const [change, kind, member] of [
    ['GRANT UPDATE ON SEQUENCE numbers TO pg_monitor WITH GRANT OPTION', 'different', 'definition'],
    ['REVOKE ALL ON SEQUENCE numbers FROM pg_monitor', 'missing', 'privileges'],
  ] as const)
    it(`reports, repairs and accepts ${change}`, () =>
      expectHandled(change, { object: GRANTED, kind, members: [member], catalog: CATALOG }));

  it('grants them again on a sequence that someone dropped, and lists those that someone granted', async () => {
    const before = await api.sql(CATALOG);
    await api.sql('DROP SEQUENCE numbers');
    expect((await drift()).objects.map(({ object, kind }) => [object, kind])).to.deep.equal([
      [GRANTED, 'missing'],
      [SEQUENCE, 'missing'],
    ]);
    const repaired = await dps('drift', '--repair');
    expect(repaired.code, repaired.out + repaired.err).to.equal(0);
    expect(await api.sql(CATALOG)).to.deep.equal(before);
    await api.sql('GRANT SELECT ON SEQUENCE numbers TO PUBLIC');
    const everyone = { kind: 'privileges', id: 'public on sequence numbers' };
    expect(await drift()).to.deep.include({ ok: true, unmanaged_objects: [everyone] });
    await api.sql('DROP SEQUENCE numbers');
    await api.ok('POST', '/schema/drift/accept', { objects: [SEQUENCE, GRANTED] });
    expect(await drift()).to.deep.include({ ok: true, objects: [] });
  });
});

describe('drift of privileges on types', () => {
  const { api, drift, dps, expectHandled } = withObjects();
  const GRANTED = { kind: 'privileges', id: 'pg_monitor on type mood' };
  const REVOKED = { kind: 'privileges', id: 'public on type mood' };
  const MOOD = { kind: 'type', id: 'mood' };
  const CATALOG = `SELECT x.grantee::regrole::text, x.is_grantable FROM pg_type t, aclexplode(t.typacl) x
      WHERE t.typname = 'mood' AND x.grantee <> t.typowner ORDER BY 1`;

  beforeEach(async () => {
    await api.ok('POST', '/objects', { kind: 'type', definition: "CREATE TYPE mood AS ENUM ('happy')" });
    await api.ok('POST', '/objects', { ...GRANTED, definition: [{ name: 'USAGE' }] });
    await api.ok('POST', '/objects', { ...REVOKED, definition: [] });
  });

  for (const [change, object, kind, member] of [
    ['GRANT USAGE ON TYPE mood TO PUBLIC', REVOKED, 'missing', 'privileges'],
    ['GRANT USAGE ON TYPE mood TO pg_monitor WITH GRANT OPTION', GRANTED, 'different', 'definition'],
    ['REVOKE ALL ON TYPE mood FROM pg_monitor', GRANTED, 'missing', 'privileges'],
  ] as const)
    it(`reports, repairs and accepts ${change}`, () =>
      expectHandled(change, { object, kind, members: [member], catalog: CATALOG }));

  it('grants them again on a type that someone dropped, and lists those that someone granted', async () => {
    const before = await api.sql(CATALOG);
    await api.sql('DROP TYPE mood');
    expect((await drift()).objects.map(({ object, kind }) => [object, kind])).to.have.deep.members([
      [GRANTED, 'missing'],
      [REVOKED, 'missing'],
      [MOOD, 'missing'],
    ]);
    const repaired = await dps('drift', '--repair');
    expect(repaired.code, repaired.out + repaired.err).to.equal(0);
    expect(await api.sql(CATALOG)).to.deep.equal(before);
    await api.sql('GRANT USAGE ON TYPE mood TO pg_read_all_data');
    const other = { kind: 'privileges', id: 'pg_read_all_data on type mood' };
    expect(await drift()).to.deep.include({ ok: true, unmanaged_objects: [other] });
    await api.sql('DROP TYPE mood');
    await api.ok('POST', '/schema/drift/accept', { objects: [MOOD, GRANTED, REVOKED] });
    expect(await drift()).to.deep.include({ ok: true, objects: [] });
  });
});

describe('drift of views with OBJECTS=off', () => {
  const { api } = withService();

  it('reports no views, and rejects their names', async () => {
    await api.sql('CREATE VIEW by_hand AS SELECT 1 AS one');
    const found = await api.ok<object>('GET', '/schema/drift');
    expect(found).to.have.all.keys('position', 'ok', 'tables', 'unmanaged', 'unmanaged_tables');
    const body = { objects: [{ kind: 'view', id: 'by_hand' }] };
    for (const path of ['/schema/drift/accept', '/schema/adopt']) {
      const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD', at: 'objects' }, 'POST', path, body);
      expect(error.message).to.contain('OBJECTS=on');
    }
  });
});
