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
const ID = `${ROLE} on sequence numbers`;
const USAGE = [{ name: 'USAGE' }];
const BOTH = [{ name: 'SELECT' }, { name: 'USAGE', grantable: true }];
const KEY = { field: 'id', type: 'integer', interface: 'input', schema: { is_primary_key: true } };
const COUNTED = { ...KEY, schema: { is_primary_key: true, has_auto_increment: true } };

describe('privileges on sequences', () => {
  const { api, service } = withService({ settings: { OBJECTS: 'on' }, consistent: true });
  const requests = objectRequests({ api, service });
  const { admin, apply, diffTo, emptied, eventsSince, listed, snapshot, summaries } = requests;
  const grant = (id = ID, definition: unknown = USAGE) => requests.grant(id, definition);
  const found = (method: Method, at: string, body?: object) => requests.codes(/./, method, at, body);

  const path = (id = ID, kind = 'privileges'): string => objectPath(kind, id);
  const sequence = path('numbers', 'sequence');
  /** The privileges of roles other than the owner, from the access control lists. */
  const existing = async (): Promise<string[]> =>
    (
      await api.sql<{ text: string }>(
        `SELECT concat_ws(' ', c.relname, coalesce(r.rolname, 'PUBLIC'), x.privilege_type, CASE WHEN x.is_grantable THEN 'grantable' END) AS text
           FROM pg_class c, aclexplode(c.relacl) x LEFT JOIN pg_roles r ON r.oid = x.grantee
          WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'S' AND x.grantee <> c.relowner ORDER BY 1`,
      )
    ).map(({ text }) => text);

  beforeEach(() => api.ok('POST', '/objects', { kind: 'sequence', definition: 'CREATE SEQUENCE numbers START 1000' }));

  afterEach(async () => {
    await apply(await emptied());
  });

  it('are granted, changed and revoked', async () => {
    expect(await grant(ID, BOTH)).to.deep.equal({ kind: 'privileges', id: ID, definition: BOTH, comment: null });
    expect(await existing()).to.deep.equal([`numbers ${ROLE} SELECT`, `numbers ${ROLE} USAGE grantable`]);
    await api.ok('PATCH', path(), { definition: [{ name: 'UPDATE' }, { name: 'USAGE' }] });
    expect(await existing()).to.deep.equal([`numbers ${ROLE} UPDATE`, `numbers ${ROLE} USAGE`]);
    await grant('public on sequence numbers', [{ name: 'SELECT' }]);
    await api.ok('DELETE', path());
    expect(await existing()).to.deep.equal(['numbers PUBLIC SELECT']);
    await api.ok('DELETE', path('public on sequence numbers'));
    expect([await existing(), await listed()]).to.deep.equal([[], []]);
  });

  it('can be GRANT statements', async () => {
    await api.ok('POST', '/objects', { kind: 'sequence', definition: 'CREATE SEQUENCE "Table on x"' });
    const definition = `GRANT SELECT, UPDATE ON SEQUENCE "Table on x" TO ${ROLE}; GRANT USAGE ON SEQUENCE "Table on x" TO ${ROLE} WITH GRANT OPTION`;
    const { data } = await api.ok<{ data: Document }>('POST', '/objects', { kind: 'privileges', definition });
    expect(data).to.deep.include({
      id: `${ROLE} on sequence "Table on x"`,
      definition: [{ name: 'SELECT' }, { name: 'UPDATE' }, { name: 'USAGE', grantable: true }],
    });
    const head = await api.head();
    await api.ok('PATCH', path(data.id), { definition });
    expect(await api.head(), 'nothing changes').to.equal(head);
    expect(await listed()).to.deep.equal([data.id]);
  });

  it('have statements in a dry run and in an explanation', async () => {
    const body = { kind: 'privileges', id: ID, definition: BOTH };
    const statements = [
      `revoke other privileges on numbers from ${ROLE}`,
      `grant select on numbers to ${ROLE}`,
      `grant usage on numbers to ${ROLE} with grant option`,
    ];
    expect(await summaries('POST', '/objects', body)).to.deep.equal(statements);
    const explained = await api.ok<Plan>('POST', '/objects?explain', body);
    expect(explained.statements.map(({ summary }) => summary)).to.deep.equal(statements);
    expect(explained.statements[1]?.sql).to.equal(`GRANT SELECT ON SEQUENCE "public"."numbers" TO "${ROLE}"`);
    expect(await existing()).to.deep.equal([]);
  });

  it('reject the owner, a missing role, a second object and a rename', async () => {
    const [{ owner } = { owner: '' }] = await api.sql<{ owner: string }>('SELECT current_user::text AS owner');
    const role = /^[a-z_][a-z0-9_]*$/.test(owner) ? owner : `"${owner}"`;
    const body = (id: string) => ({ kind: 'privileges', id, definition: USAGE });
    const refused = { status: 422, code: 'DATABASE_REFUSED' };
    const own = await api.refused(refused, 'POST', '/objects', body(`${role} on sequence numbers`));
    expect(own.message).to.contain(`the role "${owner}" owns "numbers"`);
    const missing = await api.ok<Plan>('POST', '/objects?dry_run', body('nobody on sequence numbers'));
    expect(missing.accepted).to.equal(false);
    expect(missing.warnings.map(({ code }) => code)).to.include('ROLE_NEEDED');
    await grant();
    await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', '/objects', body(ID));
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', `${path()}/rename`, { to: 'other' });
  });

  it('stay when the options of the sequence change, and replace all privileges that the role had before', async () => {
    await api.sql(
      `GRANT ALL ON SEQUENCE numbers TO ${ROLE} WITH GRANT OPTION; GRANT SELECT (last_value) ON numbers TO ${ROLE}`,
    );
    await grant();
    expect(await existing()).to.deep.equal([`numbers ${ROLE} USAGE`]);
    await api.ok('PATCH', sequence, { definition: 'CREATE SEQUENCE numbers AS integer CYCLE' });
    expect(await existing()).to.deep.equal([`numbers ${ROLE} USAGE`]);
  });

  it('follow renames as events, in both directions', async () => {
    await grant();
    const past = await snapshot();
    const position = await api.head();
    await api.ok('POST', `${sequence}/rename`, { to: 'Numbers' });
    expect(await eventsSince(position)).to.have.members([
      'object.renamed sequence numbers',
      `object.renamed privileges ${ID}`,
    ]);
    expect(await listed()).to.deep.equal([`${ROLE} on sequence "Numbers"`]);
    expect(await existing()).to.deep.equal([`Numbers ${ROLE} USAGE`]);
    const back = await api.ok<{ diff: { objects: { id: string }[] } }>('GET', `/history/diff?to=${position}`);
    expect(back.diff.objects.map(({ id }) => id)).to.deep.equal(['numbers']);
    await api.ok('POST', '/schema/apply', back);
    expect(await diffTo(past)).to.deep.equal(NOTHING);
    expect(await existing()).to.deep.equal([`numbers ${ROLE} USAGE`]);
  });

  it('are deleted and restored with their sequence', async () => {
    await grant(ID, BOTH);
    const past = await snapshot();
    const head = await api.head();
    expect(await summaries('DELETE', sequence)).to.deep.equal(['drop sequence numbers']);
    expect(await found('DELETE', sequence)).to.deep.equal(['DROPS_SEQUENCE']);
    await api.ok('DELETE', sequence);
    expect(await eventsSince(head)).to.have.members([
      `object.deleted privileges ${ID}`,
      'object.deleted sequence numbers',
    ]);
    await api.goTo(head);
    expect(await existing()).to.deep.equal([`numbers ${ROLE} SELECT`, `numbers ${ROLE} USAGE grantable`]);
    expect(await snapshot()).to.deep.equal(past);
  });

  it('are granted again on a sequence that replaces a view, and vice versa', async () => {
    await grant(ID, [{ name: 'SELECT' }]);
    const now = await snapshot();
    const view = { kind: 'view', id: 'numbers', definition: 'CREATE VIEW numbers AS SELECT 1 AS one', comment: null };
    const onView = { kind: 'privileges', id: `${ROLE} on numbers`, definition: [{ name: 'DELETE' }], comment: null };
    const other = { ...now, objects: [view, onView] };
    await apply(other);
    expect([await existing(), await diffTo(other)]).to.deep.equal([[], NOTHING]);
    await apply(now);
    expect([await existing(), await diffTo(now)]).to.deep.equal([[`numbers ${ROLE} SELECT`], NOTHING]);
  });

  it('are revoked if a table keeps the sequence, with a finding', async () => {
    await grant();
    await api.ok('POST', '/collections', {
      collection: 'orders',
      schema: { extras: { needs: [{ kind: 'sequence', name: 'numbers', start: '1000' }] } },
      fields: [
        KEY,
        {
          field: 'number',
          type: 'bigInteger',
          interface: 'input',
          schema: { has_auto_increment: true, extras: { default: `nextval('numbers'::regclass)` } },
        },
      ],
    });
    const { warnings } = await api.ok<Plan>('DELETE', `${sequence}?dry_run`);
    expect(warnings.find(({ code }) => code === 'PRIVILEGE_LOST')?.message).to.equal(
      `"${ROLE}" loses USAGE on sequence "numbers"`,
    );
    await api.ok('DELETE', sequence);
    expect([await existing(), await listed()]).to.deep.equal([[], []]);
    await api.sql(`GRANT USAGE ON SEQUENCE numbers TO ${ROLE}`);
    const one = { objects: [{ kind: 'privileges', id: ID }] };
    const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/schema/adopt', one);
    expect(error.message).to.contain('it uses "numbers", which is not managed');
    await api.ok('POST', '/schema/adopt', { objects: [{ kind: 'sequence', id: 'numbers' }, ...one.objects] });
    expect(await listed()).to.deep.equal([ID]);
    await api.ok('DELETE', '/collections/orders?purge');
    expect(await existing()).to.deep.equal([`numbers ${ROLE} USAGE`]);
  });

  it('change between points in time, and are exported as SQL', async () => {
    await grant(ID, BOTH);
    const position = await api.head();
    const past = await snapshot();
    const { text } = await api.client('/history/snapshot?export=sql');
    expect(text).to.contain(`GRANT USAGE ON SEQUENCE "public"."numbers" TO "${ROLE}" WITH GRANT OPTION`);
    await api.ok('DELETE', path());
    expect(await api.ok('GET', `/history/snapshot?at=${position}`)).to.deep.equal(past);
    await api.goTo(position);
    expect(await existing()).to.deep.equal([`numbers ${ROLE} SELECT`, `numbers ${ROLE} USAGE grantable`]);
    await apply(await emptied());
    await api.sql(text);
    expect(await existing()).to.deep.equal([`numbers ${ROLE} SELECT`, `numbers ${ROLE} USAGE grantable`]);
    await api.sql('DROP SEQUENCE numbers');
  });

  it('are applied from snapshots without a difference afterwards, even with default privileges', async () => {
    await grant();
    const now = await snapshot();
    const spelled = `GRANT USAGE ON SEQUENCE "numbers" TO ${ROLE}`;
    const objects = now.objects.map((each) => (each.id === ID ? { ...each, definition: spelled } : each));
    expect(await diffTo({ ...now, objects })).to.deep.equal(NOTHING);
    await apply(await emptied());
    await api.sql(`ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO ${ROLE} WITH GRANT OPTION`);
    await apply(now);
    expect(await existing()).to.deep.equal([`numbers ${ROLE} USAGE`]);
    expect(await snapshot()).to.deep.equal(now);
    expect(await diffTo(now)).to.deep.equal(NOTHING);
    await api.sql(`ALTER DEFAULT PRIVILEGES REVOKE ALL ON SEQUENCES FROM ${ROLE}`);
  });

  it('have findings if they are public, changed or lost', async () => {
    expect(await found('POST', '/objects', { kind: 'privileges', id: ID, definition: BOTH })).to.deep.equal([
      'CHANGES_PRIVILEGES',
    ]);
    const everyone = { kind: 'privileges', id: 'public on sequence numbers', definition: USAGE };
    const { warnings } = await api.ok<Plan>('POST', '/objects?dry_run', everyone);
    expect(warnings.map(({ code, message }) => `${code}: ${message}`)).to.have.members([
      'CHANGES_PRIVILEGES: create privileges "public on sequence numbers": other roles may use the sequence afterwards',
      'PUBLIC_PRIVILEGE: every role gets USAGE on sequence "numbers"',
    ]);
    await grant(ID, BOTH);
    for (const definition of [USAGE, [{ name: 'SELECT' }]])
      expect(await found('PATCH', path(), { definition })).to.deep.equal(['CHANGES_PRIVILEGES', 'PRIVILEGE_LOST']);
    expect(await found('DELETE', path())).to.deep.equal(['CHANGES_PRIVILEGES', 'PRIVILEGE_LOST']);
    await api.ok('PUT', '/policy', { findings: { PRIVILEGE_LOST: 'approve' } });
    await api.refused({ status: 422, code: 'POLICY_REFUSED' }, 'DELETE', path());
    await api.ok('PUT', '/policy', {});
  });

  it('can be changed in a change request', async () => {
    const head = await api.head();
    await grant();
    const diff = await api.ok<object>('GET', `/history/diff?to=${head}`);
    const { data } = await api.ok<{ data: { id: string } }>('POST', '/changes', { title: 'Revoke them', diff });
    await api.ok('POST', `/changes/${data.id}/apply`, {});
    expect([await existing(), await listed()]).to.deep.equal([[], []]);
  });

  it('are proved', async () => {
    await grant();
    const now = await snapshot();
    const to = {
      ...now,
      objects: [
        ...now.objects.filter(({ id }) => id !== ID),
        { kind: 'privileges', id: 'public on sequence numbers', definition: USAGE, comment: null },
      ],
    };
    const changes = await api.ok<object>('POST', '/schema/diff', to);
    const plan = await api.ok<{ proof: object }>('POST', '/schema/apply?prove', changes);
    expect(plan.proof).to.deep.include({ differences: [], properties: [] });
  });

  it('exclude privileges that other roles passed on, which prevent their deletion', async () => {
    await admin('CREATE ROLE dps_test_giver');
    try {
      const id = 'dps_test_giver on sequence numbers';
      await grant(id, BOTH);
      await admin('SET ROLE dps_test_giver', `GRANT USAGE ON SEQUENCE numbers TO ${ROLE}`, 'RESET ROLE');
      expect(await listed()).to.deep.equal([id]);
      const drift = await api.ok<object>('GET', '/schema/drift');
      expect(drift).to.deep.include({ ok: true, unmanaged_objects: [] });
      const refused = { status: 422, code: 'DATABASE_REFUSED' };
      expect((await api.refused(refused, 'DELETE', path(id))).message).to.contain('dependent privileges exist');
      await api.ok('DELETE', sequence);
    } finally {
      await admin('DROP OWNED BY dps_test_giver', 'DROP ROLE dps_test_giver');
    }
  });

  it('are adopted with their sequence, but not those on sequences of columns', async () => {
    await api.sql(`CREATE SEQUENCE "By hand"; GRANT USAGE ON SEQUENCE "By hand" TO ${ROLE}; CREATE SEQUENCE loose;
      GRANT SELECT (last_value) ON loose TO ${ROLE}; GRANT SELECT ON SEQUENCE loose TO PUBLIC`);
    await api.ok('POST', '/collections', { collection: 'orders', schema: {}, fields: [COUNTED] });
    await api.sql(`GRANT USAGE ON SEQUENCE orders_id_seq TO ${ROLE}`);
    const onHand = `${ROLE} on sequence "By hand"`;
    const one = { objects: [{ kind: 'privileges', id: onHand }] };
    const invalid = { status: 400, code: 'INVALID_PAYLOAD' };
    expect((await api.refused(invalid, 'POST', '/schema/adopt', one)).message).to.contain(
      'it uses "By hand", which is not managed. Adopt that first or together with it',
    );
    const before = await existing();
    interface Adoption {
      objects: Document[];
      rejected?: { object: Document; message: string }[];
      not_represented: { kind: string; name: string; code: string }[];
    }
    const adopted = await api.ok<Adoption>('POST', '/schema/adopt', { all: true });
    expect(adopted.objects.map(({ id }) => id)).to.deep.equal(['By hand', onHand, 'loose', 'public on sequence loose']);
    expect(adopted.not_represented).to.deep.include({
      table: onHand,
      kind: 'role',
      name: ROLE,
      code: 'OBJECT_NEEDED',
      message: `role "${ROLE}": create it before you apply a snapshot with this object elsewhere`,
    });
    expect(await existing()).to.deep.equal(before);
  });

  it('stay when the projections are rebuilt', async () => {
    await grant();
    await api.ok('POST', '/projections/tables/rebuild');
    await api.ok('POST', '/projections/metadata/rebuild');
    expect(await existing()).to.deep.equal([`numbers ${ROLE} USAGE`]);
  });
});

