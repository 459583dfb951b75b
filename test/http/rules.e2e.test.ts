import { expect } from 'chai';
import { clientOf, json } from '../support/client.js';
import { startService } from '../support/service.js';
import { withService } from '../support/with-service.js';

const field = (name: string, type: string) => ({ field: name, type, interface: 'input' });
const KEY = { ...field('id', 'integer'), schema: { is_primary_key: true, has_auto_increment: true } };
const MEMBERS = {
  collection: 'members',
  schema: {},
  fields: [KEY, field('name', 'string'), field('age', 'integer'), field('note', 'string')],
};
const CHANGES = {
  collection: 'changes',
  schema: {},
  fields: [KEY, field('old_name', 'string'), field('years', 'integer')],
};

const LOG =
  'CREATE RULE log AS ON UPDATE TO members WHERE new.name <> old.name DO ALSO INSERT INTO changes (old_name, years) VALUES (old.name, new.age)';
const KEEP = 'CREATE RULE keep AS ON DELETE TO members DO INSTEAD NOTHING';
const ID = 'log on members';
const NOTHING = { collections: [], fields: [], relations: [] };

interface Plan {
  accepted: boolean;
  statements: { sql: string; summary: string; lock: string }[];
  warnings: { code: string; collection?: string }[];
}

interface Document {
  kind: string;
  id: string;
  definition: string;
  enabled: string;
  comment: string | null;
}

