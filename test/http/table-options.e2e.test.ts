import { expect } from 'chai';
import { withService } from '../support/with-service.js';

const field = (name: string, type: string) => ({ field: name, type, interface: 'input' });
const KEY = { ...field('id', 'integer'), schema: { is_primary_key: true, has_auto_increment: true } };

interface Document {
  kind: string;
  id: string;
  definition: string;
}

interface Plan {
  accepted: boolean;
  refusal?: { message: string };
  statements: { sql: string; summary: string; lock: string; rewrites_table: boolean }[];
  warnings: { code: string; message: string; collection?: string }[];
}

interface Difference {
  diff: { objects?: { id: string; diff: { path?: string[] }[] }[] };
}

const NOTHING = { collections: [], fields: [], relations: [] };
const TUNED = 'ALTER TABLE members SET (fillfactor = 70, autovacuum_enabled = off), REPLICA IDENTITY FULL';

describe('table options', () => {
  const { api } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });

  const path = (id = 'members'): string => `/objects/table_options/${encodeURIComponent(id)}`;
  const create = (definition: string) => api.ok('POST', '/objects', { kind: 'table_options', definition });
  const change = (definition: string) => api.ok('PATCH', path(), { definition });
  const planOf = async (definition: string) => api.ok<Plan>('PATCH', `${path()}?dry_run`, { definition });
  const shown = async (id = 'members') => (await api.ok<{ data: Document }>('GET', path(id))).data.definition;
  const listed = async () => (await api.ok<{ data: Document[] }>('GET', '/objects')).data.map(({ id }) => id);
  const diffTo = async (snapshot: object) => (await api.ok<Difference>('POST', '/schema/diff', snapshot)).diff;
  const apply = async (snapshot: object) =>
    api.ok('POST', '/schema/apply', await api.ok<object>('POST', '/schema/diff', snapshot));

  /** The options in the catalog. */
  const existing = async (table = 'members') => {
    const [row] = await api.sql<{ text: string }>(
      `SELECT concat_ws(' ', (SELECT string_agg(o, ',' ORDER BY o DESC) FROM unnest(c.reloptions) o), 'toast:' || array_to_string(t.reloptions, ','),
          CASE c.relpersistence WHEN 'u' THEN 'unlogged' END, c.relreplident) AS text
         FROM pg_class c LEFT JOIN pg_class t ON t.oid = c.reltoastrelid WHERE c.oid = $1::regclass`,
      [table],
    );
    return row?.text;
  };

  beforeEach(async () => {
    const fields = [KEY, field('name', 'string'), field('about', 'text')];
    await api.ok('POST', '/collections', { collection: 'members', schema: {}, fields });
  });

  it('are set, changed one by one, and reset', async () => {
    await create(TUNED);
    expect(await existing()).to.equal('fillfactor=70,autovacuum_enabled=off f');
    expect(await shown()).to.equal(TUNED);
    const next = 'ALTER TABLE members SET (fillfactor = 80, toast.autovacuum_enabled = false), SET UNLOGGED';
    const plan = await planOf(next);
    expect(plan.accepted, JSON.stringify(plan)).to.equal(true);
    expect(plan.statements[0]).to.deep.include({
      sql: `ALTER TABLE ONLY "public"."members" RESET ("autovacuum_enabled"), SET ("fillfactor" = '80', toast."autovacuum_enabled" = 'false'), SET UNLOGGED, REPLICA IDENTITY DEFAULT`,
      summary: 'set options of members',
      lock: 'ACCESS EXCLUSIVE',
      rewrites_table: true,
    });
    await change(next);
    expect(await existing()).to.equal('fillfactor=80 toast:autovacuum_enabled=false unlogged d');
    const smaller = await planOf(next.replace('80', '90'));
    expect(smaller.statements[0]).to.deep.include({ lock: 'SHARE UPDATE EXCLUSIVE', rewrites_table: false });
    await api.ok('DELETE', path());
    expect(await existing()).to.equal('d');
  });

  it('are equal regardless of their order and spelling', async () => {
    await create(TUNED);
    const same = `ALTER TABLE "members" REPLICA IDENTITY FULL, SET (autovacuum_enabled = 'off'), SET ("fillfactor" = '70')`;
    await change(same);
    expect(await shown()).to.equal(TUNED);
    const events = await api.sql<{ type: string }>(
      'SELECT type FROM service.service_events ORDER BY position DESC LIMIT 1',
    );
    expect(events).to.deep.equal([{ type: 'object.created' }]);
  });

  for (const [name, definition, message] of [
    ['an index as the replica identity', 'REPLICA IDENTITY USING INDEX members_pkey', 'FULL or NOTHING'],
    ['another change to the table', 'SET (fillfactor = 70), ADD x integer', 'must contain only SET'],
    ['row security among them', 'SET (fillfactor = 70), ENABLE ROW LEVEL SECURITY', 'must contain only SET'],
    ['a parameter that is set twice', 'SET (fillfactor = 70), SET (fillfactor = 80)', 'must set fillfactor only once'],
    ['parameters of something else', 'SET (other.fillfactor = 70)', 'without a prefix, or with toast'],
    ['a parameter whose quoted name looks like one of the TOAST table', 'SET ("toast.x" = 1)', 'without double quotes'],
    ['two statements', 'SET (fillfactor = 70); DROP TABLE members', 'exactly one statement'],
  ] as const)
    it(`reject ${name}`, async () => {
      const body = { kind: 'table_options', definition: `ALTER TABLE members ${definition}` };
      const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/objects', body);
      expect(error.message).to.contain(message);
      expect(await listed()).to.deep.equal([]);
    });

  for (const [name, definition, message] of [
    ['an unknown parameter', 'SET (fillfactr = 70)', 'unrecognized parameter "fillfactr"'],
    ['a value outside its range', 'SET (fillfactor = 1)', 'value 1 out of bounds'],
    [
      'a parameter that PostgreSQL ignores',
      'SET (toast.autovacuum_enabled = off)',
      'the options of the table would be none',
    ],
  ] as const)
    it(`reject ${name} as PostgreSQL does, and leave nothing behind`, async () => {
      const bare = { collection: 'bare', schema: {}, fields: [KEY] };
      await api.ok('POST', '/collections', bare);
      const body = { kind: 'table_options', definition: `ALTER TABLE bare ${definition}` };
      const error = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', '/objects', body);
      expect(error.message).to.contain(message, error.message);
      expect(await existing('bare')).to.equal('d');
      expect(await listed()).to.deep.equal([]);
    });

  it('reject a partitioned table that would become unlogged, and a view', async () => {
    await api.sql('CREATE TABLE days (id integer PRIMARY KEY) PARTITION BY RANGE (id)');
    await api.ok('POST', '/schema/adopt', { all: true });
    const unlogged = { kind: 'table_options', definition: 'ALTER TABLE days SET UNLOGGED' };
    await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', '/objects', unlogged);
    await api.ok('POST', '/objects', { kind: 'view', definition: 'CREATE VIEW names AS SELECT name FROM members' });
    const barrier = { kind: 'table_options', definition: 'ALTER TABLE names SET (security_barrier)' };
    const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/objects', barrier);
    expect(error.message).to.contain('"names" is not a managed table');
    expect((await listed()).sort()).to.deep.equal(['names']);
  });

  it('reject a table that has other options, which can be adopted', async () => {
    await api.sql(`ALTER TABLE members SET (fillfactor = 50), REPLICA IDENTITY NOTHING`);
    const body = { kind: 'table_options', definition: 'ALTER TABLE members SET (autovacuum_enabled = off)' };
    const error = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', '/objects', body);
    expect(error.message).to.contain(`SET (autovacuum_enabled='off', fillfactor='50'), REPLICA IDENTITY NOTHING`);
    await api.ok('POST', '/schema/adopt', { objects: [{ kind: 'table_options', id: 'members' }] });
    expect(await shown()).to.equal(`ALTER TABLE members SET (fillfactor='50'), REPLICA IDENTITY NOTHING`);
  });

  it('are adopted with their table, without notes about them', async () => {
    await api.sql(`CREATE UNLOGGED TABLE found (id int PRIMARY KEY, note text) WITH (fillfactor = 60, toast.autovacuum_enabled = false);
      ALTER TABLE found REPLICA IDENTITY FULL; CREATE TABLE plain (id int PRIMARY KEY); ALTER TABLE plain REPLICA IDENTITY USING INDEX plain_pkey`);
    const before = await existing('found');
    interface Adoption {
      objects: { id: string }[];
      not_represented: { table: string; kind: string }[];
    }
    const adopted = await api.ok<Adoption>('POST', '/schema/adopt', { all: true });
    expect(adopted.objects.map(({ id }) => id)).to.deep.equal(['found']);
    expect(adopted.not_represented.map(({ table, kind }) => `${table} ${kind}`)).to.deep.equal([
      'plain replica identity',
    ]);
    expect(await existing('found')).to.equal(before);
    expect(await shown('found')).to.equal(
      `ALTER TABLE found SET (fillfactor='60', toast.autovacuum_enabled='false'), SET UNLOGGED, REPLICA IDENTITY FULL`,
    );
  });

  it('are applied from snapshots without a difference afterwards, even to an empty schema', async () => {
    await create(TUNED);
    const snapshot = await api.ok<{ objects: Document[] }>('GET', '/schema/snapshot');
    const other = {
      ...snapshot,
      objects: snapshot.objects.map((each) => ({ ...each, definition: 'ALTER TABLE members SET UNLOGGED' })),
    };
    expect((await diffTo(other)).objects?.[0]?.diff[0]?.path).to.deep.equal(['definition']);
    await apply(other);
    expect(await diffTo(other)).to.deep.equal(NOTHING);
    await apply({ ...snapshot, collections: [], fields: [], relations: [], objects: [] });
    await apply(snapshot);
    expect(await existing()).to.equal('fillfactor=70,autovacuum_enabled=off f');
    expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(snapshot);
  });

  it('follow a rename of their table, and its deletion and restore', async () => {
    await create(`${TUNED}, SET UNLOGGED`);
    await api.ok('POST', '/collections/members/rename', { to: 'people' });
    expect(await shown('people')).to.equal(`${TUNED}, SET UNLOGGED`.replace('members', 'people'));
    await api.sql(`INSERT INTO people (name) VALUES ('Ada')`);
    const plan = await api.ok<Plan>('DELETE', '/collections/people?dry_run');
    expect(plan.statements.filter(({ rewrites_table: rewrites }) => rewrites)).to.deep.equal([]);
    await api.ok('DELETE', '/collections/people');
    expect(await listed()).to.deep.equal([]);
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    await api.ok('POST', `/trash/${data[0]?.position}/restore`);
    expect(await existing('people')).to.equal('fillfactor=70,autovacuum_enabled=off unlogged f');
    expect(await api.sql('SELECT name FROM people')).to.deep.equal([{ name: 'Ada' }]);
  });

  it('are repaired and accepted when someone changed them by hand', async () => {
    await create(TUNED);
    await api.sql('ALTER TABLE members SET (fillfactor = 90), SET UNLOGGED');
    interface Drift {
      objects: { object: { id: string }; repair: { database: { sql: string }[] } }[];
    }
    const { objects } = await api.ok<Drift>('GET', '/schema/drift');
    expect(objects.map(({ object }) => object.id)).to.deep.equal(['members']);
    for (const { sql } of objects.flatMap(({ repair }) => repair.database)) await api.sql(sql);
    expect(await existing()).to.equal('fillfactor=70,autovacuum_enabled=off f');
    await api.sql('ALTER TABLE members RESET (fillfactor), REPLICA IDENTITY DEFAULT');
    await api.ok('POST', '/schema/drift/accept', { objects: [{ kind: 'table_options', id: 'members' }] });
    expect(await shown()).to.equal(`ALTER TABLE members SET (autovacuum_enabled='off')`);
    await api.sql('ALTER TABLE members RESET (autovacuum_enabled)');
    await api.ok('POST', '/schema/drift/accept', {});
    expect(await listed()).to.deep.equal([]);
  });

  it('change back and forth between points in time, and are proved', async () => {
    const start = await api.head();
    const past = await api.ok<object>('GET', '/schema/snapshot');
    const changes = await api.ok<{ hash: string }>('POST', '/schema/diff', {
      ...(await api.ok<object>('GET', '/schema/snapshot')),
      objects: [{ kind: 'table_options', id: 'members', definition: TUNED, comment: null }],
    });
    const proof = await api.ok<{ proof: object }>('POST', '/schema/apply?prove', changes);
    expect(proof.proof).to.deep.include({ differences: [], properties: [] });
    await api.ok('POST', '/schema/apply', changes);
    const { text } = await api.client('/history/snapshot?export=sql');
    expect(text).to.contain(`SET ("fillfactor" = '70', "autovacuum_enabled" = 'off'), REPLICA IDENTITY FULL`);
    await api.goTo(start);
    expect(await existing()).to.equal('d');
    expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(past);
  });

  describe('of columns', () => {
    const SETTINGS = `ALTER TABLE members SET (fillfactor = 70), ALTER COLUMN about SET STORAGE EXTERNAL, ALTER COLUMN about SET COMPRESSION pglz,
      ALTER COLUMN name SET STATISTICS 500, ALTER COLUMN name SET (n_distinct = -0.5)`;

    const settings = async (table = 'members') => {
      const rows = await api.sql<{ text: string }>(
        `SELECT concat_ws(' ', attname, nullif(attstattarget, -1), nullif(attstorage, 'x'), nullif(attcompression, ''), attoptions) AS text
           FROM pg_attribute JOIN pg_type t ON t.oid = atttypid
          WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attlen = -1 ORDER BY attnum`,
        [table],
      );
      return rows.map(({ text }) => text);
    };

    it('are set, changed one by one, and reset', async () => {
      await create(SETTINGS);
      expect(await settings()).to.deep.equal(['name 500 {n_distinct=-0.5}', 'about e p']);
      const plan = await planOf(
        'ALTER TABLE members SET (fillfactor = 70), ALTER name SET STATISTICS 50, ALTER about SET COMPRESSION pglz',
      );
      expect(plan.statements.map(({ sql, lock }) => `${lock}: ${sql.slice(0, 100)}`)).to.deep.equal([
        'ACCESS EXCLUSIVE: ALTER TABLE ONLY "public"."members" ALTER COLUMN "name" RESET ("n_distinct")',
        `ACCESS EXCLUSIVE: ${plan.statements[1]?.sql.slice(0, 100) ?? ''}`,
        'SHARE UPDATE EXCLUSIVE: ALTER TABLE ONLY "public"."members" ALTER COLUMN "name" SET STATISTICS 50',
        `SHARE UPDATE EXCLUSIVE: ${plan.statements[3]?.sql.slice(0, 100) ?? ''}`,
      ]);
      expect(plan.statements[1]?.sql).to.contain('SET STORAGE');
      await change('ALTER TABLE members ALTER name SET STATISTICS 50, ALTER about SET COMPRESSION pglz');
      expect(await settings()).to.deep.equal(['name 50', 'about p']);
      await api.ok('DELETE', path());
      expect(await settings()).to.deep.equal(['name', 'about']);
    });

    it('follow renames and deletions of columns', async () => {
      await create(SETTINGS);
      await api.ok('POST', '/fields/members/name/rename', { to: 'title' });
      expect(await shown()).to.equal(
        `ALTER TABLE members SET (fillfactor='70'), ALTER COLUMN about SET COMPRESSION pglz, ALTER COLUMN about SET STORAGE EXTERNAL, ALTER COLUMN title SET (n_distinct='-0.5'), ALTER COLUMN title SET STATISTICS 500`,
      );
      await api.ok('DELETE', '/fields/members/about');
      expect(await shown()).to.equal(
        `ALTER TABLE members SET (fillfactor='70'), ALTER COLUMN title SET (n_distinct='-0.5'), ALTER COLUMN title SET STATISTICS 500`,
      );
      await change('ALTER TABLE members ALTER title SET STATISTICS 500');
      await api.ok('DELETE', '/fields/members/title');
      expect(await listed()).to.deep.equal([]);
    });

    it('are kept when a column changes its type, even together with a rename', async () => {
      await create(SETTINGS);
      await api.ok('PATCH', '/fields/members/about', { type: 'string' });
      expect(await settings()).to.deep.equal(['name 500 {n_distinct=-0.5}', 'about e p']);
      const snapshot = await api.ok<{ fields: { field: string }[]; objects: Document[] }>('GET', '/schema/snapshot');
      await api.ok('POST', '/collections/members/rename', { to: 'people' });
      await api.ok('PATCH', '/fields/people/about', { type: 'text' });
      expect(await settings('people')).to.deep.equal(['name 500 {n_distinct=-0.5}', 'about e p']);
      await apply(snapshot);
      expect(await settings()).to.deep.equal(['name 500 {n_distinct=-0.5}', 'about e p']);
      expect(await diffTo(snapshot)).to.deep.equal(NOTHING);
    });

    it('must fit the new type of a column, or be removed in the same change', async () => {
      await create(SETTINGS);
      const snapshot = await api.ok<{ fields: { field: string; schema: object }[]; objects: Document[] }>(
        'GET',
        '/schema/snapshot',
      );
      const about = { type: 'integer' };
      const error = await api.refused(
        { status: 422, code: 'DATABASE_REFUSED' },
        'PATCH',
        '/fields/members/about',
        about,
      );
      expect(error.message).to.contain('can only have storage PLAIN');
      expect(await settings()).to.deep.equal(['name 500 {n_distinct=-0.5}', 'about e p']);
      const fields = snapshot.fields.map((each) =>
        each.field === 'about' ? { ...each, ...about, schema: { ...each.schema, data_type: 'integer' } } : each,
      );
      const definition = 'ALTER TABLE members ALTER COLUMN about SET STATISTICS 9';
      const objects = snapshot.objects.map((each) => ({ ...each, definition }));
      await apply({ ...snapshot, fields, objects });
      expect(await settings()).to.deep.equal(['name']);
      expect(await shown()).to.equal(definition);
    });

    it('are restored from the trash with their table', async () => {
      await create(SETTINGS);
      await api.ok('DELETE', '/collections/members');
      const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
      await api.ok('POST', `/trash/${data[0]?.position}/restore`);
      expect(await settings()).to.deep.equal(['name 500 {n_distinct=-0.5}', 'about e p']);
      expect(await shown()).to.equal(SETTINGS);
    });

    it('are adopted, and found as drift', async () => {
      await api.sql(`CREATE TABLE found (id int PRIMARY KEY, note text, "a b" text);
        ALTER TABLE found ALTER note SET STORAGE MAIN, ALTER "a b" SET STATISTICS 7`);
      interface Adoption {
        objects: { id: string }[];
        not_represented: object[];
      }
      const adopted = await api.ok<Adoption>('POST', '/schema/adopt', { all: true });
      expect(adopted).to.deep.include({ not_represented: [] });
      expect(await shown('found')).to.equal(
        'ALTER TABLE found ALTER COLUMN "a b" SET STATISTICS 7, ALTER COLUMN note SET STORAGE MAIN',
      );
      await api.sql('ALTER TABLE found ALTER note SET STORAGE EXTENDED, ALTER "a b" SET STATISTICS 9');
      interface Drift {
        objects: { repair: { database: { sql: string }[] } }[];
      }
      const { objects } = await api.ok<Drift>('GET', '/schema/drift');
      for (const { sql } of objects.flatMap(({ repair }) => repair.database)) await api.sql(sql);
      expect(await settings('found')).to.deep.equal(['note m', 'a b 7']);
    });

    it('do not change partitions or inheriting tables', async () => {
      await api.sql(
        'CREATE TABLE base (id int PRIMARY KEY, note text); CREATE TABLE child (PRIMARY KEY (id)) INHERITS (base)',
      );
      await api.ok('POST', '/schema/adopt', { all: true });
      await create('ALTER TABLE base ALTER note SET STORAGE EXTERNAL, ALTER note SET STATISTICS 9');
      expect(await settings('child')).to.deep.equal(['note']);
      await create('ALTER TABLE child ALTER note SET STORAGE MAIN');
      await api.ok('PATCH', '/fields/base/note', { type: 'string' });
      expect(await settings('base')).to.deep.equal(['note 9 e']);
      expect(await settings('child')).to.deep.equal(['note m']);
    });

    it('change back and forth between points in time, and are proved', async () => {
      const start = await api.head();
      const past = await api.ok<object>('GET', '/schema/snapshot');
      const changes = await api.ok<{ hash: string }>('POST', '/schema/diff', {
        ...past,
        objects: [{ kind: 'table_options', id: 'members', definition: SETTINGS, comment: null }],
      });
      const proof = await api.ok<{ proof: object }>('POST', '/schema/apply?prove', changes);
      expect(proof.proof).to.deep.include({ differences: [], properties: [] });
      await api.ok('POST', '/schema/apply', changes);
      const { text } = await api.client('/history/snapshot?export=sql');
      expect(text).to.contain('ALTER COLUMN "about" SET STORAGE "external"');
      await api.goTo(start);
      expect(await settings()).to.deep.equal(['name', 'about']);
    });

    for (const [name, definition, message] of [
      ['a default', 'ALTER about SET STATISTICS -1', 'must omit statistics of column about'],
      ['a default storage', 'ALTER about SET STORAGE DEFAULT', 'must omit storage of column about'],
      [
        'a setting twice',
        'ALTER about SET STATISTICS 1, ALTER about SET STATISTICS 2',
        'must set statistics of column about only once',
      ],
      ['another change to a column', 'ALTER about SET NOT NULL', 'must contain only SET'],
      ['a column by its number', 'ALTER 3 SET STATISTICS 4', 'must contain only SET'],
    ] as const)
      it(`reject ${name}`, async () => {
        const body = { kind: 'table_options', definition: `ALTER TABLE members ${definition}` };
        const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/objects', body);
        expect(error.message).to.contain(message);
      });

    for (const [name, definition, message] of [
      [
        'a column that does not exist',
        'ALTER nothing SET STATISTICS 5',
        'column "nothing" of relation "members" does not exist',
      ],
      [
        'a setting that is the default of the type',
        'ALTER about SET STORAGE EXTENDED',
        'the options of the table would be none',
      ],
      ['a storage that the type does not have', 'ALTER id SET STORAGE EXTERNAL', 'can only have storage PLAIN'],
      ['a target above the largest one', 'ALTER about SET STATISTICS 20000', 'SET STATISTICS 10000'],
    ] as const)
      it(`reject ${name} as PostgreSQL does`, async () => {
        const body = { kind: 'table_options', definition: `ALTER TABLE members ${definition}` };
        const error = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', '/objects', body);
        expect(error.message).to.contain(message, error.message);
        expect(await listed()).to.deep.equal([]);
      });
  });

  it('cause a finding if they make a table unlogged', async () => {
    const body = { kind: 'table_options', definition: 'ALTER TABLE members SET UNLOGGED' };
    const { warnings } = await api.ok<Plan>('POST', '/objects?dry_run', body);
    expect(warnings.find(({ code }) => code === 'UNLOGGED_TABLE')).to.deep.include({ collection: 'members' });
    expect(warnings.map(({ code }) => code)).to.include('REWRITES_TABLE');
    const cautious = { kind: 'table_options', definition: 'ALTER TABLE members SET (fillfactor = 70)' };
    expect((await api.ok<Plan>('POST', '/objects?dry_run', cautious)).warnings).to.deep.equal([]);
  });
});
