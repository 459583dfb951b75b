import { expect } from 'chai';
import { dps } from '../support/dps.js';
import { createDatabase, query } from '../support/postgres.js';
import { withService } from '../support/with-service.js';

const KEY = { field: 'id', type: 'integer', interface: 'input', schema: { is_primary_key: true } };

interface Plan {
  statements: { sql: string; loses_data: boolean; may_fail: boolean }[];
}

interface Difference {
  diff: { fields: { diff: { kind: string }[] }[] };
}

const NOTHING = { collections: [], fields: [], relations: [] };
const MOOD = "CREATE TYPE mood AS ENUM ('happy', 'sad')";

describe('columns of managed types', () => {
  const { api, service } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });

  const path = (id = 'mood'): string => `/objects/type/${encodeURIComponent(id)}`;
  const create = (definition = MOOD) => api.ok('POST', '/objects', { kind: 'type', definition });
  const listed = async () => (await api.ok<{ data: { id: string }[] }>('GET', '/objects')).data.map(({ id }) => id);
  const snapshotNow = () => api.ok<object>('GET', '/schema/snapshot');
  const diffTo = async (snapshot: object) => (await api.ok<Difference>('POST', '/schema/diff', snapshot)).diff;
  const apply = async (snapshot: object) =>
    api.ok('POST', '/schema/apply', await api.ok<object>('POST', '/schema/diff', snapshot));
  const column = (field: string, type: string, more: object = {}) => ({
    field,
    type: 'unknown',
    interface: 'input',
    schema: { data_type: type, ...more },
  });
  const table = (collection: string, fields: object[]) =>
    api.ok('POST', '/collections', { collection, schema: {}, fields: [KEY, ...fields] });

  describe('with a different type', () => {
    const typeOf = async (field = 'feels') => {
      const [row] = await api.sql<{ type: string }>(
        `SELECT format_type(atttypid, atttypmod) AS type FROM pg_attribute
         WHERE attrelid = 'members'::regclass AND attname = '${field}'`,
      );
      return row?.type;
    };
    const retype = (data_type: string, field = 'feels') =>
      api.ok('PATCH', `/fields/members/${field}`, { type: 'unknown', schema: { data_type } });
    const text = (field: string, more: object = {}) => ({ field, type: 'string', interface: 'input', schema: more });

    it('change to it and back with all values, and the view on the column is created again', async () => {
      await create();
      await table('members', [text('feels', { default_value: 'sad', is_indexed: true })]);
      await api.sql(`INSERT INTO members (id) VALUES (1); INSERT INTO members (id, feels) VALUES (2, 'happy')`);
      await api.ok('POST', '/objects', {
        kind: 'view',
        definition: "CREATE VIEW sad AS SELECT id, feels FROM members WHERE feels = 'sad'",
      });
      const before = await snapshotNow();
      const body = { type: 'unknown', schema: { data_type: 'mood' } };
      const plan = await api.ok<Plan>('PATCH', '/fields/members/feels?dry_run', body);
      expect(plan.statements.map(({ sql }) => sql)).to.include(
        'ALTER TABLE "public"."members" ALTER COLUMN "feels" DROP DEFAULT, ' +
          'ALTER COLUMN "feels" TYPE mood USING "feels"::mood, ALTER COLUMN "feels" SET DEFAULT \'sad\'',
      );
      expect(plan.statements.map(({ loses_data }) => loses_data)).not.to.include(true);
      expect(plan.statements.map(({ may_fail }) => may_fail)).to.include(true);
      await api.appends(['field.updated members.feels'], 'PATCH', '/fields/members/feels', body);
      expect(await typeOf()).to.equal('mood');
      expect(await api.sql('SELECT feels::text FROM members ORDER BY id')).to.deep.equal([
        { feels: 'sad' },
        { feels: 'happy' },
      ]);
      expect(await api.sql('SELECT id FROM sad')).to.deep.equal([{ id: 1 }]);

      const back = await api.ok<Difference>('POST', '/schema/diff', before);
      expect(back.diff.fields.flatMap(({ diff }) => diff.map(({ kind }) => kind))).not.to.include.members(['D', 'N']);
      await api.ok('POST', '/schema/apply', back);
      expect(await typeOf()).to.equal('character varying(255)');
      expect(await api.sql('SELECT id FROM sad')).to.deep.equal([{ id: 1 }]);
      expect(await diffTo(before)).to.deep.equal(NOTHING);
    });

    it('reject values that the type does not accept, with their number', async () => {
      await create();
      await table('members', [text('feels')]);
      await api.sql(`INSERT INTO members (id, feels) VALUES (1, 'sad'), (2, 'angry')`);
      const error = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'PATCH', '/fields/members/feels', {
        type: 'unknown',
        schema: { data_type: 'mood' },
      });
      // PostgreSQL 16 introduced the function that counts them.
      const [server] = await api.sql<{ counts: boolean }>(
        "SELECT current_setting('server_version_num')::int >= 160000 AS counts",
      );
      if (server?.counts === true) expect(error.message).to.contain('1 value cannot be converted to mood');
      expect(await typeOf()).to.equal('character varying(255)');
    });

    it('are converted by the change that creates or drops the type', async () => {
      await table('members', [text('feels'), { field: 'age', type: 'integer', interface: 'input', schema: {} }]);
      await api.sql(`INSERT INTO members (id, feels, age) VALUES (1, 'sad', 36)`);
      const before = await snapshotNow();
      await create();
      await create('CREATE DOMAIN years AS integer CONSTRAINT years_check CHECK (VALUE >= 0)');
      await retype('mood');
      await retype('years', 'age');
      const after = await snapshotNow();
      await apply(before);
      expect([await typeOf(), await typeOf('age')]).to.deep.equal(['character varying(255)', 'integer']);
      expect(await listed()).to.deep.equal([]);
      await apply(after);
      expect([await typeOf(), await typeOf('age')]).to.deep.equal(['mood', 'years']);
      expect(await api.sql('SELECT feels::text, age FROM members')).to.deep.equal([{ feels: 'sad', age: 36 }]);
    });

    it('change from one managed type to another, also as arrays', async () => {
      await create();
      await create("CREATE TYPE feeling AS ENUM ('sad', 'happy', 'angry')");
      await table('members', [column('feels', 'mood'), column('felt', 'mood[]')]);
      await api.sql(`INSERT INTO members (id, feels, felt) VALUES (1, 'sad', '{sad,happy}')`);
      await retype('feeling');
      await retype('feeling[]', 'felt');
      expect([await typeOf(), await typeOf('felt')]).to.deep.equal(['feeling', 'feeling[]']);
      expect(await api.sql('SELECT felt::text FROM members')).to.deep.equal([{ felt: '{sad,happy}' }]);
      await api.ok('DELETE', path());
      const point = { type: 'unknown', schema: { data_type: 'point' } };
      await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'PATCH', '/fields/members/feels', point);
    });
  });

  describe('whose type is renamed', () => {
    const rename = (to: string, id = 'mood') => api.ok('POST', `${path(id)}/rename`, { to });
    const typesOf = (collection: string) =>
      api.sql<{ name: string; type: string }>(
        `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
         WHERE attrelid = '${collection}'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
      );
    const inDocuments = async (collection: string) => {
      const { data } = await api.ok<{ data: { field: string; schema: { data_type: string } }[] }>(
        'GET',
        `/fields/${collection}`,
      );
      return data.map(({ field, schema }) => ({ name: field, type: schema.data_type }));
    };
    const expectTypes = async (collection: string, ...types: string[]) => {
      expect((await typesOf(collection)).map(({ type }) => type)).to.deep.equal(['integer', ...types]);
      expect(await inDocuments(collection)).to.deep.equal(await typesOf(collection));
    };

    it('get its new name, and views on them stay', async () => {
      await create();
      await table('members', [
        column('feels', 'mood', { default_value: 'sad', is_indexed: true }),
        column('felt', 'mood[]'),
      ]);
      await api.sql(`INSERT INTO members (id, felt) VALUES (1, '{happy}')`);
      await api.ok('POST', '/objects', {
        kind: 'view',
        definition: "CREATE VIEW sad AS SELECT id FROM members WHERE feels = 'sad'::mood",
      });
      const before = await api.head();
      const plan = await api.ok<Plan>('POST', `${path()}/rename?dry_run`, { to: 'feeling' });
      expect(plan.statements.map(({ sql }) => sql)).to.deep.equal(['ALTER TYPE "public"."mood" RENAME TO "feeling"']);
      await rename('feeling');
      await expectTypes('members', 'feeling', 'feeling[]');
      expect(await api.sql('SELECT id FROM sad')).to.deep.equal([{ id: 1 }]);
      await table('others', [column('feels', 'feeling')]);
      await api.ok('PATCH', '/fields/members/feels', { schema: { default_value: 'happy' } });
      await api.goTo(before);
      await expectTypes('members', 'mood', 'mood[]');
      expect(await api.sql('SELECT feels::text, felt::text FROM members')).to.deep.equal([
        { feels: 'sad', felt: '{happy}' },
      ]);
    });

    it('get its new name from a diff that also changes them', async () => {
      await create();
      await table('members', [column('feels', 'mood', { default_value: 'sad' }), column('felt', 'mood')]);
      await api.sql(`INSERT INTO members (id, felt) VALUES (1, 'happy')`);
      const start = await api.head();
      await rename('feeling');
      await api.ok('PATCH', '/fields/members/felt', { type: 'text', schema: {} });
      const end = await api.head();
      await api.goTo(start);
      await expectTypes('members', 'mood', 'mood');
      await api.goTo(end);
      await expectTypes('members', 'feeling', 'text');
    });

    it('get its new name when they are restored from the trash', async () => {
      await create();
      await table('members', [column('feels', 'mood', { default_value: 'sad' })]);
      await table('others', [column('feels', 'mood')]);
      await api.sql(`INSERT INTO members (id) VALUES (1); INSERT INTO others (id, feels) VALUES (1, 'happy')`);
      await api.ok('DELETE', '/collections/members');
      await api.ok('DELETE', '/fields/others/feels');
      await rename('feeling');
      const { data: kept } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
      for (const { position } of kept) await api.ok('POST', `/trash/${position}/restore`, {});
      await expectTypes('members', 'feeling');
      await expectTypes('others', 'feeling');
      expect(await api.sql('SELECT feels::text FROM members')).to.deep.equal([{ feels: 'sad' }]);
      expect(await api.sql('SELECT feels::text FROM others')).to.deep.equal([{ feels: 'happy' }]);
    });

    it('prevent the rename if the SQL of their table casts to the type', async () => {
      await create();
      const check = { name: 'not_sad', definition: "CHECK (feels <> 'sad'::mood)" };
      await api.ok('POST', '/collections', {
        collection: 'members',
        schema: { extras: { constraints: [check] } },
        fields: [KEY, column('feels', 'mood')],
      });
      const error = await api.refused({ status: 409, code: 'IN_USE' }, 'POST', `${path()}/rename`, { to: 'feeling' });
      expect(error.message).to.contain('the service cannot rewrite it');
      await expectTypes('members', 'mood');
    });

    it('are rebuilt from the log', async () => {
      await create();
      await table('members', [column('feels', 'mood', { default_value: 'sad' })]);
      await rename('feeling');
      await table('others', [column('feels', 'feeling')]);
      await create("CREATE TYPE mood AS ENUM ('other')");
      await table('more', [column('feels', 'mood')]);
      const target = await createDatabase();
      try {
        const { code, out, err } = await dps(['rebuild', 'tables', '--into', target.connectionString], {
          DATABASE_URL: service.databaseUrl,
          OBJECTS: 'on',
        });
        expect(code, out + err).to.equal(0);
        const facts = `SELECT attrelid::regclass::text AS table, atttypid::regtype::text AS type FROM pg_attribute
          WHERE attname = 'feels' AND attrelid IN ('members'::regclass, 'others'::regclass, 'more'::regclass) ORDER BY 1`;
        expect(await query(target.connectionString, facts)).to.deep.equal(await api.sql(facts));
      } finally {
        await target.drop();
      }
    });
  });
});
