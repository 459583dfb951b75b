import { expect } from 'chai';
import { dps } from '../../support/dps.js';
import { startService } from '../../support/service.js';
import { createApi } from '../../support/api.js';
import { withService } from '../../support/with-service.js';

interface Report {
  adopted: string[];
  objects: { kind: string; id: string }[];
  refused: { table: string; object?: object; code: string }[];
  not_represented: { table: string | null; kind: string; name: string; code: string }[];
}

const TABLES = `
CREATE TABLE people (id serial PRIMARY KEY, name text NOT NULL, age integer);
CREATE FUNCTION twice(integer) RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT $1 * 2';
REVOKE EXECUTE ON FUNCTION twice(integer) FROM PUBLIC;
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE FUNCTION of_people(OUT feeling mood, OUT person people) RETURNS SETOF record ROWS 5 STRICT PARALLEL SAFE
  SET work_mem = '1MB' LANGUAGE plpgsql AS $$ BEGIN RETURN; END $$;
CREATE PROCEDURE "Do it"() LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER " skip" BEFORE DELETE ON people FOR EACH ROW EXECUTE FUNCTION skip();
CREATE CONSTRAINT TRIGGER late AFTER UPDATE OF age ON people DEFERRABLE FOR EACH ROW WHEN (OLD.* <> NEW.*) EXECUTE FUNCTION skip();
COMMENT ON TRIGGER late ON people IS 'Late';
ALTER TABLE people ENABLE REPLICA TRIGGER late;
CREATE AGGREGATE total(integer) (sfunc = int4pl, stype = integer);
CREATE TABLE " odd" (id integer);
CREATE FUNCTION takes_odd(" odd") RETURNS integer LANGUAGE sql AS 'SELECT 1'`;

const VIEWS = `
CREATE VIEW adults WITH (security_barrier = true) AS SELECT p.id, p.name, twice(p.age) AS age FROM people p WHERE age > 17
  WITH LOCAL CHECK OPTION;
COMMENT ON VIEW adults IS 'Grown up';
COMMENT ON COLUMN adults.name IS 'As written';
GRANT SELECT ON adults TO PUBLIC;
-- Its name sorts before the name of the view that it uses.
CREATE VIEW "A names" (called) AS SELECT DISTINCT name FROM adults;
CREATE MATERIALIZED VIEW totals AS SELECT age, count(*) AS people FROM people GROUP BY age WITH NO DATA;
CREATE UNIQUE INDEX totals_age ON totals (age) WHERE age > 1;
CREATE VIEW of_odd AS SELECT o.id FROM " odd" o;
CREATE VIEW of_of_odd AS SELECT id FROM of_odd;
CREATE VIEW every AS SELECT p.* FROM people p;
CREATE TRIGGER late INSTEAD OF DELETE ON adults FOR EACH ROW EXECUTE FUNCTION skip('odd')`;

const TRIGGERS = `SELECT pg_get_triggerdef(t.oid) AS definition, t.tgenabled, obj_description(t.oid, 'pg_trigger') AS comment
  FROM pg_trigger t WHERE NOT t.tgisinternal ORDER BY 1`;

const ROUTINES = `SELECT p.oid::regprocedure::text AS name, pg_get_functiondef(p.oid) AS definition
  FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prokind IN ('f', 'p') AND p.proname <> 'takes_odd' ORDER BY 1`;

const CATALOG = `SELECT c.relname, c.relkind, c.relacl::text, c.reloptions, c.relispopulated, pg_get_viewdef(c.oid) AS query,
    obj_description(c.oid) AS comment, col_description(c.oid, 2) AS about,
    (SELECT array_agg(indexdef ORDER BY indexdef) FROM pg_indexes WHERE tablename = c.relname) AS indexes
  FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('v', 'm') ORDER BY 1`;

