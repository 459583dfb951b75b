import { expect } from 'chai';
import { createApi } from '../support/api.js';
import { json } from '../support/client.js';
import { startService } from '../support/service.js';
import { withService } from '../support/with-service.js';

const AUTHORS = {
  collection: 'authors',
  schema: {},
  fields: [
    { field: 'id', type: 'integer', interface: 'input', schema: { is_primary_key: true, has_auto_increment: true } },
    { field: 'name', type: 'string', interface: 'input' },
    { field: 'age', type: 'integer', interface: 'input' },
    { field: 'spare', type: 'string', interface: 'input' },
  ],
};

const NAMES = 'CREATE VIEW author_names AS SELECT id, name FROM authors WHERE age > 17 -- adults';

describe('views and materialized views', () => {
  const { api } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });

  const create = (definition: string, more: object = {}, kind = 'view') =>
    api.ok<{ data: { id: string; definition: string } }>('POST', '/objects', { kind, definition, ...more });
  const view = async (name = 'author_names') =>
    (await api.ok<{ data: { definition: string; comment: string | null } }>('GET', `/objects/view/${name}`)).data;

  beforeEach(() => api.ok('POST', '/collections', AUTHORS));

  it('creates a view, reads it, changes it and deletes it', async () => {
    expect(await create(NAMES, { comment: 'Adults' })).to.deep.equal({
      data: { kind: 'view', id: 'author_names', definition: NAMES, comment: 'Adults' },
    });
    await api.sql(`INSERT INTO authors (name, age) VALUES ('Ada', 36), ('Tim', 9)`);
    expect(await api.sql('SELECT name FROM author_names')).to.deep.equal([{ name: 'Ada' }]);
    expect(await api.ok('GET', '/objects?collection=authors&fields=id')).to.deep.equal({
      data: [{ id: 'author_names' }],
    });
    const changed = 'CREATE OR REPLACE VIEW public.author_names AS SELECT name FROM authors';
    await api.ok('PATCH', '/objects/view/author_names', { definition: changed, comment: null });
    const withoutSchema = changed.replace('CREATE OR REPLACE VIEW public.', 'CREATE VIEW ');
    expect(await view()).to.deep.include({ definition: withoutSchema, comment: null });
    expect(await api.sql('SELECT * FROM author_names ORDER BY name')).to.have.length(2);
    await api.ok('POST', '/objects/view/author_names/rename', { to: 'people names' });
    expect((await view('people%20names')).definition).to.equal(
      'CREATE VIEW "people names" AS SELECT name FROM authors',
    );
    await api.ok('DELETE', '/objects/view/people%20names');
    expect(await api.ok('GET', '/objects')).to.deep.equal({ data: [] });
  });

  it('creates a materialized view with indexes, and changes its indexes without creating it again', async () => {
    const definition = 'CREATE MATERIALIZED VIEW ages AS SELECT age, count(*) AS authors FROM authors GROUP BY age';
    const unique = { name: 'ages_age', unique: true, definition: 'USING btree (age)' };
    const plain = { name: 'ages_authors', definition: 'USING btree (authors)' };
    await create(definition, { indexes: [unique] }, 'materialized_view');
    const [before] = await api.sql<{ oid: number }>(`SELECT 'ages'::regclass::oid AS oid`);
    await api.ok('PATCH', '/objects/materialized_view/ages', { indexes: [plain] });
    const indexes = await api.sql(`SELECT indexname FROM pg_indexes WHERE tablename = 'ages'`);
    expect(indexes).to.deep.equal([{ indexname: 'ages_authors' }]);
    expect(await api.sql(`SELECT 'ages'::regclass::oid AS oid`)).to.deep.equal([before]);
  });

  for (const [title, body, path, message] of [
    ['two statements', 'CREATE VIEW a AS SELECT 1; DROP TABLE authors', 'definition', 'exactly one statement'],
    ['another statement', 'DROP TABLE authors', 'definition', 'exactly one statement'],
    ['SET ROLE', 'SET ROLE postgres', 'definition', 'exactly one statement'],
    ['a temporary view', 'CREATE TEMP VIEW a AS SELECT 1', 'definition', 'temporary'],
    ['another schema', 'CREATE VIEW elsewhere.a AS SELECT 1 AS x', 'definition', 'managed schema'],
    ['a star', 'CREATE VIEW a AS SELECT a.* FROM authors a', 'definition', 'name its columns'],
    ['a syntax error', 'CREATE VIEW a AS SELECT FROM WHERE', 'definition', 'valid PostgreSQL'],
    ['deep nesting', `CREATE VIEW a AS SELECT ${'1+'.repeat(20_000)}1 AS x`, 'definition', 'nested'],
    ['a long text', `CREATE VIEW a AS SELECT '${'x'.repeat(200_000)}' AS x`, 'definition', 'at most'],
    ['a format character', 'CREATE VIEW "a\u202e" AS SELECT 1 AS x', 'definition', 'invisible characters'],
    ['a format character in a column', 'CREATE VIEW a AS SELECT 1 AS "x\u202e"', 'definition', '"x\\u{202e}"'],
    [
      'a format character in a list of columns',
      'CREATE VIEW a ("x\u200b") AS SELECT 1 AS x',
      'definition',
      '(it contains U+200B)',
    ],
    [
      'an escaped format character',
      String.raw`CREATE VIEW a AS SELECT 1 AS U&"x\200B"`,
      'definition',
      '(it contains U+200B)',
    ],
    [
      'a format character in WITH',
      'CREATE VIEW a AS WITH "w\u200b" AS (SELECT 1 AS x) SELECT x FROM "w\u200b"',
      'definition',
      'U+200B',
    ],
    ['the name of a collection', 'CREATE VIEW authors AS SELECT 1 AS x', 'definition', 'already the name'],
  ] as const) {
    it(`rejects ${title} and changes nothing`, async () => {
      const status = title === 'the name of a collection' ? 409 : 400;
      const code = status === 409 ? 'ALREADY_EXISTS' : 'INVALID_PAYLOAD';
      const error = await api.refused({ status, code, at: path }, 'POST', '/objects', {
        kind: 'view',
        definition: body,
      });
      expect(error.message).to.contain(message);
    });
  }

  it('accepts format characters in values and in adopted names', async () => {
    await create(`CREATE VIEW a AS SELECT 'x\u200b' AS x -- \u200b`);
    await api.sql(`CREATE VIEW adopted AS SELECT 1 AS "x\u200b"`);
    await api.ok('POST', '/schema/adopt', { objects: [{ kind: 'view', id: 'adopted' }] });
    const definition = 'CREATE VIEW adopted AS SELECT 2 AS "x\u200b"';
    await api.ok('PATCH', '/objects/view/adopted', { definition, comment: 'two' });
    await api.ok('POST', '/objects/view/adopted/rename', { to: 'renamed' });
    expect((await view('renamed')).definition).to.equal('CREATE VIEW renamed AS SELECT 2 AS "x\u200b"');
    await create('CREATE VIEW uses_it AS SELECT r."x\u200b" AS x FROM renamed r');
  });

  it('rejects format characters in new names of arguments', async () => {
    const definition = `CREATE FUNCTION twice("x\u200b" int) RETURNS int LANGUAGE sql AS $$ SELECT 2 * $1 $$`;
    const expected = { status: 400, code: 'INVALID_PAYLOAD', at: 'definition' };
    const error = await api.refused(expected, 'POST', '/objects', { kind: 'function', definition });
    expect(error.message).to.contain('U+200B');
  });

  it('rejects a query that PostgreSQL rejects, and gives the reason', async () => {
    const definition = 'CREATE VIEW a AS SELECT missing FROM authors';
    const expected = { status: 422, code: 'DATABASE_REFUSED' };
    const error = await api.refused(expected, 'POST', '/objects', { kind: 'view', definition });
    expect(error.message).to.contain('missing');
  });

  it('creates views again when a column that they use changes its type, with privileges, options and comments', async () => {
    await create(NAMES, { comment: 'Adults' });
    await create(
      'CREATE VIEW short_names WITH (security_barrier = true) AS SELECT left(name, 1) AS initial FROM author_names',
    );
    await api.sql('GRANT SELECT, INSERT (name) ON author_names TO PUBLIC');
    await api.sql(`COMMENT ON COLUMN author_names.name IS 'As printed'`);
    const facts = () =>
      api.sql(
        `SELECT c.relname, c.relacl::text, c.reloptions, col_description(c.oid, 2) AS comment, obj_description(c.oid) AS about,
                (SELECT attacl::text FROM pg_attribute WHERE attrelid = c.oid AND attname = 'name') AS columns
           FROM pg_class c WHERE c.relname IN ('author_names', 'short_names') ORDER BY 1`,
      );
    const before = await facts();
    expect(JSON.stringify(before)).to.contain('=a/').and.contain('security_barrier=true').and.contain('As printed');
    await api.ok('PATCH', '/fields/authors/age', { type: 'bigInteger' });
    expect(await facts()).to.deep.equal(before);
  });

  describe('of a column that changes its type', () => {
    const ODD = [
      { kind: 'view', id: 'odd', definition: 'CREATE VIEW odd AS SELECT id, age % 2 AS rest FROM people' },
      { kind: 'view', id: 'odds', definition: 'CREATE VIEW odds AS SELECT rest % 2 AS rest FROM odd' },
      {
        kind: 'materialized_view',
        id: 'rests',
        definition: 'CREATE MATERIALIZED VIEW rests AS SELECT age % 3 AS rest FROM people',
      },
      {
        kind: 'materialized_view',
        id: 'unread',
        definition: 'CREATE MATERIALIZED VIEW unread AS SELECT age % 4 AS rest FROM people WITH NO DATA',
      },
      {
        kind: 'function',
        id: 'reset()',
        definition: 'CREATE FUNCTION reset() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$',
      },
      {
        kind: 'function',
        id: 'count_odd()',
        definition:
          'CREATE FUNCTION count_odd() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(age % 2) FROM people; END',
      },
      {
        kind: 'trigger',
        id: 'reset on people',
        definition:
          'CREATE TRIGGER reset BEFORE UPDATE ON people FOR EACH ROW WHEN (new.age % 2 = 1) EXECUTE FUNCTION reset()',
      },
      { kind: 'policy', id: 'odd on people', definition: 'CREATE POLICY odd ON people USING (age % 2 = 1)' },
      { kind: 'statistics', id: 'odd', definition: 'CREATE STATISTICS odd ON (age % 2) FROM people' },
      {
        kind: 'rule',
        id: 'odd on people',
        definition: 'CREATE RULE odd AS ON DELETE TO people WHERE old.age % 2 = 1 DO INSTEAD NOTHING',
      },
    ];
    const NOTHING = { collections: [], fields: [], relations: [] };

    interface Snapshot {
      fields: { collection: string; field: string; type: string; schema: object }[];
      objects: { kind: string; id: string; definition: string }[];
    }

    const snapshotNow = () => api.ok<Snapshot>('GET', '/schema/snapshot');
    const diffTo = (target: object) => api.ok<{ diff: object }>('POST', '/schema/diff', target);

    function withAge(
      { fields, ...snapshot }: Snapshot,
      table: string,
      [type, column]: readonly [string, string],
    ): Snapshot {
      const retyped = fields.map((each) =>
        each.collection === table && each.field === 'age'
          ? { ...each, type, schema: { ...each.schema, data_type: column } }
          : each,
      );
      return { ...snapshot, fields: retyped };
    }

    it('keeps the text of all definitions that use it, so that the second diff is empty', async () => {
      await api.ok('POST', '/collections', {
        collection: 'people',
        schema: {
          extras: {
            constraints: [{ name: 'small', definition: 'CHECK (age % 1000 = age)' }],
            indexes: [{ name: 'odd_ages', definition: 'USING btree ((age % 2)) WHERE age % 5 > 0' }],
          },
        },
        fields: [
          { field: 'age', type: 'integer', interface: 'input', schema: { extras: { default: '(9 % 5)' } } },
          {
            field: 'week',
            type: 'integer',
            interface: 'input',
            schema: { data_type: 'integer', generation_expression: 'age % 7' },
          },
        ],
      });
      for (const object of ODD) await api.ok('POST', '/objects', object);
      await api.sql('REFRESH MATERIALIZED VIEW unread');
      await api.sql('REFRESH MATERIALIZED VIEW rests WITH NO DATA');
      const first = await snapshotNow();
      for (const [type, column] of [
        ['bigInteger', 'bigint'],
        ['integer', 'integer'],
        ['decimal', 'numeric'],
        ['bigInteger', 'bigint'],
        ['integer', 'integer'],
      ] as const) {
        const target = withAge(await snapshotNow(), 'people', [type, column]);
        await api.ok('POST', '/schema/apply', await diffTo(target));
        expect((await snapshotNow()).objects, column).to.deep.equal(first.objects);
        expect((await diffTo(target)).diff, column).to.deep.equal(NOTHING);
        expect(await api.ok('GET', '/schema/drift'), column).to.deep.include({ ok: true });
      }
      expect(await snapshotNow()).to.deep.equal(first);
      const populated = `SELECT relname AS name FROM pg_class WHERE relkind = 'm' AND relispopulated`;
      expect(await api.sql(populated)).to.deep.equal([{ name: 'unread' }]);
    });

    it('keeps what someone changed in a view by hand', async () => {
      await create(NAMES);
      await api.sql('CREATE OR REPLACE VIEW author_names AS SELECT id, name FROM authors WHERE age > 20');
      await api.ok('PATCH', '/fields/authors/age', { type: 'bigInteger' });
      const [printed] = await api.sql<{ text: string }>(`SELECT pg_get_viewdef('author_names') AS text`);
      expect(printed?.text).to.contain('age > 20');
      await api.ok('POST', '/schema/drift/accept', { objects: [{ kind: 'view', id: 'author_names' }] });
    });

    it('is compared with the new type, not only with the current one', async () => {
      await api.ok('PATCH', '/fields/authors/age', { type: 'bigInteger' });
      await create('CREATE VIEW rests AS SELECT age % 2::bigint AS rest FROM authors');
      await create('CREATE VIEW ids AS SELECT (id) + 1 AS next FROM authors');
      const now = await snapshotNow();
      const definitions: Record<string, string> = {
        rests: 'CREATE VIEW rests AS SELECT age % 2 AS rest FROM authors',
        ids: 'CREATE VIEW ids AS SELECT id + 1 AS next FROM authors',
      };
      const objects = now.objects.map((each) => ({ ...each, definition: definitions[each.id] ?? '' }));
      expect((await diffTo({ ...now, objects })).diff, 'the same type').to.deep.equal(NOTHING);
      const target = withAge({ ...now, objects }, 'authors', ['integer', 'integer']);
      await api.ok('POST', '/schema/apply', await diffTo(target));
      expect((await diffTo(target)).diff).to.deep.equal(NOTHING);
      expect(await view('rests')).to.deep.include({ definition: definitions['rests'] });
    });
  });

  it('rejects deleting a column or a table that a view uses, and names the view', async () => {
    await create(NAMES);
    for (const path of ['/fields/authors/age', '/collections/authors']) {
      const error = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', path);
      expect(error.message).to.contain('view "author_names" uses');
      expect(error.extensions['object']).to.deep.equal({ kind: 'view', id: 'author_names' });
    }
    await api.ok('DELETE', '/fields/authors/spare');
  });

  it('records what a rename changes in views as events of the same batch', async () => {
    await create(NAMES);
    const before = await api.head();
    await api.ok('POST', '/fields/authors/name/rename', { to: 'full_name' });
    const events = await api.sql(
      `SELECT type, subject, data -> 'caused_by' AS cause, count(*) OVER (PARTITION BY batch)::int AS together
         FROM service.service_events WHERE position > $1 ORDER BY position`,
      [before],
    );
    expect(events).to.deep.equal([
      { type: 'field.renamed', subject: null, cause: null, together: 2 },
      { type: 'object.updated', subject: { kind: 'view', id: 'author_names' }, cause: before + 1, together: 2 },
    ]);
    expect((await view()).definition).to.contain('full_name AS name');
  });

  it('applies a snapshot with views to another database, and finds nothing to do the second time', async () => {
    await create(NAMES);
    await create('CREATE VIEW initials AS SELECT left(name, 1) AS initial FROM author_names');
    const snapshot = await api.ok<{ objects: { id: string; definition: string }[] }>('GET', '/schema/snapshot');
    expect(snapshot.objects.map(({ id }) => id)).to.deep.equal(['author_names', 'initials']);
    const spelled = {
      ...snapshot,
      objects: snapshot.objects.map((object) => ({
        ...object,
        definition: object.definition.replace('authors', 'public.authors').replace('age > 17', '(authors.age > 17)'),
      })),
    };
    for (const body of [snapshot, spelled]) {
      const { diff } = await api.ok<{ diff: object }>('POST', '/schema/diff', body);
      expect(diff).to.deep.equal({ collections: [], fields: [], relations: [] });
    }
    const { hash, diff } = await api.ok<{ hash: string; diff: object }>('POST', '/schema/diff', {
      ...snapshot,
      objects: [],
    });
    expect(diff).to.have.property('objects').with.length(2);
    await api.ok('POST', '/schema/apply', { hash, diff });
    const back = await api.ok<{ hash: string; diff: object }>('POST', '/schema/diff', snapshot);
    await api.ok('POST', '/schema/apply', { hash: back.hash, diff: back.diff });
    expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(snapshot);
  });

  it('goes back to an earlier point in time, with the views of that time', async () => {
    await create(NAMES);
    const then = await api.head();
    await api.ok('PATCH', '/objects/view/author_names', {
      definition: 'CREATE VIEW author_names AS SELECT id FROM authors',
    });
    await api.ok('POST', '/objects/view/author_names/rename', { to: 'author_ids' });
    await api.ok('DELETE', '/fields/authors/name');
    const past = await api.ok('GET', `/history/snapshot?at=${then}`);
    const { hash, diff } = await api.ok<{ hash: string; diff: object }>('GET', `/history/diff?from=now&to=${then}`);
    await api.ok('POST', '/schema/apply', { hash, diff });
    expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(past);
  });

  it('goes back and forth between a renamed view and a new one with the former name', async () => {
    await create(NAMES);
    const first = await api.head();
    await api.ok('POST', '/objects/view/author_names/rename', { to: 'all_names' });
    await create(NAMES);
    const second = await api.head();
    await api.goTo(first);
    await api.goTo(second);
  });

  it('exports SQL that creates the views', async () => {
    await create(NAMES, { comment: 'Adults' });
    const { text } = await api.client('/history/snapshot?export=sql');
    expect(text).to.contain('CREATE VIEW "public"."author_names" AS SELECT id, name FROM authors');
    expect(text).to.contain(`COMMENT ON VIEW "public"."author_names" IS 'Adults'`);
  });

  it('shows the plan of a change, and reports drift', async () => {
    await create(NAMES);
    const plan = await api.ok<{ accepted: boolean; statements: { summary: string }[] }>(
      'PATCH',
      '/fields/authors/age?dry_run',
      { type: 'bigInteger' },
    );
    expect(plan.accepted).to.equal(true);
    expect(plan.statements.map(({ summary }) => summary)).to.include.members([
      'drop view author_names',
      'recreate view author_names',
    ]);
    await api.sql('CREATE OR REPLACE VIEW author_names AS SELECT id, name FROM authors WHERE age > 30');
    const { data } = await api.ok<{ data: { differences: { member: string; collection: string }[] } }>(
      'GET',
      '/projections/verify',
    );
    expect(data.differences.map(({ member, collection }) => [collection, member])).to.deep.equal([
      ['author_names', 'definition'],
    ]);
    await api.sql('CREATE OR REPLACE VIEW author_names AS SELECT id, name FROM authors WHERE age > 17');
  });
});