describe('new privileges on sequences', () => {
  const { api } = withService({ settings: { OBJECTS: 'on' } });

  before(async () => {
    await api.ok('POST', '/objects', { kind: 'sequence', definition: 'CREATE SEQUENCE numbers START 1000' });
    await api.ok('POST', '/collections', { collection: 'orders', schema: {}, fields: [COUNTED] });
  });

  for (const [title, body, message] of [
    ['a privilege on tables', { id: ID, definition: [{ name: 'INSERT' }] }, 'the name SELECT, UPDATE, USAGE'],
    ['INSERT in GRANT', { definition: `GRANT INSERT ON SEQUENCE numbers TO ${ROLE}` }, 'SELECT, UPDATE, USAGE'],
    ['columns', { id: ID, definition: [{ name: 'USAGE', columns: ['last_value'] }] }, 'does not apply to columns'],
    ['columns in GRANT', { definition: `GRANT USAGE (last_value) ON SEQUENCE numbers TO ${ROLE}` }, 'to columns'],
    ['an empty list', { id: ID, definition: [] }, 'must not be empty'],
    ['a grant option for PUBLIC', { id: 'public on sequence numbers', definition: BOTH }, 'of PUBLIC grantable'],
    ['another sequence', { id: `${ROLE} on sequence others`, definition: USAGE }, 'not a managed sequence'],
    ['a sequence as a table', { id: `${ROLE} on numbers`, definition: [{ name: 'SELECT' }] }, 'not a managed table'],
    ['USAGE on a table', { id: `${ROLE} on numbers`, definition: USAGE }, 'with the name DELETE'],
    ['a table as a sequence', { id: `${ROLE} on sequence orders`, definition: USAGE }, 'not a managed sequence'],
    ['a sequence of a column', { id: `${ROLE} on sequence orders_id_seq`, definition: USAGE }, 'not a managed seq'],
    ['needless quotes', { id: `${ROLE} on sequence "numbers"`, definition: USAGE }, 'id must be'],
    ['missing quotes', { id: `${ROLE} on sequence Numbers`, definition: USAGE }, 'id must be'],
    ['code in the id', { id: `${ROLE} on sequence numbers TO x; DROP TABLE y`, definition: USAGE }, 'id must be'],
    ['two sequences', { definition: `GRANT USAGE ON SEQUENCE numbers, others TO ${ROLE}` }, 'one role'],
    ['two roles', { definition: `GRANT USAGE ON SEQUENCE numbers TO ${ROLE}, PUBLIC` }, 'one role'],
    ['all sequences', { definition: `GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${ROLE}` }, 'one role'],
    ['ALL', { definition: `GRANT ALL ON SEQUENCE numbers TO ${ROLE}` }, 'instead of ALL'],
    ['REVOKE', { definition: 'REVOKE USAGE ON SEQUENCE numbers FROM PUBLIC' }, 'must be GRANT'],
    ['a schema', { definition: `GRANT USAGE ON SEQUENCE public.numbers TO ${ROLE}` }, 'without a schema'],
    ['another grantor', { definition: `GRANT USAGE ON SEQUENCE numbers TO ${ROLE} GRANTED BY postgres` }, 'one role'],
    ['a session role', { definition: 'GRANT USAGE ON SEQUENCE numbers TO CURRENT_USER' }, 'CURRENT_USER'],
    ['another statement', { definition: `GRANT USAGE ON SEQUENCE numbers TO ${ROLE}; DROP TABLE orders` }, 'GRANT'],
    [
      'a grant on something else',
      { definition: `GRANT USAGE ON SEQUENCE numbers TO ${ROLE}; GRANT SELECT ON numbers TO ${ROLE}` },
      'one role',
    ],
  ] as const)
    it(`rejects ${title}`, async () => {
      const request = { kind: 'privileges', ...body };
      const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/objects', request);
      expect(error.message).to.contain(message);
      expect((await api.ok<{ data: Document[] }>('GET', '/objects?kind=privileges')).data).to.deep.equal([]);
    });
});
