import { expect } from 'chai';
import { clientOf, json } from '../support/client.js';
import {
  objectPath,
  objectRequests,
  NOTHING,
  type Document,
  type Plan,
  type Method,
} from '../support/object-requests.js';
import { startService } from '../support/service.js';
import { withService } from '../support/with-service.js';

const ROLE = 'pg_monitor';
const ID = `${ROLE} on half(integer)`;
const PUBLIC_ID = 'public on half(integer)';
const EXECUTE = [{ name: 'EXECUTE' }];
const GRANTABLE = [{ name: 'EXECUTE', grantable: true }];
const HALF = 'CREATE FUNCTION half(value integer) RETURNS integer LANGUAGE sql AS $$ SELECT value / 2 $$';
const RENAMED_ARGUMENT = HALF.replaceAll('value', 'number');

describe('privileges on functions', () => {
  const { api, service } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });
  const requests = objectRequests({ api, service });
  const { admin, apply, create, diffTo, emptied, eventsSince, listed, snapshot } = requests;
  const grant = (id: string, definition: unknown = EXECUTE) => requests.grant(id, definition);
  const found = (method: Method, at: string, body?: object) =>
    requests.codes(/PRIVILEGE|DEFINER_PUBLIC/, method, at, body);

  const path = (id: string, kind = 'privileges'): string => objectPath(kind, id);
  const revoke = (id = PUBLIC_ID) => grant(id, []);
  /** The roles other than the owner that may execute each function, from the access control lists. */
  const existing = async (): Promise<string[]> =>
    (
      await api.sql<{ text: string }>(
        `SELECT concat_ws(' ', p.proname, coalesce(r.rolname, 'PUBLIC'), CASE WHEN x.is_grantable THEN 'grantable' END) AS text
           FROM pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) x LEFT JOIN pg_roles r ON r.oid = x.grantee
          WHERE p.pronamespace = 'public'::regnamespace AND x.grantee <> p.proowner ORDER BY 1`,
      )
    ).map(({ text }) => text);

  beforeEach(() => create('function', HALF));

  it('are granted to a role and revoked from PUBLIC, which has EXECUTE by default', async () => {
    expect(await existing()).to.deep.equal(['half PUBLIC']);
    expect(await grant(ID, GRANTABLE)).to.deep.equal({
      kind: 'privileges',
      id: ID,
      definition: GRANTABLE,
      comment: null,
    });
    expect(await revoke()).to.deep.include({ id: PUBLIC_ID, definition: [] });
    expect(await existing()).to.deep.equal([`half ${ROLE} grantable`]);
    await api.ok('PATCH', path(ID), { definition: EXECUTE });
    expect(await existing()).to.deep.equal([`half ${ROLE}`]);
    await api.ok('DELETE', path(ID));
    expect(await existing()).to.deep.equal([]);
    await api.ok('DELETE', path(PUBLIC_ID));
    expect(await existing()).to.deep.equal(['half PUBLIC']);
    expect(await listed()).to.deep.equal([]);
  });

  it('can be statements, which also name procedures and aggregates', async () => {
    await create(
      'procedure',
      'CREATE PROCEDURE run(INOUT a text, OUT b integer) LANGUAGE plpgsql AS $$ BEGIN a := 1; END $$',
    );
    await create('aggregate', `CREATE AGGREGATE rows(*) (SFUNC = int8inc, STYPE = bigint, INITCOND = '0')`);
    await create(
      'function',
      `CREATE FUNCTION "All"(VARIADIC parts text[]) RETURNS text LANGUAGE sql AS $$ SELECT '' $$`,
    );
    const made = async (definition: string) =>
      (await api.ok<{ data: Document }>('POST', '/objects', { kind: 'privileges', definition })).data;
    expect(await made(`GRANT EXECUTE ON PROCEDURE run(text) TO ${ROLE}`)).to.deep.include({
      id: `${ROLE} on run(text)`,
      definition: EXECUTE,
    });
    expect(await made('REVOKE ALL ON ROUTINE rows() FROM PUBLIC')).to.deep.include({
      id: 'public on rows()',
      definition: [],
    });
    expect(await made('REVOKE EXECUTE ON FUNCTION half(int) FROM PUBLIC')).to.deep.include({ id: PUBLIC_ID });
    expect(await made('REVOKE EXECUTE ON FUNCTION "All"(VARIADIC parts text[]) FROM PUBLIC')).to.deep.include({
      id: 'public on "All"(text[])',
    });
    expect(await existing()).to.deep.equal(['run PUBLIC', `run ${ROLE}`]);
    await api.ok('PATCH', path(PUBLIC_ID), { definition: 'REVOKE EXECUTE ON FUNCTION half(int4) FROM PUBLIC' });
  });

  it('have statements in a dry run and in an explanation', async () => {
    const summaries = ({ statements }: Plan) => statements.map(({ summary }) => summary);
    const body = { kind: 'privileges', id: ID, definition: GRANTABLE };
    expect(summaries(await api.ok<Plan>('POST', '/objects?dry_run', body))).to.deep.equal([
      `revoke other privileges on half(integer) from ${ROLE}`,
      `grant execute on half(integer) to ${ROLE} with grant option`,
    ]);
    const closed = { kind: 'privileges', id: PUBLIC_ID, definition: [] };
    expect(summaries(await api.ok<Plan>('POST', '/objects?explain', closed))).to.deep.equal([
      'revoke execute on half(integer) from PUBLIC',
    ]);
    expect(await existing()).to.deep.equal(['half PUBLIC']);
    await revoke();
    expect(summaries(await api.ok<Plan>('DELETE', `${path(PUBLIC_ID)}?dry_run`))).to.deep.equal([
      'grant execute on half(integer) to PUBLIC',
    ]);
  });

  for (const [title, body, message] of [
    ['EXECUTE for PUBLIC as a list', { id: PUBLIC_ID, definition: EXECUTE }, 'PUBLIC has EXECUTE'],
    ['EXECUTE for PUBLIC', { definition: 'GRANT EXECUTE ON FUNCTION half(integer) TO PUBLIC' }, 'PUBLIC has EXECUTE'],
    ['an empty list for a role', { id: ID, definition: [] }, 'must not be empty'],
    ['another privilege', { id: ID, definition: [{ name: 'SELECT' }] }, 'EXECUTE'],
    ['EXECUTE on a table', { id: `${ROLE} on half`, definition: EXECUTE }, 'with the name DELETE'],
    ['columns', { id: ID, definition: [{ name: 'EXECUTE', columns: ['a'] }] }, 'does not apply to columns'],
    ['a missing overload', { id: `${ROLE} on half(bigint)`, definition: EXECUTE }, 'not a managed function'],
    ['another spelling of a type', { id: `${ROLE} on half(int)`, definition: EXECUTE }, 'not a managed function'],
    ['needless quotes', { id: `${ROLE} on "half"(integer)`, definition: EXECUTE }, 'id must be'],
    ['a function of PostgreSQL', { id: 'public on pg_sleep(double precision)', definition: [] }, 'not a managed'],
    ['no argument types', { definition: `GRANT EXECUTE ON FUNCTION half TO ${ROLE}` }, 'one role'],
    ['two functions', { definition: `GRANT EXECUTE ON FUNCTION half(int), half(text) TO ${ROLE}` }, 'one role'],
    ['all functions', { definition: `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO ${ROLE}` }, 'one role'],
    ['REVOKE from a role', { definition: `REVOKE EXECUTE ON FUNCTION half(int) FROM ${ROLE}` }, 'one role'],
    ['REVOKE with CASCADE', { definition: 'REVOKE EXECUTE ON FUNCTION half(int) FROM PUBLIC CASCADE' }, 'FROM PUBLIC'],
    [
      'REVOKE of the grant option',
      { definition: 'REVOKE GRANT OPTION FOR EXECUTE ON FUNCTION half(int) FROM PUBLIC' },
      'FROM PUBLIC',
    ],
    [
      'another statement after it',
      { definition: 'REVOKE EXECUTE ON FUNCTION half(int) FROM PUBLIC; DROP FUNCTION half(int)' },
      'GRANT',
    ],
    [
      'REVOKE and GRANT',
      {
        definition: 'REVOKE EXECUTE ON FUNCTION half(int) FROM PUBLIC; GRANT EXECUTE ON FUNCTION half(int) TO PUBLIC',
      },
      'PUBLIC has EXECUTE',
    ],
    ['a schema', { definition: `GRANT EXECUTE ON FUNCTION public.half(int) TO ${ROLE}` }, 'without a schema'],
    ['SELECT', { definition: `GRANT SELECT ON FUNCTION half(int) TO ${ROLE}` }, 'EXECUTE'],
    ['a session role', { definition: 'REVOKE EXECUTE ON FUNCTION half(int) FROM CURRENT_USER' }, 'CURRENT_USER'],
    ['code in the id', { id: `${ROLE} on half(integer) TO x; DROP TABLE y; --()`, definition: EXECUTE }, 'managed'],
  ] as const)
    it(`rejects ${title} and changes nothing`, async () => {
      const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/objects', {
        kind: 'privileges',
        ...body,
      });
      expect(error.message).to.contain(message);
      expect([await existing(), await listed()]).to.deep.equal([['half PUBLIC'], []]);
    });

  it('reject the owner, a missing role and a second object', async () => {
    const [{ owner } = { owner: '' }] = await api.sql<{ owner: string }>('SELECT current_user::text AS owner');
    const role = /^[a-z_][a-z0-9_]*$/.test(owner) ? owner : `"${owner}"`;
    const body = (id: string) => ({ kind: 'privileges', id, definition: EXECUTE });
    const refused = { status: 422, code: 'DATABASE_REFUSED' };
    const own = await api.refused(refused, 'POST', '/objects', body(`${role} on half(integer)`));
    expect(own.message).to.contain(`the role "${owner}" owns "half(integer)"`);
    const missing = await api.ok<Plan>('POST', '/objects?dry_run', body('nobody on half(integer)'));
    expect(missing.accepted).to.equal(false);
    expect(missing.warnings.map(({ code }) => code)).to.include('ROLE_NEEDED');
    await grant(ID);
    await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', '/objects', body(ID));
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', `${path(ID)}/rename`, { to: 'other' });
  });

  it('survive CREATE OR REPLACE, a new signature, and the change to a function that it uses', async () => {
    await create(
      'function',
      'CREATE FUNCTION quarter(value integer) RETURNS integer LANGUAGE sql BEGIN ATOMIC SELECT half(half(value)); END',
    );
    await grant(ID, GRANTABLE);
    await revoke();
    await revoke('public on quarter(integer)');
    const expected = [`half ${ROLE} grantable`];
    await api.ok('PATCH', path('half(integer)', 'function'), { definition: HALF.replace('/ 2', '>> 1') });
    expect(await existing()).to.deep.equal(expected);
    const plan = await api.ok<Plan>('PATCH', `${path('half(integer)', 'function')}?dry_run`, {
      definition: RENAMED_ARGUMENT,
    });
    expect(plan.statements.map(({ summary }) => summary)).to.deep.equal([
      'drop function quarter(integer)',
      'drop function half(integer)',
      'change function half(integer)',
      'recreate function quarter(integer)',
      `revoke other privileges on half(integer) from ${ROLE}`,
      `grant execute on half(integer) to ${ROLE} with grant option`,
      'revoke execute on half(integer) from PUBLIC',
      'revoke execute on quarter(integer) from PUBLIC',
    ]);
    const head = await api.head();
    await api.ok('PATCH', path('half(integer)', 'function'), { definition: RENAMED_ARGUMENT });
    expect(await existing()).to.deep.equal(expected);
    expect(await eventsSince(head)).to.deep.equal(['object.updated function half(integer)']);
  });

  it('can be changed in the batch that creates their function again', async () => {
    await grant(ID);
    await revoke();
    const now = await snapshot();
    const objects = now.objects.filter(({ kind }) => kind === 'function');
    await apply({ ...now, objects: objects.map((each) => ({ ...each, definition: RENAMED_ARGUMENT })) });
    expect([await existing(), await listed()]).to.deep.equal([['half PUBLIC'], []]);
    const other = { kind: 'privileges', id: PUBLIC_ID, definition: [], comment: null };
    await apply({ ...now, objects: [...objects, other] });
    expect([await existing(), await listed()]).to.deep.equal([[], [PUBLIC_ID]]);
  });

  it('are unmanaged properties of a function that is created again, unless they are objects', async () => {
    await api.sql(
      `REVOKE ALL ON FUNCTION half(integer) FROM PUBLIC; GRANT EXECUTE ON FUNCTION half(integer) TO pg_read_all_stats`,
    );
    await grant(ID);
    await api.ok('PATCH', path('half(integer)', 'function'), { definition: RENAMED_ARGUMENT });
    expect(await existing()).to.deep.equal([`half ${ROLE}`, 'half pg_read_all_stats']);
  });

  it('follow renames as events, in both directions', async () => {
    await grant(ID);
    await revoke();
    const past = await snapshot();
    const position = await api.head();
    await api.ok('POST', `${path('half(integer)', 'function')}/rename`, { to: 'Half' });
    expect(await eventsSince(position)).to.have.members([
      'object.renamed function half(integer)',
      `object.renamed privileges ${ID}`,
      `object.renamed privileges ${PUBLIC_ID}`,
    ]);
    expect(await listed()).to.deep.equal([`${ROLE} on "Half"(integer)`, 'public on "Half"(integer)']);
    expect(await existing()).to.deep.equal([`Half ${ROLE}`]);
    const back = await api.ok<{ diff: { objects: { id: string }[] } }>('GET', `/history/diff?to=${position}`);
    expect(back.diff.objects.map(({ id }) => id)).to.deep.equal(['half(integer)']);
    await api.ok('POST', '/schema/apply', back);
    expect(await diffTo(past)).to.deep.equal(NOTHING);
    expect(await existing()).to.deep.equal([`half ${ROLE}`]);
  });

  it('are deleted with their function, and belong to one overload only', async () => {
    await create('function', HALF.replaceAll('integer', 'numeric'));
    await grant(ID);
    await revoke();
    await revoke('public on half(numeric)');
    const now = await snapshot();
    const kept = now.objects.filter(({ id }) => !id.endsWith('half(integer)'));
    const head = await api.head();
    await apply({ ...now, objects: kept });
    expect(await eventsSince(head)).to.have.members([
      `object.deleted privileges ${ID}`,
      `object.deleted privileges ${PUBLIC_ID}`,
      'object.deleted function half(integer)',
    ]);
    expect([await existing(), await listed()]).to.deep.equal([[], ['public on half(numeric)']]);
    await api.ok('DELETE', path('half(numeric)', 'function'));
    expect(await listed()).to.deep.equal([]);
  });

  it('are granted again if a procedure replaces the function', async () => {
    await grant(ID);
    await revoke();
    const now = await snapshot();
    const definition = 'CREATE PROCEDURE half(value integer) LANGUAGE sql AS $$ SELECT value $$';
    const procedure = { kind: 'procedure', id: 'half(integer)', definition, comment: null };
    const other = { ...now, objects: now.objects.map((each) => (each.kind === 'function' ? procedure : each)) };
    await apply(other);
    expect(await existing()).to.deep.equal([`half ${ROLE}`]);
    expect(await diffTo(other)).to.deep.equal(NOTHING);
    await apply(now);
    expect(await existing()).to.deep.equal([`half ${ROLE}`]);
  });

  it('change between points in time, and are exported as SQL', async () => {
    await grant(ID, GRANTABLE);
    await revoke();
    const position = await api.head();
    const past = await snapshot();
    const { text } = await api.client('/history/snapshot?export=sql');
    expect(text).to.contain('REVOKE ALL ON ROUTINE "public"."half"(integer) FROM PUBLIC');
    expect(text).to.contain(`GRANT EXECUTE ON ROUTINE "public"."half"(integer) TO "${ROLE}" WITH GRANT OPTION`);
    await api.ok('DELETE', path('half(integer)', 'function'));
    expect(await api.ok('GET', `/history/snapshot?at=${position}`)).to.deep.equal(past);
    await api.goTo(position);
    expect(await existing()).to.deep.equal([`half ${ROLE} grantable`]);
    expect(await diffTo(past)).to.deep.equal(NOTHING);
    await apply(await emptied());
    await api.sql(text);
    expect(await existing()).to.deep.equal([`half ${ROLE} grantable`]);
    await api.sql('DROP FUNCTION half(integer)');
  });

  it('are applied from snapshots without a difference afterwards, even with default privileges', async () => {
    await grant(ID);
    await revoke();
    const now = await snapshot();
    const spelled = (text: string) => ({
      ...now,
      objects: now.objects.map((each) => (each.id === PUBLIC_ID ? { ...each, definition: text } : each)),
    });
    expect(await diffTo(spelled('REVOKE ALL ON FUNCTION half(int) FROM PUBLIC'))).to.deep.equal(NOTHING);
    await apply(await emptied());
    await api.sql('ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO pg_monitor WITH GRANT OPTION');
    await apply(now);
    expect(await existing()).to.deep.equal([`half ${ROLE}`]);
    expect(await diffTo(now)).to.deep.equal(NOTHING);
    expect(await snapshot()).to.deep.equal(now);
  });

  it('have findings about EXECUTE for everyone, and about lost privileges', async () => {
    const definer = HALF.replace('LANGUAGE', 'SECURITY DEFINER LANGUAGE');
    const at = path('half(integer)', 'function');
    expect(await found('PATCH', at, { definition: definer })).to.deep.equal(['SECURITY_DEFINER_PUBLIC_EXECUTE']);
    const closing = { kind: 'privileges', id: PUBLIC_ID, definition: [] };
    expect(await found('POST', '/objects', closing)).to.deep.equal(['CHANGES_PRIVILEGES', 'PRIVILEGE_LOST']);
    await revoke();
    expect(await found('PATCH', at, { definition: definer })).to.deep.equal([]);
    await api.ok('PATCH', at, { definition: definer });
    expect(await found('DELETE', path(PUBLIC_ID))).to.deep.equal([
      'CHANGES_PRIVILEGES',
      'PUBLIC_PRIVILEGE',
      'SECURITY_DEFINER_PUBLIC_EXECUTE',
    ]);
    await grant(ID, GRANTABLE);
    expect(await found('PATCH', path(ID), { definition: EXECUTE })).to.deep.equal([
      'CHANGES_PRIVILEGES',
      'PRIVILEGE_LOST',
    ]);
    expect(await found('DELETE', at)).to.deep.equal([]);
    const now = await snapshot();
    await apply(await emptied());
    const { diff, hash } = await api.ok<{ diff: object; hash: string }>('POST', '/schema/diff', now);
    expect(new Set(await found('POST', '/schema/apply', { diff, hash }))).to.deep.equal(
      new Set(['CHANGES_PRIVILEGES']),
    );
  });

  it('report unmanaged privileges that a replaced function had', async () => {
    await api.sql(`GRANT EXECUTE ON FUNCTION half(integer) TO ${ROLE}`);
    const now = await snapshot();
    const definition = 'CREATE PROCEDURE half(value integer) LANGUAGE sql AS $$ SELECT value $$';
    const other = { ...now, objects: [{ kind: 'procedure', id: 'half(integer)', definition, comment: null }] };
    const { diff, hash } = await api.ok<{ diff: object; hash: string }>('POST', '/schema/diff', other);
    const { warnings } = await api.ok<Plan>('POST', '/schema/apply?dry_run', { diff, hash });
    expect(warnings.find(({ code }) => code === 'PRIVILEGE_LOST')?.message).to.contain(`"${ID}" are not managed`);
  });

  it('are not revoked from PUBLIC if another role has granted EXECUTE to PUBLIC', async () => {
    await admin('CREATE ROLE dps_test_giver');
    try {
      await grant('dps_test_giver on half(integer)', GRANTABLE);
      await admin(
        'SET ROLE dps_test_giver',
        'GRANT EXECUTE ON FUNCTION half(integer) TO PUBLIC',
        `GRANT EXECUTE ON FUNCTION half(integer) TO ${ROLE}`,
        'RESET ROLE',
      );
      expect(await listed()).to.deep.equal(['dps_test_giver on half(integer)']);
      const refused = { status: 422, code: 'DATABASE_REFUSED' };
      const body = { kind: 'privileges', id: PUBLIC_ID, definition: [] };
      const error = await api.refused(refused, 'POST', '/objects', body);
      expect(error.message).to.contain('a role other than the owner has granted EXECUTE on "half(integer)" to PUBLIC');
      const at = path('dps_test_giver on half(integer)');
      expect((await api.refused(refused, 'DELETE', at)).message).to.contain('dependent privileges exist');
      await admin('SET ROLE dps_test_giver', 'REVOKE ALL ON FUNCTION half(integer) FROM PUBLIC', 'RESET ROLE');
      await revoke();
      await api.ok('DELETE', path('half(integer)', 'function'));
    } finally {
      await admin('DROP OWNED BY dps_test_giver', 'DROP ROLE dps_test_giver');
    }
  });

  it('distinguish a role named "PUBLIC" from PUBLIC, and outlive it', async () => {
    await admin('CREATE ROLE "PUBLIC"');
    try {
      await grant('"PUBLIC" on half(integer)');
      await revoke();
      expect(await listed()).to.deep.equal(['"PUBLIC" on half(integer)', PUBLIC_ID]);
      const [row] = await api.sql(
        `SELECT has_function_privilege('pg_monitor', 'half(integer)', 'EXECUTE') AS everyone, has_function_privilege((SELECT oid FROM pg_roles WHERE rolname = 'PUBLIC'), 'half(integer)'::regprocedure, 'EXECUTE') AS role`,
      );
      expect(row).to.deep.equal({ everyone: false, role: true });
    } finally {
      await admin('DROP OWNED BY "PUBLIC"', 'DROP ROLE "PUBLIC"');
    }
    await api.ok('DELETE', path('"PUBLIC" on half(integer)'));
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/objects', {
      kind: 'privileges',
      id: '"public" on half(integer)',
      definition: EXECUTE,
    });
  });

  it('are distinguished from privileges on a table with the name of a function', async () => {
    const collection = 'half(integer)';
    await api.ok('POST', '/collections', {
      collection,
      schema: {},
      fields: [{ field: 'id', type: 'integer', interface: 'input', schema: { is_primary_key: true } }],
    });
    await revoke();
    await grant(`${ROLE} on "half(integer)"`, [{ name: 'SELECT' }]);
    await grant(ID);
    const query = `/objects?collection=${encodeURIComponent(collection)}`;
    const { data } = await api.ok<{ data: Document[] }>('GET', query);
    expect(data.map(({ id }) => id)).to.deep.equal([`${ROLE} on "half(integer)"`]);
    await api.ok('DELETE', `/collections/${encodeURIComponent(collection)}`);
    expect(await listed()).to.deep.equal([ID, PUBLIC_ID]);
  });

  it('are adopted with their function, but not those of extensions and of unmanaged functions', async () => {
    await api.sql(`
      CREATE FUNCTION loose(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1';
      REVOKE ALL ON FUNCTION loose(integer) FROM PUBLIC; GRANT EXECUTE ON FUNCTION loose(integer) TO ${ROLE};
      CREATE TYPE span AS RANGE (subtype = integer); REVOKE ALL ON FUNCTION span(integer, integer) FROM PUBLIC`);
    await admin('CREATE EXTENSION hstore', 'REVOKE ALL ON FUNCTION akeys(hstore) FROM PUBLIC');
    interface Adoption {
      objects: { id: string }[];
      not_represented: { kind: string; name: string; code: string }[];
    }
    const drift = await api.ok<{ unmanaged_objects: Document[] }>('GET', '/schema/drift');
    const unmanaged = drift.unmanaged_objects.flatMap(({ kind, id }) => (kind === 'privileges' ? [id] : []));
    expect(unmanaged).to.deep.equal([`${ROLE} on loose(integer)`, 'public on loose(integer)']);
    for (const [id, message] of [
      ['public on loose(integer)', 'it uses "loose(integer)", which is not managed'],
      ['public on akeys(hstore)', 'belongs to the extension'],
    ] as const) {
      const one = { objects: [{ kind: 'privileges', id }] };
      const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/schema/adopt', one);
      expect(error.message).to.contain(message);
    }
    const before = await existing();
    const adopted = await api.ok<Adoption>('POST', '/schema/adopt', { all: true });
    expect(adopted.objects.map(({ id }) => id)).to.have.members([
      'span',
      'loose(integer)',
      `${ROLE} on loose(integer)`,
      'public on loose(integer)',
    ]);
    expect(adopted.not_represented.filter(({ kind }) => kind === 'privilege')).to.deep.equal([]);
    expect(await existing()).to.deep.equal(before);
  });

  it('are proved', async () => {
    await grant(ID);
    const now = await snapshot();
    const closed = { kind: 'privileges', id: PUBLIC_ID, definition: [], comment: null };
    const { diff, hash } = await api.ok<{ diff: object; hash: string }>('POST', '/schema/diff', {
      ...now,
      objects: [...now.objects.filter(({ id }) => id !== ID), closed],
    });
    const plan = await api.ok<Plan & { proof: object }>('POST', '/schema/apply?dry_run&prove', { diff, hash });
    expect(plan.proof).to.deep.equal({ differences: [], properties: [] });
  });

  it('stay with OBJECTS=off, and when the projections are rebuilt', async () => {
    await grant(ID);
    await revoke();
    const other = await startService({ DATABASE_URL: service.databaseUrl });
    try {
      const reply = await clientOf(other)('/collections', json({ collection: 'plain', schema: {}, fields: [] }));
      expect(reply.status, reply.text).to.be.oneOf([200, 201]);
    } finally {
      await other.stop();
    }
    await api.ok('POST', '/projections/tables/rebuild');
    await api.ok('POST', '/projections/metadata/rebuild');
    expect(await existing()).to.deep.equal([`half ${ROLE}`]);
  });
});