describe('views of tables in another schema', () => {
  const { api } = withService({ settings: { OBJECTS: 'on', DB_SCHEMAS: 'public,billing' }, consistent: true });
  const BILLS = {
    collection: 'bills',
    schema: { schema: 'billing', name: 'invoices' },
    fields: [{ field: 'total', type: 'integer', interface: 'input' }],
  };

  it('are created again, protected and found like those of the default schema', async () => {
    await api.ok('POST', '/collections', BILLS);
    await api.ok('POST', '/collections', { ...BILLS, collection: 'invoices', schema: {} });
    const definition = 'CREATE VIEW totals AS SELECT id, total FROM billing.invoices';
    await api.ok('POST', '/objects', { kind: 'view', definition });
    await api.sql('GRANT SELECT ON totals TO PUBLIC');
    await api.ok('PATCH', '/fields/bills/total', { type: 'bigInteger' });
    const [view] = await api.sql<{ type: string; acl: string }>(
      `SELECT format_type(a.atttypid, NULL) AS type, c.relacl::text AS acl
         FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'total' WHERE c.relname = 'totals'`,
    );
    expect(view?.type).to.equal('bigint');
    expect(view?.acl).to.contain('=r/');
    for (const path of ['/fields/bills/total', '/collections/bills']) {
      const error = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', path);
      expect(error.message).to.contain('view "totals" uses').and.to.contain('"bills"');
    }
    const usersOf = async (collection: string) =>
      (await api.ok<{ data: object[] }>('GET', `/objects?fields=id&collection=${collection}`)).data;
    expect(await usersOf('bills')).to.deep.equal([{ id: 'totals' }]);
    expect(await usersOf('invoices')).to.deep.equal([]);
    await api.ok('DELETE', '/collections/invoices');
  });
});

