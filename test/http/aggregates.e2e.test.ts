import { expect } from 'chai';
import { asSuperuser } from '../support/postgres.js';
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

const ADD =
  'CREATE FUNCTION add(state integer, value integer) RETURNS integer IMMUTABLE LANGUAGE sql RETURN state + value';
const TOTAL = `CREATE AGGREGATE total(integer) (SFUNC = add, STYPE = integer, INITCOND = '0')`;
const ID = 'total(integer)';
const TOTALS = 'CREATE VIEW totals AS SELECT total(age) AS total FROM members';
const NOTHING = { collections: [], fields: [], relations: [] };

/** Aggregates of all forms by id. */
const FORMS: Readonly<Record<string, string>> = {
  'every()': 'CREATE AGGREGATE every(*) (SFUNC = int8inc, STYPE = int8, INITCOND = 5)',
  '"Total"(integer, text)':
    'CREATE OR REPLACE AGGREGATE "Total"(IN a int4, b text) (SFUNC = add_length, STYPE = int4, sspace = 64)',
  'collect(anycompatible)': `CREATE AGGREGATE collect(anycompatible)
     (SFUNC = array_append, STYPE = anycompatiblearray, INITCOND = '{}', PARALLEL = RESTRICTED)`,
  'quoted(text)': String.raw`CREATE AGGREGATE quoted(text) (SFUNC = textcat, STYPE = text, INITCOND = E'it''s "\\ $1, %s')`,
  'longest(integer, text[])': `CREATE AGGREGATE longest(integer, VARIADIC names text[])
     (SFUNC = add_all, STYPE = bigint, FINALFUNC = add_end, FINALFUNC_EXTRA, FINALFUNC_MODIFY = SHAREABLE)`,
  'smallest(integer)': `CREATE AGGREGATE smallest(integer)
     (PARALLEL = SAFE, SORTOP = <, COMBINEFUNC = int4smaller, STYPE = integer, SFUNC = int4smaller)`,
  'highest(integer)': `CREATE AGGREGATE highest(integer)
     (SFUNC = int4larger, STYPE = integer, SORTOP = OPERATOR(pg_catalog.>))`,
  'moving(double precision)': `CREATE AGGREGATE moving(float8) (SFUNC = float8pl, STYPE = float8, INITCOND = '0',
     MSFUNC = float8pl, MINVFUNC = float8mi, MSTYPE = float8, MSSPACE = 8, MINITCOND = 1,
     MFINALFUNC = half, MFINALFUNC_EXTRA, MFINALFUNC_MODIFY = READ_WRITE)`,
  'middle(double precision, double precision)': `CREATE AGGREGATE middle(fraction float8 ORDER BY float8)
     (SFUNC = array_append, STYPE = float8[], FINALFUNC = pick, FINALFUNC_MODIFY = READ_ONLY)`,
  'all_of(integer)': `CREATE AGGREGATE all_of(ORDER BY integer) (SFUNC = array_append, STYPE = integer[])`,
  'place(double precision, double precision)': `CREATE AGGREGATE place(float8 ORDER BY float8)
     (SFUNC = array_append, STYPE = float8[], FINALFUNC = pick, HYPOTHETICAL)`,
  'array_append(integer)': `CREATE AGGREGATE public.array_append(integer)
     (SFUNC = pg_catalog.array_append, STYPE = integer[], COMBINEFUNC = public.array_append)`,
};

/** Only a superuser can create aggregates of this transition type. */
const INTERNAL: readonly string[] = [
  `CREATE AGGREGATE percentile(float8 ORDER BY anyelement)
     (SFUNC = ordered_set_transition, STYPE = internal, FINALFUNC = percentile_disc_final, FINALFUNC_EXTRA)`,
  `CREATE AGGREGATE rank_of(VARIADIC "any" ORDER BY VARIADIC "any")
     (SFUNC = ordered_set_transition_multi, STYPE = internal, FINALFUNC = rank_final, FINALFUNC_EXTRA, HYPOTHETICAL)`,
  `CREATE AGGREGATE mean(bigint) (SFUNC = int8_avg_accum, STYPE = internal, FINALFUNC = numeric_poly_avg, SSPACE = 48,
     COMBINEFUNC = int8_avg_combine, SERIALFUNC = int8_avg_serialize, DESERIALFUNC = int8_avg_deserialize, PARALLEL = SAFE)`,
];

