import { join } from 'node:path';
import { expect } from 'chai';
import { dps } from '../support/dps.js';
import {
  objectPath,
  objectRequests,
  NOTHING,
  type Document,
  type Plan,
  type Method,
} from '../support/object-requests.js';
import { temporaryDirectory } from '../support/postgres.js';
import { withService } from '../support/with-service.js';

const ROLE = 'pg_monitor';
const ID = `${ROLE} on schema billing`;
const PUBLIC_ID = 'public on schema public';
const USAGE = [{ name: 'USAGE' }];
const BOTH = [{ name: 'CREATE' }, { name: 'USAGE', grantable: true }];
const SETTINGS = { OBJECTS: 'on', DB_SCHEMAS: 'public,billing' };

describe('privileges on schemas', () => {
  const { api, service } = withService({ settings: SETTINGS, each: true, consistent: true });
  const requests = objectRequests({ api, service });
  const { admin, apply, diffTo, drift, emptied, listed, snapshot } = requests;
  const grant = (id = ID, definition: unknown = USAGE) => requests.grant(id, definition);
  const messages = (method: Method, at: string, body?: object) =>
    requests.messages(/PRIVILEGE|^ROLE_NEEDED$/, method, at, body);

  const path = (id = ID): string => objectPath('privileges', id);
  const privilegesOn = async (schema: string): Promise<string[]> =>
    (
      await api.sql<{ text: string }>(
        `SELECT concat_ws(' ', coalesce(r.rolname, 'PUBLIC'), x.privilege_type, CASE WHEN x.is_grantable THEN 'grantable' END) AS text
           FROM pg_namespace n, aclexplode(n.nspacl) x LEFT JOIN pg_roles r ON r.oid = x.grantee
          WHERE n.nspname = '${schema}' AND x.grantee <> n.nspowner
          ORDER BY concat_ws(' ', coalesce(r.rolname, 'PUBLIC'), x.privilege_type) COLLATE "C"`,
      )
    ).map(({ text }) => text);
  const existing = () => privilegesOn('billing');
  /** On PostgreSQL 14, a superuser owns the schema public. */
  const ownPublic = async (): Promise<void> => {
    const [owned] = await api.sql<{ owner: string; role: string }>(
      "SELECT nspowner::regrole::text AS owner, quote_ident(current_user) AS role FROM pg_namespace WHERE nspname = 'public'",
    );
    if (owned?.owner !== 'pg_database_owner') await admin(`ALTER SCHEMA public OWNER TO ${owned?.role}`);
  };

  it('are granted, changed and revoked', async () => {
    expect(await grant(ID, BOTH)).to.deep.equal({ kind: 'privileges', id: ID, definition: BOTH, comment: null });
    expect(await existing()).to.deep.equal([`${ROLE} CREATE`, `${ROLE} USAGE grantable`]);
    await api.ok('PATCH', path(), { definition: USAGE });
    expect(await existing()).to.deep.equal([`${ROLE} USAGE`]);
    await api.ok('PATCH', path(), { definition: `GRANT CREATE ON SCHEMA billing TO ${ROLE}` });
    expect(await existing()).to.deep.equal([`${ROLE} CREATE`]);
    await grant('public on schema billing');
    expect(await existing()).to.deep.equal(['PUBLIC USAGE', `${ROLE} CREATE`]);
    await api.ok('DELETE', path('public on schema billing'));
    await api.ok('DELETE', path());
    expect([await existing(), await listed()]).to.deep.equal([[], []]);
  });

  it('can be a statement, also about the default schema', async () => {
    await ownPublic();
    const create = async (definition: string) =>
      (await api.ok<{ data: Document }>('POST', '/objects', { kind: 'privileges', definition })).data;
    const before = await privilegesOn('public');
    expect(await create(`GRANT USAGE, CREATE ON SCHEMA billing TO ${ROLE}`)).to.deep.include({
      id: ID,
      definition: [{ name: 'CREATE' }, { name: 'USAGE' }],
    });
    const data = await create(`GRANT USAGE ON SCHEMA public TO ${ROLE} WITH GRANT OPTION`);
    expect(data).to.deep.include({ id: `${ROLE} on schema public` });
    expect(await privilegesOn('public')).to.deep.equal([...before, `${ROLE} USAGE grantable`]);
    expect(await drift()).to.deep.include({ ok: true, objects: [], unmanaged_objects: [] });
    const now = await snapshot();
    expect(await diffTo(now)).to.deep.equal(NOTHING);
    await apply(await emptied());
    expect([await existing(), await privilegesOn('public')]).to.deep.equal([[], before]);
    await apply(now);
    expect(await snapshot()).to.deep.equal(now);
  });

  it('do not include those of PUBLIC on the schema public, which can be restricted and restored', async () => {
    await ownPublic();
    const initial = await privilegesOn('public');
    expect(initial).to.include('PUBLIC USAGE');
    expect(await drift()).to.deep.include({ ok: true, unmanaged_objects: [] });
    expect((await api.ok<{ objects: object[] }>('POST', '/schema/adopt', { all: true })).objects).to.deep.equal([]);
    const { data } = await api.ok<{ data: Document }>('POST', '/objects', {
      kind: 'privileges',
      definition: 'REVOKE ALL ON SCHEMA public FROM PUBLIC',
    });
    expect(data).to.deep.include({ id: PUBLIC_ID, definition: [] });
    expect(await privilegesOn('public')).to.deep.equal([]);
    expect(await drift()).to.deep.include({ ok: true, unmanaged_objects: [] });
    await api.ok('PATCH', path(PUBLIC_ID), { definition: USAGE });
    expect(await privilegesOn('public')).to.deep.equal(['PUBLIC USAGE']);
    expect(await drift()).to.deep.include({ ok: true, objects: [], unmanaged_objects: [] });
    await api.ok('PATCH', path(PUBLIC_ID), {
      definition: 'REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT CREATE, USAGE ON SCHEMA public TO PUBLIC',
    });
    expect(await privilegesOn('public')).to.deep.equal(['PUBLIC CREATE', 'PUBLIC USAGE']);
    expect(await drift()).to.deep.include({ ok: true, objects: [], unmanaged_objects: [] });
    await api.ok('DELETE', path(PUBLIC_ID));
    expect([await privilegesOn('public'), await listed()]).to.deep.equal([initial, []]);
  });

  it('are restored at points in time, and exported as SQL', async () => {
    await grant(ID, BOTH);
    const position = await api.head();
    const past = await snapshot();
    const { text } = await api.client('/history/snapshot?export=sql');
    expect(text).to.contain(`GRANT USAGE ON SCHEMA "billing" TO "${ROLE}" WITH GRANT OPTION`);
    await api.ok('DELETE', path());
    expect(await api.ok('GET', `/history/snapshot?at=${position}`)).to.deep.equal(past);
    await api.goTo(position);
    expect(await existing()).to.deep.equal([`${ROLE} CREATE`, `${ROLE} USAGE grantable`]);
    await api.ok('DELETE', path());
    await api.sql(text);
    expect(await existing()).to.deep.equal([`${ROLE} CREATE`, `${ROLE} USAGE grantable`]);
    await api.sql(`REVOKE ALL ON SCHEMA billing FROM ${ROLE}`);
  });

  it('have findings if every role gets them, if the role is missing, and if they change or are lost', async () => {
    const changes = (verb: string, id: string): string =>
      `CHANGES_PRIVILEGES: ${verb} privileges "${id}": other roles may find or create objects in the schema afterwards`;
    const body = (id: string, definition: unknown) => ({ kind: 'privileges', id, definition });
    expect(await messages('POST', '/objects', body(ID, BOTH))).to.deep.equal([changes('create', ID)]);
    const all = 'public on schema billing';
    expect(await messages('POST', '/objects', body(all, USAGE))).to.deep.equal([
      changes('create', all),
      'PUBLIC_PRIVILEGE: every role gets USAGE on schema "billing"',
    ]);
    await ownPublic();
    expect(await messages('POST', '/objects', body(PUBLIC_ID, []))).to.deep.equal([
      changes('create', PUBLIC_ID),
      'PRIVILEGE_LOST: PUBLIC loses USAGE on schema "public"',
    ]);
    expect(await messages('POST', '/objects', body(PUBLIC_ID, USAGE))).to.deep.equal([changes('create', PUBLIC_ID)]);
    await grant(PUBLIC_ID, []);
    expect(await messages('DELETE', path(PUBLIC_ID))).to.deep.equal([
      changes('drop', PUBLIC_ID),
      'PUBLIC_PRIVILEGE: every role gets USAGE on schema "public" again',
    ]);
    await grant(ID, BOTH);
    expect(await messages('PATCH', path(), { definition: USAGE })).to.deep.equal([
      changes('change', ID),
      `PRIVILEGE_LOST: "${ROLE}" loses CREATE, USAGE on schema "billing"`,
    ]);
    const missing = 'dps_test_nobody on schema billing';
    const plan = await api.ok<Plan>('POST', '/objects?dry_run', body(missing, USAGE));
    expect(plan.accepted).to.equal(false);
    expect(plan.warnings.map(({ code }) => code)).to.include('ROLE_NEEDED');
    await api.ok('PUT', '/policy', { findings: { PRIVILEGE_LOST: 'approve' } });
    await api.refused({ status: 422, code: 'POLICY_REFUSED' }, 'DELETE', path());
  });

  it('are proved, and can be changed in a change request', async () => {
    const head = await api.head();
    await grant();
    const planned = await api.ok<object>('POST', '/schema/diff', {
      ...(await snapshot()),
      objects: [{ kind: 'privileges', id: 'pg_read_all_data on schema billing', definition: BOTH, comment: null }],
    });
    const plan = await api.ok<{ proof: object }>('POST', '/schema/apply?dry_run&prove', planned);
    expect(plan.proof).to.deep.equal({ differences: [], properties: [] });
    const diff = await api.ok<object>('GET', `/history/diff?to=${head}`);
    const { data } = await api.ok<{ data: { id: string } }>('POST', '/changes', { title: 'Revoke them', diff });
    await api.ok('POST', `/changes/${data.id}/apply`, {});
    expect([await existing(), await listed()]).to.deep.equal([[], []]);
  });

  it('have drift, which is repaired or accepted', async () => {
    const subject = { kind: 'privileges', id: ID };
    await grant(ID, BOTH);
    await api.sql(`REVOKE CREATE ON SCHEMA billing FROM ${ROLE}; GRANT USAGE ON SCHEMA billing TO pg_read_all_data`);
    const found = await drift();
    expect(found.objects.map(({ object, kind }) => [object, kind])).to.deep.equal([[subject, 'different']]);
    expect(found.unmanaged_objects).to.deep.equal([{ ...subject, id: 'pg_read_all_data on schema billing' }]);
    await api.ok('POST', '/projections/tables/rebuild');
    expect(await existing()).to.deep.equal([`${ROLE} CREATE`, `${ROLE} USAGE grantable`, 'pg_read_all_data USAGE']);
    await api.sql(`REVOKE ALL ON SCHEMA billing FROM ${ROLE}`);
    await api.ok('POST', '/schema/drift/accept', { objects: [subject] });
    expect(await listed()).to.deep.equal([]);
    const adopted = await api.ok<{ objects: Document[] }>('POST', '/schema/adopt', { all: true });
    expect(adopted.objects.map(({ id }) => id)).to.deep.equal(['pg_read_all_data on schema billing']);
    expect(await drift()).to.deep.include({ ok: true, objects: [], unmanaged_objects: [] });
  });

  it('of PUBLIC that someone changed are unmanaged until they are adopted', async () => {
    await ownPublic();
    const found = { kind: 'privileges', id: PUBLIC_ID };
    await api.sql('REVOKE ALL ON SCHEMA public FROM PUBLIC');
    expect(await drift()).to.deep.include({ ok: true, unmanaged_objects: [found] });
    await api.ok('POST', '/schema/adopt', { objects: [found] });
    expect(await listed()).to.deep.equal([PUBLIC_ID]);
    await api.sql('GRANT USAGE ON SCHEMA public TO PUBLIC');
    expect((await drift()).objects.map(({ object, kind }) => [object, kind])).to.deep.equal([[found, 'different']]);
    await api.ok('POST', '/schema/drift/accept', { objects: [found] });
    const { data } = await api.ok<{ data: Document }>('GET', path(PUBLIC_ID));
    expect(data.definition).to.deep.equal(USAGE);
  });

  it('are rejected for a schema of another role, because PostgreSQL would only warn', async () => {
    await grant();
    const [role] = await api.sql<{ name: string }>('SELECT quote_ident(current_user) AS name');
    await admin(
      'CREATE ROLE dps_test_other',
      'ALTER SCHEMA billing OWNER TO dps_test_other',
      `GRANT USAGE, CREATE ON SCHEMA billing TO ${role?.name}`,
    );
    try {
      const before = [await existing(), await listed()];
      for (const [method, at, body] of [
        ['POST', '/objects', { kind: 'privileges', id: 'public on schema billing', definition: USAGE }],
        ['POST', '/objects', { kind: 'privileges', id: 'pg_read_all_data on schema billing', definition: USAGE }],
        ['PATCH', path(), { definition: BOTH }],
        ['DELETE', path(), undefined],
      ] as const) {
        const { message } = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, method, at, body);
        expect(message).to.contain('the database role of the service does not own schema "billing"');
      }
      expect([await existing(), await listed()]).to.deep.equal(before);
    } finally {
      await admin(
        `ALTER SCHEMA billing OWNER TO ${role?.name}`,
        'DROP OWNED BY dps_test_other',
        'DROP ROLE dps_test_other',
      );
    }
  });

  it('of the owner and of the role of the service cannot be managed', async () => {
    const [role] = await api.sql<{ name: string }>('SELECT current_user::text AS name');
    const { message } = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', '/objects', {
      kind: 'privileges',
      id: `"${role?.name}" on schema billing`.replace(/^"([a-z_][a-z0-9_]*)"/, '$1'),
      definition: USAGE,
    });
    expect(message).to.contain('owns schema "billing" or is a database role of the service');
  });

  it('of both sides are merged, and different lists are a conflict', async () => {
    await grant();
    const base = await api.head();
    const origin = await snapshot();
    const other = { kind: 'privileges', id: 'public on schema billing', definition: USAGE, comment: null };
    await api.ok('PATCH', path(), { definition: BOTH });
    const merged = await api.ok('POST', '/schema/merge', {
      base,
      theirs: { ...origin, objects: [...origin.objects, other] },
    });
    await api.ok('POST', '/schema/apply', merged);
    expect(await listed()).to.have.members([ID, other.id]);
    expect(await existing()).to.deep.equal(['PUBLIC USAGE', `${ROLE} CREATE`, `${ROLE} USAGE grantable`]);
    const objects = origin.objects.map((each) => ({ ...each, definition: [{ name: 'CREATE' }] }));
    const body = { base, theirs: { ...origin, objects } };
    await api.refused({ status: 409, code: 'MERGE_CONFLICT' }, 'POST', '/schema/merge', body);
  });

  it('are named if a backup does not contain them', async () => {
    await api.ok('POST', '/collections', { collection: 'billing.notes', schema: { schema: 'billing' }, fields: [] });
    await api.sql(`GRANT USAGE ON SCHEMA billing TO ${ROLE}`);
    const target = join(await temporaryDirectory(), 'backup');
    const { code, out, err } = await dps(['backup', target], { ...SETTINGS, DATABASE_URL: service.databaseUrl });
    expect(code, err).to.equal(0);
    expect(out).to.contain(`privileges on schemas: ${ROLE} on billing`);
  });

  it('stay when the projections are rebuilt', async () => {
    await grant();
    await api.ok('POST', '/projections/tables/rebuild');
    await api.ok('POST', '/projections/metadata/rebuild');
    expect(await existing()).to.deep.equal([`${ROLE} USAGE`]);
  });
});

