import { expect } from 'chai';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';

const MEMBERS = {
  collection: 'members',
  schema: {},
  fields: [
    { field: 'id', type: 'integer', interface: 'input', schema: { is_primary_key: true, has_auto_increment: true } },
    { field: 'name', type: 'string', interface: 'input' },
    { field: 'age', type: 'integer', interface: 'input' },
  ],
};

const TWICE = 'CREATE FUNCTION twice(value integer) RETURNS integer IMMUTABLE LANGUAGE sql AS $$ SELECT value * 2 $$';
const ID = 'twice(integer)';
const NOTHING = { collections: [], fields: [], relations: [] };

interface Plan {
  accepted: boolean;
  statements: { sql: string; summary: string }[];
  warnings: { code: string }[];
}

describe('functions and procedures', () => {
  const { api } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });

  const create = (definition: string, kind = 'function', more: object = {}) =>
    api.ok<{ data: { id: string } }>('POST', '/objects', { kind, definition, ...more });
  const path = (id: string, kind = 'function'): string => `/objects/${kind}/${encodeURIComponent(id)}`;
  const change = (id: string, definition: string) => api.ok('PATCH', path(id), { definition });
  const oid = async (signature: string) =>
    (await api.sql<{ oid: number }>(`SELECT '${signature}'::regprocedure::oid::int AS oid`))[0]?.oid;
  const twice = async () => (await api.sql<{ result: unknown }>('SELECT twice(4) AS result'))[0]?.result;

  beforeEach(() => api.ok('POST', '/collections', MEMBERS));

  it('creates a function, reads it, changes it, renames it and deletes it', async () => {
    expect(await create(TWICE, 'function', { comment: 'Doubles' })).to.deep.equal({
      data: { kind: 'function', id: ID, definition: TWICE, comment: 'Doubles' },
    });
    expect(await twice()).to.equal(8);
    expect(await api.ok('GET', '/objects?name=twice&fields=id')).to.deep.equal({ data: [{ id: ID }] });
    const before = await oid(ID);
    const changed = TWICE.replace('CREATE', 'CREATE OR REPLACE').replace('value * 2', 'value + value');
    await api.ok('PATCH', path(ID), { definition: changed, comment: null });
    expect(await api.ok('GET', path(ID))).to.deep.equal({
      data: { kind: 'function', id: ID, definition: changed, comment: null },
    });
    expect(await oid(ID), 'the function stays').to.equal(before);
    await api.ok('POST', `${path(ID)}/rename`, { to: 'Two times' });
    const { data } = await api.ok<{ data: { id: string; definition: string } }>('GET', path('"Two times"(integer)'));
    expect(data.definition).to.equal(changed.replace('CREATE OR REPLACE', 'CREATE').replace('twice', '"Two times"'));
    expect(await oid('"Two times"(integer)')).to.equal(before);
    await api.ok('DELETE', path('"Two times"(integer)'));
    expect(await api.ok('GET', '/objects')).to.deep.equal({ data: [] });
  });

  it('distinguishes functions of one name by their argument types', async () => {
    await create(TWICE);
    await create(`CREATE FUNCTION twice(value text, OUT result text) LANGUAGE sql AS 'SELECT value || value'`);
    await create(`CREATE FUNCTION twice() RETURNS int LANGUAGE sql RETURN 2`);
    await create(
      `CREATE FUNCTION twice(a timestamptz, b varchar(3), c numeric(5,2)[], d json, VARIADIC e "char"[]) RETURNS int LANGUAGE sql RETURN 2`,
    );
    const { data } = await api.ok<{ data: { id: string }[] }>('GET', '/objects?name=twice&fields=id');
    const ids = ['twice()', ID, 'twice(text)'];
    const long = 'twice(timestamp with time zone, character varying, numeric[], json, "char"[])';
    expect(data.map(({ id }) => id)).to.have.members([...ids, long]);
    await api.ok('PATCH', path(long), { comment: 'An id of more than 63 bytes' });
    await api.ok('DELETE', path(long));
    await api.ok('DELETE', path('twice(text)'));
    expect(await twice()).to.equal(8);
    await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', '/objects', {
      kind: 'function',
      definition: TWICE,
    });
    await api.refused({ status: 409, code: 'ALREADY_EXISTS', also: ['definition'] }, 'POST', '/objects', {
      kind: 'procedure',
      definition: `CREATE PROCEDURE twice(integer) LANGUAGE sql AS ''`,
    });
    await create('CREATE VIEW twice AS SELECT id FROM members', 'view');
  });

  it('manages procedures', async () => {
    const definition = `CREATE PROCEDURE add_member(name text, INOUT count integer DEFAULT 0) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO members (name) VALUES ($1);
  count := count + 1;
END $$`;
    await create(definition, 'procedure', { comment: 'Adds one' });
    expect(await api.sql(`CALL add_member('Ada')`)).to.deep.equal([{ count: 1 }]);
    await api.ok('POST', `${path('add_member(text, integer)', 'procedure')}/rename`, { to: 'insert_member' });
    await api.sql(`CALL insert_member('Tim')`);
    await api.ok('DELETE', path('insert_member(text, integer)', 'procedure'));
  });

  for (const [title, definition, message] of [
    ['two statements', `${TWICE}; DROP TABLE members`, 'exactly one statement'],
    ['another statement', 'DROP FUNCTION twice(integer)', 'exactly one statement'],
    ['another schema', TWICE.replace('twice', 'elsewhere.twice'), 'managed schema'],
    ['the default schema in an argument type', 'CREATE FUNCTION f(public.members) RETURNS int RETURN 1', 'public'],
    ['%TYPE', 'CREATE FUNCTION f(a members.age%TYPE) RETURNS int RETURN 1', '%TYPE'],
    ['the internal name of an array type', 'CREATE FUNCTION f(_int4) RETURNS int RETURN 1', '[]'],
    [
      'a star in a parsed body',
      'CREATE FUNCTION f() RETURNS SETOF members BEGIN ATOMIC SELECT * FROM members; END',
      '*',
    ],
    [
      'a body of 900,000 characters',
      TWICE.replace('value * 2', `'${'x'.repeat(900_000)}'`),
      'at most 100000 characters',
    ],
    ['a comment before the name', TWICE.replace('twice', '/* FUNCTION f */ twice'), 'without comments'],
    ['a library', `CREATE FUNCTION f() RETURNS int LANGUAGE 'C' AS '/tmp/library', 'f'`, 'written in C'],
    ['an aggregate', 'CREATE AGGREGATE total (integer) (sfunc = int4pl, stype = integer)', 'but creates an aggregate'],
  ] as const) {
    it(`rejects ${title} and changes nothing`, async () => {
      const body = { kind: 'function', definition };
      const error = await api.refused(
        { status: 400, code: 'INVALID_PAYLOAD', at: 'definition' },
        'POST',
        '/objects',
        body,
      );
      expect(error.message).to.contain(message);
    });
  }

  it('accepts words in comments and quotes that look like the beginning of a definition', async () => {
    await create(`/* CREATE FUNCTION a() */ CREATE -- FUNCTION b
 OR REPLACE FUNCTION "function"(a text DEFAULT 'FUNCTION c') RETURNS text LANGUAGE sql AS $f$ SELECT '; DROP TABLE members' $f$`);
    expect(await api.sql('SELECT "function"() AS result')).to.deep.equal([{ result: '; DROP TABLE members' }]);
  });

  it('creates a function again with the views that use it when PostgreSQL cannot replace it', async () => {
    await create(TWICE);
    await create('CREATE VIEW doubled AS SELECT id, twice(age) AS age FROM members', 'view');
    await create(
      `CREATE FUNCTION four_times(value integer) RETURNS integer IMMUTABLE BEGIN ATOMIC SELECT twice(twice(value)); END`,
    );
    await api.sql(`REVOKE EXECUTE ON FUNCTION twice(integer) FROM PUBLIC`);
    await api.sql(`GRANT EXECUTE ON FUNCTION four_times(integer) TO PUBLIC`);
    const privileges = () =>
      api.sql(
        `SELECT oid::regprocedure::text AS name, (SELECT array_agg(x::text ORDER BY x::text) FROM unnest(proacl) x) AS acl FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1`,
      );
    const before = await privileges();
    const replaced = TWICE.replace('value * 2', 'value + value');
    const plan = await api.ok<Plan>('PATCH', `${path(ID)}?dry_run`, { definition: replaced });
    expect(plan.statements.map(({ summary }) => summary)).to.deep.equal([`change function ${ID}`]);
    await change(ID, replaced);
    for (const definition of [
      TWICE.replaceAll('value', 'number'),
      TWICE.replace('RETURNS integer', 'RETURNS bigint'),
    ]) {
      const planned = await api.ok<Plan>('PATCH', `${path(ID)}?dry_run`, { definition });
      expect(planned.statements.map(({ summary }) => summary)).to.include.members([
        'drop view doubled',
        `drop function ${ID}`,
        `change function ${ID}`,
        'recreate view doubled',
      ]);
      expect(planned.accepted, JSON.stringify(planned)).to.equal(!definition.includes('bigint'));
    }
    await change(ID, TWICE.replaceAll('value', 'number'));
    expect(await privileges()).to.deep.equal(before);
    expect(await api.sql('SELECT four_times(1) AS result')).to.deep.equal([{ result: 4 }]);
    expect(await api.ok('GET', '/schema/drift')).to.deep.include({ ok: true, objects: [] });
  });

  it('rejects deleting a function that a view, a function or a column default uses', async () => {
    await create(TWICE);
    await create('CREATE VIEW doubled AS SELECT id, twice(age) AS age FROM members', 'view');
    const error = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', path(ID));
    expect(error.message).to.contain('view "doubled" uses "twice(integer)"');
    await api.ok('DELETE', '/objects/view/doubled');
    await api.sql('ALTER TABLE members ALTER COLUMN age SET DEFAULT twice(9)');
    const used = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', path(ID));
    expect(used.message).to.contain('default value for column age of table members depends on function');
    await change(ID, TWICE.replace('value * 2', 'value + value'));
    const other = { definition: TWICE.replaceAll('value', 'number') };
    await api.refused({ status: 409, code: 'IN_USE' }, 'PATCH', path(ID), other);
    await api.sql('ALTER TABLE members ALTER COLUMN age DROP DEFAULT');
    await api.ok('DELETE', path(ID));
  });

  it('accepts views and functions that use each other', async () => {
    await create('CREATE FUNCTION count_adults() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM adults $$');
    await create('CREATE VIEW adults AS SELECT id, name FROM members WHERE age > 17', 'view');
    await create('CREATE VIEW counted AS SELECT count_adults() AS adults', 'view');
    const snapshot = await api.ok<object>('GET', '/schema/snapshot');
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', { ...snapshot, objects: [] }));
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', snapshot));
    expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(snapshot);
    expect(await api.sql('SELECT adults::int FROM counted')).to.deep.equal([{ adults: 0 }]);
  });

  it('records what a rename changes in functions, and rejects one that would change their identity', async () => {
    await create('CREATE FUNCTION adults() RETURNS SETOF members LANGUAGE sql AS $$ SELECT * FROM members $$');
    await create('CREATE FUNCTION names() RETURNS SETOF text BEGIN ATOMIC SELECT name FROM members; END');
    const definition = async (id: string) =>
      (await api.ok<{ data: { definition: string } }>('GET', path(id))).data.definition;
    await api.ok('POST', '/fields/members/name/rename', { to: 'full_name' });
    expect(await definition('names()')).to.contain('members.full_name');
    await api.ok('POST', '/collections/members/rename', { to: 'people' });
    expect(await definition('adults()')).to.contain('RETURNS SETOF people');
    await create(`CREATE FUNCTION label(people) RETURNS text LANGUAGE sql AS 'SELECT $1.full_name'`);
    const error = await api.refused({ status: 409, code: 'IN_USE' }, 'POST', '/collections/people/rename', {
      to: 'crowd',
    });
    expect(error.message).to.contain('function "label(people)" has an argument with the row type of "people"');
    await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/fields/people/full_name');
    await api.refused({ status: 409, code: 'IN_USE', also: [undefined, undefined] }, 'DELETE', '/collections/people');
    await api.ok('PATCH', '/fields/people/age', { type: 'bigInteger' });
  });

  it('creates a parsed body again when a column that it reads changes its type', async () => {
    await create('CREATE FUNCTION ages() RETURNS SETOF text BEGIN ATOMIC SELECT age::text FROM members; END');
    await api.ok('PATCH', '/fields/members/age', { type: 'bigInteger' });
    await api.sql('INSERT INTO members (age) VALUES (30000000000)');
    expect(await api.sql('SELECT ages() AS age')).to.deep.equal([{ age: '30000000000' }]);
  });

  it('finds two spellings of one definition equal', async () => {
    await create(TWICE);
    const snapshot = await api.ok<{ objects: object[] }>('GET', '/schema/snapshot');
    for (const definition of [
      'CREATE OR REPLACE FUNCTION public.twice(IN value int4) RETURNS int AS $body$ SELECT value * 2 $body$ LANGUAGE SQL IMMUTABLE',
      'CREATE FUNCTION twice(value integer) RETURNS integer LANGUAGE sql IMMUTABLE COST 100 CALLED ON NULL INPUT AS $$ SELECT value * 2 $$',
    ]) {
      const objects = [{ kind: 'function', id: ID, definition, comment: null }];
      const { diff } = await api.ok<{ diff: object }>('POST', '/schema/diff', { ...snapshot, objects });
      expect(diff).to.deep.equal(NOTHING);
    }
    const objects = [{ kind: 'function', id: ID, definition: TWICE.replace(' value * 2', 'value * 2'), comment: null }];
    const { diff } = await api.ok<{ diff: object }>('POST', '/schema/diff', { ...snapshot, objects });
    expect(diff, 'the body is a text').to.have.property('objects').with.length(1);
  });

  it('renames by a diff, and rejects a rename to different argument types', async () => {
    await create(TWICE);
    const then = await api.head();
    await api.ok('POST', `${path(ID)}/rename`, { to: 'double' });
    const back = await api.ok<{ hash: string; diff: { objects: { id: string; diff: { lhs: string }[] }[] } }>(
      'GET',
      `/history/diff?to=${then}`,
    );
    expect(back.diff.objects).to.deep.equal([
      { kind: 'function', id: ID, diff: [{ kind: 'E', path: ['id'], lhs: 'double(integer)', rhs: ID }] },
    ]);
    const wrong = structuredClone(back);
    Object.assign(wrong.diff.objects[0] ?? {}, {
      id: 'twice(text)',
      diff: [{ kind: 'E', path: ['id'], lhs: 'double(integer)', rhs: 'twice(text)' }],
    });
    const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/schema/apply', wrong);
    expect(error.message).to.contain('argument types');
    const unknown = structuredClone(back);
    Object.assign(unknown.diff.objects[0] ?? {}, { kind: 'table' });
    const { status } = await api.client('/schema/apply', json(unknown, 'POST'));
    expect(status, 'a kind that does not exist').to.equal(409);
    await api.ok('POST', '/schema/apply', back);
    expect(await twice()).to.equal(8);
  });

  it('goes back to an earlier point in time, and exports SQL', async () => {
    await create(TWICE, 'function', { comment: 'Doubles' });
    await create('CREATE VIEW doubled AS SELECT id, twice(age) AS age FROM members', 'view');
    const then = await api.head();
    const past = await api.ok('GET', '/schema/snapshot');
    const { text } = await api.client('/history/snapshot?export=sql');
    expect(text).to.contain('SET LOCAL check_function_bodies = off;');
    expect(text).to.contain('COMMENT ON FUNCTION "public"."twice"(integer)');
    await api.ok('DELETE', '/objects/view/doubled');
    await api.ok('DELETE', path(ID));
    await api.ok('POST', '/schema/apply', await api.ok('GET', `/history/diff?to=${then}`));
    expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(past);
    await api.ok('DELETE', '/objects/view/doubled');
    await api.ok('DELETE', path(ID));
    await api.sql('DROP TABLE members');
    await api.sql(text);
    expect(await twice()).to.equal(8);
  });

  it('warns about SECURITY DEFINER without search_path and for everyone, and the policy can block it', async () => {
    const unsafe = TWICE.replace('IMMUTABLE', 'SECURITY DEFINER');
    const safe = unsafe.replace('LANGUAGE', 'SET search_path = pg_catalog, pg_temp LANGUAGE');
    const codes = async (method: 'POST' | 'PATCH', at: string, body: object) =>
      (await api.ok<Plan>(method, `${at}?dry_run`, body)).warnings.map(({ code }) => code);
    const both = ['SECURITY_DEFINER_SEARCH_PATH', 'SECURITY_DEFINER_PUBLIC_EXECUTE'];
    expect(await codes('POST', '/objects', { kind: 'function', definition: unsafe })).to.deep.equal(both);
    expect(await codes('POST', '/objects', { kind: 'function', definition: safe })).to.deep.equal([both[1]]);
    expect(await codes('POST', '/objects', { kind: 'function', definition: TWICE })).to.deep.equal([]);
    await create(safe);
    expect(await codes('PATCH', path(ID), { definition: unsafe })).to.deep.equal([both[0]]);
    const snapshot = await api.ok<object>('GET', '/schema/snapshot');
    const diff = await api.ok<object>('POST', '/schema/diff', {
      ...snapshot,
      objects: [{ kind: 'function', id: ID, definition: unsafe, comment: null }],
    });
    expect(await codes('POST', '/schema/apply', diff)).to.deep.equal([both[0]]);
    await api.ok('PUT', '/policy', { findings: { SECURITY_DEFINER_SEARCH_PATH: 'refuse' } });
    await api.refused({ status: 422, code: 'POLICY_REFUSED' }, 'PATCH', path(ID), { definition: unsafe });
  });

  it('do not include functions of extensions', async () => {
    await api.sql('CREATE EXTENSION IF NOT EXISTS citext');
    const drift = await api.ok<{ unmanaged_objects: object[] }>('GET', '/schema/drift');
    expect(drift.unmanaged_objects).to.deep.equal([]);
    const name = { kind: 'function', id: 'citext_eq(citext, citext)' };
    const report = await api.ok<{ objects: object[] }>('POST', '/schema/adopt', { all: true });
    expect(report.objects).to.deep.equal([]);
    const refused = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/schema/adopt', {
      objects: [name],
    });
    expect(refused.message).to.contain('extension "citext"');
    const definition = `CREATE FUNCTION citext_eq(citext, citext) RETURNS boolean LANGUAGE sql AS 'SELECT true'`;
    await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', '/objects', { kind: 'function', definition });
  });
});
