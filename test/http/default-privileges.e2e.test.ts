import { join } from 'node:path';
import { expect } from 'chai';
import { json } from '../support/client.js';
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
const ID = `${ROLE} on new tables`;
const IN_BILLING = `${ROLE} on new tables in schema billing`;
const CLOSED = 'public on new functions';
const SELECT = [{ name: 'SELECT' }];
const BOTH = [{ name: 'INSERT', grantable: true }, { name: 'SELECT' }];
const SETTINGS = { OBJECTS: 'on', DB_SCHEMAS: 'public,billing' };
const DOUBLE = 'CREATE FUNCTION double(value integer) RETURNS integer LANGUAGE sql AS $$ SELECT 2 * value $$';

const named = (id: string, definition: unknown) => ({ kind: 'privileges', id, definition });
const document = (id: string, definition: unknown): Document => ({ ...named(id, definition), comment: null });

describe('default privileges', () => {
  const { api, service } = withService({ settings: SETTINGS, each: true, consistent: true });
  const requests = objectRequests({ api, service });
  const { admin, apply, create, diffTo, drift, listed, snapshot } = requests;
  const grant = (id = ID, definition: unknown = SELECT) => requests.grant(id, definition);
  const messages = (method: Method, at: string, body?: object) =>
    requests.messages(/PRIVILEGE|^SECURITY|^ROLE_NEEDED$/, method, at, body);

  const path = (id = ID): string => objectPath('privileges', id);
  const createTable = (collection: string, schema: object = {}) =>
    api.ok('POST', '/collections', { collection, schema, fields: [] });
  const definitionOf = async (id: string) => (await api.ok<{ data: Document }>('GET', path(id))).data.definition;
  const texts = async (query: string): Promise<string[]> =>
    (await api.sql<{ text: string }>(query)).map(({ text }) => text);
  /** The default privileges of the role of the service: `tables in billing: pg_monitor SELECT`. */
  const existing = () =>
    texts(
      `SELECT concat_ws(' ', CASE d.defaclobjtype WHEN 'r' THEN 'tables' WHEN 'S' THEN 'sequences' WHEN 'f' THEN 'functions' ELSE 'types' END,
              'in ' || n.nspname) || ': ' || coalesce((SELECT string_agg(concat_ws(' ', coalesce(r.rolname, 'PUBLIC'), x.privilege_type,
              CASE WHEN x.is_grantable THEN 'grantable' END), ', ' ORDER BY r.rolname, x.privilege_type)
              FROM aclexplode(d.defaclacl) x LEFT JOIN pg_roles r ON r.oid = x.grantee WHERE x.grantee <> d.defaclrole), 'none') AS text
         FROM pg_default_acl d LEFT JOIN pg_namespace n ON n.oid = d.defaclnamespace
        WHERE d.defaclrole = current_user::regrole ORDER BY d.defaclnamespace, d.defaclobjtype`,
    );
  const privilegesOf = (list: string): Promise<string[]> =>
    texts(
      `SELECT concat_ws(' ', coalesce(r.rolname, 'PUBLIC'), x.privilege_type, CASE WHEN x.is_grantable THEN 'grantable' END) AS text
         FROM aclexplode((${list})) x LEFT JOIN pg_roles r ON r.oid = x.grantee
        WHERE r.rolname IS DISTINCT FROM current_user ORDER BY 1`,
    );
  const onTable = (name: string) => privilegesOf(`SELECT relacl FROM pg_class WHERE oid = '${name}'::regclass`);
  const onFunction = (name: string) => privilegesOf(`SELECT proacl FROM pg_proc WHERE proname = '${name}'`);
  const onType = (name: string) => privilegesOf(`SELECT typacl FROM pg_type WHERE oid = '${name}'::regtype`);
  const expectNoDrift = async () =>
    expect(await drift()).to.deep.include({ ok: true, objects: [], unmanaged_objects: [] });

  it('are created, changed and deleted', async () => {
    expect(await grant(ID, BOTH)).to.deep.equal(document(ID, BOTH));
    await grant(IN_BILLING);
    expect(await existing()).to.deep.equal([
      `tables: ${ROLE} INSERT grantable, ${ROLE} SELECT`,
      `tables in billing: ${ROLE} SELECT`,
    ]);
    await api.ok('PATCH', path(), { definition: [{ name: 'INSERT' }, { name: 'UPDATE' }] });
    await api.ok('PATCH', path(IN_BILLING), {
      definition: `ALTER DEFAULT PRIVILEGES IN SCHEMA billing GRANT DELETE ON TABLES TO ${ROLE} WITH GRANT OPTION`,
    });
    expect(await existing()).to.deep.equal([
      `tables: ${ROLE} INSERT, ${ROLE} UPDATE`,
      `tables in billing: ${ROLE} DELETE grantable`,
    ]);
    await expectNoDrift();
    await api.ok('DELETE', path());
    await api.ok('DELETE', path(IN_BILLING));
    expect([await existing(), await listed()]).to.deep.equal([[], []]);
  });

  it('can be statements about all kinds of objects', async () => {
    for (const [definition, id] of [
      [`ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO ${ROLE}`, ID],
      [
        `ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO PUBLIC`,
        'public on new tables in schema public',
      ],
      [`ALTER DEFAULT PRIVILEGES GRANT USAGE, SELECT ON SEQUENCES TO ${ROLE}`, `${ROLE} on new sequences`],
      ['ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON ROUTINES FROM PUBLIC', CLOSED],
      [`ALTER DEFAULT PRIVILEGES GRANT ALL ON FUNCTIONS TO ${ROLE}`, `${ROLE} on new functions`],
      ['ALTER DEFAULT PRIVILEGES REVOKE ALL ON TYPES FROM PUBLIC', 'public on new types'],
      [
        'ALTER DEFAULT PRIVILEGES IN SCHEMA billing GRANT USAGE ON TYPES TO PUBLIC',
        'public on new types in schema billing',
      ],
    ] as const)
      expect(
        (await api.ok<{ data: Document }>('POST', '/objects', { kind: 'privileges', definition })).data.id,
      ).to.equal(id);
    const all = [
      `tables: ${ROLE} SELECT`,
      `sequences: ${ROLE} SELECT, ${ROLE} USAGE`,
      `functions: ${ROLE} EXECUTE`,
      'types: none',
      'tables in public: PUBLIC SELECT',
      'types in billing: PUBLIC USAGE',
    ];
    expect(await existing()).to.have.members(all);
    await expectNoDrift();
    const now = await snapshot();
    expect(await diffTo(now)).to.deep.equal(NOTHING);
    await apply({ ...now, objects: [] });
    expect(await existing()).to.deep.equal([]);
    await apply(now);
    expect(await existing()).to.have.members(all);
    expect(await snapshot()).to.deep.equal(now);
  });

  it('are granted on new tables, in the log too', async () => {
    await grant(ID, BOTH);
    await grant(IN_BILLING, [{ name: 'UPDATE' }]);
    await grant('public on new tables in schema public');
    const plan = await api.ok<Plan & { events: { type: string; subject?: object }[] }>('POST', '/collections?dry_run', {
      collection: 'members',
      schema: {},
      fields: [],
    });
    expect(plan.events.filter(({ type }) => type === 'object.created').map(({ subject }) => subject)).to.deep.equal([
      { kind: 'privileges', id: `${ROLE} on members` },
      { kind: 'privileges', id: 'public on members' },
    ]);
    await createTable('members');
    await api.ok('POST', '/collections', [
      { collection: 'billing.invoices', schema: { schema: 'billing' }, fields: [] },
      { collection: 'folder', schema: null },
    ]);
    expect(await onTable('members')).to.deep.equal(['PUBLIC SELECT', `${ROLE} INSERT grantable`, `${ROLE} SELECT`]);
    expect(await definitionOf(`${ROLE} on billing.invoices`)).to.deep.equal([
      { name: 'INSERT', grantable: true },
      { name: 'SELECT' },
      { name: 'UPDATE' },
    ]);
    expect(await onTable('billing.invoices')).to.deep.equal([
      `${ROLE} INSERT grantable`,
      `${ROLE} SELECT`,
      `${ROLE} UPDATE`,
    ]);
    await expectNoDrift();
    await api.ok('DELETE', '/collections/members');
    expect(await listed()).to.not.include(`${ROLE} on members`);
  });

  it('are granted on new views, sequences, functions and types, in the log too', async () => {
    await createTable('members');
    for (const [id, definition] of [
      [ID, SELECT],
      [`${ROLE} on new sequences`, [{ name: 'USAGE' }]],
      [`${ROLE} on new functions`, [{ name: 'EXECUTE' }]],
      ['public on new types', []],
      [CLOSED, []],
      ['public on new functions in schema billing', [{ name: 'EXECUTE' }]],
    ] as const)
      await grant(id, definition);
    const before = await listed();
    await create('view', 'CREATE VIEW ids AS SELECT id FROM members');
    await create('materialized_view', 'CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS members FROM members');
    await create('sequence', 'CREATE SEQUENCE numbers');
    await create('function', DOUBLE);
    await create('function', DOUBLE.replace('double', 'billing.twice'));
    await create('aggregate', 'CREATE AGGREGATE longest(integer) (SFUNC = int4larger, STYPE = integer)');
    await create('type', "CREATE TYPE status AS ENUM ('new')");
    await create('type', 'CREATE DOMAIN zip AS text');
    const added = (await listed()).filter((id) => !before.includes(id));
    expect(added).to.have.members([
      `${ROLE} on ids`,
      `${ROLE} on counted`,
      `${ROLE} on sequence numbers`,
      `${ROLE} on double(integer)`,
      'public on double(integer)',
      `${ROLE} on billing.twice(integer)`,
      `${ROLE} on longest(integer)`,
      'public on longest(integer)',
      'public on type status',
      'public on type zip',
    ]);
    expect(await onTable('ids')).to.deep.equal([`${ROLE} SELECT`]);
    expect(await onTable('numbers')).to.deep.equal([`${ROLE} USAGE`]);
    expect(await onFunction('double')).to.deep.equal([`${ROLE} EXECUTE`]);
    expect(await onFunction('twice')).to.deep.equal(['PUBLIC EXECUTE', `${ROLE} EXECUTE`]);
    expect(await onType('zip')).to.deep.equal([]);
    await expectNoDrift();
    const now = await snapshot();
    await api.ok('POST', '/projections/tables/rebuild');
    expect([await diffTo(now), await snapshot()]).to.deep.equal([NOTHING, now]);
  });

  it('do not reach objects that a diff creates without privileges', async () => {
    const empty = await snapshot();
    await createTable('members');
    await create('view', 'CREATE VIEW ids AS SELECT id FROM members');
    await create('function', DOUBLE);
    await create('type', "CREATE TYPE status AS ENUM ('new')");
    await create('sequence', 'CREATE SEQUENCE numbers');
    const full = await snapshot();
    await apply(empty);
    for (const [id, definition] of [
      [ID, SELECT],
      ['public on new tables', SELECT],
      [`${ROLE} on new sequences`, [{ name: 'USAGE' }]],
      [`${ROLE} on new functions`, [{ name: 'EXECUTE' }]],
      [CLOSED, []],
      ['public on new types', []],
    ] as const)
      await grant(id, definition);
    const defaults = (await snapshot()).objects;
    const planned = await api.ok<object>('POST', '/schema/diff', { ...full, objects: [...full.objects, ...defaults] });
    const { proof } = await api.ok<{ proof: object }>('POST', '/schema/apply?dry_run&prove', planned);
    expect(proof).to.deep.equal({ differences: [], properties: [] });
    await api.ok('POST', '/schema/apply', planned);
    expect((await listed()).sort()).to.deep.equal(defaults.map(({ id }) => id).sort());
    for (const name of ['members', 'ids', 'numbers']) expect(await onTable(name), name).to.deep.equal([]);
    expect([await onFunction('double'), await onType('status')]).to.deep.equal([['PUBLIC EXECUTE'], ['PUBLIC USAGE']]);
    await expectNoDrift();
  });

  it('do not apply to objects of the same diff, and those of deleted ones do not either', async () => {
    await grant(ID, SELECT);
    const before = await snapshot();
    await createTable('members');
    await create('view', 'CREATE VIEW ids AS SELECT id FROM members');
    const full = await snapshot();
    const position = await api.head();
    await apply(before);
    await apply({
      ...full,
      objects: [
        ...full.objects.filter(({ kind }) => kind !== 'privileges'),
        document(ID, BOTH),
        document('public on new tables', SELECT),
      ],
    });
    expect([await onTable('members'), await onTable('ids')]).to.deep.equal([[], []]);
    await expectNoDrift();
    await api.goTo(position);
    expect([await onTable('members'), await onTable('ids')]).to.deep.equal([[`${ROLE} SELECT`], [`${ROLE} SELECT`]]);
    expect(await existing()).to.deep.equal([`tables: ${ROLE} SELECT`]);
    expect(await snapshot()).to.deep.equal(full);
  });

  it('do not change objects that are created again', async () => {
    await createTable('members');
    await create('function', DOUBLE);
    await create('view', 'CREATE VIEW doubled AS SELECT double(id) AS id FROM members');
    await grant(CLOSED, []);
    await grant('public on new tables');
    await api.ok('PATCH', '/objects/function/double(integer)', { definition: DOUBLE.replaceAll('value', 'number') });
    expect(await onFunction('double')).to.deep.equal(['PUBLIC EXECUTE']);
    expect(await onTable('doubled')).to.deep.equal([]);
    await expectNoDrift();
  });

  it('are restored at points in time, and exported as SQL', async () => {
    await grant(ID, BOTH);
    await grant(CLOSED, []);
    await createTable('members');
    const position = await api.head();
    const past = await snapshot();
    const there = await existing();
    const { text } = await api.client('/history/snapshot?export=sql');
    expect(text).to.contain(`ALTER DEFAULT PRIVILEGES GRANT INSERT ON TABLES TO "${ROLE}" WITH GRANT OPTION`);
    expect(text).to.contain('ALTER DEFAULT PRIVILEGES REVOKE ALL ON FUNCTIONS FROM PUBLIC');
    await apply({ ...past, ...NOTHING, objects: [] });
    expect(await existing()).to.deep.equal([]);
    expect(await api.ok('GET', `/history/snapshot?at=${position}`)).to.deep.equal(past);
    await api.goTo(position);
    expect([await existing(), await snapshot()]).to.deep.equal([there, past]);
    expect(await onTable('members')).to.deep.equal([`${ROLE} INSERT grantable`, `${ROLE} SELECT`]);
    const events = await api.ok<{ data: { type: string }[] }>(
      'GET',
      `/history/objects/privileges/${encodeURIComponent(ID)}`,
    );
    expect(events.data.map(({ type }) => type)).to.include('object.deleted');
  });

  it('have findings if every role gets them, if the role is missing, and if they change or are lost', async () => {
    const changes = (verb: string, id: string): string =>
      `CHANGES_PRIVILEGES: ${verb} privileges "${id}": other roles may use objects that are created afterwards`;
    expect(await messages('POST', '/objects', named(ID, BOTH))).to.deep.equal([changes('create', ID)]);
    const all = 'public on new tables in schema billing';
    expect(await messages('POST', '/objects', named(all, SELECT))).to.deep.equal([
      changes('create', all),
      'PUBLIC_PRIVILEGE: every role gets SELECT on new tables in schema "billing"',
    ]);
    expect(await messages('POST', '/objects', named(CLOSED, []))).to.deep.equal([
      changes('create', CLOSED),
      'PRIVILEGE_LOST: PUBLIC loses EXECUTE on new functions',
    ]);
    await grant(CLOSED, []);
    const definer = `${DOUBLE} SECURITY DEFINER SET search_path = ''`;
    expect(await messages('POST', '/objects', { kind: 'function', definition: definer })).to.deep.equal([
      'CHANGES_PRIVILEGES: create privileges "public on double(integer)": other roles may execute it afterwards',
    ]);
    expect(await messages('DELETE', path(CLOSED))).to.deep.equal([
      changes('drop', CLOSED),
      'PUBLIC_PRIVILEGE: every role gets EXECUTE on new functions again',
    ]);
    await grant(ID, BOTH);
    expect(await messages('PATCH', path(), { definition: SELECT })).to.deep.equal([
      changes('change', ID),
      `PRIVILEGE_LOST: "${ROLE}" loses INSERT on new tables`,
    ]);
    const plan = await api.ok<Plan>('POST', '/objects?dry_run', named('dps_test_nobody on new tables', SELECT));
    expect(plan.accepted).to.equal(false);
    expect(plan.warnings.map(({ code }) => code)).to.include('ROLE_NEEDED');
  });

  it('have drift, which is repaired or accepted', async () => {
    const subject = { kind: 'privileges', id: ID };
    await createTable('members');
    await grant(ID, BOTH);
    await grant(CLOSED, []);
    await api.sql(`ALTER DEFAULT PRIVILEGES REVOKE INSERT ON TABLES FROM ${ROLE}`);
    await api.sql('ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO PUBLIC');
    await api.sql('ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO pg_read_all_data');
    const found = await drift();
    expect(found.objects.map(({ object, kind }) => [object, kind])).to.deep.equal([
      [subject, 'different'],
      [{ kind: 'privileges', id: CLOSED }, 'missing'],
    ]);
    expect(found.unmanaged_objects).to.deep.equal([
      { kind: 'privileges', id: 'pg_read_all_data on new tables in schema public' },
    ]);
    await api.ok('POST', '/projections/tables/rebuild');
    expect(await existing()).to.deep.equal([
      'functions: none',
      `tables: ${ROLE} INSERT grantable, ${ROLE} SELECT`,
      'tables in public: pg_read_all_data SELECT',
    ]);
    await api.sql('DROP TABLE members');
    await api.ok('POST', '/projections/tables/rebuild');
    expect(await onTable('members')).to.deep.equal(['pg_read_all_data SELECT']);
    await api.sql(`ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM ${ROLE}`);
    await api.ok('POST', '/schema/drift/accept', { objects: [subject] });
    expect(await listed()).to.deep.equal([CLOSED]);
  });

  it('are adopted, except those of other roles', async () => {
    await createTable('members');
    await api.sql(`ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO ${ROLE}, PUBLIC`);
    await api.sql('ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC');
    await admin(
      'CREATE ROLE dps_test_creator',
      `ALTER DEFAULT PRIVILEGES FOR ROLE dps_test_creator IN SCHEMA public GRANT SELECT ON TABLES TO ${ROLE}`,
    );
    try {
      const { objects, not_represented } = await api.ok<{
        objects: Document[];
        not_represented: { kind: string; name: string }[];
      }>('POST', '/schema/adopt', { all: true });
      expect(objects.map(({ id }) => id)).to.have.members([ID, 'public on new tables', CLOSED]);
      expect(not_represented.filter(({ kind }) => kind.includes('default')).map(({ name }) => name)).to.deep.equal([
        `tables of dps_test_creator in public: SELECT to ${ROLE}`,
      ]);
      expect(await definitionOf(CLOSED)).to.deep.equal([]);
      await expectNoDrift();
      const target = join(await temporaryDirectory(), 'backup');
      const { code, out, err } = await dps(['backup', target], { ...SETTINGS, DATABASE_URL: service.databaseUrl });
      expect(code, err).to.equal(0);
      expect(out).to.contain('tables of dps_test_creator in public').and.not.contain('new tables');
      expect(out.match(/default privileges/g)).to.have.lengthOf(1);
    } finally {
      await admin('DROP OWNED BY dps_test_creator', 'DROP ROLE dps_test_creator');
    }
  });

  it('of both sides are merged, and different lists are a conflict', async () => {
    await grant();
    const base = await api.head();
    const origin = await snapshot();
    const other = document(IN_BILLING, BOTH);
    await api.ok('PATCH', path(), { definition: [{ name: 'SELECT', grantable: true }] });
    const merged = await api.ok('POST', '/schema/merge', {
      base,
      theirs: { ...origin, objects: [...origin.objects, other] },
    });
    await api.ok('POST', '/schema/apply', merged);
    expect(await listed()).to.have.members([ID, IN_BILLING]);
    const objects = origin.objects.map((each) => ({ ...each, definition: [{ name: 'DELETE' }] }));
    await api.refused({ status: 409, code: 'MERGE_CONFLICT' }, 'POST', '/schema/merge', {
      base,
      theirs: { ...origin, objects },
    });
  });

  it('reject new tables of a token that is limited to collections, because it may not grant privileges', async () => {
    const { data: user } = await api.ok<{ data: { id: string } }>('GET', '/users/me');
    const { data } = await api.ok<{ data: { token: string } }>('POST', `/users/${user.id}/tokens`, {
      scope: { collections: ['shop_*'] },
    });
    const post = async (collection: string): Promise<number> =>
      (await api.client('/collections', { token: data.token, ...json({ collection, schema: {}, fields: [] }) })).status;
    expect(await post('shop_orders')).to.equal(200);
    await grant();
    expect(await post('shop_items')).to.equal(403);
    await api.ok('DELETE', path());
    expect(await post('shop_items')).to.equal(200);
  });

  it('of the role of the service cannot be managed', async () => {
    const [role] = await api.sql<{ name: string }>('SELECT current_user::text AS name');
    const id = `"${role?.name}" on new tables`.replace(/^"([a-z_][a-z0-9_]*)"/, '$1');
    const error = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', '/objects', named(id, SELECT));
    expect(error.message).to.contain('is a database role of the service');
  });
});

