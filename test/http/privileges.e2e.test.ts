import { expect } from 'chai';
import { clientOf, json } from '../support/client.js';
import { asSuperuser } from '../support/postgres.js';
import { startService } from '../support/service.js';
import { withService } from '../support/with-service.js';

const field = (name: string, type: string) => ({ field: name, type, interface: 'input' });
const KEY = { ...field('id', 'integer'), schema: { is_primary_key: true, has_auto_increment: true } };
const MEMBERS = {
  collection: 'members',
  schema: {},
  fields: [KEY, field('name', 'string'), field('age', 'integer'), field('note', 'string')],
};

interface Privilege {
  name: string;
  columns?: string[];
  grantable?: true;
}

interface Document {
  kind: string;
  id: string;
  definition: Privilege[] | string;
}

interface Plan {
  accepted: boolean;
  refusal?: { message: string };
  statements: { sql: string; summary: string; lock: string }[];
  warnings: { code: string; message: string; collection?: string }[];
  optional?: string[];
}

const NOTHING = { collections: [], fields: [], relations: [] };
const ROLE = 'pg_monitor';
const ID = `${ROLE} on members`;
const SELECT = [{ name: 'SELECT' }];
const MIXED = [
  { name: 'INSERT', grantable: true as const },
  { name: 'SELECT', columns: ['id', 'name'] },
  { name: 'UPDATE', columns: ['note'], grantable: true as const },
];

