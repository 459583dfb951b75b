import { expect } from 'chai';
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

const FUNCTION = `CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.name := NEW.name || '!'; RETURN NEW; END $$`;
const MARK = 'CREATE TRIGGER mark BEFORE INSERT OR UPDATE OF name ON members FOR EACH ROW EXECUTE FUNCTION mark()';
const ID = 'mark on members';
const NOTHING = { collections: [], fields: [], relations: [] };

interface Plan {
  accepted: boolean;
  statements: { sql: string; summary: string; lock: string }[];
  warnings: { code: string }[];
}

interface Document {
  id: string;
  definition: string;
  enabled: string;
  comment: string | null;
}

describe('triggers', () => {
  const { api } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });

  const create = (definition: string, kind = 'trigger', more: object = {}) =>
    api.ok<{ data: Document }>('POST', '/objects', { kind, definition, ...more });
  const path = (id: string, kind = 'trigger'): string => `/objects/${kind}/${encodeURIComponent(id)}`;
  const listed = async () =>
    (await api.ok<{ data: Document[] }>('GET', '/objects?kind=trigger')).data.map(({ id }) => id);
  const insert = async (table = 'members'): Promise<unknown> =>
    (await api.sql<{ name: string }>(`INSERT INTO ${table} (name) VALUES ('Ada') RETURNING name`))[0]?.name;
  const eventsSince = async (position: number) =>
    (
      await api.ok<{ data: { type: string; subject?: { id: string } }[] }>('GET', `/history/events?after=${position}`)
    ).data.map(({ type, subject }) => (subject === undefined ? type : `${type} ${subject.id}`));

  beforeEach(async () => {
    await api.ok('POST', '/collections', MEMBERS);
    await create(FUNCTION, 'function');
  });

  it('creates a trigger, reads it, changes it, renames it and deletes it', async () => {
    expect(await create(MARK, 'trigger', { comment: 'Marks' })).to.deep.equal({
      data: { kind: 'trigger', id: ID, definition: MARK, comment: 'Marks', enabled: 'origin' },
    });
    expect(await insert()).to.equal('Ada!');
    expect(await api.ok('GET', '/objects?name=mark&collection=members&kind=trigger&fields=id')).to.deep.equal({
      data: [{ id: ID }],
    });
    await api.ok('PATCH', path(ID), { enabled: 'disabled' });
    expect(await insert()).to.equal('Ada');
    const changed = MARK.replace('INSERT OR ', '');
    await api.ok('PATCH', path(ID), { definition: changed, comment: null });
    const { data } = await api.ok<{ data: Document }>('GET', path(ID));
    expect(data).to.deep.equal({ kind: 'trigger', id: ID, definition: changed, comment: null, enabled: 'disabled' });
    await api.ok('PATCH', path(ID), { enabled: 'always' });
    expect(await api.sql(`SELECT tgenabled FROM pg_trigger WHERE tgname = 'mark'`)).to.deep.equal([{ tgenabled: 'A' }]);
    await api.ok('POST', `${path(ID)}/rename`, { to: 'Two marks' });
    expect(await listed()).to.deep.equal(['"Two marks" on members']);
    expect((await api.ok<{ data: Document }>('GET', path('"Two marks" on members'))).data.definition).to.equal(
      changed.replace('TRIGGER mark', 'TRIGGER "Two marks"'),
    );
    await api.ok('DELETE', path('"Two marks" on members'));
    expect(await listed()).to.deep.equal([]);
  });

  it('manages constraint triggers, statement triggers and triggers of views', async () => {
    await create(
      'CREATE CONSTRAINT TRIGGER late AFTER INSERT ON members DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.age > 3) EXECUTE FUNCTION mark()',
    );
    await create(
      'CREATE TRIGGER bulk AFTER UPDATE ON members REFERENCING OLD TABLE AS before NEW TABLE AS "After" FOR EACH STATEMENT EXECUTE FUNCTION mark()',
    );
    await create('CREATE VIEW adults AS SELECT id, name FROM members WHERE age > 17', 'view');
    await create('CREATE TRIGGER write INSTEAD OF INSERT ON adults FOR EACH ROW EXECUTE FUNCTION mark()');
    await api.ok('PATCH', '/fields/members/age', { type: 'bigInteger' });
    expect(await listed()).to.deep.equal(['bulk on members', 'late on members', 'write on adults']);
    await api.ok('POST', `${path('adults', 'view')}/rename`, { to: 'grown_ups' });
    expect(await listed()).to.deep.equal(['bulk on members', 'late on members', 'write on grown_ups']);
    await api.ok('DELETE', path('grown_ups', 'view'));
    expect(await listed()).to.deep.equal(['bulk on members', 'late on members']);
  });

  for (const [title, definition, message] of [
    ['two statements', `${MARK}; DROP TABLE members`, 'exactly one statement'],
    ['another statement', 'DROP TRIGGER mark ON members', 'exactly one statement'],
    ['a table of another schema', MARK.replace('ON members', 'ON elsewhere.members'), 'managed schema'],
    ['a table of the service', MARK.replace('ON members', 'ON service.service_events'), 'managed schema'],
    ['a table that does not exist', MARK.replace('ON members', 'ON strangers'), 'not a managed table'],
    ['a comment before the name', MARK.replace('TRIGGER mark', 'TRIGGER /* a */ mark'), 'without comments'],
    ['an event trigger', 'CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION mark()', 'exactly one statement'],
  ] as const) {
    it(`rejects ${title} and changes nothing`, async () => {
      const body = { kind: 'trigger', definition };
      const expected = { status: 400, code: 'INVALID_PAYLOAD', at: 'definition' };
      const error = await api.refused(expected, 'POST', '/objects', body);
      expect(error.message).to.contain(message);
      expect(await listed()).to.deep.equal([]);
    });
  }

  it('reads names, comments and quotes around the table as they are', async () => {
    await api.ok('POST', '/collections', { ...MEMBERS, collection: 'on members' });
    const definition = `CREATE TRIGGER "a ON ""b"""BEFORE INSERT -- ON members
ON"on members"FOR EACH ROW WHEN (new.name <> 'ON members; DROP TABLE members') EXECUTE PROCEDURE mark('a; b')`;
    const { data } = await create(definition);
    expect(data.id).to.equal('"a ON ""b""" on "on members"');
    expect(await insert('"on members"')).to.equal('Ada!');
    await api.ok('POST', `${path(data.id)}/rename`, { to: 'plain' });
    expect(await listed()).to.deep.equal(['plain on "on members"']);
    expect(await insert('"on members"')).to.equal('Ada!');
  });

  it('renames triggers with their table, and rewrites them with a column and a function', async () => {
    await create(MARK);
    const head = await api.head();
    await api.ok('POST', '/collections/members/rename', { to: 'People' });
    expect(await eventsSince(head)).to.deep.equal([`object.renamed ${ID}`, 'collection.renamed']);
    expect(await listed()).to.deep.equal(['mark on "People"']);
    expect(await insert('"People"')).to.equal('Ada!');
    await api.ok('POST', '/fields/People/name/rename', { to: 'title' });
    await api.ok('POST', `${path('mark()', 'function')}/rename`, { to: 'stamp' });
    const { data } = await api.ok<{ data: Document }>('GET', path('mark on "People"'));
    expect(data.definition).to.equal(
      'CREATE TRIGGER mark BEFORE INSERT OR UPDATE OF title ON "People" FOR EACH ROW EXECUTE FUNCTION stamp()',
    );
    await api.ok('POST', '/schema/apply', await api.ok('GET', `/history/diff?to=${head}`));
    expect(await listed()).to.deep.equal([ID]);
  });

  it('deletes the triggers of a collection with it, and restores them with it', async () => {
    await create(MARK, 'trigger', { comment: 'Marks', enabled: 'always' });
    await insert();
    const head = await api.head();
    await api.ok('DELETE', '/collections/members');
    expect(await eventsSince(head)).to.deep.equal([`object.deleted ${ID}`, 'collection.deleted']);
    expect(await listed()).to.deep.equal([]);
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    await api.ok('POST', `/trash/${data[0]?.position}/restore`, { as: 'people' });
    const restored = await api.ok<{ data: Document }>('GET', path('mark on people'));
    expect(restored.data).to.deep.include({ comment: 'Marks', enabled: 'always' });
    expect(await api.sql('SELECT name FROM people')).to.deep.equal([{ name: 'Ada!' }]);
    expect(await insert('people')).to.equal('Ada!');
  });

  it('leaves out a restored trigger whose function no longer exists', async () => {
    await create(MARK);
    await api.ok('DELETE', '/collections/members');
    await api.ok('DELETE', path('mark()', 'function'));
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    const answer = await api.ok<{ warnings: { message: string }[] }>('POST', `/trash/${data[0]?.position}/restore`, {});
    expect(answer.warnings.map(({ message }) => message)).to.deep.equal([
      'not restored: trigger of members: "mark on members": function "mark()" no longer exists',
    ]);
    expect(await listed()).to.deep.equal([]);
  });

  it('leaves out a restored trigger if a function of its condition no longer exists', async () => {
    const isAdult = 'CREATE FUNCTION is_adult(age integer) RETURNS boolean LANGUAGE sql AS $$ SELECT age > 17 $$';
    await create(isAdult, 'function');
    await create(
      'CREATE TRIGGER mark BEFORE UPDATE ON members FOR EACH ROW WHEN (is_adult(NEW.age)) EXECUTE FUNCTION mark()',
    );
    await insert();
    await api.ok('DELETE', '/collections/members');
    await api.ok('DELETE', path('is_adult(integer)', 'function'));
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    const answer = await api.ok<{ warnings: { message: string }[] }>('POST', `/trash/${data[0]?.position}/restore`, {});
    expect(answer.warnings.map(({ message }) => message)).to.deep.equal([
      'not restored: trigger of members: "mark on members": function "is_adult" no longer exists',
    ]);
    expect(await api.sql('SELECT name FROM members')).to.deep.equal([{ name: 'Ada' }]);
  });

  it('creates a trigger again when a column that it uses changes its type', async () => {
    await create(MARK.replace('UPDATE OF name', 'UPDATE OF age'), 'trigger', { comment: 'Marks', enabled: 'replica' });
    const plan = await api.ok<Plan>('PATCH', '/fields/members/age?dry_run', { type: 'bigInteger' });
    expect(plan.statements.map(({ summary }) => summary)).to.include.members([
      `drop trigger ${ID}`,
      `recreate trigger ${ID}`,
      `enable replica trigger ${ID}`,
    ]);
    await api.ok('PATCH', '/fields/members/age', { type: 'bigInteger' });
    const error = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/fields/members/age');
    expect(error.message).to.contain(`trigger "${ID}" uses column "age" of "members"`);
  });

  it('rejects deleting a function that a trigger uses, and replaces it', async () => {
    await create(MARK);
    const error = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', path('mark()', 'function'));
    expect(error.message).to.contain(`trigger "${ID}" uses "mark()"`);
    await api.ok('PATCH', path('mark()', 'function'), { definition: FUNCTION.replace("'!'", "'?'") });
    expect(await insert()).to.equal('Ada?');
    const missing = MARK.replace('mark()', 'missing()').replace('mark', 'other');
    await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', '/objects', {
      kind: 'trigger',
      definition: missing,
    });
  });

  it('do not fire while values are moved to the trash and back', async () => {
    await create(MARK.replace(' OF name', ''), 'trigger', { enabled: 'always' });
    await api.sql(`INSERT INTO members (name, age) VALUES ('Ada', 36)`);
    await create(
      `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$`,
      'function',
    );
    await create('CREATE TRIGGER fail BEFORE UPDATE ON members EXECUTE FUNCTION fail()', 'trigger', {
      enabled: 'always',
    });
    await api.ok('DELETE', '/fields/members/age');
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    await api.ok('POST', `/trash/${data[0]?.position}/restore`, {});
    await api.ok('PATCH', '/fields/members/age', { type: 'bigInteger' });
    expect(await api.sql('SELECT name, age::int FROM members')).to.deep.equal([{ name: 'Ada!', age: 36 }]);
    expect(await api.sql('SELECT DISTINCT tgenabled FROM pg_trigger WHERE NOT tgisinternal')).to.deep.include({
      tgenabled: 'A',
    });
  });

  it('applies snapshots with triggers, and finds no difference afterwards', async () => {
    await create(MARK, 'trigger', { enabled: 'disabled' });
    const snapshot = await api.ok<{ objects: Document[] }>('GET', '/schema/snapshot');
    const other = {
      ...snapshot,
      objects: snapshot.objects.map((object) =>
        object.id === ID
          ? {
              ...object,
              enabled: 'origin',
              definition: object.definition.replace('INSERT OR UPDATE OF name', 'INSERT'),
            }
          : object,
      ),
    };
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', other));
    expect((await api.ok<{ diff: object }>('POST', '/schema/diff', other)).diff).to.deep.equal(NOTHING);
    const spelled = {
      ...other,
      objects: other.objects.map((object) => ({
        ...object,
        definition: object.definition.replace('EXECUTE FUNCTION mark', 'EXECUTE PROCEDURE public.mark'),
      })),
    };
    expect((await api.ok<{ diff: object }>('POST', '/schema/diff', spelled)).diff).to.deep.equal(NOTHING);
    const without = { ...snapshot, collections: [], fields: [], relations: [], objects: [] };
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', without));
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', snapshot));
    expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(snapshot);
    expect(await api.sql(`SELECT tgenabled FROM pg_trigger WHERE tgname = 'mark'`)).to.deep.equal([{ tgenabled: 'D' }]);
  });

  it('do not include the triggers that PostgreSQL creates on partitions', async () => {
    await api.sql(`
      CREATE TABLE days (id integer, at integer NOT NULL, name text, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
      CREATE TABLE days_1 PARTITION OF days FOR VALUES FROM (0) TO (10);
      CREATE TRIGGER mark BEFORE INSERT ON days FOR EACH ROW EXECUTE FUNCTION mark()`);
    await api.ok('POST', '/schema/adopt', { all: true });
    expect(await listed()).to.deep.equal(['mark on days']);
    await api.ok('PATCH', path('mark on days'), { enabled: 'disabled' });
    expect(await api.sql('SELECT DISTINCT tgenabled FROM pg_trigger WHERE tgname = $$mark$$')).to.deep.equal([
      { tgenabled: 'D' },
    ]);
    await api.ok('DELETE', path('mark on days'));
  });

  it('reports each change to a trigger, so that the policy can require an approval', async () => {
    const codes = async (method: 'POST' | 'PATCH' | 'DELETE', at: string, body?: object) =>
      (await api.ok<Plan>(method, `${at}?dry_run`, body)).warnings.map(({ code }) => code);
    const body = { kind: 'trigger', definition: MARK };
    expect(await codes('POST', '/objects', body)).to.deep.equal(['CHANGES_TRIGGER']);
    await create(MARK);
    expect(await codes('PATCH', path(ID), { enabled: 'disabled' })).to.deep.equal(['CHANGES_TRIGGER']);
    expect(await codes('POST', `${path(ID)}/rename`, { to: 'first' })).to.deep.equal(['CHANGES_TRIGGER']);
    expect(await codes('DELETE', path(ID))).to.deep.equal(['CHANGES_TRIGGER']);
    expect(await codes('POST', '/collections/members/rename', { to: 'people' })).not.to.include('CHANGES_TRIGGER');
    expect(await codes('DELETE', '/collections/members')).not.to.include('CHANGES_TRIGGER');
    const rule = { pattern: 'members', findings: { CHANGES_TRIGGER: 'approve' } };
    await api.ok('PUT', '/policy', { collections: [rule] });
    await api.refused({ status: 422, code: 'POLICY_REFUSED' }, 'PATCH', path(ID), { enabled: 'disabled' });
    await api.ok('PUT', '/policy', { collections: [{ ...rule, pattern: 'people' }] });
    await api.ok('PATCH', path(ID), { enabled: 'disabled' });
  });

  it('lists the collection of a trigger in a change request', async () => {
    const head = await api.head();
    await create(MARK);
    const diff = await api.ok<object>('GET', `/history/diff?to=${head}`);
    const opened = await api.ok<{ data: { id: string } }>('POST', '/changes', { title: 'Drop the trigger', diff });
    const { data } = await api.ok<{ data: { collections: string[] } }>('GET', `/changes/${opened.data.id}`);
    expect(data.collections).to.deep.equal(['members']);
    const { data: ofMembers } = await api.ok<{ data: object[] }>('GET', '/changes?collection=members');
    expect(ofMembers).to.have.length(1);
  });

  it('warns about a new row trigger of a large table', async () => {
    await api.sql('INSERT INTO members (age) SELECT i FROM generate_series(1, 10001) i; ANALYZE members');
    const codes = async (definition: string) =>
      (await api.ok<Plan>('POST', '/objects?dry_run', { kind: 'trigger', definition })).warnings.map(
        ({ code }) => code,
      );
    expect(await codes(MARK)).to.include('TRIGGER_ON_LARGE_TABLE');
    expect(await codes(MARK.replace('FOR EACH ROW', 'FOR EACH STATEMENT'))).not.to.include('TRIGGER_ON_LARGE_TABLE');
  });

  it('replaces a table by a view of the same name that has a trigger of the same name', async () => {
    const log = 'CREATE FUNCTION log() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$';
    await create(log, 'function');
    const onMembers = 'CREATE TRIGGER log AFTER INSERT ON members FOR EACH STATEMENT EXECUTE FUNCTION log()';
    await create(onMembers, 'trigger', { comment: 'Logs' });
    await api.ok('POST', '/collections', { ...MEMBERS, collection: 'people' });
    const before = await api.ok<{ collections: object[]; fields: object[]; objects: object[] }>(
      'GET',
      '/schema/snapshot',
    );
    const definition = 'CREATE VIEW members AS SELECT id, name FROM people';
    const view = { kind: 'view', id: 'members', definition, comment: null };
    const isOther = (each: object): boolean => (each as { collection: string }).collection !== 'members';
    const after = {
      ...before,
      collections: before.collections.filter(isOther),
      fields: before.fields.filter(isOther),
      objects: [...before.objects, view],
    };
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', after));
    const { objects } = await api.ok<{ objects: object[] }>('GET', '/schema/snapshot');
    expect(objects).to.deep.include(view);
    expect(objects).to.deep.include({
      kind: 'trigger',
      id: 'log on members',
      definition: onMembers,
      comment: 'Logs',
      enabled: 'origin',
    });
    const [trigger] = await api.sql(`SELECT c.relkind FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
      JOIN pg_namespace n ON n.oid = c.relnamespace WHERE t.tgname = 'log' AND n.nspname = 'public'`);
    expect(trigger).to.deep.equal({ relkind: 'v' });
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', before));
    expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(before);
  });

  it('goes back and forth between a renamed table and a new one with its name and its trigger', async () => {
    await create(MARK);
    const first = await api.head();
    await api.ok('POST', '/collections/members/rename', { to: 'people' });
    await api.ok('POST', '/collections', MEMBERS);
    await create(MARK);
    const second = await api.head();
    await api.goTo(first);
    await api.goTo(second);
  });

  it('keeps a trigger whose condition calls a function, and protects that function', async () => {
    const condition = `CREATE FUNCTION is_adult(age integer) RETURNS boolean LANGUAGE sql AS 'SELECT age > 17'`;
    await create(condition, 'function');
    await create(
      'CREATE TRIGGER mark BEFORE INSERT ON members FOR EACH ROW WHEN (is_adult(NEW.age)) EXECUTE FUNCTION mark()',
    );
    await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', path('is_adult(integer)', 'function'));
    // PostgreSQL cannot replace a function whose parameter gets another name.
    const definition = condition.replace('age integer', 'years integer').replace('SELECT age', 'SELECT years');
    await api.ok('PATCH', path('is_adult(integer)', 'function'), { definition });
    expect(await listed()).to.deep.equal([ID]);
    expect(await api.sql(`INSERT INTO members (name, age) VALUES ('Ada', 36) RETURNING name`)).to.deep.equal([
      { name: 'Ada!' },
    ]);
  });

  it('reads triggers whose names and columns contain the words before the table', async () => {
    const column = 'a ON public.members b';
    await api.ok('POST', '/fields/members', { field: column, type: 'string', interface: 'input' });
    const definitions = ['"mark ON public.members x"', '"x ON public.members """'].map((name) => ({
      id: `${name} on members`,
      definition: `CREATE TRIGGER ${name} BEFORE UPDATE OF "${column}" ON members FOR EACH ROW EXECUTE FUNCTION mark()`,
    }));
    for (const { definition } of definitions) await create(definition);
    for (const { id, definition } of definitions)
      expect((await api.ok<{ data: Document }>('GET', path(id))).data.definition).to.equal(definition);
    // The column's new type requires that both triggers are dropped and created again.
    await api.ok('PATCH', `/fields/members/${encodeURIComponent(column)}`, { type: 'text' });
    expect(await listed()).to.have.members(definitions.map(({ id }) => id));
  });

  it('rejects a definition on another table, even on one of another schema', async () => {
    await create(MARK);
    for (const table of ['other', 'billing.members']) {
      const definition = MARK.replace('ON members', `ON ${table}`);
      const expected = { status: 400, code: 'INVALID_PAYLOAD' };
      const { message } = await api.refused(expected, 'PATCH', path(ID), { definition });
      expect(message).to.include(table.split('.')[0]);
    }
    await api.ok('PATCH', path(ID), { definition: MARK.replace('ON members', 'ON public.members') });
    const rhs = MARK.replace('ON members', 'ON billing.members');
    const objects = [{ kind: 'trigger', id: ID, diff: [{ kind: 'E', path: ['definition'], lhs: MARK, rhs }] }];
    const { hash, diff } = await api.ok<{ hash: string; diff: object }>('GET', `/history/diff?to=0`);
    const body = { hash, diff: { ...diff, collections: [], fields: [], relations: [], objects } };
    const expected = { status: 400, code: 'INVALID_PAYLOAD', at: 'diff.objects[0].diff[0].rhs' };
    await api.refused(expected, 'POST', '/schema/apply', body);
  });
});