describe('views and materialized views with OBJECTS=off', () => {
  const { api, service } = withService();

  it('neither accepts nor returns objects', async () => {
    // The API document of the tests contains the path.
    const headers = { authorization: `Bearer ${service.adminToken}` };
    for (const path of ['objects', 'objects/view/adults']) {
      const answer = await fetch(`${service.url}/${path}`, { headers });
      expect(answer.status).to.equal(404);
      expect(await answer.text()).to.include('set OBJECTS=on to manage them');
    }
    const snapshot = await api.ok<object>('GET', '/schema/snapshot');
    expect(snapshot).not.to.have.property('objects');
    const answers = [
      await api.client('/schema/diff', json({ ...snapshot, objects: [] })),
      await api.client('/schema/apply', json({ hash: '0', diff: { objects: [] } })),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal([400, 400]);
  });

  it('follow the changes to the tables that they use, if another process manages them', async () => {
    const other = await startService({ DATABASE_URL: service.databaseUrl, OBJECTS: 'on' });
    const managing = createApi(other);
    try {
      const fields = [{ field: 'name', type: 'string', interface: 'input' }];
      await api.ok('POST', '/collections', { collection: 'members', schema: {}, fields });
      const definition = 'CREATE VIEW names AS SELECT name FROM members';
      await managing.ok('POST', '/objects', { kind: 'view', definition });
      await api.appends(['field.renamed members.name', 'object.updated null'], 'POST', '/fields/members/name/rename', {
        to: 'title',
      });
      await api.ok('PATCH', '/fields/members/title', { type: 'text', schema: { data_type: 'text' } });
      await api.ok('POST', '/collections/members/rename', { to: 'people' });
      const { data } = await managing.ok<{ data: { ok: boolean; differences: object[] } }>(
        'GET',
        '/projections/verify',
      );
      expect(data.differences).to.deep.equal([]);
      await managing.ok('DELETE', '/objects/view/names');
    } finally {
      await managing.stop();
      await other.stop();
    }
  });
});