const HELPERS = [
  `CREATE FUNCTION add_length(state integer, a integer, b text) RETURNS integer LANGUAGE sql AS 'SELECT coalesce(state, 0) + a + length(b)'`,
  `CREATE FUNCTION add_all(state bigint, a integer, VARIADIC b text[]) RETURNS bigint LANGUAGE sql AS 'SELECT coalesce(state, 0) + a + array_length(b, 1)'`,
  `CREATE FUNCTION add_end(state bigint, a integer, VARIADIC b text[]) RETURNS numeric LANGUAGE sql AS 'SELECT state * 1.5'`,
  `CREATE FUNCTION pick(state float8[], fraction float8) RETURNS float8 LANGUAGE sql AS 'SELECT state[1] * fraction'`,
  `CREATE FUNCTION array_append(a integer[], b integer[]) RETURNS integer[] LANGUAGE sql AS 'SELECT a || b'`,
  `CREATE FUNCTION half(state float8, value float8) RETURNS float8 LANGUAGE sql AS 'SELECT state / 2'`,
];

interface Plan {
  accepted: boolean;
  statements: { sql: string; summary: string }[];
  warnings: { code: string }[];
}

interface Document {
  kind: string;
  id: string;
  definition: string;
  comment: string | null;
}

describe('aggregates', () => {
  const { api, service } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });

  const create = (definition: string, kind = 'aggregate', more: object = {}) =>
    api.ok<{ data: Document }>('POST', '/objects', { kind, definition, ...more });
  const path = (id: string, kind = 'aggregate'): string => `/objects/${kind}/${encodeURIComponent(id)}`;
  const shown = async (id: string) => (await api.ok<{ data: Document }>('GET', path(id))).data;
  const diffTo = async (snapshot: object) => (await api.ok<{ diff: object }>('POST', '/schema/diff', snapshot)).diff;
  const total = async () =>
    (await api.sql<{ total: number }>('SELECT total(n) FROM generate_series(1, 3) n'))[0]?.total;
  /** The catalog rows of all aggregates with their privileges and owners, without OIDs. */
  const catalog = () =>
    api
      .sql(
        `SELECT a.*, p.proname, p.proargtypes::regtype[]::text, p.proargnames, p.prorettype::regtype::text, p.proparallel, p.proacl, p.proowner,
        obj_description(p.oid, 'pg_proc') AS comment FROM (SELECT aggfnoid::oid AS oid, aggkind, aggnumdirectargs, aggtransfn, aggfinalfn, aggcombinefn,
        aggserialfn, aggdeserialfn, aggmtransfn, aggminvtransfn, aggmfinalfn, aggfinalextra, aggmfinalextra, aggfinalmodify, aggmfinalmodify, aggsortop,
        aggtranstype::regtype::text, aggtransspace, aggmtranstype::regtype::text, aggmtransspace, agginitval, aggminitval FROM pg_aggregate) a
        JOIN pg_proc p USING (oid) WHERE p.pronamespace = 'public'::regnamespace ORDER BY p.proname`,
      )
      .then((rows) => rows.map((row) => ({ ...row, oid: null })));

  beforeEach(async () => {
    await api.ok('POST', '/collections', MEMBERS);
    await create(ADD, 'function');
  });

  it('creates an aggregate, reads it, changes it, renames it and deletes it', async () => {
    expect(await create(TOTAL, 'aggregate', { comment: 'Adds' })).to.deep.equal({
      data: { kind: 'aggregate', id: ID, definition: TOTAL, comment: 'Adds' },
    });
    expect(await total()).to.equal(6);
    expect(await api.ok('GET', '/objects?name=total&kind=aggregate&fields=id')).to.deep.equal({ data: [{ id: ID }] });
    const changed = TOTAL.replace("'0'", "'10'");
    await api.ok('PATCH', path(ID), { definition: changed, comment: null });
    expect(await total()).to.equal(16);
    expect(await shown(ID)).to.deep.equal({ kind: 'aggregate', id: ID, definition: changed, comment: null });
    await api.ok('POST', `${path(ID)}/rename`, { to: 'Sum "all"' });
    const renamed = '"Sum ""all"""(integer)';
    expect((await shown(renamed)).definition).to.equal(changed.replace('total', '"Sum ""all"""'));
    await api.ok('DELETE', path(renamed));
    expect(await catalog()).to.deep.equal([]);
  });

  it('shows the statements in a dry run and in an explanation', async () => {
    const body = {
      kind: 'aggregate',
      definition: 'CREATE AGGREGATE every(*) (SFUNC = int8inc, STYPE = int8, INITCOND = 5)',
      comment: 'A',
    };
    const plan = await api.ok<Plan>('POST', '/objects?dry_run', body);
    expect(plan.accepted).to.equal(true);
    expect(plan.statements.map(({ sql }) => sql.trim())).to.deep.equal([
      'CREATE AGGREGATE "public"."every"(*) (SFUNC = int8inc, STYPE = int8, INITCOND = 5)',
      `COMMENT ON AGGREGATE "public"."every"(*) IS 'A'`,
    ]);
    expect((await api.ok<Plan>('POST', '/objects?explain', body)).statements).to.have.length(2);
    expect(await catalog()).to.deep.equal([]);
  });

  it('creates aggregates of all forms, and recreates each from what PostgreSQL stores', async () => {
    for (const helper of HELPERS) await create(helper, 'function');
    for (const [id, definition] of Object.entries(FORMS)) expect((await create(definition)).data.id).to.equal(id);
    const before = await catalog();
    expect(before).to.have.length(Object.keys(FORMS).length);
    expect(await api.ok('GET', '/schema/drift')).to.deep.include({ ok: true, objects: [] });
    const snapshot = await api.ok<{ objects: Document[] }>('GET', '/schema/snapshot');
    for (const [id, definition] of Object.entries(FORMS)) {
      await api.ok('DELETE', path(id));
      await api.sql(definition);
    }
    await api.ok('POST', '/schema/adopt', { all: true });
    const adopted = (await api.ok<{ data: Document[] }>('GET', '/objects?kind=aggregate')).data;
    expect(adopted.map(({ id }) => id)).to.have.members(Object.keys(FORMS));
    expect(await diffTo(snapshot)).to.deep.equal(NOTHING);
    for (const { id, definition } of adopted) {
      expect(definition, 'another text than the one that was sent').not.to.equal(FORMS[id]);
      await api.ok('DELETE', path(id));
      await create(definition);
    }
    expect(await catalog()).to.deep.equal(before);
    await api.ok('POST', `${path('every()')}/rename`, { to: 'Each' });
    await api.ok('DELETE', path('"Each"()'));
  });

  it('adopts aggregates that only a superuser can create', async () => {
    await asSuperuser(service.databaseUrl, ...INTERNAL);
    const before = await catalog();
    await api.ok('POST', '/schema/adopt', { all: true });
    const { data } = await api.ok<{ data: Document[] }>('GET', '/objects?kind=aggregate');
    expect(data.map(({ id }) => id)).to.have.members([
      'percentile(double precision, anyelement)',
      'rank_of("any")',
      'mean(bigint)',
    ]);
    const recreated = data.flatMap(({ definition }) => [definition.replace('CREATE', 'CREATE OR REPLACE')]);
    await asSuperuser(service.databaseUrl, 'DROP AGGREGATE mean(bigint)', ...recreated);
    expect(await catalog()).to.deep.equal(before);
    expect(await api.ok('GET', '/schema/drift')).to.deep.include({ ok: true, objects: [] });
  });

  for (const [title, definition, message] of [
    ['two statements', `${TOTAL}; DROP TABLE members`, 'exactly one statement'],
    ['another schema', TOTAL.replace('total', 'elsewhere.total'), 'managed schema'],
    ['the default schema in an argument type', TOTAL.replace('(integer)', '(public.members)'), 'public'],
    ['the form with BASETYPE', 'CREATE AGGREGATE total (BASETYPE = integer, SFUNC = add, STYPE = integer)', 'BASETYPE'],
    ['an option that PostgreSQL ignores', TOTAL.replace('INITCOND', 'INITIAL'), 'option "initial"'],
    ['an option in quotes, which PostgreSQL ignores', TOTAL.replace('INITCOND', '"Initcond"'), 'option "Initcond"'],
    ['an option twice', TOTAL.replace('SFUNC', 'STYPE = text, SFUNC'), 'option "stype" only once'],
    ['a comment before the name', TOTAL.replace('total', '/* AGGREGATE f */ total'), 'without comments'],
    ['a function', ADD, 'must create an aggregate, but creates a function'],
  ] as const) {
    it(`rejects ${title} and changes nothing`, async () => {
      const expected = { status: 400, code: 'INVALID_PAYLOAD', at: 'definition' };
      const error = await api.refused(expected, 'POST', '/objects', { kind: 'aggregate', definition });
      expect(error.message).to.contain(message);
      expect(await catalog()).to.deep.equal([]);
    });
  }

  it('reports what PostgreSQL rejects, and names that are taken', async () => {
    const refused = (code: string, status: number, definition: string, also: string[] = []) =>
      api.refused({ status, code, also }, 'POST', '/objects', { kind: 'aggregate', definition });
    await refused('DATABASE_REFUSED', 422, TOTAL.replace('= add', '= subtract'));
    await refused('DATABASE_REFUSED', 422, TOTAL.replace('STYPE = integer', 'STYPE = internal'));
    await create('CREATE FUNCTION total(integer) RETURNS integer LANGUAGE sql RETURN 1', 'function');
    const taken = await refused('ALREADY_EXISTS', 409, TOTAL, ['definition']);
    expect(taken.message).to.contain('"total(integer)" is already the name of a function');
    await create(TOTAL.replace('total', 'sum'));
    await refused('ALREADY_EXISTS', 409, TOTAL.replace('total', 'sum'));
    const function_ = {
      kind: 'function',
      definition: 'CREATE FUNCTION sum(integer) RETURNS integer LANGUAGE sql RETURN 1',
    };
    const other = await api.refused(
      { status: 409, code: 'ALREADY_EXISTS', also: ['definition'] },
      'POST',
      '/objects',
      function_,
    );
    expect(other.message).to.contain('"sum(integer)" is already the name of a');
    await api.ok('DELETE', path('total(integer)', 'function'));
    await create(TOTAL);
    await create('CREATE FUNCTION total(text) RETURNS integer LANGUAGE sql RETURN 1', 'function');
    expect((await api.ok<{ data: { kind: string }[] }>('GET', '/objects?name=total&fields=kind')).data).to.deep.equal([
      { kind: 'aggregate' },
      { kind: 'function' },
    ]);
  });

  it('changes an aggregate in place, or creates it again with the views and functions that use it', async () => {
    await create(TOTAL, 'aggregate', { comment: 'Adds' });
    await create(TOTALS, 'view');
    await create(
      'CREATE FUNCTION total_age() RETURNS integer BEGIN ATOMIC SELECT total(age) FROM members; END',
      'function',
    );
    await api.sql(`REVOKE EXECUTE ON FUNCTION ${ID} FROM PUBLIC; GRANT SELECT ON totals TO PUBLIC`);
    const before = await catalog();
    const summaries = async (definition: string) =>
      (await api.ok<Plan>('PATCH', `${path(ID)}?dry_run`, { definition })).statements.map(({ summary }) => summary);
    const replaced = TOTAL.replace("INITCOND = '0'", "INITCOND = '1', PARALLEL = SAFE");
    expect(await summaries(replaced)).to.deep.equal([`change aggregate ${ID}`]);
    await api.ok('PATCH', path(ID), { definition: replaced });
    expect(await total()).to.equal(7);
    await api.ok('PATCH', path(ID), { definition: TOTAL });
    const named = TOTAL.replace('(integer)', '(value integer)');
    expect(await summaries(named), 'an argument without a name gets one').to.deep.equal([`change aggregate ${ID}`]);
    await api.ok('PATCH', path(ID), { definition: named });
    const recreated = named.replace('(value', '(number');
    expect(await summaries(recreated)).to.include.members([
      'drop view totals',
      'drop function total_age()',
      `drop aggregate ${ID}`,
      `change aggregate ${ID}`,
      'recreate view totals',
      'recreate function total_age()',
    ]);
    await api.ok('PATCH', path(ID), { definition: recreated });
    await api.sql('INSERT INTO members (age) VALUES (36), (40)');
    expect(await api.sql('SELECT total, total_age() FROM totals')).to.deep.equal([{ total: 76, total_age: 76 }]);
    await create('CREATE FUNCTION finish(integer) RETURNS integer LANGUAGE sql RETURN $1', 'function');
    const finished = recreated.replace('INITCOND', 'FINALFUNC = finish, INITCOND');
    expect(await summaries(finished), 'the result could change').to.include(`drop aggregate ${ID}`);
    await api.ok('PATCH', path(ID), { definition: TOTAL });
    expect(await catalog()).to.deep.equal(before);
  });

  it('rejects deleting what is used, and follows a change to its functions', async () => {
    await create(TOTAL);
    await create(TOTALS, 'view');
    const used = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', path(ID));
    expect(used.message).to.contain(`view "totals" uses "${ID}"`);
    const add = 'add(integer, integer)';
    const needed = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', path(add, 'function'));
    expect(needed.message).to.contain(`aggregate "${ID}" uses "${add}"`);
    await api.ok('PATCH', path(add, 'function'), { definition: ADD.replace('state + value', 'state + value + 1') });
    expect(await total(), 'the function is replaced in place').to.equal(9);
    const plan = await api.ok<Plan>('PATCH', `${path(add, 'function')}?dry_run`, {
      definition: ADD.replaceAll('value', 'n'),
    });
    expect(plan.statements.map(({ summary }) => summary)).to.include.members([
      `drop aggregate ${ID}`,
      `recreate aggregate ${ID}`,
    ]);
    await api.ok('PATCH', path(add, 'function'), { definition: ADD.replaceAll('value', 'n') });
    expect(await total()).to.equal(6);
    await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'PATCH', path(add, 'function'), {
      definition: ADD.replace('RETURNS integer', 'RETURNS bigint'),
    });
    await api.ok('POST', `${path(add, 'function')}/rename`, { to: 'Plus' });
    expect((await shown(ID)).definition).to.contain('SFUNC = "Plus"');
    const { data } = await api.ok<{ data: { type: string; data: { caused_by?: number } }[] }>(
      'GET',
      '/history/events?after=0',
    );
    expect(data.slice(-2).map(({ type }) => type)).to.deep.equal(['object.renamed', 'object.updated']);
    expect(data.at(-1)?.data.caused_by).to.be.a('number');
  });

  it('replaces a function of the aggregate by one with other arguments in the same change', async () => {
    await create(TOTAL);
    await create(TOTALS, 'view');
    const snapshot = await api.ok<{ objects: Document[] }>('GET', '/schema/snapshot');
    const wide = {
      kind: 'function',
      id: 'add(bigint, integer)',
      definition: ADD.replace('state integer', 'state bigint').replace('RETURNS integer', 'RETURNS bigint'),
      comment: null,
    };
    const objects = snapshot.objects.flatMap((object) => {
      if (object.kind === 'function') return [wide];
      if (object.kind === 'view') return [object];
      return [{ ...object, definition: TOTAL.replace('STYPE = integer', 'STYPE = bigint') }];
    });
    const then = await api.head();
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', { ...snapshot, objects }));
    expect(await api.sql('SELECT total(2147483647) FROM members')).to.deep.equal([{ total: '0' }]);
    expect(await diffTo({ ...snapshot, objects })).to.deep.equal(NOTHING);
    await api.ok('POST', '/schema/apply', await api.ok('GET', `/history/diff?to=${then}`));
    expect(await total()).to.equal(6);
    expect(await diffTo(snapshot)).to.deep.equal(NOTHING);
    const lost = { ...snapshot, objects: snapshot.objects.filter(({ kind }) => kind !== 'function') };
    const diff = await api.ok<object>('POST', '/schema/diff', lost);
    const error = await api.refused({ status: 409, code: 'IN_USE' }, 'POST', '/schema/apply', diff);
    expect(error.message).to.contain(`aggregate "${ID}" uses "add(integer, integer)"`);
  });

  it('records what the rename of a table changes, and rejects one that would change the identity', async () => {
    await create(
      "CREATE FUNCTION keep(anyelement, integer) RETURNS anyelement LANGUAGE sql AS 'SELECT $1'",
      'function',
    );
    await create("CREATE FUNCTION age_of(anyelement) RETURNS integer LANGUAGE sql AS 'SELECT 1'", 'function');
    await create('CREATE AGGREGATE oldest(integer) (SFUNC = keep, STYPE = members, FINALFUNC = age_of)');
    await api.ok('PATCH', '/fields/members/age', { type: 'bigInteger' });
    const used = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/collections/members');
    expect(used.message).to.contain('aggregate "oldest(integer)" uses "members"');
    await api.ok('POST', '/collections/members/rename', { to: 'people' });
    expect((await shown('oldest(integer)')).definition).to.contain('STYPE = people');
    await create('CREATE FUNCTION later(people, people) RETURNS people LANGUAGE sql RETURN $2', 'function');
    await create('CREATE AGGREGATE "last"(people) (SFUNC = later, STYPE = people)');
    const error = await api.refused(
      { status: 409, code: 'IN_USE', also: [undefined] },
      'POST',
      '/collections/people/rename',
      { to: 'crowd' },
    );
    expect(error.message).to.contain('aggregate "last(people)" has an argument with the row type of "people"');
  });

  it('finds two spellings of one definition equal', async () => {
    await create(TOTAL);
    const snapshot = await api.ok<{ objects: Document[] }>('GET', '/schema/snapshot');
    const asWritten = (definition: string) => ({
      ...snapshot,
      objects: snapshot.objects.map((object) => (object.kind === 'aggregate' ? { ...object, definition } : object)),
    });
    for (const definition of [
      `create or replace aggregate PUBLIC.total(IN int4) (initcond = 0, stype = pg_catalog.int4, sfunc = public.add) -- all`,
      `CREATE AGGREGATE total(integer) (SFUNC = "add", STYPE = integer, INITCOND = E'0', FINALFUNC_EXTRA = false, PARALLEL = UNSAFE, MFINALFUNC_MODIFY = READ_ONLY)`,
    ])
      expect(await diffTo(asWritten(definition)), definition).to.deep.equal(NOTHING);
    for (const definition of [
      TOTAL.replace("'0'", "'00'"),
      TOTAL.replace('(integer)', '(n integer)'),
      TOTAL.replace("'0')", "'0', SSPACE = 8)"),
    ])
      expect(await diffTo(asWritten(definition)), definition)
        .to.have.property('objects')
        .with.length(1);
  });

  it('goes back to an earlier point in time, and exports SQL', async () => {
    await create(TOTAL, 'aggregate', { comment: 'Adds' });
    await create('CREATE AGGREGATE every(*) (SFUNC = int8inc, STYPE = int8, INITCOND = 0)', 'aggregate', {
      comment: "All's",
    });
    await create(TOTALS, 'view');
    const then = await api.head();
    const past = await api.ok('GET', '/schema/snapshot');
    const before = await catalog();
    const { text } = await api.client('/history/snapshot?export=sql');
    expect(text).to.contain(`COMMENT ON AGGREGATE "public"."every"(*) IS 'All''s'`);
    for (const at of [path('totals', 'view'), path(ID), path('every()'), path('add(integer, integer)', 'function')])
      await api.ok('DELETE', at);
    await api.ok('POST', '/schema/apply', await api.ok('GET', `/history/diff?to=${then}`));
    expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(past);
    expect(await catalog()).to.deep.equal(before);
    await api.sql(`DROP VIEW totals; DROP AGGREGATE ${ID}, every(*); DROP FUNCTION add; DROP TABLE members`);
    await api.sql(text);
    expect(await catalog()).to.deep.equal(before);
    expect(await diffTo(past)).to.deep.equal(NOTHING);
  });

  it('causes a warning if the restore of a table needs it for a policy after its deletion', async () => {
    await create(TOTAL);
    await create('CREATE POLICY old ON members USING (age > (SELECT total(n) FROM generate_series(1, 3) n))', 'policy');
    const used = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', path(ID));
    expect(used.message).to.contain('policy "old on members" uses "total(integer)"');
    await api.ok('DELETE', '/collections/members');
    await api.ok('DELETE', path(ID));
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    const answer = await api.ok<{ warnings: { message: string }[] }>('POST', `/trash/${data[0]?.position}/restore`, {});
    expect(answer.warnings.map(({ message }) => message)).to.deep.equal([
      'not restored: policy of members: "old on members": function "total" no longer exists',
    ]);
  });
});