describe('new privileges on schemas', () => {
  const { api } = withService({ settings: SETTINGS });

  for (const [title, body, message] of [
    ['a schema that is not managed', { id: `${ROLE} on schema others`, definition: USAGE }, 'a managed schema'],
    ['a statement about such a schema', { definition: `GRANT USAGE ON SCHEMA others TO ${ROLE}` }, 'a managed schema'],
    ["the service's own schema", { definition: `GRANT USAGE ON SCHEMA service TO ${ROLE}` }, 'a managed schema'],
    ['a privilege on tables', { id: ID, definition: [{ name: 'SELECT' }] }, 'the name CREATE, USAGE'],
    ['CREATE on a table', { id: `${ROLE} on billing`, definition: [{ name: 'CREATE' }] }, 'with the name DELETE'],
    ['columns', { id: ID, definition: [{ name: 'USAGE', columns: ['a'] }] }, 'does not apply to columns'],
    ['an empty list', { id: ID, definition: [] }, 'must not be empty'],
    ['an empty list for PUBLIC', { id: 'public on schema billing', definition: [] }, 'must not be empty'],
    ['a grant option for PUBLIC', { id: PUBLIC_ID, definition: BOTH }, 'PUBLIC grantable'],
    ['ALL', { definition: `GRANT ALL ON SCHEMA billing TO ${ROLE}` }, 'instead of ALL'],
    ['needless quotes', { id: `${ROLE} on schema "billing"`, definition: USAGE }, 'id must be'],
    ['a name with a schema', { id: `${ROLE} on schema public.billing`, definition: USAGE }, 'id must be'],
    ['two schemas', { definition: `GRANT USAGE ON SCHEMA public, billing TO ${ROLE}` }, 'one role'],
    ['REVOKE from a role', { definition: `REVOKE USAGE ON SCHEMA billing FROM ${ROLE}` }, 'one role'],
    ['REVOKE of one privilege', { definition: 'REVOKE CREATE ON SCHEMA public FROM PUBLIC' }, 'REVOKE ALL ON SCHEMA'],
    ['REVOKE with CASCADE', { definition: 'REVOKE ALL ON SCHEMA public FROM PUBLIC CASCADE' }, 'FROM PUBLIC'],
    ['another statement', { definition: `GRANT USAGE ON SCHEMA billing TO ${ROLE}; DROP SCHEMA others` }, 'GRANT'],
  ] as const)
    it(`rejects ${title}`, async () => {
      const request = { kind: 'privileges', ...body };
      const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/objects', request);
      expect(error.message).to.contain(message);
      expect((await api.ok<{ data: Document[] }>('GET', '/objects?kind=privileges')).data).to.deep.equal([]);
    });

  it('rejects a snapshot with a schema that is not managed', async () => {
    const objects = [{ kind: 'privileges', id: `${ROLE} on schema others`, definition: USAGE, comment: null }];
    const body = { ...(await api.ok<object>('GET', '/schema/snapshot')), objects };
    const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/schema/diff', body);
    expect(error.message).to.contain('"billing", a managed schema (DB_SCHEMAS), not "others"');
  });
});