describe('adopting views with OBJECTS=on', () => {
  const { api, service } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });

  beforeEach(() => api.sql(`${TABLES}; ${VIEWS}`));

  const adopt = (body: object, query = '') => api.ok<Report>('POST', `/schema/adopt${query}`, body);

  it('adopts all views with options, comments and indexes, changes nothing, and lists what it leaves out', async () => {
    const before = await api.sql(CATALOG);
    const report = await adopt({ all: true });
    expect(report.adopted).to.deep.equal(['people']);
    expect(report.objects.map(({ kind, id }) => `${kind} ${id}`)).to.have.members([
      'aggregate total(integer)',
      'function of_people()',
      'function twice(integer)',
      'materialized_view totals',
      'privileges public on adults',
      'privileges public on twice(integer)',
      'procedure "Do it"()',
      'function skip()',
      'trigger late on adults',
      'trigger late on people',
      'type mood',
      'view A names',
      'view adults',
      'view every',
    ]);
    const ids = report.objects.map(({ id }) => id);
    expect(ids.indexOf('adults')).to.be.above(ids.indexOf('twice(integer)'));
    expect(ids.indexOf('A names')).to.be.above(ids.indexOf('adults'));
    expect(report.refused.map(({ table, code }) => [table, code])).to.have.deep.members([
      [' odd', 'NAME_NOT_ALLOWED'],
      ['" skip" on people', 'NOT_REPRESENTABLE'],
      ['of_odd', 'NEEDS_UNMANAGED'],
      ['of_of_odd', 'NEEDS_UNMANAGED'],
      ['takes_odd(" odd")', 'NEEDS_UNMANAGED'],
    ]);
    const notes = report.not_represented.map(({ table, kind, code }) => [table, kind, code]);
    expect(notes).to.deep.include(['adults', 'comment', 'COMMENT_NOT_REPRESENTED']);
    expect(notes.filter(([, kind]) => kind === 'type')).to.deep.equal([]);
    expect(notes.filter(([, kind, code]) => kind === 'function' && code === 'OBJECT_NEEDED')).to.deep.equal([]);
    const triggers = report.not_represented.filter(({ kind }) => kind === 'trigger');
    expect(triggers.map(({ table, name }) => [table, name])).to.deep.equal([['people', ' skip']]);
    const objects = report.not_represented.filter(({ kind }) => /view|function|procedure|aggregate/.test(kind));
    expect(objects.map(({ name }) => name)).to.have.members(['of_odd', 'of_of_odd', 'takes_odd(" odd")']);
    expect(await api.sql(CATALOG)).to.deep.equal(before);
    const { data } = await api.ok<{ data: object[] }>('GET', '/objects');
    const expected = { kind: 'materialized_view', id: 'totals', comment: null };
    const index = { name: 'totals_age', unique: true, definition: 'USING btree (age) WHERE (age > 1)' };
    expect(data).to.have.length(14);
    expect(data[4]).to.deep.include({ ...expected, indexes: [index] });
    expect(await api.ok('GET', '/schema/drift')).to.deep.include({
      ok: true,
      objects: [],
      unmanaged_objects: [
        { kind: 'function', id: 'takes_odd(" odd")' },
        { kind: 'trigger', id: '" skip" on people' },
        { kind: 'view', id: 'of_odd' },
        { kind: 'view', id: 'of_of_odd' },
      ],
    });
    expect((await adopt({ all: true })).objects).to.deep.equal([]);
  });

  it('copies the adopted views to an empty database, where the second diff is empty', async () => {
    await adopt({ all: true });
    const snapshot = await api.ok<object>('GET', '/schema/snapshot');
    const other = await startService({ OBJECTS: 'on' });
    const target = createApi(other);
    try {
      const plan = await target.ok<object>('POST', '/schema/diff', snapshot);
      await target.ok('POST', '/schema/apply', plan);
      const { diff } = await target.ok<{ diff: object }>('POST', '/schema/diff', snapshot);
      expect(diff).to.deep.equal({ collections: [], fields: [], relations: [] });
      const definitions = (rows: { relname: string; query: string; reloptions: unknown; indexes: unknown }[]) =>
        rows
          .filter(({ relname }) => !relname.includes('odd'))
          .map(({ relname, query, reloptions, indexes }) => ({ relname, query, reloptions, indexes }));
      expect(definitions(await target.sql(CATALOG))).to.deep.equal(definitions(await api.sql(CATALOG)));
      expect(await target.sql(ROUTINES)).to.deep.equal(await api.sql(ROUTINES));
      const others = (rows: { definition: string }[]) =>
        rows.filter(({ definition }) => !definition.includes(' skip"'));
      expect(await target.sql(TRIGGERS)).to.deep.equal(others(await api.sql(TRIGGERS)));
    } finally {
      await target.stop();
      await other.stop();
    }
  });

  it('changes adopted views like the ones that it created', async () => {
    await adopt({ all: true });
    await api.ok('PATCH', '/fields/people/age', { type: 'bigInteger' }).then(
      () => expect.fail('twice(integer) does not accept a bigint'),
      () => undefined,
    );
    await api.ok('PATCH', '/fields/people/name', { schema: { is_nullable: true } });
    await api.ok('POST', '/fields/people/name/rename', { to: 'full_name' });
    const [{ about }] = (await api.sql<{ about: string }>(`${CATALOG} OFFSET 1 LIMIT 1`)) as [{ about: string }];
    expect(about).to.equal('As written');
  });

  it('adopts named views, even with their tables, in one batch', async () => {
    const totals = { kind: 'materialized_view', id: 'totals' };
    const error = await api.refused(
      { status: 400, code: 'INVALID_PAYLOAD', at: 'objects[0]' },
      'POST',
      '/schema/adopt',
      {
        objects: [totals],
      },
    );
    expect(error.message).to.contain('uses "people", which is not managed');
    const dry = await adopt({ tables: ['people'], objects: [totals] }, '?dry_run');
    expect(dry).to.deep.include({ dry_run: true, adopted: ['people'], objects: [totals] });
    await adopt({ tables: ['people'], objects: [totals] });
    expect((await api.ok<{ data: object[] }>('GET', '/objects?fields=kind,id')).data).to.deep.equal([totals]);
    const known = { status: 409, code: 'ALREADY_EXISTS', at: 'objects[0]' };
    await api.refused(known, 'POST', '/schema/adopt', { objects: [totals] });
    const missing = { status: 404, code: 'NOT_FOUND', at: 'objects[0]' };
    await api.refused(missing, 'POST', '/schema/adopt', { objects: [{ kind: 'view', id: 'totals' }] });
  });

  it('adopts views in the shell', async () => {
    const environment = { DATABASE_URL: service.databaseUrl, OBJECTS: 'on' };
    const named = await dps(['adopt', 'people', 'materialized_view:totals'], environment);
    expect(named.code, named.err).to.equal(0);
    expect(named.out).to.contain('+ materialized_view:totals').and.contain('with 0 relations and 1 object.');
    const all = await dps(['adopt', '--all'], environment);
    expect(all.code).to.equal(1);
    expect(all.out).to.contain('+ function:twice(integer)').and.contain('+ procedure:"Do it"()');
    expect(all.out).to.contain('+ view:adults').and.contain('! view:of_odd stays unmanaged: it uses " odd"');
  });
});
