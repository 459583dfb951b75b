import { expect } from 'chai';
import { clientOf, json } from '../support/client.js';
import { startService } from '../support/service.js';
import { withService } from '../support/with-service.js';

const field = (name: string, type: string) => ({ field: name, type, interface: 'input' });
const KEY = { ...field('id', 'integer'), schema: { is_primary_key: true, has_auto_increment: true } };
const POSTS = {
  collection: 'posts',
  schema: {},
  fields: [KEY, field('owner', 'string'), field('age', 'integer'), field('title', 'string')],
};

const OWN = `CREATE POLICY own ON posts USING (owner = 'ada')`;
const ID = 'own on posts';
const ENABLE = 'ALTER TABLE posts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY';
const NOTHING = { collections: [], fields: [], relations: [] };

interface Plan {
  accepted: boolean;
  refusal?: { message: string };
  statements: { sql: string; summary: string; lock: string }[];
  warnings: { code: string; level: string; message: string; collection?: string; object?: object }[];
}

interface Document {
  kind: string;
  id: string;
  definition: string;
  comment: string | null;
}

describe('policies', () => {
  const { api, service } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });

  const create = (definition: string, kind = 'policy', more: object = {}) =>
    api.ok<{ data: Document }>('POST', '/objects', { kind, definition, ...more });
  const enable = (definition = ENABLE) => create(definition, 'row_security');
  const path = (id: string, kind = 'policy'): string => `/objects/${kind}/${encodeURIComponent(id)}`;
  const listed = async () =>
    (await api.ok<{ data: Document[] }>('GET', '/objects')).data
      .filter(({ kind }) => kind !== 'function')
      .map(({ kind, id }) => `${kind} ${id}`);
  const shown = async (id: string, kind = 'policy') =>
    (await api.ok<{ data: Document }>('GET', path(id, kind))).data.definition;
  /** The rows that the owner of the table sees. The owner is not a superuser. */
  const visible = async (table = 'posts') =>
    (await api.sql<{ owner: string }>(`SELECT owner FROM ${table} ORDER BY 1`)).map(({ owner }) => owner);
  const eventsSince = async (position: number) =>
    (
      await api.ok<{ data: { type: string; subject?: { kind: string; id: string } }[] }>(
        'GET',
        `/history/events?after=${position}`,
      )
    ).data.map(({ type, subject }) => (subject === undefined ? type : `${type} ${subject.kind} ${subject.id}`));
  const findings = async (method: 'POST' | 'PATCH' | 'DELETE', at: string, body?: object) =>
    (await api.ok<Plan>(method, `${at}?dry_run`, body)).warnings;
  const codes = async (...change: Parameters<typeof findings>) => (await findings(...change)).map(({ code }) => code);

  beforeEach(async () => {
    await api.ok('POST', '/collections', POSTS);
    await api.sql(`INSERT INTO posts (owner, age) VALUES ('ada', 36), ('tim', 9)`);
  });

  it('creates a policy, reads it, changes it, renames it and deletes it', async () => {
    expect(await create(OWN, 'policy', { comment: 'Own rows' })).to.deep.equal({
      data: { kind: 'policy', id: ID, definition: OWN, comment: 'Own rows' },
    });
    expect(await visible()).to.deep.equal(['ada', 'tim']);
    expect((await enable()).data).to.deep.equal({
      kind: 'row_security',
      id: 'posts',
      definition: ENABLE,
      comment: null,
    });
    expect(await visible()).to.deep.equal(['ada']);
    expect(await api.ok('GET', '/objects?name=own&collection=posts&kind=policy&fields=id')).to.deep.equal({
      data: [{ id: ID }],
    });
    const changed = OWN.replace('ada', 'tim');
    await api.ok('PATCH', path(ID), { definition: changed, comment: null });
    expect(await visible()).to.deep.equal(['tim']);
    await api.ok('POST', `${path(ID)}/rename`, { to: 'Own rows' });
    expect(await shown('"Own rows" on posts')).to.equal(changed.replace('own', '"Own rows"'));
    await api.ok('PATCH', path('posts', 'row_security'), { definition: ENABLE.replace(/,.*/, '') });
    expect(await visible()).to.deep.equal(['ada', 'tim']);
    await api.ok('DELETE', path('"Own rows" on posts'));
    await api.ok('DELETE', path('posts', 'row_security'));
    expect(await listed()).to.deep.equal([]);
    expect(
      await api.sql(`SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE relname = 'posts'`),
    ).to.deep.equal([{ relrowsecurity: false, relforcerowsecurity: false }]);
  });

  for (const [title, kind, definition, message] of [
    ['two statements', 'policy', `${OWN}; DROP TABLE posts`, 'exactly one statement'],
    ['another statement', 'policy', 'DROP POLICY own ON posts', 'exactly one statement'],
    ['a table of another schema', 'policy', OWN.replace('posts', 'elsewhere.posts'), 'managed schema'],
    ['a table of the service', 'policy', OWN.replace('posts', 'service.service_events'), 'managed schema'],
    ['a table that does not exist', 'policy', OWN.replace('posts', 'strangers'), 'not a managed table'],
    ['CURRENT_USER in TO', 'policy', OWN.replace('USING', 'TO CURRENT_USER USING'), 'must name its roles'],
    ['another change to the table', 'row_security', `${ENABLE}, ADD x integer`, 'must contain only'],
    [
      'a switch that is turned off',
      'row_security',
      'ALTER TABLE posts DISABLE ROW LEVEL SECURITY',
      'must contain only',
    ],
    [
      'row security of the service',
      'row_security',
      ENABLE.replace('posts', 'service.service_events'),
      'managed schema',
    ],
  ] as const) {
    it(`rejects ${title} and changes nothing`, async () => {
      const expected = { status: 400, code: 'INVALID_PAYLOAD', at: 'definition' };
      const error = await api.refused(expected, 'POST', '/objects', { kind, definition });
      expect(error.message).to.contain(message);
      expect(await listed()).to.deep.equal([]);
    });
  }

  it('rejects a comment and another name for row security, which PostgreSQL does not store', async () => {
    const body = { kind: 'row_security', definition: ENABLE, comment: 'Secret' };
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD', at: 'comment' }, 'POST', '/objects', body);
    await enable();
    const expected = { status: 400, code: 'INVALID_PAYLOAD', at: 'to' };
    const renaming = await api.refused(expected, 'POST', `${path('posts', 'row_security')}/rename`, { to: 'other' });
    expect(renaming.message).to.contain('has the name of its table');
  });

  it('manages policies of one name on two tables, and keeps quotes and comments around the table', async () => {
    await api.ok('POST', '/collections', { ...POSTS, collection: 'on posts' });
    await create(OWN);
    const { data } = await create(`CREATE POLICY own -- ON posts
ON"on posts"AS RESTRICTIVE FOR DELETE USING (owner <> 'ON posts; DROP TABLE posts')`);
    expect(data.id).to.equal('own on "on posts"');
    expect(await listed()).to.deep.equal(['policy own on "on posts"', `policy ${ID}`]);
    await api.ok('DELETE', path(data.id));
    expect(await listed()).to.deep.equal([`policy ${ID}`]);
  });

  it('renames policies with their table, and rewrites them with a column, a function and another table', async () => {
    await api.ok('POST', '/collections', { collection: 'teams', schema: {}, fields: [KEY, field('name', 'string')] });
    await create(
      'CREATE FUNCTION is_old(age integer) RETURNS boolean LANGUAGE sql AS $$ SELECT age > 9 $$',
      'function',
    );
    await create(
      `CREATE POLICY own ON posts USING (is_old(age) AND EXISTS (SELECT 1 FROM teams WHERE teams.name = posts.owner))`,
    );
    await enable();
    await api.sql(`INSERT INTO teams (name) VALUES ('ada'), ('tim')`);
    const snapshot = await api.ok('GET', '/schema/snapshot');
    const head = await api.head();
    await api.ok('POST', '/collections/posts/rename', { to: 'Notes' });
    expect((await eventsSince(head)).sort()).to.deep.equal([
      'collection.renamed',
      `object.renamed policy ${ID}`,
      'object.renamed row_security posts',
      'object.updated policy own on "Notes"',
    ]);
    expect(await listed()).to.deep.equal(['policy own on "Notes"', 'row_security Notes']);
    await api.ok('POST', '/collections/teams/rename', { to: 'groups' });
    await api.ok('POST', '/fields/Notes/owner/rename', { to: 'author' });
    await api.ok('POST', `${path('is_old(integer)', 'function')}/rename`, { to: 'is_adult' });
    const definition = await shown('own on "Notes"');
    for (const name of ['groups.name', '"Notes".author', 'is_adult(age)']) expect(definition).to.contain(name);
    expect(await api.sql('SELECT author FROM "Notes"')).to.deep.equal([{ author: 'ada' }]);
    await api.ok('POST', '/schema/apply', await api.ok('GET', `/history/diff?to=${head}`));
    expect(await listed()).to.deep.equal([`policy ${ID}`, 'row_security posts']);
    expect((await api.ok<{ diff: object }>('POST', '/schema/diff', snapshot)).diff).to.deep.equal(NOTHING);
  });

  it('deletes policies with their collection, and restores them with it', async () => {
    await create(OWN, 'policy', { comment: 'Own rows' });
    await enable();
    const head = await api.head();
    await api.ok('DELETE', '/collections/posts');
    expect((await eventsSince(head)).sort()).to.deep.equal([
      'collection.deleted',
      `object.deleted policy ${ID}`,
      'object.deleted row_security posts',
    ]);
    expect(await listed()).to.deep.equal([]);
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    await api.ok('POST', `/trash/${data[0]?.position}/restore`, { as: 'notes' });
    expect(await listed()).to.deep.equal(['policy own on notes', 'row_security notes']);
    expect((await api.ok<{ data: Document }>('GET', path('own on notes'))).data.comment).to.equal('Own rows');
    expect(await visible('notes')).to.deep.equal(['ada']);
  });

  it('restores row security but no policy if a function of a restrictive policy no longer exists', async () => {
    await create(
      'CREATE FUNCTION is_old(age integer) RETURNS boolean LANGUAGE sql AS $$ SELECT age > 9 $$',
      'function',
    );
    await create('CREATE POLICY adults ON posts AS RESTRICTIVE USING (is_old(age))');
    await create('CREATE POLICY all_rows ON posts USING (true)');
    await enable();
    await api.ok('DELETE', '/collections/posts');
    await api.ok('DELETE', path('is_old(integer)', 'function'));
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    const answer = await api.ok<{ warnings: { message: string }[] }>('POST', `/trash/${data[0]?.position}/restore`, {});
    expect(answer.warnings.map(({ message }) => message).sort()).to.deep.equal([
      'not restored: policy of posts: "adults on posts": function "is_old" no longer exists',
      'not restored: policy of posts: "all_rows on posts": the restrictive policy "adults on posts" cannot be restored',
    ]);
    expect(await listed()).to.deep.equal(['row_security posts']);
    expect(await visible()).to.deep.equal([]);
  });

  it('leaves out a restored policy if a table in its subquery has another name now', async () => {
    await api.ok('POST', '/collections', { collection: 'teams', schema: {}, fields: [KEY, field('name', 'string')] });
    await create('CREATE POLICY team ON posts USING (EXISTS (SELECT 1 FROM teams WHERE teams.name = posts.owner))');
    await create('CREATE POLICY oldest ON posts USING (age > (SELECT min(p.age) FROM posts p))');
    await create(OWN);
    await enable();
    await api.ok('DELETE', '/collections/posts');
    await api.ok('POST', '/collections/teams/rename', { to: 'groups' });
    await api.ok('POST', '/collections', POSTS);
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    const answer = await api.ok<{ warnings: { message: string }[] }>('POST', `/trash/${data[0]?.position}/restore`, {
      as: 'notes',
    });
    expect(answer.warnings.map(({ message }) => message).sort()).to.deep.equal([
      'not restored: policy of notes: "oldest on notes": another collection is named "posts" now',
      'not restored: policy of notes: "team on notes": collection "teams" no longer exists',
    ]);
    expect(await listed()).to.deep.equal(['policy own on notes', 'row_security notes']);
    expect(await visible('notes')).to.deep.equal(['ada']);
  });

  it('restores the policies of a table with OBJECTS=off, even if no other object exists', async () => {
    await create(OWN);
    await enable();
    await api.ok('DELETE', '/collections/posts');
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    const other = await startService({ DATABASE_URL: service.databaseUrl });
    try {
      const reply = await clientOf(other)(`/trash/${data[0]?.position}/restore`, json({}));
      expect(reply.status, reply.text).to.equal(200);
    } finally {
      await other.stop();
    }
    expect(await visible()).to.deep.equal(['ada']);
  });

  it('quotes the names of policies and tables in every statement', async () => {
    await api.ok('POST', '/collections', { ...POSTS, collection: 'say "hi"' });
    const onTable = 'ON "say ""hi"""';
    const { data } = await create(`CREATE POLICY "it's ""mine""" ${onTable} USING (owner = 'ada')`);
    expect(data.id).to.equal(`"it's ""mine""" on "say ""hi"""`);
    await enable(ENABLE.replace('posts', '"say ""hi"""'));
    await api.ok('POST', `${path(data.id)}/rename`, { to: 'a on "b"' });
    await api.ok('PATCH', path('"a on ""b""" on "say ""hi"""'), { comment: "It's" });
    await api.ok('POST', `/collections/${encodeURIComponent('say "hi"')}/rename`, { to: "it's" });
    expect(await listed()).to.deep.equal([`policy "a on ""b""" on "it's"`, "row_security it's"]);
    await api.ok('PATCH', `/fields/${encodeURIComponent("it's")}/owner`, { type: 'text' });
    await api.ok('DELETE', path("it's", 'row_security'));
    await api.ok('DELETE', path(`"a on ""b""" on "it's"`));
    expect(await listed()).to.deep.equal([]);
  });

  it('creates a policy again when a column in its subquery changes its type, and protects that column', async () => {
    const fields = [KEY, field('name', 'string'), field('size', 'integer')];
    await api.ok('POST', '/collections', { collection: 'teams', schema: {}, fields });
    await create('CREATE POLICY big ON posts USING (EXISTS (SELECT 1 FROM teams WHERE teams.size > posts.age))');
    await api.ok('PATCH', '/fields/teams/size', { type: 'bigInteger' });
    expect(await listed()).to.deep.equal(['policy big on posts']);
    const error = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/fields/teams/size');
    expect(error.message).to.contain('policy "big on posts" uses column "size" of "teams"');
  });

  it('renames the policies of a partition with it, and rewrites them with a column of its parent', async () => {
    await api.sql(`
      CREATE TABLE days (id integer, at integer NOT NULL, size integer, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
      CREATE TABLE days_1 PARTITION OF days FOR VALUES FROM (0) TO (10)`);
    await api.ok('POST', '/schema/adopt', { all: true });
    await create('CREATE POLICY big ON days_1 USING (size > 1)');
    await enable('ALTER TABLE days_1 ENABLE ROW LEVEL SECURITY');
    await api.ok('POST', '/collections/days_1/rename', { to: 'first_days' });
    expect(await listed()).to.deep.equal(['policy big on first_days', 'row_security first_days']);
    await api.ok('POST', '/fields/days/size/rename', { to: 'width' });
    expect(await shown('big on first_days')).to.equal('CREATE POLICY big ON first_days USING ((width > 1))');
    await api.ok('DELETE', path('big on first_days'));
    await api.ok('DELETE', path('first_days', 'row_security'));
  });

  it('creates a policy again when a column that it uses changes its type', async () => {
    await create('CREATE POLICY adults ON posts FOR SELECT USING (age > 17)', 'policy', { comment: 'Adults' });
    await enable('ALTER TABLE posts ENABLE ROW LEVEL SECURITY');
    const plan = await api.ok<Plan>('PATCH', '/fields/posts/age?dry_run', { type: 'bigInteger' });
    expect(plan.statements.map(({ summary }) => summary)).to.include.members([
      'drop policy adults on posts',
      'recreate policy adults on posts',
      'comment on policy adults on posts',
    ]);
    expect(plan.warnings.map(({ code }) => code)).not.to.include('NEEDED_ELSEWHERE');
    expect(await codes('POST', '/fields/posts/age/rename', { to: 'years' })).not.to.include('NEEDED_ELSEWHERE');
    await api.ok('PATCH', '/fields/posts/age', { type: 'bigInteger' });
    expect(await listed()).to.deep.equal(['policy adults on posts', 'row_security posts']);
    const error = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/fields/posts/age');
    expect(error.message).to.contain('policy "adults on posts" uses column "age" of "posts"');
  });

  it('rejects deleting a function or a table that a policy uses, and replaces the function', async () => {
    await api.ok('POST', '/collections', { collection: 'teams', schema: {}, fields: [KEY, field('name', 'string')] });
    const isOld = 'CREATE FUNCTION is_old(age integer) RETURNS boolean LANGUAGE sql AS $$ SELECT age > 9 $$';
    await create(isOld, 'function');
    await create('CREATE POLICY own ON posts USING (is_old(age) AND owner IN (SELECT name FROM teams))');
    const error = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', path('is_old(integer)', 'function'));
    expect(error.message).to.contain(`policy "${ID}" uses "is_old(integer)"`);
    await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/collections/teams');
    await api.ok('PATCH', path('is_old(integer)', 'function'), { definition: isOld.replace('> 9', '> 8') });
    await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', '/objects', {
      kind: 'policy',
      definition: 'CREATE POLICY other ON posts USING (missing(age))',
    });
  });

  it('applies snapshots with policies, and finds no difference afterwards', async () => {
    await create(`CREATE POLICY own ON posts FOR UPDATE TO pg_monitor, pg_read_all_data USING (owner = 'ada')`);
    await enable();
    const snapshot = await api.ok<{ objects: Document[] }>('GET', '/schema/snapshot');
    const replaced = (from: string | RegExp, to: string) => ({
      ...snapshot,
      objects: snapshot.objects.map((each) => ({ ...each, definition: each.definition.replace(from, to) })),
    });
    for (const spelled of [
      replaced('pg_monitor, pg_read_all_data', 'pg_read_all_data, "pg_monitor"'),
      replaced(`(owner = 'ada')`, `(((posts.owner)::text = 'ada'::text))`),
      replaced('ON posts FOR', 'ON public.posts AS PERMISSIVE FOR'),
      replaced(/ENABLE (.*), FORCE (.*)/, 'FORCE ROW LEVEL SECURITY, ENABLE ROW LEVEL SECURITY'),
    ])
      expect((await api.ok<{ diff: object }>('POST', '/schema/diff', spelled)).diff).to.deep.equal(NOTHING);
    const other = replaced(`'ada')`, `'tim') WITH CHECK (age > 1)`);
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', other));
    expect((await api.ok<{ diff: object }>('POST', '/schema/diff', other)).diff).to.deep.equal(NOTHING);
    const without = { ...snapshot, collections: [], fields: [], relations: [], objects: [] };
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', without));
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', snapshot));
    expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(snapshot);
  });

  it('adopts policies and row security, including those of a partitioned table and of its partitions', async () => {
    await api.sql(`
      CREATE TABLE days (id integer, at integer NOT NULL, owner text, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
      CREATE TABLE days_1 PARTITION OF days FOR VALUES FROM (0) TO (10);
      CREATE POLICY own ON days FOR SELECT TO pg_monitor USING (owner = CURRENT_USER);
      COMMENT ON POLICY own ON days IS 'Own rows';
      CREATE POLICY own ON days_1 AS RESTRICTIVE WITH CHECK (at > 1);
      ALTER TABLE days ENABLE ROW LEVEL SECURITY;
      ALTER TABLE days_1 FORCE ROW LEVEL SECURITY`);
    const report = await api.ok<{ not_represented: { code: string; kind: string; name: string }[] }>(
      'POST',
      '/schema/adopt',
      { all: true },
    );
    expect(report.not_represented.map(({ code, kind, name }) => `${code} ${kind} ${name}`)).to.deep.equal([
      'OBJECT_NEEDED role pg_monitor',
    ]);
    const { data } = await api.ok<{ data: Document[] }>('GET', '/objects');
    expect(data).to.deep.equal([
      {
        kind: 'policy',
        id: 'own on days',
        definition: 'CREATE POLICY own ON days FOR SELECT TO pg_monitor USING ((owner = CURRENT_USER))',
        comment: 'Own rows',
      },
      {
        kind: 'policy',
        id: 'own on days_1',
        definition: 'CREATE POLICY own ON days_1 AS RESTRICTIVE WITH CHECK ((at > 1))',
        comment: null,
      },
      {
        kind: 'row_security',
        id: 'days',
        definition: 'ALTER TABLE days ENABLE ROW LEVEL SECURITY',
        comment: null,
      },
      {
        kind: 'row_security',
        id: 'days_1',
        definition: 'ALTER TABLE days_1 FORCE ROW LEVEL SECURITY',
        comment: null,
      },
    ]);
    await api.ok('DELETE', path('own on days'));
    await api.ok('DELETE', path('days_1', 'row_security'));
  });

  it('warns about a missing role, and PostgreSQL rejects the policy', async () => {
    const definition = 'CREATE POLICY own ON posts TO "no such role", pg_monitor USING (true)';
    const plan = await api.ok<Plan>('POST', '/objects?dry_run', { kind: 'policy', definition });
    expect(plan.accepted).to.equal(false);
    expect(plan.warnings.find(({ code }) => code === 'ROLE_NEEDED')).to.deep.include({
      level: 'danger',
      collection: 'posts',
    });
    await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', '/objects', { kind: 'policy', definition });
    expect(await listed()).to.deep.equal([]);
  });

  it('reports each change to row security, so that the policy of the service can require an approval', async () => {
    const own = { kind: 'policy', definition: OWN };
    const both = ['CHANGES_ROW_SECURITY', 'ROW_SECURITY_WITHOUT_POLICY'];
    expect(await codes('POST', '/objects', own)).to.deep.equal(both);
    expect(await codes('POST', '/objects', { kind: 'row_security', definition: ENABLE })).to.include.members(both);
    await create(OWN);
    expect(await codes('POST', '/objects', { kind: 'row_security', definition: ENABLE })).not.to.include(both[1]);
    await enable();
    expect(await codes('PATCH', path(ID), { comment: 'Own rows' })).to.deep.equal([]);
    expect(await codes('POST', `${path(ID)}/rename`, { to: 'mine' })).to.deep.equal([both[0]]);
    expect(await codes('DELETE', path(ID))).to.deep.equal(both);
    expect(await codes('DELETE', path('posts', 'row_security'))).to.deep.equal(both);
    expect(await codes('POST', '/collections/posts/rename', { to: 'notes' })).not.to.include(both[0]);
    expect(await codes('DELETE', '/collections/posts')).not.to.include(both[0]);
    const rule = { pattern: 'posts', findings: { CHANGES_ROW_SECURITY: 'approve' } };
    await api.ok('PUT', '/policy', { collections: [rule] });
    await api.refused({ status: 422, code: 'POLICY_REFUSED' }, 'DELETE', path(ID));
    const diff = { hash: '', diff: {} };
    Object.assign(diff, await api.ok<object>('GET', `/history/diff?to=${(await api.head()) - 3}`));
    const opened = await api.ok<{ data: { id: string } }>('POST', '/changes', { title: 'Go back', diff });
    const { data } = await api.ok<{ data: { collections: string[] } }>('GET', `/changes/${opened.data.id}`);
    expect(data.collections).to.deep.equal(['posts']);
  });

  it('reports a diff that restores a table without its policies or triggers, so that no approval can be avoided', async () => {
    await create('CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$', 'function');
    await create('CREATE TRIGGER mark BEFORE INSERT ON posts FOR EACH ROW EXECUTE FUNCTION mark()', 'trigger');
    await create(OWN);
    await enable();
    const head = await api.head();
    await api.ok('POST', '/collections/posts/rename', { to: 'notes' });
    await api.ok('DELETE', '/collections/notes');
    const back = await api.ok<{ hash: string; diff: object }>('GET', `/history/diff?to=${head}`);
    const { objects: _objects, ...tables } = back.diff as { objects: object[] };
    const crafted = { hash: back.hash, diff: tables };
    const lost = (await findings('POST', '/schema/apply', crafted)).filter(({ code }) => code.startsWith('CHANGES_'));
    const other = 'other rows may be visible afterwards';
    expect(lost.map(({ code, collection, message }) => `${code} ${collection}: ${message}`).sort()).to.deep.equal([
      `CHANGES_ROW_SECURITY posts: restore "posts" without policy "own on notes": ${other}`,
      `CHANGES_ROW_SECURITY posts: restore "posts" without row security "notes": ${other}`,
      'CHANGES_TRIGGER posts: restore "posts" without trigger "mark on notes": writes to its table run other code',
    ]);
    const complete = (await findings('POST', '/schema/apply', back)).map(({ message }) => message);
    expect(complete.filter((message) => message.includes('without'))).to.deep.equal([]);
    const rule = { pattern: 'posts', findings: { CHANGES_ROW_SECURITY: 'approve' } };
    await api.ok('PUT', '/policy', { collections: [rule] });
    const also = [undefined];
    await api.refused({ status: 422, code: 'POLICY_REFUSED', also }, 'POST', '/schema/apply', crafted);
  });

  it('warns about policies that are always true', async () => {
    const levels = async (rest: string) =>
      (await findings('POST', '/objects', { kind: 'policy', definition: `CREATE POLICY p ON posts ${rest}` }))
        .filter(({ code }) => code === 'POLICY_ALWAYS_TRUE')
        .map(({ level }) => level);
    expect(await levels('USING (true)')).to.deep.equal(['warn']);
    expect(await levels('FOR SELECT USING (true)')).to.deep.equal(['note']);
    expect(await levels('FOR INSERT WITH CHECK (true)')).to.deep.equal(['warn']);
    expect(await levels('AS RESTRICTIVE USING (true)')).to.deep.equal([]);
    expect(await levels('USING (age > 1)')).to.deep.equal([]);
  });

  it('warns about views that bypass row security', async () => {
    const code = 'VIEW_BYPASSES_ROW_SECURITY';
    const view = 'CREATE VIEW titles AS SELECT title FROM posts';
    const body = { kind: 'view', definition: view };
    expect(await codes('POST', '/objects', body)).not.to.include(code);
    await create(view, 'view');
    expect(await codes('POST', '/objects', { kind: 'row_security', definition: ENABLE })).to.include(code);
    await create(OWN);
    await enable();
    const changed = view.replace('title FROM', 'owner AS title FROM');
    expect(await codes('PATCH', path('titles', 'view'), { definition: changed })).to.include(code);
    const materialized = 'CREATE MATERIALIZED VIEW copies AS SELECT title FROM posts';
    expect(await codes('POST', '/objects', { kind: 'materialized_view', definition: materialized })).to.include(code);
    const invoker = { kind: 'view', definition: view.replace('titles', 'own WITH (security_invoker)') };
    const { server_version_num: version } = (
      await api.sql<{ server_version_num: string }>('SHOW server_version_num')
    )[0] ?? {
      server_version_num: '0',
    };
    if (Number(version) >= 150_000) expect(await codes('POST', '/objects', invoker)).not.to.include(code);
  });

  it('checks all rows of a forced table, including those that policies hide', async () => {
    await create(OWN);
    await enable();
    await api.sql(`UPDATE posts SET title = 'Hello'`);
    const error = await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'PATCH', '/fields/posts/title', {
      schema: { is_nullable: false },
    });
    expect(error.message).to.contain('null');
    expect((await api.ok<{ data: { rows: null } }>('GET', '/collections/posts/sample')).data.rows).to.equal(null);
  });

  it('keeps all values of a forced table in the trash, and restores all of them', async () => {
    await create(OWN);
    await enable();
    await api.ok('DELETE', '/fields/posts/age');
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    await api.ok('POST', `/trash/${data[0]?.position}/restore`, {});
    expect(await visible()).to.deep.equal(['ada']);
    await api.ok('DELETE', path('posts', 'row_security'));
    expect(await api.sql('SELECT owner, age FROM posts ORDER BY 1')).to.deep.equal([
      { owner: 'ada', age: 36 },
      { owner: 'tim', age: 9 },
    ]);
  });
});
