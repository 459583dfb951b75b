import { expect } from 'chai';
import {
  objectPath,
  objectRequests,
  NOTHING,
  type Document,
  type Plan,
  type Method,
} from '../support/object-requests.js';
import { withService } from '../support/with-service.js';

const ROLE = 'pg_monitor';
const ID = `${ROLE} on type mood`;
const PUBLIC_ID = 'public on type mood';
const USAGE = [{ name: 'USAGE' }];
const GRANTABLE = [{ name: 'USAGE', grantable: true }];
const MOOD = "CREATE TYPE mood AS ENUM ('happy', 'sad')";
const RECREATED = "CREATE TYPE mood AS ENUM ('glad')";
const KEY = { field: 'id', type: 'integer', interface: 'input', schema: { is_primary_key: true } };

describe('privileges on types', () => {
  const { api, service } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });
  const requests = objectRequests({ api, service });
  const { admin, apply, diffTo, emptied, eventsSince, listed, snapshot, summaries } = requests;
  const grant = (id = ID, definition: unknown = USAGE) => requests.grant(id, definition);
  const create = (definition: string, kind = 'type') => requests.create(kind, definition);
  const messages = (method: Method, at: string, body?: object) => requests.messages(/PRIVILEGE/, method, at, body);

  const path = (id = ID, kind = 'privileges'): string => objectPath(kind, id);
  const mood = path('mood', 'type');
  const revoke = (id = PUBLIC_ID) => grant(id, []);
  /** The roles other than the owner that may use each type, from the access control lists. */
  const existing = async (): Promise<string[]> =>
    (
      await api.sql<{ text: string }>(
        `SELECT concat_ws(' ', t.typname, coalesce(r.rolname, 'PUBLIC'), CASE WHEN x.is_grantable THEN 'grantable' END) AS text
           FROM pg_type t, aclexplode(coalesce(t.typacl, acldefault('T', t.typowner))) x LEFT JOIN pg_roles r ON r.oid = x.grantee
          WHERE t.typnamespace = 'public'::regnamespace AND t.typcategory <> 'A' AND t.typtype <> 'm'
            AND (t.typrelid = 0 OR EXISTS (SELECT FROM pg_class c WHERE c.oid = t.typrelid AND c.relkind = 'c'))
            AND x.grantee <> t.typowner ORDER BY concat_ws(' ', t.typname, coalesce(r.rolname, 'PUBLIC')) COLLATE "C"`,
      )
    ).map(({ text }) => text);

  beforeEach(() => create(MOOD));

  it('are granted to a role and revoked from PUBLIC, which has USAGE by default', async () => {
    expect(await existing()).to.deep.equal(['mood PUBLIC']);
    expect(await grant(ID, GRANTABLE)).to.deep.equal({
      kind: 'privileges',
      id: ID,
      definition: GRANTABLE,
      comment: null,
    });
    expect(await revoke()).to.deep.include({ id: PUBLIC_ID, definition: [] });
    expect(await existing()).to.deep.equal([`mood ${ROLE} grantable`]);
    await api.ok('PATCH', path(), { definition: USAGE });
    expect(await existing()).to.deep.equal([`mood ${ROLE}`]);
    await api.ok('PATCH', path(), { definition: GRANTABLE });
    expect(await existing()).to.deep.equal([`mood ${ROLE} grantable`]);
    await api.ok('DELETE', path());
    expect(await existing()).to.deep.equal([]);
    await api.ok('DELETE', path(PUBLIC_ID));
    expect([await existing(), await listed()]).to.deep.equal([['mood PUBLIC'], []]);
  });

  it('can be statements about types of each form', async () => {
    await create('CREATE DOMAIN "E mail" AS text');
    await create('CREATE TYPE address AS (street text)');
    await create('CREATE TYPE speeds AS RANGE (SUBTYPE = float8)');
    const made = async (definition: string) =>
      (await api.ok<{ data: Document }>('POST', '/objects', { kind: 'privileges', definition })).data;
    expect(await made(`GRANT USAGE ON DOMAIN "E mail" TO ${ROLE} WITH GRANT OPTION`)).to.deep.include({
      id: `${ROLE} on type "E mail"`,
      definition: GRANTABLE,
    });
    expect(await made('REVOKE ALL ON TYPE address FROM PUBLIC')).to.deep.include({
      id: 'public on type address',
      definition: [],
    });
    expect(await made(`GRANT ALL ON TYPE speeds TO ${ROLE}`)).to.deep.include({ definition: USAGE });
    await made('REVOKE USAGE ON TYPE speeds FROM PUBLIC');
    expect(await existing()).to.deep.equal([
      'E mail PUBLIC',
      `E mail ${ROLE} grantable`,
      'mood PUBLIC',
      `speeds ${ROLE}`,
    ]);
    const now = await snapshot();
    await apply(await emptied());
    await apply(now);
    expect(await snapshot()).to.deep.equal(now);
    expect(await existing()).to.have.length(4);
    expect((await api.ok<{ ok: boolean; unmanaged_objects: object[] }>('GET', '/schema/drift')).ok).to.equal(true);
  });

  it('have statements in a dry run and in an explanation', async () => {
    const body = { kind: 'privileges', id: ID, definition: GRANTABLE };
    const statements = [
      `revoke other privileges on mood from ${ROLE}`,
      `grant usage on mood to ${ROLE} with grant option`,
    ];
    expect(await summaries('POST', '/objects', body)).to.deep.equal(statements);
    const explained = await api.ok<Plan>('POST', '/objects?explain', body);
    expect(explained.statements[1]?.sql).to.equal(`GRANT USAGE ON TYPE "public"."mood" TO "${ROLE}" WITH GRANT OPTION`);
    const closed = { kind: 'privileges', id: PUBLIC_ID, definition: [] };
    expect(await summaries('POST', '/objects', closed)).to.deep.equal(['revoke usage on mood from PUBLIC']);
    expect(await existing()).to.deep.equal(['mood PUBLIC']);
    await revoke();
    expect(await summaries('DELETE', path(PUBLIC_ID))).to.deep.equal(['grant usage on mood to PUBLIC']);
  });

  it('reject the owner, a missing role, a second object and a rename', async () => {
    const [{ owner } = { owner: '' }] = await api.sql<{ owner: string }>('SELECT current_user::text AS owner');
    const role = /^[a-z_][a-z0-9_]*$/.test(owner) ? owner : `"${owner}"`;
    const body = (id: string) => ({ kind: 'privileges', id, definition: USAGE });
    const refused = { status: 422, code: 'DATABASE_REFUSED' };
    const own = await api.refused(refused, 'POST', '/objects', body(`${role} on type mood`));
    expect(own.message).to.contain(`the role "${owner}" owns "mood"`);
    const missing = await api.ok<Plan>('POST', '/objects?dry_run', body('nobody on type mood'));
    expect(missing.accepted).to.equal(false);
    expect(missing.warnings.map(({ code }) => code)).to.include('ROLE_NEEDED');
    await grant();
    await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', '/objects', body(ID));
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', `${path()}/rename`, { to: 'other' });
  });

  it('survive when their type is created again, even with a default privilege', async () => {
    await create("CREATE VIEW moods AS SELECT 'happy'::mood::text AS one", 'view');
    await grant(ID, GRANTABLE);
    await revoke();
    const expected = [`mood ${ROLE} grantable`];
    await api.sql('ALTER DEFAULT PRIVILEGES GRANT USAGE ON TYPES TO pg_read_all_data');
    await api.ok('PATCH', mood, { definition: "CREATE TYPE mood AS ENUM ('glad', 'happy', 'sad')" });
    expect(await existing()).to.deep.equal(expected);
    const definition = "CREATE TYPE mood AS ENUM ('happy')";
    expect(await summaries('PATCH', mood, { definition })).to.include.members([
      'drop view moods',
      'change type mood',
      'recreate view moods',
      `grant usage on mood to ${ROLE} with grant option`,
      'revoke usage on mood from PUBLIC',
    ]);
    const head = await api.head();
    await api.ok('PATCH', mood, { definition });
    expect(await existing()).to.deep.equal(expected);
    expect(await eventsSince(head)).to.deep.equal(['object.updated type mood']);
    await api.ok('DELETE', path(PUBLIC_ID));
    await api.ok('DELETE', path());
    await api.ok('DELETE', path('moods', 'view'));
    await api.ok('PATCH', mood, { definition: RECREATED });
    expect(await existing()).to.deep.equal(['mood PUBLIC']);
  });

  it('can be changed in the batch that creates their type again', async () => {
    await grant();
    await revoke();
    const now = await snapshot();
    const types = now.objects.filter(({ kind }) => kind === 'type');
    await apply({ ...now, objects: types.map((each) => ({ ...each, definition: RECREATED })) });
    expect([await existing(), await listed()]).to.deep.equal([['mood PUBLIC'], []]);
    const closed = { kind: 'privileges', id: PUBLIC_ID, definition: [], comment: null };
    await apply({ ...now, objects: [...types, closed] });
    expect([await existing(), await listed()]).to.deep.equal([[], [PUBLIC_ID]]);
  });

  it('are unmanaged properties of a type that is created again, unless they are objects', async () => {
    await api.sql('REVOKE ALL ON TYPE mood FROM PUBLIC; GRANT USAGE ON TYPE mood TO pg_read_all_stats');
    await grant();
    await api.ok('PATCH', mood, { definition: RECREATED });
    expect(await existing()).to.deep.equal([`mood ${ROLE}`, 'mood pg_read_all_stats']);
  });

  it('follow renames as events, in both directions', async () => {
    await grant();
    await revoke();
    const past = await snapshot();
    const position = await api.head();
    await api.ok('POST', `${mood}/rename`, { to: 'Mood' });
    expect(await eventsSince(position)).to.have.members([
      'object.renamed type mood',
      `object.renamed privileges ${ID}`,
      `object.renamed privileges ${PUBLIC_ID}`,
    ]);
    expect(await listed()).to.deep.equal([`${ROLE} on type "Mood"`, 'public on type "Mood"']);
    expect(await existing()).to.deep.equal([`Mood ${ROLE}`]);
    const back = await api.ok<{ diff: { objects: { id: string }[] } }>('GET', `/history/diff?to=${position}`);
    expect(back.diff.objects.map(({ id }) => id)).to.deep.equal(['mood']);
    await api.ok('POST', '/schema/apply', back);
    expect(await diffTo(past)).to.deep.equal(NOTHING);
    expect(await existing()).to.deep.equal([`mood ${ROLE}`]);
  });

  it('are deleted and restored with their type', async () => {
    await grant(ID, GRANTABLE);
    await revoke();
    const past = await snapshot();
    const head = await api.head();
    expect(await summaries('DELETE', mood)).to.deep.equal(['drop type mood']);
    expect(await messages('DELETE', mood)).to.deep.equal([]);
    await api.ok('DELETE', mood);
    expect(await eventsSince(head)).to.have.members([
      `object.deleted privileges ${ID}`,
      `object.deleted privileges ${PUBLIC_ID}`,
      'object.deleted type mood',
    ]);
    await api.goTo(head);
    expect(await existing()).to.deep.equal([`mood ${ROLE} grantable`]);
    expect(await snapshot()).to.deep.equal(past);
  });

  it('are revoked if a table keeps the type, with a finding, and are adopted again with the type', async () => {
    await api.ok('DELETE', mood);
    await api.sql(`${MOOD}; CREATE TABLE members (id int PRIMARY KEY, feels mood)`);
    await api.ok('POST', '/schema/adopt', { tables: ['members'] });
    const needed = await snapshot();
    expect(JSON.stringify(needed.collections)).to.contain('"needs"');
    const one = { objects: [{ kind: 'privileges', id: ID }] };
    await api.sql(`GRANT USAGE ON TYPE mood TO ${ROLE}; REVOKE USAGE ON TYPE mood FROM PUBLIC`);
    const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/schema/adopt', one);
    expect(error.message).to.contain('it uses "mood", which is not managed');
    await api.ok('POST', '/schema/adopt', { all: true });
    expect(await listed()).to.deep.equal([ID, PUBLIC_ID]);
    const diff = await api.ok<object>('POST', '/schema/diff', needed);
    const { warnings } = await api.ok<Plan>('POST', '/schema/apply?dry_run', diff);
    const found = warnings.filter(({ code }) => /LOST|PUBLIC_/.test(code)).map(({ message }) => message);
    expect(found).to.have.members([
      `"${ROLE}" loses USAGE on type "mood"`,
      'every role gets USAGE on type "mood" again',
    ]);
    await api.ok('POST', '/schema/apply', diff);
    expect([await existing(), await listed()]).to.deep.equal([['mood PUBLIC'], []]);
  });

  it('change between points in time, and are exported as SQL', async () => {
    await grant(ID, GRANTABLE);
    await revoke();
    const position = await api.head();
    const past = await snapshot();
    const { text } = await api.client('/history/snapshot?export=sql');
    expect(text).to.contain('REVOKE ALL ON TYPE "public"."mood" FROM PUBLIC');
    expect(text).to.contain(`GRANT USAGE ON TYPE "public"."mood" TO "${ROLE}" WITH GRANT OPTION`);
    await api.ok('DELETE', path());
    expect(await api.ok('GET', `/history/snapshot?at=${position}`)).to.deep.equal(past);
    await api.goTo(position);
    expect(await existing()).to.deep.equal([`mood ${ROLE} grantable`]);
    await apply(await emptied());
    await api.sql(text);
    expect(await existing()).to.deep.equal([`mood ${ROLE} grantable`]);
    await api.sql('DROP TYPE mood');
  });

  it('are applied from snapshots without a difference afterwards, even with default privileges', async () => {
    await grant();
    await revoke();
    const now = await snapshot();
    const objects = now.objects.map((each) =>
      each.id === ID ? { ...each, definition: `GRANT ALL ON DOMAIN "mood" TO ${ROLE}` } : each,
    );
    expect(await diffTo({ ...now, objects })).to.deep.equal(NOTHING);
    await apply(await emptied());
    await api.sql(`ALTER DEFAULT PRIVILEGES GRANT USAGE ON TYPES TO ${ROLE} WITH GRANT OPTION`);
    await apply(now);
    expect(await existing()).to.deep.equal([`mood ${ROLE}`]);
    expect([await snapshot(), await diffTo(now)]).to.deep.equal([now, NOTHING]);
  });

  it('have findings if every role gets them, and if they change or are lost', async () => {
    const changes = (verb: string, id: string): string =>
      `CHANGES_PRIVILEGES: ${verb} privileges "${id}": other roles may use the type afterwards`;
    const body = (id: string, definition: unknown) => ({ kind: 'privileges', id, definition });
    expect(await messages('POST', '/objects', body(ID, GRANTABLE))).to.deep.equal([changes('create', ID)]);
    expect(await messages('POST', '/objects', body(PUBLIC_ID, []))).to.deep.equal([
      changes('create', PUBLIC_ID),
      'PRIVILEGE_LOST: PUBLIC loses USAGE on type "mood"',
    ]);
    await revoke();
    await grant(ID, GRANTABLE);
    expect(await messages('DELETE', path(PUBLIC_ID))).to.deep.equal([
      changes('drop', PUBLIC_ID),
      'PUBLIC_PRIVILEGE: every role gets USAGE on type "mood" again',
    ]);
    const lost = `PRIVILEGE_LOST: "${ROLE}" loses USAGE on type "mood"`;
    expect(await messages('PATCH', path(), { definition: USAGE })).to.deep.equal([changes('change', ID), lost]);
    expect(await messages('DELETE', path())).to.deep.equal([changes('drop', ID), lost]);
    await api.ok('PUT', '/policy', { findings: { PRIVILEGE_LOST: 'approve' } });
    await api.refused({ status: 422, code: 'POLICY_REFUSED' }, 'DELETE', path());
  });

  it('report unmanaged privileges of a type that a view replaces', async () => {
    await api.sql(`GRANT USAGE ON TYPE mood TO ${ROLE}`);
    const view = { kind: 'view', id: 'mood', definition: 'CREATE VIEW mood AS SELECT 1 AS one', comment: null };
    const diff = await api.ok<object>('POST', '/schema/diff', { ...(await snapshot()), objects: [view] });
    const { warnings } = await api.ok<Plan>('POST', '/schema/apply?dry_run', diff);
    expect(warnings.find(({ code }) => code === 'PRIVILEGE_LOST')?.message).to.contain(`"${ID}" are not managed`);
  });

  it('can be changed in a change request, and are proved', async () => {
    const head = await api.head();
    await grant();
    const now = await snapshot();
    const closed = { kind: 'privileges', id: PUBLIC_ID, definition: [], comment: null };
    const to = { ...now, objects: [...now.objects.filter(({ id }) => id !== ID), closed] };
    const planned = await api.ok<object>('POST', '/schema/diff', to);
    const plan = await api.ok<{ proof: object }>('POST', '/schema/apply?dry_run&prove', planned);
    expect(plan.proof).to.deep.equal({ differences: [], properties: [] });
    const diff = await api.ok<object>('GET', `/history/diff?to=${head}`);
    const { data } = await api.ok<{ data: { id: string } }>('POST', '/changes', { title: 'Revoke them', diff });
    await api.ok('POST', `/changes/${data.id}/apply`, {});
    expect([await existing(), await listed()]).to.deep.equal([['mood PUBLIC'], []]);
  });

  it('exclude privileges that other roles passed on, which prevent their deletion', async () => {
    await admin('CREATE ROLE dps_test_giver');
    try {
      const id = 'dps_test_giver on type mood';
      await grant(id, GRANTABLE);
      await admin(
        'SET ROLE dps_test_giver',
        `GRANT USAGE ON TYPE mood TO ${ROLE}`,
        'GRANT USAGE ON TYPE mood TO PUBLIC',
        'RESET ROLE',
      );
      expect(await listed()).to.deep.equal([id]);
      expect(await api.ok<object>('GET', '/schema/drift')).to.deep.include({ ok: true, unmanaged_objects: [] });
      const refused = { status: 422, code: 'DATABASE_REFUSED' };
      expect((await api.refused(refused, 'DELETE', path(id))).message).to.contain('dependent privileges exist');
      const closed = { kind: 'privileges', id: PUBLIC_ID, definition: [] };
      expect((await api.refused(refused, 'POST', '/objects', closed)).message).to.contain(
        'a role other than the owner has granted USAGE on "mood" to PUBLIC',
      );
      await api.ok('DELETE', mood);
    } finally {
      await admin('DROP OWNED BY dps_test_giver', 'DROP ROLE dps_test_giver');
    }
  });

  it('are rejected for a type or function of another role, because PostgreSQL would only warn', async () => {
    const half = "CREATE FUNCTION half(a integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'";
    await create(half, 'function');
    await grant();
    await grant(`${ROLE} on half(integer)`, [{ name: 'EXECUTE' }]);
    await admin(
      'CREATE ROLE dps_test_other',
      'ALTER TYPE mood OWNER TO dps_test_other',
      'ALTER FUNCTION half(integer) OWNER TO dps_test_other',
    );
    try {
      const before = [await existing(), await listed()];
      const refused = { status: 422, code: 'DATABASE_REFUSED' };
      for (const [on, name] of [
        ['type mood', 'USAGE'],
        ['half(integer)', 'EXECUTE'],
      ] as const)
        for (const [method, at, body] of [
          ['POST', '/objects', { kind: 'privileges', id: `public on ${on}`, definition: [] }],
          ['POST', '/objects', { kind: 'privileges', id: `pg_read_all_data on ${on}`, definition: [{ name }] }],
          ['PATCH', path(`${ROLE} on ${on}`), { definition: [{ name, grantable: true }] }],
          ['DELETE', path(`${ROLE} on ${on}`), undefined],
        ] as const) {
          const { message } = await api.refused(refused, method, at, body);
          expect(message).to.contain('the database role of the service does not own');
        }
      expect([await existing(), await listed()]).to.deep.equal(before);
    } finally {
      await admin('REASSIGN OWNED BY dps_test_other TO CURRENT_USER', 'DROP ROLE dps_test_other');
    }
  });

  it('are adopted with their type, but not those of extensions and of row types', async () => {
    await api.sql(`CREATE DOMAIN "By hand" AS text; REVOKE ALL ON DOMAIN "By hand" FROM PUBLIC;
      GRANT USAGE ON DOMAIN "By hand" TO ${ROLE}; CREATE TYPE loose AS (a integer); GRANT USAGE ON TYPE loose TO ${ROLE}`);
    await api.ok('POST', '/collections', { collection: 'orders', schema: {}, fields: [KEY] });
    await api.sql(`GRANT USAGE ON TYPE orders TO ${ROLE}`);
    await admin('CREATE EXTENSION hstore', 'REVOKE ALL ON TYPE hstore FROM PUBLIC');
    const onHand = `${ROLE} on type "By hand"`;
    const one = { objects: [{ kind: 'privileges', id: onHand }] };
    const invalid = { status: 400, code: 'INVALID_PAYLOAD' };
    expect((await api.refused(invalid, 'POST', '/schema/adopt', one)).message).to.contain(
      'it uses "By hand", which is not managed. Adopt that first or together with it',
    );
    const before = await existing();
    interface Adoption {
      objects: Document[];
      not_represented: { kind: string; name: string }[];
    }
    const adopted = await api.ok<Adoption>('POST', '/schema/adopt', { all: true });
    expect(adopted.objects.map(({ id }) => id)).to.have.members([
      'By hand',
      onHand,
      'public on type "By hand"',
      'loose',
      `${ROLE} on type loose`,
    ]);
    expect(adopted.not_represented.filter(({ kind }) => kind === 'privilege')).to.deep.equal([]);
    expect(await existing()).to.deep.equal(before);
    expect(await diffTo(await snapshot())).to.deep.equal(NOTHING);
  });

  it('stay when the projections are rebuilt', async () => {
    await grant();
    await revoke();
    await api.ok('POST', '/projections/tables/rebuild');
    await api.ok('POST', '/projections/metadata/rebuild');
    expect(await existing()).to.deep.equal([`mood ${ROLE}`]);
  });
});