describe('rules', () => {
  const { api, service } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });

  const create = (definition: string, more: object = {}, kind = 'rule') =>
    api.ok<{ data: Document }>('POST', '/objects', { kind, definition, ...more });
  const path = (id: string, kind = 'rule'): string => `/objects/${kind}/${encodeURIComponent(id)}`;
  const shown = async (id: string) => (await api.ok<{ data: Document }>('GET', path(id))).data;
  const listed = async () => (await api.ok<{ data: Document[] }>('GET', '/objects?kind=rule')).data.map(({ id }) => id);
  /** The rules of the database with their enabled state. */
  const existing = () =>
    api.sql<{ name: string; table: string; enabled: string; comment: string | null }>(
      `SELECT rulename::text AS name, ev_class::regclass::text AS table, ev_enabled::text AS enabled,
              obj_description(oid, 'pg_rewrite') AS comment
         FROM pg_rewrite WHERE rulename <> '_RETURN' AND ev_class >= 16384 ORDER BY 1, 2`,
    );
  /** Writes a row, and returns what the rule has logged. */
  const logged = async (table = 'members', name = 'name') => {
    await api.sql(`INSERT INTO ${table} (${name}, age) VALUES ('Ada', 36); UPDATE ${table} SET ${name} = 'Eve'`);
    return api.sql('SELECT old_name, years::int FROM changes');
  };
  const eventsSince = async (position: number) =>
    (
      await api.ok<{ data: { type: string; subject?: { kind: string; id: string } }[] }>(
        'GET',
        `/history/events?after=${position}`,
      )
    ).data.map(({ type, subject }) => (subject === undefined ? type : `${type} ${subject.kind} ${subject.id}`));
  const diffTo = async (snapshot: object) => (await api.ok<{ diff: object }>('POST', '/schema/diff', snapshot)).diff;
  const restoreLast = async (body: object) => {
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    return api.ok<{ warnings?: { message: string }[] }>('POST', `/trash/${data[0]?.position}/restore`, body);
  };

  beforeEach(async () => {
    await api.ok('POST', '/collections', MEMBERS);
    await api.ok('POST', '/collections', CHANGES);
  });

  it('creates a rule, reads it, changes it, renames it and deletes it', async () => {
    expect(await create(LOG, { comment: 'Logs' })).to.deep.equal({
      data: { kind: 'rule', id: ID, definition: LOG, comment: 'Logs', enabled: 'origin' },
    });
    expect(await logged()).to.deep.equal([{ old_name: 'Ada', years: 36 }]);
    for (const collection of ['members', 'changes'])
      expect(await api.ok('GET', `/objects?name=log&collection=${collection}&kind=rule&fields=id`)).to.deep.equal({
        data: [{ id: ID }],
      });
    await api.ok('PATCH', path(ID), { enabled: 'disabled' });
    const changed = LOG.replace('WHERE new.name <> old.name ', '').replace('ALSO', 'INSTEAD');
    await api.ok('PATCH', path(ID), { definition: changed });
    expect(await existing()).to.deep.equal([{ name: 'log', table: 'members', enabled: 'D', comment: 'Logs' }]);
    await api.ok('PATCH', path(ID), { enabled: 'always', comment: null });
    expect(await existing()).to.deep.equal([{ name: 'log', table: 'members', enabled: 'A', comment: null }]);
    await api.ok('POST', `${path(ID)}/rename`, { to: 'Log "all"' });
    expect((await shown('"Log ""all""" on members')).definition).to.equal(
      changed.replace('RULE log', 'RULE "Log ""all"""'),
    );
    await api.ok('DELETE', path('"Log ""all""" on members'));
    expect(await existing()).to.deep.equal([]);
  });

  it('shows the statements and their locks in a dry run and in an explanation', async () => {
    const body = { kind: 'rule', definition: LOG, enabled: 'replica', comment: 'Logs' };
    const plan = await api.ok<Plan>('POST', '/objects?dry_run', body);
    expect(plan.accepted).to.equal(true);
    expect(plan.statements.map(({ summary, lock }) => [summary, lock])).to.deep.equal([
      [`create rule ${ID}`, 'ACCESS EXCLUSIVE'],
      [`enable replica rule ${ID}`, 'ACCESS EXCLUSIVE'],
      [`comment on rule ${ID}`, 'SHARE UPDATE EXCLUSIVE'],
    ]);
    expect((await api.ok<Plan>('POST', '/objects?explain', body)).statements).to.have.length(3);
    expect(await existing()).to.deep.equal([]);
  });

  for (const [title, definition, message] of [
    ['two statements', `${LOG}; DROP TABLE members`, 'exactly one statement'],
    ['a command that is no query', KEEP.replace('NOTHING', 'DROP TABLE changes'), 'valid PostgreSQL'],
    ['a table of another schema', KEEP.replace('TO members', 'TO elsewhere.members'), 'managed schema'],
    ['a table of the service', KEEP.replace('TO members', 'TO service.service_events'), 'managed schema'],
    ['a command that writes to the service', KEEP.replace('NOTHING', 'DELETE FROM service.service_tokens'), 'schema'],
    ['a command that reads the catalog', KEEP.replace('NOTHING', 'SELECT rolname FROM pg_authid'), 'not a managed'],
    ['a table that does not exist', KEEP.replace('TO members', 'TO strangers'), 'not a managed table or view'],
    ['the query of a view', 'CREATE RULE "_RETURN" AS ON SELECT TO members DO INSTEAD SELECT 1', '_RETURN'],
    ['an INSERT without columns', LOG.replace(' (old_name, years)', ''), 'columns of INSERT'],
    ['a star', KEEP.replace('NOTHING', 'INSERT INTO changes (old_name) VALUES (old.*)'), 'instead of *'],
    ['INTO', KEEP.replace('NOTHING', 'SELECT id INTO stolen FROM members'), 'INTO'],
  ] as const) {
    it(`rejects ${title} and changes nothing`, async () => {
      const expected = { status: 400, code: 'INVALID_PAYLOAD', at: 'definition' };
      const error = await api.refused(expected, 'POST', '/objects', { kind: 'rule', definition });
      expect(error.message).to.contain(message);
      expect(await existing()).to.deep.equal([]);
    });
  }

  it('reports what PostgreSQL rejects, and a name that is taken or reserved', async () => {
    const refused = (code: string, status: number, definition: string) =>
      api.refused({ status, code }, 'POST', '/objects', { kind: 'rule', definition });
    await refused('DATABASE_REFUSED', 422, LOG.replace('old.name,', 'old.missing,'));
    await refused('DATABASE_REFUSED', 422, 'CREATE RULE r AS ON INSERT TO members WHERE old.age > 1 DO NOTHING');
    await create(LOG);
    await refused('ALREADY_EXISTS', 409, LOG);
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', `${path(ID)}/rename`, { to: '_RETURN' });
    expect(await listed()).to.deep.equal([ID]);
  });

  it('gets the enabled state of a change that also creates it again, like a trigger', async () => {
    await create(LOG);
    const returns = 'RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$';
    await create(`CREATE FUNCTION pass() ${returns}`, {}, 'function');
    const trigger = 'CREATE TRIGGER pass BEFORE UPDATE OF age ON members FOR EACH ROW EXECUTE FUNCTION pass()';
    await create(trigger, { enabled: 'disabled' }, 'trigger');
    interface Snapshot {
      fields: { collection: string; field: string; type: string; schema: { data_type: string } | null }[];
      objects: Document[];
    }
    const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
    const age = snapshot.fields.find(({ collection, field: name }) => collection === 'members' && name === 'age');
    if (age?.schema == null) throw new Error('the column is missing');
    Object.assign(age, { type: 'bigInteger', schema: { ...age.schema, data_type: 'bigint' } });
    for (const object of snapshot.objects) {
      if (object.kind === 'rule') object.enabled = 'disabled';
      if (object.kind === 'trigger') object.enabled = 'origin';
    }
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', snapshot));
    expect((await existing()).map(({ enabled }) => enabled)).to.deep.equal(['D']);
    expect(await api.sql(`SELECT tgenabled::text AS enabled FROM pg_trigger WHERE tgname = 'pass'`)).to.deep.equal([
      { enabled: 'O' },
    ]);
  });

  it('can have several commands, and follow the view if they are on one', async () => {
    await create('CREATE VIEW adults AS SELECT id, name, age FROM members WHERE age > 17', {}, 'view');
    await create(
      `CREATE RULE "Add" AS ON INSERT TO adults DO INSTEAD (INSERT INTO members (name, age) VALUES (new.name, new.age);
       INSERT INTO changes (old_name) SELECT m.name FROM members m WHERE m.age = new.age; NOTIFY adults)`,
    );
    await api.sql(`INSERT INTO adults (name, age) VALUES ('Ada', 36)`);
    expect(await api.sql('SELECT old_name FROM changes')).to.deep.equal([{ old_name: 'Ada' }]);
    await api.ok('PATCH', '/fields/members/age', { type: 'bigInteger' });
    await api.ok('PATCH', '/fields/changes/old_name', { type: 'text' });
    await api.ok('POST', `${path('adults', 'view')}/rename`, { to: 'grown_ups' });
    expect(await listed()).to.deep.equal(['"Add" on grown_ups']);
    await api.sql(`INSERT INTO grown_ups (name, age) VALUES ('Eve', 40)`);
    expect(await api.sql('SELECT old_name FROM changes ORDER BY id')).to.deep.equal([
      { old_name: 'Ada' },
      { old_name: 'Eve' },
    ]);
    const error = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/collections/changes');
    expect(error.message).to.contain(
      `rule ${JSON.stringify('"Add" on grown_ups')} uses column "old_name" of "changes"`,
    );
    await api.ok('DELETE', path('grown_ups', 'view'));
    expect(await existing()).to.deep.equal([]);
    await api.ok('DELETE', '/collections/changes');
  });

  it('deletes a rule of a view together with a collection that only the rule used', async () => {
    await create('CREATE VIEW adults AS SELECT id, name FROM members', {}, 'view');
    await create('CREATE RULE gone AS ON DELETE TO adults DO INSTEAD INSERT INTO changes (old_name) VALUES (old.name)');
    const snapshot = await api.ok<{ collections: object[]; fields: object[]; objects: Document[] }>(
      'GET',
      '/schema/snapshot',
    );
    const isOther = (each: object): boolean => (each as { collection: string }).collection !== 'changes';
    const wanted = {
      ...snapshot,
      collections: snapshot.collections.filter(isOther),
      fields: snapshot.fields.filter(isOther),
      objects: snapshot.objects.filter(({ kind }) => kind === 'view'),
    };
    const plan = await api.ok<{ diff: object; hash: string }>('POST', '/schema/diff', wanted);
    await api.ok('POST', '/schema/apply', plan);
    expect(await existing()).to.deep.equal([]);
    expect(await diffTo(wanted)).to.deep.equal(NOTHING);
  });

  it('follows the renames of tables and columns as events, and goes back', async () => {
    await create(LOG);
    await create(KEEP, { enabled: 'disabled' });
    const snapshot = await api.ok('GET', '/schema/snapshot');
    const head = await api.head();
    await api.ok('POST', '/collections/members/rename', { to: 'People' });
    expect(await eventsSince(head)).to.deep.equal([
      'object.renamed rule keep on members',
      `object.renamed rule ${ID}`,
      'collection.renamed',
    ]);
    const second = await api.head();
    await api.ok('POST', '/collections/changes/rename', { to: 'log' });
    expect(await eventsSince(second)).to.deep.equal(['collection.renamed', 'object.updated rule log on "People"']);
    await api.ok('POST', '/fields/People/name/rename', { to: 'title' });
    await api.ok('POST', '/fields/log/years/rename', { to: 'age' });
    const { definition } = await shown('log on "People"');
    expect(definition.replaceAll(/\s+/g, ' ')).to.contain('new.title').and.contain('INSERT INTO log (old_name, age)');
    await api.ok('POST', '/schema/apply', await api.ok('GET', `/history/diff?to=${head}`));
    expect(await diffTo(snapshot)).to.deep.equal(NOTHING);
    expect((await existing()).map(({ name, enabled }) => [name, enabled])).to.deep.equal([
      ['keep', 'D'],
      ['log', 'O'],
    ]);
    expect(await logged()).to.deep.equal([{ old_name: 'Ada', years: 36 }]);
  });

  it('goes back and forth between points in time, and is exported as SQL', async () => {
    await create(LOG, { comment: 'Logs', enabled: 'disabled' });
    const first = await api.head();
    const past = await api.ok('GET', '/schema/snapshot');
    const { text } = await api.client('/history/snapshot?export=sql');
    expect(text).to.contain('CREATE RULE "log" AS ON UPDATE TO "public"."members" WHERE new.name <> old.name');
    expect(text).to.contain('ALTER TABLE "public"."members" DISABLE RULE "log"');
    expect(text).to.contain(`COMMENT ON RULE "log" ON "public"."members" IS 'Logs'`);
    await api.ok('POST', `${path(ID)}/rename`, { to: 'former' });
    await create(LOG);
    await api.ok('PATCH', path('former on members'), { enabled: 'origin', definition: LOG.replace('log', 'former') });
    await api.ok('POST', '/collections/changes/rename', { to: 'others' });
    const second = await api.head();
    expect(await api.ok('GET', `/history/snapshot?at=${first}`)).to.deep.equal(past);
    await api.goTo(first);
    expect(await existing()).to.deep.equal([{ name: 'log', table: 'members', enabled: 'D', comment: 'Logs' }]);
    await api.goTo(second);
    await api.goTo(0);
    expect(await existing()).to.deep.equal([]);
  });

  it('keeps a rule whose commands use its own table when that table is renamed', async () => {
    await create('CREATE RULE count AS ON DELETE TO members DO ALSO UPDATE members SET note = old.name');
    await api.ok('POST', '/collections/members/rename', { to: 'people' });
    expect((await shown('count on people')).definition.replaceAll(/\s+/g, ' ')).to.contain('UPDATE people SET note');
    await api.ok('POST', '/collections/people/rename', { to: 'members' });
    await api.ok('PATCH', '/fields/members/note', { type: 'text' });
    expect(await listed()).to.deep.equal(['count on members']);
  });

  it('are created again when a column that they use changes its type, and prevent its deletion', async () => {
    await create(LOG, { comment: 'Logs', enabled: 'replica' });
    for (const [column, used] of [
      ['members/age', 'column "age" of "members"'],
      ['changes/years', 'column "years" of "changes"'],
    ] as const) {
      const plan = await api.ok<Plan>('PATCH', `/fields/${column}?dry_run`, { type: 'bigInteger' });
      expect(plan.statements.map(({ summary }) => summary)).to.include.members([
        `drop rule ${ID}`,
        `recreate rule ${ID}`,
        `enable replica rule ${ID}`,
        `comment on rule ${ID}`,
      ]);
      await api.ok('PATCH', `/fields/${column}`, { type: 'bigInteger' });
      expect(await existing()).to.deep.equal([{ name: 'log', table: 'members', enabled: 'R', comment: 'Logs' }]);
      const error = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', `/fields/${column}`);
      expect(error.message).to.contain(`rule "${ID}" uses ${used}`);
    }
    await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/collections/changes');
    await api.ok('DELETE', '/fields/members/note');
  });

  it('do not apply to the statements that move values to the trash and back', async () => {
    await api.sql(`INSERT INTO members (name, note) VALUES ('Ada', 'first'), ('Eve', 'second')`);
    await create('CREATE RULE keep AS ON UPDATE TO members DO INSTEAD NOTHING', { enabled: 'always' });
    await create(LOG.replace('WHERE new.name <> old.name ', ''), { enabled: 'always' });
    await api.ok('DELETE', '/fields/members/note');
    await restoreLast({});
    expect(await api.sql('SELECT name, note FROM members ORDER BY id')).to.deep.equal([
      { name: 'Ada', note: 'first' },
      { name: 'Eve', note: 'second' },
    ]);
    expect(await api.sql('SELECT id FROM changes')).to.deep.equal([]);
    expect((await existing()).map(({ name, enabled }) => [name, enabled])).to.deep.equal([
      ['keep', 'A'],
      ['log', 'A'],
    ]);
  });

  it('are deleted with their collection, and restored with it under another name', async () => {
    await create(LOG, { comment: 'Logs', enabled: 'always' });
    const head = await api.head();
    await api.ok('DELETE', '/collections/members');
    expect(await eventsSince(head)).to.deep.equal([`object.deleted rule ${ID}`, 'collection.deleted']);
    expect(await existing()).to.deep.equal([]);
    await restoreLast({ as: 'people' });
    expect(await shown('log on people')).to.deep.equal({
      kind: 'rule',
      id: 'log on people',
      definition: LOG.replace('TO members', 'TO people'),
      comment: 'Logs',
      enabled: 'always',
    });
    expect(await logged('people')).to.deep.equal([{ old_name: 'Ada', years: 36 }]);
  });

  it('are excluded from a restore if a collection that they write no longer exists', async () => {
    await create(LOG);
    await api.ok('DELETE', '/collections/members');
    await api.ok('POST', '/collections/changes/rename', { to: 'others' });
    const restored = await restoreLast({});
    expect(restored.warnings?.map(({ message }) => message).join()).to.contain(
      `not restored: rule of members: "${ID}": collection "changes"`,
    );
    expect(await existing()).to.deep.equal([]);
  });

  it('follows its table with OBJECTS=off', async () => {
    await create(LOG);
    const other = await startService({ DATABASE_URL: service.databaseUrl });
    try {
      const client = clientOf(other);
      for (const [url, init] of [
        ['/collections/members/rename', json({ to: 'people' })],
        ['/fields/changes/years/rename', json({ to: 'age' })],
        ['/fields/people/age', { ...json({ type: 'bigInteger' }), method: 'PATCH' }],
        ['/collections/people', { method: 'DELETE' }],
      ] as const) {
        const reply = await client(url, init);
        expect(reply.status, `${url}: ${reply.text}`).to.be.oneOf([200, 204]);
      }
    } finally {
      await other.stop();
    }
    expect([await existing(), await listed()]).to.deep.equal([[], []]);
  });

  it('applies snapshots with rules, and finds no difference afterwards', async () => {
    await create(LOG, { enabled: 'disabled' });
    await create(
      'CREATE RULE own AS ON INSERT TO members DO ALSO UPDATE members SET age = 1 WHERE members.id < new.id',
    );
    const snapshot = await api.ok<{ objects: Document[] }>('GET', '/schema/snapshot');
    const replaced = (from: string, to: string) => ({
      ...snapshot,
      objects: snapshot.objects.map((each) => ({ ...each, definition: each.definition.replace(from, to) })),
    });
    for (const spelled of [
      replaced('CREATE RULE', 'create or replace rule'),
      replaced('TO members', 'TO public.members'),
      replaced('new.name <> old.name', '(NEW.name != OLD.name)'),
      replaced('members.id', 'id'),
      replaced('DO ALSO', 'DO'),
    ])
      expect(await diffTo(spelled)).to.deep.equal(NOTHING);
    const other = replaced('DO ALSO', 'DO INSTEAD');
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', other));
    expect(await diffTo(other)).to.deep.equal(NOTHING);
    const empty = { ...snapshot, collections: [], fields: [], relations: [], objects: [] };
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', empty));
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', snapshot));
    expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(snapshot);
  });

  it('reports each change for every collection of the rule, so that the policy can require an approval', async () => {
    const found = async (method: 'POST' | 'PATCH' | 'DELETE', at: string, body?: object) =>
      (await api.ok<Plan>(method, `${at}${at.includes('?') ? '&' : '?'}dry_run`, body)).warnings
        .filter(({ code }) => code === 'CHANGES_RULE')
        .map(({ collection }) => collection);
    const body = { kind: 'rule', definition: LOG };
    expect(await found('POST', '/objects', body)).to.deep.equal(['members', 'changes']);
    await api.ok('PUT', '/policy', {
      collections: [{ pattern: 'changes', findings: { CHANGES_RULE: 'approve' } }],
    });
    await api.refused({ status: 422, code: 'POLICY_REFUSED' }, 'POST', '/objects', body);
    await create(KEEP);
    await api.ok('PUT', '/policy', { collections: [] });
    await create(LOG);
    for (const [method, at, change] of [
      ['PATCH', path(ID), { enabled: 'disabled' }],
      ['POST', `${path(ID)}/rename`, { to: 'first' }],
      ['DELETE', path(ID), undefined],
    ] as const)
      expect(await found(method, at, change), method).to.have.members(['members', 'changes']);
    expect(await found('PATCH', path(ID), { comment: 'Logs' })).to.deep.equal([]);
    expect(await found('POST', '/collections/members/rename', { to: 'people' })).to.deep.equal([]);
    expect(await found('DELETE', '/collections/members')).to.deep.equal([]);
  });

  it('lists every collection of a rule in a change request, and applies it', async () => {
    const head = await api.head();
    await create(LOG);
    const diff = await api.ok<object>('GET', `/history/diff?to=${head}`);
    const opened = await api.ok<{ data: { id: string } }>('POST', '/changes', { title: 'Drop the rule', diff });
    const { data } = await api.ok<{ data: { collections: string[] } }>('GET', `/changes/${opened.data.id}`);
    expect(data.collections).to.deep.equal(['changes', 'members']);
    const { data: ofChanges } = await api.ok<{ data: object[] }>('GET', '/changes?collection=changes');
    expect(ofChanges).to.have.length(1);
  });

  it('adopts rules, and lists those that it cannot manage', async () => {
    await api.sql(`
      CREATE TABLE unmanaged (id int); CREATE SCHEMA other; CREATE TABLE other.rows (id int);
      CREATE VIEW adults AS SELECT id, name FROM members;
      CREATE RULE "Add" AS ON INSERT TO adults DO INSTEAD INSERT INTO members VALUES (new.id, new.name);
      ${LOG}; ${KEEP}; ALTER TABLE members DISABLE RULE keep; COMMENT ON RULE log ON members IS 'Logs';
      CREATE RULE far AS ON INSERT TO members DO ALSO INSERT INTO other.rows (id) VALUES (new.id);
      CREATE RULE near AS ON INSERT TO members DO ALSO INSERT INTO unmanaged (id) VALUES (new.id);
      CREATE RULE roles AS ON INSERT TO members DO ALSO SELECT oid FROM pg_roles`);
    const objects = ['far on members', 'near on members', 'roles on members'].map((id) => ({ kind: 'rule', id }));
    const reply = await clientOf(service)('/schema/adopt', json({ objects }));
    expect(reply.status).to.equal(400);
    for (const part of ['it uses \\"other.rows\\"', 'it uses \\"unmanaged\\"', 'it uses \\"pg_catalog.pg_roles\\"'])
      expect(reply.text).to.contain(part);
    await api.ok('POST', '/schema/adopt', {
      objects: [
        ...[ID, 'keep on members', '"Add" on adults'].map((id) => ({ kind: 'rule', id })),
        { kind: 'view', id: 'adults' },
      ],
    });
    expect(await listed()).to.deep.equal(['"Add" on adults', 'keep on members', ID]);
    expect(await shown('keep on members')).to.deep.include({ definition: KEEP, enabled: 'disabled' });
    expect((await shown(ID)).comment).to.equal('Logs');
    await api.sql('DROP RULE far ON members; DROP RULE near ON members; DROP RULE roles ON members');
    await api.ok('PATCH', '/fields/members/name', { type: 'text' });
    expect((await existing()).map(({ name, enabled }) => [name, enabled])).to.deep.equal([
      ['Add', 'O'],
      ['keep', 'D'],
      ['log', 'O'],
    ]);
  });
});
