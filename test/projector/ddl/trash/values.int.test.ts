import { expect } from 'chai';
import { type Sql, integer, qualified, sql } from '../../../../src/projector/ddl/sql.js';
import {
  COPY,
  type Column,
  type KeptColumnCopy,
  copyValues,
  countValues,
  returnPrivileges,
  returnValues,
} from '../../../../src/projector/ddl/trash.js';
import { type Projected, startProjected } from '../../../support/projected.js';

const HOSTILE = `a%s "b" 'c' \\d $$`;

describe('the kept values of a dropped column', () => {
  let projected: Projected;
  before(async () => {
    projected = await startProjected();
    await projected.rows('CREATE SCHEMA trash');
  });
  after(() => projected.stop());

  const run = async (...texts: Sql[]): Promise<void> => {
    for (const text of texts) await projected.client.query(text);
  };

  /** A table with this body, and the kept values of its column. */
  const given = async (
    table: string,
    body: string,
    { key, column }: { key: string[]; column: string },
  ): Promise<KeptColumnCopy> => {
    const name = qualified('public', table);
    await projected.rows(`CREATE TABLE ${name} (${body})`);
    await projected.rows('DROP TABLE IF EXISTS trash.values');
    const columns = key.map((each, index) => ({ name: each, identity: `1.${index + 1}` }));
    return { key: columns, column: { name: column, identity: '7' }, table: name, copy: qualified('trash', COPY) };
  };

  it('return to the rows with their keys, and later rows stay null', async () => {
    const kept = await given('plain', 'id int PRIMARY KEY, a text', { key: ['id'], column: 'a' });
    await projected.rows(`INSERT INTO plain VALUES (1, 'one'), (2, NULL), (3, 'three')`);
    await run(copyValues(kept), sql`ALTER TABLE plain DROP COLUMN a`);
    await projected.rows(`DELETE FROM plain WHERE id = 3; INSERT INTO plain VALUES (4), (5)`);
    await run(sql`ALTER TABLE plain ADD COLUMN a text`);
    expect(await projected.rows(countValues(kept, integer('100')))).to.deep.equal([{ kept: 3, met: 2, rows: 4 }]);
    expect(await projected.rows(countValues(kept, integer('2')))).to.deep.equal([{ kept: 3, met: 2, rows: 2 }]);
    await run(returnValues(kept, 1));
    expect(await projected.rows('SELECT a FROM plain ORDER BY id')).to.deep.equal([
      { a: 'one' },
      { a: null },
      { a: null },
      { a: null },
    ]);
  });

  it('use a key of several columns with any names', async () => {
    const names = `"${HOSTILE.replaceAll('"', '""')}"`;
    const body = `${names} int, b int, v jsonb, PRIMARY KEY (b, ${names})`;
    const kept = await given(HOSTILE, body, { key: ['b', HOSTILE], column: 'v' });
    await projected.rows(`INSERT INTO ${kept.table} VALUES (1, 2, '{"x": 1}'), (2, 1, '[2]')`);
    await run(copyValues(kept), sql`ALTER TABLE ${kept.table} DROP COLUMN v`);
    await run(sql`ALTER TABLE ${kept.table} RENAME COLUMN b TO c`, sql`ALTER TABLE ${kept.table} ADD COLUMN v jsonb`);
    const [first, second] = kept.key as [Column, Column];
    const now = { ...kept, key: [second, { ...first, name: 'c' }] };
    await run(returnValues(now, 1), returnPrivileges(now));
    expect(await projected.rows(`SELECT c, v FROM ${kept.table} ORDER BY c`)).to.deep.equal([
      { c: 1, v: [2] },
      { c: 2, v: { x: 1 } },
    ]);
  });

  it('are read and written despite forced row security, which is restored', async () => {
    const kept = await given('hidden', 'id int PRIMARY KEY, a int', { key: ['id'], column: 'a' });
    await projected.rows('INSERT INTO hidden SELECT n, n FROM generate_series(1, 10) n');
    await projected.rows(`ALTER TABLE hidden ENABLE ROW LEVEL SECURITY; ALTER TABLE hidden FORCE ROW LEVEL SECURITY;
      CREATE POLICY few ON hidden USING (id > 8)`);
    const counted = 'SELECT count(*)::int AS n FROM hidden';
    // The service's own setting lets such a query fail.
    const countVisible = async (): Promise<unknown> => {
      await projected.rows('SET row_security = on');
      const rows = await projected.rows(counted);
      await projected.rows('RESET row_security');
      return rows;
    };
    expect(await countVisible()).to.deep.equal([{ n: 2 }]);
    await run(copyValues(kept), sql`ALTER TABLE hidden DROP COLUMN a, ADD COLUMN a int`, returnValues(kept, 1));
    expect(await countVisible()).to.deep.equal([{ n: 2 }]);
    await projected.rows('ALTER TABLE hidden NO FORCE ROW LEVEL SECURITY');
    expect(await projected.rows(`${counted} WHERE a = id`)).to.deep.equal([{ n: 10 }]);
  });

  it('are restored without triggers, which are enabled as before', async () => {
    const kept = await given('watched', 'id int PRIMARY KEY, a int, n int DEFAULT 0', { key: ['id'], column: 'a' });
    await projected.rows(`INSERT INTO watched VALUES (1, 7);
      CREATE FUNCTION count_up() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.n := NEW.n + 1; RETURN NEW; END';
      CREATE TRIGGER plain BEFORE UPDATE ON watched FOR EACH ROW EXECUTE FUNCTION count_up();
      CREATE TRIGGER "al'ways" BEFORE UPDATE ON watched FOR EACH ROW EXECUTE FUNCTION count_up();
      CREATE TRIGGER replica BEFORE UPDATE ON watched FOR EACH ROW EXECUTE FUNCTION count_up();
      CREATE TRIGGER off BEFORE UPDATE ON watched FOR EACH ROW EXECUTE FUNCTION count_up();
      ALTER TABLE watched ENABLE ALWAYS TRIGGER "al'ways"; ALTER TABLE watched ENABLE REPLICA TRIGGER replica;
      ALTER TABLE watched DISABLE TRIGGER off`);
    await run(copyValues(kept), sql`ALTER TABLE watched DROP COLUMN a, ADD COLUMN a int`, returnValues(kept, 1));
    expect(await projected.rows('SELECT a, n FROM watched')).to.deep.equal([{ a: 7, n: 0 }]);
    const fires = `SELECT format('%s %s', tgname, tgenabled) AS t FROM pg_trigger WHERE tgrelid = 'watched'::regclass ORDER BY 1`;
    expect((await projected.rows(fires)).map(({ t }) => t)).to.deep.equal([
      `al'ways A`,
      'off D',
      'plain O',
      'replica R',
    ]);
  });

  it('include composite values with null attributes', async () => {
    await projected.rows('CREATE TYPE place AS (street text, number int)');
    const kept = await given('composite', 'id int PRIMARY KEY, a place', { key: ['id'], column: 'a' });
    await projected.rows(`INSERT INTO composite VALUES (1, ('Side', NULL)), (2, (NULL, NULL)), (3, NULL)`);
    await run(copyValues(kept), sql`ALTER TABLE composite DROP COLUMN a, ADD COLUMN a place`, returnValues(kept, 1));
    const rows = await projected.rows('SELECT a::text FROM composite ORDER BY id');
    expect(rows.map(({ a }) => a)).deep.equal(['(Side,)', '(,)', null]);
  });

  it('are restored without rules, which are enabled as before', async () => {
    const kept = await given('ruled', 'id int PRIMARY KEY, a int', { key: ['id'], column: 'a' });
    await projected.rows(`INSERT INTO ruled VALUES (1, 7);
      CREATE RULE "swal'low" AS ON UPDATE TO ruled DO INSTEAD NOTHING;
      CREATE RULE also AS ON UPDATE TO ruled DO ALSO DELETE FROM ruled;
      CREATE RULE off AS ON UPDATE TO ruled DO INSTEAD NOTHING;
      ALTER TABLE ruled ENABLE ALWAYS RULE also; ALTER TABLE ruled DISABLE RULE off`);
    await run(copyValues(kept), sql`ALTER TABLE ruled DROP COLUMN a, ADD COLUMN a int`, returnValues(kept, 1));
    expect(await projected.rows('SELECT a FROM ruled')).deep.equal([{ a: 7 }]);
    const enabled = `SELECT format('%s %s', rulename, ev_enabled) AS r FROM pg_rewrite WHERE ev_class = 'ruled'::regclass ORDER BY 1`;
    expect((await projected.rows(enabled)).map(({ r }) => r)).deep.equal(['also A', 'off D', `swal'low O`]);
  });

  it('raise an error if a row gets no value, and are kept', async () => {
    const kept = await given('parts', 'id int PRIMARY KEY, a int) PARTITION BY LIST (id', { key: ['id'], column: 'a' });
    await projected.rows(`CREATE TABLE part PARTITION OF parts DEFAULT; INSERT INTO parts VALUES (1, 7), (2, 8);
      CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER skip BEFORE UPDATE ON part FOR EACH ROW WHEN (OLD.id = 1) EXECUTE FUNCTION skip()`);
    await run(copyValues(kept), sql`ALTER TABLE parts DROP COLUMN a, ADD COLUMN a int`);
    const error = await run(returnValues(kept, 1)).then(
      () => null,
      (refused: unknown) => (refused as Error).message,
    );
    expect(error).equal('only 1 of the values in the trash were restored');
    expect(await projected.rows('SELECT count(*)::int AS n FROM trash.values')).deep.equal([{ n: 2 }]);
  });

  it('are restored with the privileges of existing roles', async () => {
    const kept = await given('shared', 'id int PRIMARY KEY, a int', { key: ['id'], column: 'a' });
    await projected.rows(`GRANT SELECT (a), UPDATE (a) ON shared TO pg_monitor; GRANT SELECT (a) ON shared TO PUBLIC;
      GRANT REFERENCES (a) ON shared TO pg_read_all_stats WITH GRANT OPTION`);
    const acl = `SELECT attacl::text AS acl FROM pg_attribute WHERE attrelid = 'shared'::regclass AND attname = 'a'`;
    const [before] = await projected.rows(acl);
    await run(copyValues(kept), sql`ALTER TABLE shared DROP COLUMN a`);
    const [noted] = await projected.rows(
      `SELECT col_description(attrelid, attnum) AS comment FROM pg_attribute WHERE attrelid = 'trash.values'::regclass AND attname = '7'`,
    );
    const comment = JSON.stringify([
      { to: `gone 'role"`, privilege: 'SELECT', grantable: false },
      ...(JSON.parse(String(noted?.['comment'])) as object[]),
    ]);
    await projected.rows(`COMMENT ON COLUMN trash.values."7" IS '${comment.replaceAll("'", "''")}'`);
    await run(sql`ALTER TABLE shared ADD COLUMN a int`, returnPrivileges(kept));
    const [after] = await projected.rows(acl);
    const sorted = (text: unknown): string[] => String(text).slice(1, -1).split(',').sort();
    expect(sorted(after?.['acl'])).to.have.length(3).and.deep.equal(sorted(before?.['acl']));
  });
});