describe('new privileges on types', () => {
  const { api } = withService({ settings: { OBJECTS: 'on' } });

  before(async () => {
    await api.ok('POST', '/objects', { kind: 'type', definition: MOOD });
    await api.ok('POST', '/collections', { collection: 'orders', schema: {}, fields: [KEY] });
  });

  for (const [title, body, message] of [
    ['USAGE for PUBLIC as a list', { id: PUBLIC_ID, definition: USAGE }, 'PUBLIC has USAGE'],
    ['USAGE for PUBLIC', { definition: 'GRANT USAGE ON TYPE mood TO PUBLIC' }, 'PUBLIC has USAGE'],
    ['a privilege on tables', { id: ID, definition: [{ name: 'SELECT' }] }, 'the name USAGE'],
    ['EXECUTE', { definition: `GRANT EXECUTE ON TYPE mood TO ${ROLE}` }, 'must name USAGE'],
    ['columns', { id: ID, definition: [{ name: 'USAGE', columns: ['a'] }] }, 'does not apply to columns'],
    ['an empty list', { id: ID, definition: [] }, 'must not be empty'],
    ['another type', { id: `${ROLE} on type others`, definition: USAGE }, 'not a managed type'],
    ['a type of PostgreSQL', { id: 'public on type text', definition: [] }, 'not a managed type'],
    ['an array', { id: `${ROLE} on type _mood`, definition: USAGE }, 'not a managed type'],
    ['a type as a table', { id: `${ROLE} on mood`, definition: [{ name: 'SELECT' }] }, 'not a managed table'],
    ['a row type', { id: `${ROLE} on type orders`, definition: USAGE }, 'not a managed type'],
    ['needless quotes', { id: `${ROLE} on type "mood"`, definition: USAGE }, 'id must be'],
    ['missing quotes', { id: `${ROLE} on type Mood`, definition: USAGE }, 'id must be'],
    ['code in the id', { id: `${ROLE} on type mood TO x; DROP TABLE y`, definition: USAGE }, 'id must be'],
    ['two types', { definition: `GRANT USAGE ON TYPE mood, others TO ${ROLE}` }, 'one role'],
    ['two roles', { definition: `GRANT USAGE ON TYPE mood TO ${ROLE}, PUBLIC` }, 'one role'],
    ['a database', { definition: `GRANT USAGE ON TYPE a.public.mood TO ${ROLE}` }, 'one role'],
    ['the default schema', { definition: `GRANT USAGE ON TYPE public.mood TO ${ROLE}` }, 'without a schema'],
    ['REVOKE from a role', { definition: `REVOKE USAGE ON TYPE mood FROM ${ROLE}` }, 'one role'],
    ['REVOKE with CASCADE', { definition: 'REVOKE USAGE ON TYPE mood FROM PUBLIC CASCADE' }, 'FROM PUBLIC'],
    ['another statement', { definition: `GRANT USAGE ON TYPE mood TO ${ROLE}; DROP TABLE orders` }, 'GRANT'],
  ] as const)
    it(`rejects ${title}`, async () => {
      const request = { kind: 'privileges', ...body };
      const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/objects', request);
      expect(error.message).to.contain(message);
      expect((await api.ok<{ data: Document[] }>('GET', '/objects?kind=privileges')).data).to.deep.equal([]);
    });
});