describe('privileges', () => {
  const { api, service } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });

  const path = (id: string, kind = 'privileges'): string => `/objects/${kind}/${encodeURIComponent(id)}`;
  const create = (definition: string, kind: string) => api.ok('POST', '/objects', { kind, definition });
  const grant = (id: string, definition: unknown = SELECT) =>
    api.ok<{ data: Document }>('POST', '/objects', { kind: 'privileges', id, definition });
  const shown = async (id: string) => (await api.ok<{ data: Document }>('GET', path(id))).data.definition;
  const listed = async () =>
    (await api.ok<{ data: Document[] }>('GET', '/objects?kind=privileges')).data.map(({ id }) => id);
  /** The privileges of other roles than the owner, as aclexplode reports them. */
  const existing = async () =>
    (
      await api.sql<{ text: string }>(
        `SELECT concat_ws(' ', g.privilege_type || coalesce('(' || g.attname || ')', ''), g.grantable, 'on', g.relname, 'to', coalesce(r.rolname, 'PUBLIC')) AS text
           FROM (SELECT c.relname, NULL::name AS attname, x.privilege_type, x.grantee, CASE WHEN x.is_grantable THEN 'grantable' END AS grantable
                   FROM pg_class c, aclexplode(c.relacl) x WHERE c.relnamespace = 'public'::regnamespace AND x.grantee <> c.relowner
                 UNION ALL
                 SELECT c.relname, a.attname, x.privilege_type, x.grantee, CASE WHEN x.is_grantable THEN 'grantable' END
                   FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped, aclexplode(a.attacl) x
                  WHERE c.relnamespace = 'public'::regnamespace AND x.grantee <> c.relowner) g
           LEFT JOIN pg_roles r ON r.oid = g.grantee ORDER BY 1`,
      )
    ).map(({ text }) => text);
  const eventsSince = async (position: number) =>
    (
      await api.ok<{ data: { type: string; subject?: { kind: string; id: string } }[] }>(
        'GET',
        `/history/events?after=${position}`,
      )
    ).data.map(({ type, subject }) => (subject === undefined ? type : `${type} ${subject.kind} ${subject.id}`));
  const diffTo = async (snapshot: object) => (await api.ok<{ diff: object }>('POST', '/schema/diff', snapshot)).diff;
  const apply = async (snapshot: object) =>
    api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', snapshot));
  const lastDeletion = async () =>
    (await api.ok<{ data: { position: number }[] }>('GET', '/trash')).data[0]?.position ?? 0;
  const restoreLast = async (body: object) =>
    api.ok<{ warnings?: { message: string }[] }>('POST', `/trash/${await lastDeletion()}/restore`, body);

  beforeEach(() => api.ok('POST', '/collections', MEMBERS));

  it('are granted on a table and its columns, changed and revoked', async () => {
    expect(await grant(ID, [...MIXED].reverse())).to.deep.equal({
      data: { kind: 'privileges', id: ID, definition: MIXED, comment: null },
    });
    expect(await existing()).to.deep.equal([
      `INSERT grantable on members to ${ROLE}`,
      `SELECT(id) on members to ${ROLE}`,
      `SELECT(name) on members to ${ROLE}`,
      `UPDATE(note) grantable on members to ${ROLE}`,
    ]);
    await api.ok('PATCH', path(ID), {
      definition: [{ name: 'INSERT' }, { name: 'SELECT' }, { name: 'SELECT', columns: ['name'], grantable: true }],
    });
    expect(await existing()).to.deep.equal([
      `INSERT on members to ${ROLE}`,
      `SELECT on members to ${ROLE}`,
      `SELECT(name) grantable on members to ${ROLE}`,
    ]);
    await api.ok('PATCH', path(ID), { definition: [{ name: 'SELECT', columns: ['age', 'name'] }] });
    expect(await existing()).to.deep.equal([`SELECT(age) on members to ${ROLE}`, `SELECT(name) on members to ${ROLE}`]);
    await api.ok('DELETE', path(ID));
    expect([await existing(), await listed()]).to.deep.equal([[], []]);
  });

  it('can be GRANT statements, and are shown as a list', async () => {
    const definition = `GRANT UPDATE (note), INSERT ON members TO ${ROLE} WITH GRANT OPTION; GRANT SELECT (name, id) ON TABLE members TO ${ROLE}`;
    const { data } = await api.ok<{ data: Document }>('POST', '/objects', { kind: 'privileges', definition });
    expect(data).to.deep.include({ id: ID, definition: MIXED });
    await api.ok('PATCH', path(ID), { definition: `GRANT SELECT ON members TO ${ROLE}` });
    expect(await shown(ID)).to.deep.equal(SELECT);
    const other = { definition: 'GRANT SELECT ON members TO PUBLIC' };
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD', at: 'definition' }, 'PATCH', path(ID), other);
  });

  it('have statements and locks in a dry run and in an explanation', async () => {
    const body = { kind: 'privileges', id: ID, definition: MIXED };
    const plan = await api.ok<Plan>('POST', '/objects?dry_run', body);
    expect(plan.accepted).to.equal(true);
    expect(plan.statements.map(({ summary, lock }) => [summary, lock])).to.deep.equal([
      [`revoke other privileges on members from ${ROLE}`, 'SHARE UPDATE EXCLUSIVE'],
      [`grant select (id, name) on members to ${ROLE}`, 'SHARE UPDATE EXCLUSIVE'],
      [`grant insert, update (note) on members to ${ROLE} with grant option`, 'SHARE UPDATE EXCLUSIVE'],
    ]);
    expect((await api.ok<Plan>('POST', '/objects?explain', body)).statements).to.have.length(3);
    expect(await existing()).to.deep.equal([]);
    await grant(ID, MIXED);
    const change = { definition: [{ name: 'INSERT' }, { name: 'UPDATE', columns: ['note'], grantable: true }] };
    const changed = await api.ok<Plan>('PATCH', `${path(ID)}?dry_run`, change);
    expect(changed.statements.map(({ summary }) => summary)).to.deep.equal([
      `revoke select (id, name) on members from ${ROLE}`,
      `revoke the grant option of insert on members from ${ROLE}`,
    ]);
    const deleted = await api.ok<Plan>('DELETE', `${path(ID)}?dry_run`);
    expect(deleted.statements.map(({ summary }) => summary)).to.deep.equal([
      `revoke all privileges on members from ${ROLE}`,
    ]);
  });

  for (const [title, body, at, message] of [
    ['no id', { definition: SELECT }, 'id', 'the role and its table'],
    ['an id without a table', { id: ROLE, definition: SELECT }, 'id', 'the role and its table'],
    ['an id with needless quotes', { id: `"${ROLE}" on members`, definition: SELECT }, 'id', 'the role and its table'],
    ['an empty list', { id: ID, definition: [] }, 'definition', 'must not be empty'],
    ['no list', { id: ID, definition: { name: 'SELECT' } }, 'definition', 'must be an array'],
    ['an unknown privilege', { id: ID, definition: [{ name: 'ALL' }] }, 'definition', 'SELECT'],
    ['an unknown member', { id: ID, definition: [{ name: 'SELECT', by: 'x' }] }, 'definition', 'SELECT'],
    [
      'columns of DELETE',
      { id: ID, definition: [{ name: 'DELETE', columns: ['id'] }] },
      'definition',
      'does not apply to columns',
    ],
    ['no columns', { id: ID, definition: [{ name: 'SELECT', columns: [] }] }, 'definition', 'at least one'],
    ['another statement', { definition: 'REVOKE SELECT ON members FROM PUBLIC' }, 'definition', 'GRANT'],
    ['two roles', { definition: `GRANT SELECT ON members TO PUBLIC, ${ROLE}` }, 'definition', 'one role'],
    ['two statements', { definition: `GRANT SELECT ON members TO PUBLIC; DROP TABLE members` }, 'definition', 'GRANT'],
    ['a role of the session', { definition: 'GRANT SELECT ON members TO CURRENT_USER' }, 'definition', 'CURRENT_USER'],
    ['all privileges', { definition: `GRANT ALL ON members TO ${ROLE}` }, 'definition', 'instead of ALL'],
    ['a schema', { definition: `GRANT SELECT ON public.members TO ${ROLE}` }, 'definition', 'without a schema'],
    [
      'a language as target',
      { definition: `GRANT USAGE ON LANGUAGE plpgsql TO ${ROLE}` },
      'definition',
      'table, view, function, sequence, type or schema',
    ],
    ['a table that is not managed', { id: `${ROLE} on strangers`, definition: SELECT }, 'definition', 'not a managed'],
    ['a grant option for PUBLIC', { id: 'public on members', definition: [MIXED[0]] }, 'definition', 'PUBLIC'],
    ['a comment', { id: ID, definition: SELECT, comment: 'x' }, 'comment', 'has no comment'],
  ] as const)
    it(`rejects ${title} and changes nothing`, async () => {
      const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/objects', {
        kind: 'privileges',
        ...body,
      });
      expect(error.message).to.contain(message);
      expect(JSON.stringify(error)).to.contain(at);
      expect(await existing()).to.deep.equal([]);
    });

  it('reject a role that owns the table, a missing column, a missing role, and a second object', async () => {
    const [{ owner } = { owner: '' }] = await api.sql<{ owner: string }>('SELECT current_user::text AS owner');
    const refused = (id: string, definition: unknown, status = 422, code = 'DATABASE_REFUSED') =>
      api.refused({ status, code }, 'POST', '/objects', { kind: 'privileges', id, definition });
    const own = await refused(`${/^[a-z_][a-z0-9_]*$/.test(owner) ? owner : `"${owner}"`} on members`, SELECT);
    expect(own.message).to.contain(`the role "${owner}" owns "members"`);
    expect((await refused(ID, [{ name: 'SELECT', columns: ['missing'] }])).message).to.contain('missing');
    expect((await refused('"no such role" on members', SELECT)).message).to.contain('"no such role" does not exist');
    await grant(ID);
    await refused(ID, SELECT, 409, 'ALREADY_EXISTS');
    const rename = { to: 'others' };
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD', at: 'to' }, 'POST', `${path(ID)}/rename`, rename);
    expect(await listed()).to.deep.equal([ID]);
  });

  it('replace what the role had before, even by default privileges', async () => {
    await api.sql(`GRANT DELETE, SELECT (age) ON members TO ${ROLE}`);
    await grant(ID);
    expect(await existing()).to.deep.equal([`SELECT on members to ${ROLE}`]);
    const snapshot = await api.ok<{ collections: object[] }>('GET', '/schema/snapshot');
    await apply({ ...snapshot, collections: [], fields: [], relations: [], objects: [] });
    await api.sql(`ALTER DEFAULT PRIVILEGES GRANT UPDATE ON TABLES TO ${ROLE}`);
    await apply(snapshot);
    expect(await existing()).to.deep.equal([`SELECT on members to ${ROLE}`]);
  });

  it('follow renames of tables and columns as events, in both directions', async () => {
    await grant(ID, MIXED);
    await grant('public on members');
    const snapshot = await api.ok('GET', '/schema/snapshot');
    const head = await api.head();
    await api.ok('POST', '/collections/members/rename', { to: 'People' });
    expect(await eventsSince(head)).to.deep.equal([
      `object.renamed privileges ${ID}`,
      'object.renamed privileges public on members',
      'collection.renamed',
    ]);
    const second = await api.head();
    await api.ok('POST', '/fields/People/name/rename', { to: 'title' });
    expect(await eventsSince(second)).to.deep.equal(['field.renamed', `object.updated privileges ${ROLE} on "People"`]);
    expect(await shown(`${ROLE} on "People"`)).to.deep.include({ name: 'SELECT', columns: ['id', 'title'] });
    expect(await existing()).to.include(`SELECT(title) on People to ${ROLE}`);
    await api.ok('POST', '/schema/apply', await api.ok('GET', `/history/diff?to=${head}`));
    expect(await diffTo(snapshot)).to.deep.equal(NOTHING);
    expect(await existing()).to.include(`SELECT(name) on members to ${ROLE}`);
  });

  it('change in the same batch as the names of their table and columns', async () => {
    await grant(ID, [{ name: 'SELECT', columns: ['age', 'name', 'note'] }]);
    interface Snapshot {
      fields: { field: string; type: string }[];
    }
    const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
    const wanted = {
      ...snapshot,
      collections: [{ collection: 'people', renamed_from: 'members', schema: {} }],
      fields: snapshot.fields.flatMap(({ field: name, type }) => {
        if (name === 'note') return [];
        const names = name === 'name' ? { field: 'title', renamed_from: 'name' } : { field: name };
        const schema = name === 'id' ? { is_primary_key: true, has_auto_increment: true } : {};
        return [{ collection: 'people', ...names, type, schema }];
      }),
      objects: [
        {
          kind: 'privileges',
          id: `${ROLE} on people`,
          definition: [{ name: 'INSERT' }, { name: 'SELECT', columns: ['title'] }],
        },
      ],
    };
    await apply(wanted);
    expect(await existing()).to.deep.equal([`INSERT on people to ${ROLE}`, `SELECT(title) on people to ${ROLE}`]);
    expect(await shown(`${ROLE} on people`)).to.deep.equal(wanted.objects[0]?.definition);
  });

  it('change back and forth between points in time, and are exported as SQL', async () => {
    await grant(ID, MIXED);
    const first = await api.head();
    const past = await api.ok('GET', '/schema/snapshot');
    const { text } = await api.client('/history/snapshot?export=sql');
    expect(text).to.contain(`GRANT SELECT ("id", "name") ON TABLE "public"."members" TO "${ROLE}"`);
    expect(text).to.contain(`GRANT INSERT, UPDATE ("note") ON TABLE "public"."members" TO "${ROLE}" WITH GRANT OPTION`);
    await api.ok('PATCH', path(ID), { definition: SELECT });
    await grant('public on members');
    await api.ok('DELETE', '/fields/members/note');
    const second = await api.head();
    expect(await api.ok('GET', `/history/snapshot?at=${first}`)).to.deep.equal(past);
    await api.goTo(first);
    expect(await existing()).to.deep.equal([
      `INSERT grantable on members to ${ROLE}`,
      `SELECT(id) on members to ${ROLE}`,
      `SELECT(name) on members to ${ROLE}`,
      `UPDATE(note) grantable on members to ${ROLE}`,
    ]);
    await api.goTo(second);
    expect(await existing()).to.deep.equal(['SELECT on members to PUBLIC', `SELECT on members to ${ROLE}`]);
    await api.goTo(0);
    expect(await existing()).to.deep.equal([]);
  });

  it('are granted again after a view is created again or changes its kind', async () => {
    await create('CREATE VIEW adults AS SELECT id, name, age FROM members WHERE age > 17', 'view');
    await grant(`${ROLE} on adults`, [{ name: 'SELECT', columns: ['id', 'name'], grantable: true }]);
    await grant('public on adults');
    await api.sql('GRANT UPDATE ON adults TO pg_read_all_stats');
    const all = [
      'SELECT on adults to PUBLIC',
      `SELECT(id) grantable on adults to ${ROLE}`,
      `SELECT(name) grantable on adults to ${ROLE}`,
      'UPDATE on adults to pg_read_all_stats',
    ];
    expect(await existing()).to.deep.equal(all);
    await api.ok('PATCH', '/fields/members/age', { type: 'bigInteger' });
    expect(await existing()).to.deep.equal(all);
    await api.ok('PATCH', path('adults', 'view'), { definition: 'CREATE VIEW adults AS SELECT id, name FROM members' });
    expect(await existing()).to.deep.equal(all);
    await api.ok('POST', `${path('adults', 'view')}/rename`, { to: 'grown_ups' });
    expect(await listed()).to.deep.equal([`${ROLE} on grown_ups`, 'public on grown_ups']);
    const snapshot = await api.ok<{ objects: Document[] }>('GET', '/schema/snapshot');
    const materialized = {
      ...snapshot,
      objects: snapshot.objects.map((each) =>
        each.kind === 'view'
          ? {
              kind: 'materialized_view',
              id: each.id,
              definition: 'CREATE MATERIALIZED VIEW grown_ups AS SELECT id, name FROM members',
            }
          : each,
      ),
    };
    const diff = await api.ok('POST', '/schema/diff', materialized);
    const plan = await api.ok<Plan>('POST', '/schema/apply?dry_run', diff);
    const lost = plan.warnings.filter(({ code }) => code === 'PRIVILEGE_LOST').map(({ message }) => message);
    expect(lost).to.deep.equal([
      'privileges "pg_read_all_stats on grown_ups" are not managed, and materialized view "grown_ups" is created without them',
    ]);
    await api.ok('POST', '/schema/apply', diff);
    expect(await existing()).to.deep.equal([
      'SELECT on grown_ups to PUBLIC',
      `SELECT(id) grantable on grown_ups to ${ROLE}`,
      `SELECT(name) grantable on grown_ups to ${ROLE}`,
    ]);
    expect(await diffTo(materialized)).to.deep.equal(NOTHING);
    await api.ok('POST', `${path('grown_ups', 'materialized_view')}/rename`, { to: 'adults' });
    expect(await listed()).to.deep.equal([`${ROLE} on adults`, 'public on adults']);
    await api.ok('DELETE', path('adults', 'materialized_view'));
    expect([await existing(), await listed()]).to.deep.equal([[], []]);
  });

  it('are deleted with their collection, and restored with it under another name', async () => {
    await grant(ID, MIXED);
    await grant('public on members');
    const head = await api.head();
    await api.ok('DELETE', '/collections/members');
    expect(await eventsSince(head)).to.deep.equal([
      `object.deleted privileges ${ID}`,
      'object.deleted privileges public on members',
      'collection.deleted',
    ]);
    const plan = await api.ok<Plan>('POST', `/trash/${await lastDeletion()}/restore?dry_run`, { as: 'people' });
    expect(plan.optional).to.include.members([`${ROLE} on people`, 'public on people']);
    const restored = await restoreLast({ as: 'people', without: ['public on people'] });
    expect(restored.warnings?.map(({ message }) => message).join()).to.contain('"public on people": as requested');
    expect(await shown(`${ROLE} on people`)).to.deep.equal(MIXED);
    expect(await existing()).to.deep.equal([
      `INSERT grantable on people to ${ROLE}`,
      `SELECT(id) on people to ${ROLE}`,
      `SELECT(name) on people to ${ROLE}`,
      `UPDATE(note) grantable on people to ${ROLE}`,
    ]);
  });

  it('of a role that no longer exists prevent a restore, unless it leaves them out', async () => {
    const admin = (text: string) => asSuperuser(service.databaseUrl, text);
    await admin('CREATE ROLE dps_test_gone');
    try {
      await grant('dps_test_gone on members', [{ name: 'SELECT', columns: ['note'] }]);
      await api.ok('DELETE', '/collections/members');
    } finally {
      await admin('DROP ROLE dps_test_gone');
    }
    const at = `/trash/${await lastDeletion()}/restore`;
    const error = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', at, {});
    expect(error.message).to.contain('role "dps_test_gone" does not exist');
    const plan = await api.ok<Plan>('POST', `${at}?dry_run`, {});
    expect(plan.warnings.map(({ code }) => code)).to.include('ROLE_NEEDED');
    await restoreLast({ without: ['dps_test_gone on members'] });
    expect([await existing(), await listed()]).to.deep.equal([[], []]);
  });

  it('lose a deleted column, and get it back with the column', async () => {
    await grant(ID, [{ name: 'SELECT', columns: ['name', 'note'] }, { name: 'DELETE' }]);
    await grant('public on members', [{ name: 'UPDATE', columns: ['note'], grantable: undefined }]);
    const head = await api.head();
    await api.ok('DELETE', '/fields/members/note');
    expect((await eventsSince(head)).sort()).to.deep.equal([
      'field.deleted',
      'object.deleted privileges public on members',
      `object.updated privileges ${ID}`,
    ]);
    expect(await shown(ID)).to.deep.equal([{ name: 'DELETE' }, { name: 'SELECT', columns: ['name'] }]);
    await restoreLast({ as: 'remark' });
    expect(await shown(ID)).to.deep.equal([{ name: 'DELETE' }, { name: 'SELECT', columns: ['name', 'remark'] }]);
    expect(await existing()).to.deep.equal([
      `DELETE on members to ${ROLE}`,
      `SELECT(name) on members to ${ROLE}`,
      `SELECT(remark) on members to ${ROLE}`,
      'UPDATE(remark) on members to PUBLIC',
    ]);
    await api.ok('DELETE', '/fields/members/remark');
    await restoreLast({ without: ['public on members'] });
    expect(await listed()).to.deep.equal([ID]);
  });

  it('follow their table with OBJECTS=off', async () => {
    await grant(ID, MIXED);
    await grant('public on members', [{ name: 'UPDATE', columns: ['age'] }]);
    const other = await startService({ DATABASE_URL: service.databaseUrl });
    try {
      const client = clientOf(other);
      const run = async (url: string, init: object) => {
        const reply = await client(url, init);
        expect(reply.status, `${url}: ${reply.text}`).to.be.oneOf([200, 204]);
      };
      await run('/collections/members/rename', json({ to: 'people' }));
      await run('/fields/people/name/rename', json({ to: 'title' }));
      await run('/fields/people/age', { method: 'DELETE' });
      await run(`/trash/${await lastDeletion()}/restore`, json({}));
      await run('/fields/people/note', { method: 'DELETE' });
      expect(await listed()).to.deep.equal([`${ROLE} on people`, 'public on people']);
      await run('/collections/people', { method: 'DELETE' });
    } finally {
      await other.stop();
    }
    expect([await existing(), await listed()]).to.deep.equal([[], []]);
  });

  it('are applied from snapshots without a difference afterwards', async () => {
    await create('CREATE VIEW adults AS SELECT id FROM members', 'view');
    await grant(ID, MIXED);
    await grant('public on adults');
    const snapshot = await api.ok<{ objects: Document[] }>('GET', '/schema/snapshot');
    const replaced = (definition: unknown) => ({
      ...snapshot,
      objects: snapshot.objects.map((each) => (each.id === ID ? { ...each, definition } : each)),
    });
    for (const spelled of [
      replaced([...MIXED].reverse()),
      replaced([...MIXED, { name: 'SELECT', columns: ['name', 'name'] }]),
      replaced(
        `GRANT SELECT (name, id) ON members TO ${ROLE}; GRANT INSERT, UPDATE (note) ON members TO ${ROLE} WITH GRANT OPTION`,
      ),
    ])
      expect(await diffTo(spelled)).to.deep.equal(NOTHING);
    const other = replaced([{ name: 'TRUNCATE' }]);
    expect(await diffTo(other)).to.deep.nested.property('objects[0].diff[0].path', ['definition']);
    await apply(other);
    expect(await diffTo(other)).to.deep.equal(NOTHING);
    await apply({ ...snapshot, collections: [], fields: [], relations: [], objects: [] });
    await apply(snapshot);
    expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(snapshot);
  });

  it('have findings if they are public, changed or lost, so that the policy can require an approval', async () => {
    const found = async (method: 'POST' | 'PATCH' | 'DELETE', at: string, body?: object) =>
      (await api.ok<Plan>(method, `${at}?dry_run`, body)).warnings.flatMap(({ code, collection }) =>
        /PRIVILEGE/.test(code) ? [`${code} ${collection}`] : [],
      );
    const body = { kind: 'privileges', id: 'public on members', definition: SELECT };
    expect(await found('POST', '/objects', body)).to.have.members([
      'CHANGES_PRIVILEGES members',
      'PUBLIC_PRIVILEGE members',
    ]);
    await api.ok('PUT', '/policy', {
      collections: [{ pattern: 'members', findings: { CHANGES_PRIVILEGES: 'approve' } }],
    });
    await api.refused({ status: 422, code: 'POLICY_REFUSED' }, 'POST', '/objects', body);
    await api.ok('PUT', '/policy', { collections: [] });
    await grant(ID, MIXED);
    expect(await found('PATCH', path(ID), { definition: [...MIXED, ...SELECT] })).to.deep.equal([
      'CHANGES_PRIVILEGES members',
    ]);
    const lost = ['CHANGES_PRIVILEGES members', 'PRIVILEGE_LOST members'];
    expect(await found('PATCH', path(ID), { definition: SELECT })).to.have.members(lost);
    expect(await found('DELETE', path(ID))).to.have.members(lost);
    expect(await found('POST', '/collections/members/rename', { to: 'people' })).to.deep.equal([]);
    expect(await found('DELETE', '/collections/members')).to.deep.equal([]);
    const plan = await api.ok<Plan>('POST', '/objects?dry_run', { ...body, id: '"no such role" on members' });
    expect(plan.accepted).to.equal(false);
    expect(plan.warnings.map(({ code }) => code)).to.include('ROLE_NEEDED');
  });

  it('can be changed in a change request, which lists the collection', async () => {
    const head = await api.head();
    await grant(ID, MIXED);
    const diff = await api.ok<object>('GET', `/history/diff?to=${head}`);
    const opened = await api.ok<{ data: { id: string } }>('POST', '/changes', { title: 'Revoke them', diff });
    const { data } = await api.ok<{ data: { collections: string[] } }>('GET', `/changes/${opened.data.id}`);
    expect(data.collections).to.deep.equal(['members']);
  });

  it('cannot be deleted while another role depends on their grant option, except with the table', async () => {
    const admin = (...texts: string[]) => asSuperuser(service.databaseUrl, ...texts);
    await admin('CREATE ROLE dps_test_boss');
    try {
      await grant('dps_test_boss on members', [{ name: 'SELECT', grantable: true }]);
      await admin('SET ROLE dps_test_boss', `GRANT SELECT ON members TO ${ROLE}`, 'RESET ROLE');
      expect(await listed()).to.deep.equal(['dps_test_boss on members']);
      const at = path('dps_test_boss on members');
      const error = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'DELETE', at);
      expect(error.message).to.contain('dependent privileges exist');
      await admin('SET ROLE dps_test_boss', `REVOKE SELECT ON members FROM ${ROLE}`, 'RESET ROLE');
      await api.ok('DELETE', at);
      await grant('dps_test_boss on members', [{ name: 'SELECT', grantable: true }]);
      await admin('SET ROLE dps_test_boss', `GRANT SELECT ON members TO ${ROLE}`, 'RESET ROLE');
      await api.ok('DELETE', '/collections/members');
      await restoreLast({});
      expect(await existing()).to.deep.equal(['SELECT grantable on members to dps_test_boss']);
      await api.ok('DELETE', '/collections/members');
    } finally {
      await admin('DROP OWNED BY dps_test_boss', 'DROP ROLE dps_test_boss');
    }
  });

  it('can be deleted after their role was dropped, even if its name was "PUBLIC"', async () => {
    const admin = (text: string) => asSuperuser(service.databaseUrl, text);
    await admin('CREATE ROLE "PUBLIC"');
    try {
      await grant('"PUBLIC" on members');
      expect(await existing()).to.deep.equal(['SELECT on members to PUBLIC']);
    } finally {
      await admin('DROP OWNED BY "PUBLIC"');
      await admin('DROP ROLE "PUBLIC"');
    }
    await api.ok('DELETE', path('"PUBLIC" on members'));
    expect(await listed()).to.deep.equal([]);
  });

  it('are not revoked from a role that owns the table now', async () => {
    const admin = (...texts: string[]) => asSuperuser(service.databaseUrl, ...texts);
    const [{ owner } = { owner: '' }] = await api.sql<{ owner: string }>('SELECT current_user::text AS owner');
    await admin('CREATE ROLE dps_test_heir', `GRANT dps_test_heir TO "${owner}"`);
    try {
      await grant('dps_test_heir on members');
      await admin('ALTER TABLE members OWNER TO dps_test_heir');
      await api.ok('DELETE', path('dps_test_heir on members'));
      const [row] = await api.sql(`SELECT has_table_privilege('dps_test_heir', 'members', 'INSERT') AS kept`);
      expect(row).to.deep.equal({ kept: true });
    } finally {
      await admin(
        `REASSIGN OWNED BY dps_test_heir TO "${owner}"`,
        'DROP OWNED BY dps_test_heir',
        'DROP ROLE dps_test_heir',
      );
    }
  });

  it('can be adopted, with a list of the roles that another database needs', async () => {
    await api.sql(`
      CREATE TABLE found (id int, name text); CREATE TABLE left_over (id int); CREATE VIEW names AS SELECT name FROM found;
      GRANT SELECT (name), INSERT ON found TO ${ROLE}; GRANT SELECT ON found TO PUBLIC; GRANT SELECT ON names TO ${ROLE};
      GRANT SELECT ON left_over TO ${ROLE}`);
    const before = await existing();
    interface Adoption {
      objects: { id: string }[];
      not_represented: { kind: string; name: string; code: string }[];
    }
    const one = { objects: [{ kind: 'privileges', id: `${ROLE} on left_over` }] };
    const error = await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/schema/adopt', one);
    expect(error.message).to.contain('it uses "left_over", which is not managed');
    const adopted = await api.ok<Adoption>('POST', '/schema/adopt', { all: true });
    expect(adopted.objects.map(({ id }) => id)).to.include.members([
      'names',
      `${ROLE} on found`,
      `${ROLE} on left_over`,
      `${ROLE} on names`,
      'public on found',
    ]);
    expect(adopted.not_represented.filter(({ kind }) => /privilege|column setting/.test(kind))).to.deep.equal([]);
    expect(adopted.not_represented.map(({ kind, name, code }) => `${code} ${kind} ${name}`)).to.include(
      `OBJECT_NEEDED role ${ROLE}`,
    );
    expect(await existing()).to.deep.equal(before);
    expect(await shown(`${ROLE} on found`)).to.deep.equal([{ name: 'INSERT' }, { name: 'SELECT', columns: ['name'] }]);
  });

  it('stay when the projections are rebuilt', async () => {
    await create('CREATE VIEW adults AS SELECT id FROM members', 'view');
    await grant(ID, MIXED);
    await grant(`${ROLE} on adults`);
    await api.ok('DELETE', '/fields/members/note');
    await restoreLast({});
    await api.ok('PATCH', path('adults', 'view'), { definition: 'CREATE VIEW adults AS SELECT id, age FROM members' });
    await api.ok('POST', '/projections/tables/rebuild');
    await api.ok('POST', '/projections/metadata/rebuild');
  });
});