describe('new default privileges', () => {
  const { api } = withService({ settings: SETTINGS });
  const START = 'ALTER DEFAULT PRIVILEGES';

  for (const [title, body, message] of [
    [
      'FOR ROLE',
      { definition: `${START} FOR ROLE app GRANT SELECT ON TABLES TO ${ROLE}` },
      'must not contain FOR ROLE',
    ],
    [
      'FOR CURRENT_USER',
      { definition: `${START} FOR USER CURRENT_USER GRANT SELECT ON TABLES TO ${ROLE}` },
      'FOR ROLE',
    ],
    ['a schema that is not managed', { id: `${ID} in schema others`, definition: SELECT }, 'a managed schema'],
    [
      'a statement about such a schema',
      { definition: `${START} IN SCHEMA service GRANT SELECT ON TABLES TO ${ROLE}` },
      'a managed schema',
    ],
    ['two schemas', { definition: `${START} IN SCHEMA public, billing GRANT SELECT ON TABLES TO ${ROLE}` }, 'one role'],
    ['schemas as objects', { definition: `${START} GRANT USAGE ON SCHEMAS TO ${ROLE}` }, 'one role'],
    ['other objects', { id: `${ROLE} on new views`, definition: SELECT }, 'id must be'],
    ['columns', { id: ID, definition: [{ name: 'UPDATE', columns: ['id'] }] }, 'does not apply to columns'],
    ['EXECUTE on tables', { id: ID, definition: [{ name: 'EXECUTE' }] }, 'the name DELETE'],
    ['SELECT on functions', { definition: `${START} GRANT SELECT ON FUNCTIONS TO ${ROLE}` }, 'on new functions'],
    ['ALL on tables', { definition: `${START} GRANT ALL ON TABLES TO ${ROLE}` }, 'instead of ALL'],
    ['an empty list', { id: ID, definition: [] }, 'must not be empty'],
    ['an empty list in one schema', { id: `${CLOSED} in schema billing`, definition: [] }, 'must not be empty'],
    [
      'REVOKE in one schema',
      { definition: `${START} IN SCHEMA billing REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC` },
      'REVOKE EXECUTE',
    ],
    ['REVOKE from a role', { definition: `${START} REVOKE EXECUTE ON FUNCTIONS FROM ${ROLE}` }, 'one role'],
    ['a privilege that PUBLIC has', { id: CLOSED, definition: [{ name: 'EXECUTE' }] }, 'must be an empty list'],
    ['a grant option for PUBLIC', { id: 'public on new tables', definition: BOTH }, 'PUBLIC grantable'],
    ['two statements', { definition: `${START} GRANT SELECT ON TABLES TO ${ROLE}; DROP SCHEMA others` }, 'GRANT'],
  ] as const)
    it(`rejects ${title}`, async () => {
      const request = { kind: 'privileges', ...body };
      const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/objects', request);
      expect(error.message).to.contain(message);
      expect((await api.ok<{ data: Document[] }>('GET', '/objects?kind=privileges')).data).to.deep.equal([]);
    });

  it('rejects another name, because the name is that of the role', async () => {
    await api.ok('POST', '/objects', named(ID, SELECT));
    const error = await api.refused(
      { status: 400, code: 'INVALID_PAYLOAD' },
      'POST',
      `/objects/privileges/${encodeURIComponent(ID)}/rename`,
      { to: 'pg_read_all_data' },
    );
    expect(error.message).to.contain('has the name of its role');
    await api.ok('DELETE', `/objects/privileges/${encodeURIComponent(ID)}`);
  });
});
