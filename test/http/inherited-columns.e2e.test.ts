import { expect } from 'chai';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';

interface Snapshot {
  collections: { collection: string; schema: { extras?: object } }[];
  fields: { collection: string; field: string }[];
}

/** `a_kid` sorts before its parent and `z_kid` after it. `own` defines the columns itself, `both` has two parents. */
const TABLES = `
CREATE TABLE base (id int PRIMARY KEY, a int, b int);
CREATE TABLE a_kid () INHERITS (base);
CREATE TABLE z_kid (more int) INHERITS (base);
CREATE TABLE grandkid () INHERITS (a_kid);
CREATE TABLE own (a int, b int) INHERITS (base);
CREATE TABLE side (a int, b int);
CREATE TABLE "both" () INHERITS (base, side);
CREATE TABLE diamond () INHERITS (a_kid, z_kid);
CREATE INDEX kid_index ON a_kid (a);
INSERT INTO a_kid VALUES (1, 2, 3);`;

const LOSING = ['a_kid', 'diamond', 'grandkid', 'z_kid'];

describe('deleting a column that managed tables inherit', () => {
  // Rows, catalog and log agree at the end of each test.
  const { api } = withService({ each: true, consistent: true });

  beforeEach(async () => {
    await api.sql(TABLES);
    await api.ok('POST', '/schema/adopt', { all: true });
  });

  const snapshot = () => api.ok<Snapshot>('GET', '/schema/snapshot');
  const columns = async (column: string) =>
    (
      await api.sql<{ name: string }>(
        `SELECT table_name::text AS name FROM information_schema.columns
          WHERE table_schema = 'public' AND column_name = '${column}' ORDER BY 1`,
      )
    ).map(({ name }) => name);
  const fields = async (field: string) =>
    (await snapshot()).fields.filter((each) => each.field === field).map(({ collection }) => collection);
  const without = async (gone: readonly string[]) => {
    const all = await snapshot();
    return { ...all, fields: all.fields.filter(({ collection, field }) => !gone.includes(`${collection}.${field}`)) };
  };
  const left = ['both', 'own', 'side'];

  it('deletes the fields of the children in the same batch', async () => {
    const head = await api.head();
    await api.ok('DELETE', '/fields/base/a?purge');
    const events = (await api.events(head)).filter((each) => each.startsWith('field.'));
    expect(events.sort()).to.deep.equal(['base', ...LOSING].map((name) => `field.deleted ${name}.a`).sort());
    expect(await columns('a')).to.deep.equal(left);
    expect(await fields('a')).to.have.members(left);
  });

  it('shows the loss of each child in the plan, and evaluates it by the rules of the child', async () => {
    const plan = await api.ok<{ warnings: { code: string; collection: string }[] }>(
      'DELETE',
      '/fields/base/a?explain&purge',
    );
    const losing = plan.warnings.filter(({ code }) => code === 'LOSES_DATA').map(({ collection }) => collection);
    expect(losing).to.have.members(['base', ...LOSING]);
    const policy = { collections: [{ pattern: 'grandkid', findings: { LOSES_DATA: 'refuse' } }] };
    await api.ok('PUT', '/policy', policy);
    const refused = await api.refused({ status: 422, code: 'POLICY_REFUSED' }, 'DELETE', '/fields/base/a?purge');
    expect(refused.extensions).to.include({ finding: 'LOSES_DATA', place: 'grandkid.a' });
    expect(await columns('a')).to.include.members(['base', 'grandkid']);
  });

  it('shows the loss in a table that the service does not manage, and evaluates it by the rules of the table', async () => {
    await api.sql(
      'CREATE SCHEMA other; CREATE TABLE other.alien () INHERITS (base); CREATE TABLE heir () INHERITS (base)',
    );
    const plan = await api.ok<{ warnings: { code: string; collection: string; field: string }[] }>(
      'DELETE',
      '/fields/base/a?explain&purge',
    );
    const losing = plan.warnings.filter(({ code }) => code === 'LOSES_DATA').map(({ collection }) => collection);
    expect(losing).to.have.members(['base', ...LOSING, 'heir', 'other.alien']);
    await api.ok('PUT', '/policy', { collections: [{ pattern: 'heir', findings: { LOSES_DATA: 'refuse' } }] });
    const refused = await api.refused({ status: 422, code: 'POLICY_REFUSED' }, 'DELETE', '/fields/base/a?purge');
    expect(refused.extensions).to.include({ finding: 'LOSES_DATA', place: 'heir.a' });
  });

  for (const [what, gone] of [
    ['the parent alone', ['base']],
    ['the parent and its children', ['base', ...LOSING]],
    ['the parent and a child that defines the column too', ['base', 'own', 'z_kid']],
    ['a child that has the parent, and the parent', ['base', 'a_kid']],
  ] as const) {
    it(`applies a diff that deletes the column of ${what}, and goes back`, async () => {
      const before = await api.head();
      const diff = await api.ok<object>('POST', '/schema/diff', await without(gone.flatMap((name) => [`${name}.a`])));
      const refused = await api.client('/schema/apply', json(diff));
      expect([refused.status, ...new Set(refused.codes)]).to.deep.equal([422, 'DATABASE_REFUSED']);
      await api.ok('POST', '/schema/apply?purge', diff);
      const kept = left.filter((name) => !(gone as readonly string[]).includes(name));
      expect(await columns('a')).to.deep.equal(kept);
      expect(await fields('a')).to.have.members(kept);
      const all = ['base', ...LOSING, ...left];
      await api.ok('POST', '/schema/apply', await api.ok('GET', `/history/diff?to=${before}`));
      expect(await fields('a')).to.have.members(all);
      expect(await columns('a')).to.have.members(all);
    });
  }

  it('rejects a new expression of a generated column whose inherited column has an index', async () => {
    await api.sql(`CREATE TABLE sums (id int PRIMARY KEY, n int, twice int GENERATED ALWAYS AS (n * 2) STORED);
      CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.heir () INHERITS (sums);
      CREATE INDEX heir_index ON elsewhere.heir (twice)`);
    await api.ok('POST', '/schema/adopt', { tables: ['sums'] });
    const change = { schema: { generation_expression: 'n * 3' } };
    const expected = { status: 409, code: 'IN_USE' };
    const { message } = await api.refused(expected, 'PATCH', '/fields/sums/twice', change);
    expect(message).to.contain('index elsewhere.heir_index depends on column twice');
    await api.sql('DROP INDEX elsewhere.heir_index');
    await api.ok('PATCH', '/fields/sums/twice', change);
  });

  it('applies a change request with the plan that was approved', async () => {
    const request = { title: 'without a', purge: true, snapshot: await without(['base.a']) };
    const { data } = await api.ok<{ data: { id: string; plan: string } }>('POST', '/changes', request);
    const { data: shown } = await api.ok<{
      data: {
        planned: {
          fresh: boolean;
          hash: string;
          loses: { collection: string }[];
          findings: { code: string; collection: string }[];
        };
      };
    }>('GET', `/changes/${data.id}`);
    expect(shown.planned).to.include({ fresh: true, hash: data.plan });
    const losing = shown.planned.findings.filter(({ code }) => code === 'LOSES_DATA');
    for (const lost of [shown.planned.loses, losing])
      expect(lost.map(({ collection }) => collection)).to.have.members(['base', ...LOSING]);
    await api.ok('POST', `/changes/${data.id}/approve`, { plan: data.plan });
    await api.ok('POST', `/changes/${data.id}/apply`);
    expect(await fields('a')).to.have.members(left);
  });
});

describe('changing a table from which a table that the service does not manage inherits', () => {
  const { api } = withService({ consistent: true });

  it('changes both, without events for the child', async () => {
    await api.sql('CREATE TABLE base (id int PRIMARY KEY, a int, b int)');
    await api.ok('POST', '/schema/adopt', { all: true });
    await api.sql('CREATE TABLE child (more int) INHERITS (base); CREATE TABLE grandchild () INHERITS (child)');
    const head = await api.head();
    await api.ok('POST', '/fields/base', { field: 'c', type: 'string' });
    await api.ok('PATCH', '/fields/base/c', { type: 'text', schema: { default_value: 'x' } });
    await api.ok('POST', '/fields/base/c/rename', { to: 'd' });
    const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
    for (const { schema } of snapshot.collections)
      schema.extras = { constraints: [{ name: 'positive', definition: 'CHECK ((a > 0))' }] };
    await api.ok('POST', '/schema/apply', await api.ok<object>('POST', '/schema/diff', snapshot));
    await api.ok('DELETE', '/fields/base/b?purge');
    await api.ok('POST', '/collections/base/rename', { to: 'parent' });
    for (const table of ['child', 'grandchild']) {
      const columns = await api.sql<{ name: string }>(`SELECT attname::text AS name FROM pg_attribute
        WHERE attrelid = '${table}'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`);
      expect(columns.map(({ name }) => name)).to.deep.equal(['id', 'a', 'more', 'd']);
    }
    expect((await api.events(head)).filter((each) => each.includes('child'))).to.deep.equal([]);
    const drift = await api.ok<{ ok: boolean; unmanaged: string[] }>('GET', '/schema/drift');
    expect(drift).to.deep.include({ ok: true, unmanaged: ['child', 'grandchild'] });
  });

  it('reports in the diff that a table with children cannot be deleted', async () => {
    await api.ok('POST', '/collections', { collection: 'alone', schema: {} });
    await api.sql('CREATE TABLE heir () INHERITS (alone)');
    const snapshot = await api.ok<Snapshot & { fields: { collection: string }[] }>('GET', '/schema/snapshot');
    snapshot.collections = snapshot.collections.filter((each) => each.collection !== 'alone');
    snapshot.fields = snapshot.fields.filter((each) => each.collection !== 'alone');
    const diff = await api.ok<{ warnings: { code: string; level: string; message: string }[] }>(
      'POST',
      '/schema/diff',
      snapshot,
    );
    const inherited = diff.warnings.filter(({ code }) => code === 'INHERITED');
    expect(inherited.map(({ level, message }) => [level, message])).to.deep.equal([
      [
        'danger',
        'drop table alone: heir inherits from it, so PostgreSQL rejects it. Delete it first, with SQL if the service does not manage it.',
      ],
    ]);
    await api.refused({ status: 409, code: 'IN_USE' }, 'POST', '/schema/apply', diff);
    await api.sql('DROP TABLE heir');
    await api.ok('POST', '/schema/apply', diff);
  });

  it('reports in a plan that a child has a column of the same name and a different type', async () => {
    await api.ok('POST', '/collections', { collection: 'typed', schema: {} });
    await api.sql('CREATE TABLE typed_child (id int, c int) INHERITS (typed)');
    await api.ok('POST', '/schema/adopt', { tables: ['typed_child'] });
    const column = (type: string) => ({ field: 'c', type, interface: 'input' });
    const plan = (type: string) =>
      api.ok<{ accepted: boolean; warnings?: { code: string; field: string; message: string }[] }>(
        'POST',
        '/fields/typed?dry_run',
        column(type),
      );
    const inherited = (await plan('string')).warnings?.filter(({ code }) => code === 'INHERITED');
    expect(inherited?.map(({ field, message }) => [field, message])).to.deep.equal([
      [
        'c',
        'add column typed.c: typed_child has a column with this name but another type, so PostgreSQL rejects it. Use the same type.',
      ],
    ]);
    const { accepted, warnings = [] } = await plan('integer');
    expect(accepted).to.equal(true);
    expect(warnings.map(({ code }) => code)).not.to.include('INHERITED');

    const snapshot = await api.ok<{ fields: { collection: string; field: string; type: string; schema: object }[] }>(
      'GET',
      '/schema/snapshot',
    );
    for (const field of snapshot.fields.filter((each) => each.collection === 'typed_child' && each.field === 'c')) {
      Object.assign(field, { type: 'text' });
      Object.assign(field.schema, { data_type: 'text' });
      snapshot.fields.push({ collection: 'typed', field: 'c', type: 'text', schema: {} });
    }
    const diff = await api.ok<{ warnings?: { code: string }[] }>('POST', '/schema/diff', snapshot);
    expect(diff.warnings?.map(({ code }) => code)).not.to.include('INHERITED');
    await api.ok('POST', '/schema/apply', diff);
  });

  it('keeps the columns of children when the name of their parent is reused in the same batch', async () => {
    const fields = [{ field: 'id', type: 'integer', interface: 'input', schema: { is_primary_key: true } }];
    await api.ok('POST', '/collections', {
      collection: 'taken',
      schema: {},
      fields: [...fields, { field: 'c', type: 'string', interface: 'input' }],
    });
    const then = await api.head();
    await api.ok('DELETE', '/collections/taken');
    await api.sql('CREATE TABLE free (id int PRIMARY KEY, c int); CREATE TABLE below () INHERITS (free)');
    await api.ok('POST', '/schema/adopt', { tables: ['free', 'below'] });
    await api.ok('POST', '/collections/free/rename', { to: 'taken' });
    const renamed = await api.head();
    await api.ok('POST', '/collections/taken/rename', { to: 'free' });
    await api.ok('POST', `/trash/${then + 1}/restore`);
    const restored = await api.head();
    await api.ok('PATCH', '/fields/taken/c', { type: 'text' });
    await api.ok('POST', '/schema/apply', await api.ok<object>('GET', `/history/diff?to=${renamed}`));
    await api.ok('POST', '/schema/apply', await api.ok<object>('GET', `/history/diff?to=${restored}`));
    expect((await api.ok<{ ok: boolean }>('GET', '/schema/drift')).ok).to.equal(true);
  });

  describe('a change to a parent that the relation of a child does not allow', () => {
    interface Document extends Snapshot {
      fields: { collection: string; field: string; type: string; schema: { data_type: string } }[];
      relations: object[];
    }
    type Located = { collection: string; field: string; message: string };
    const isOf = ({ collection, field }: { collection: string; field: string }) =>
      collection === 'head' && field === 'c';

    before(async () => {
      await api.sql('CREATE TABLE goal (id int PRIMARY KEY); CREATE TABLE head (id int PRIMARY KEY, c int)');
      await api.sql('CREATE TABLE tail () INHERITS (head)');
      await api.ok('POST', '/schema/adopt', { tables: ['goal', 'head', 'tail'] });
    });

    for (const [title, at, change, message] of [
      [
        'is reported in the diff if PostgreSQL drops the column of the child',
        'diff.relations[0].diff[0].rhs',
        (document: Document) => {
          document.fields = document.fields.filter((each) => !isOf(each));
        },
        '"c" of "tail" cannot get a relation: PostgreSQL drops the column together with that of "head", from which it is inherited. Keep the column of "head", or leave out the relation.',
      ],
      [
        'is reported in the diff if the column of the child gets another type',
        'diff.relations[0].diff[0].rhs.many_field',
        (document: Document) => {
          for (const field of document.fields.filter(isOf)) {
            field.type = 'text';
            field.schema.data_type = 'text';
          }
        },
        '"c" has the type text, but the primary key of "goal" has the type integer; give both the same type',
      ],
    ] as const)
      it(title, async () => {
        const document = await api.ok<Document>('GET', '/schema/snapshot');
        change(document);
        document.relations.push({ collection: 'tail', field: 'c', related_collection: 'goal', schema: {} });
        const diff = await api.ok<{ warnings: (Located & { code: string })[] }>('POST', '/schema/diff', document);
        const reasons = diff.warnings.filter(({ code }) => code === 'INHERITED');
        expect(reasons.map((each) => [each.collection, each.field, each.message])).to.deep.equal([
          ['tail', 'c', message],
        ]);
        const refusal = { status: 400, code: 'INVALID_PAYLOAD', at };
        const refused = await api.refused(refusal, 'POST', '/schema/apply?purge', diff);
        expect(refused.message).to.equal(message);
      });
  });

  describe('a diff that changes a child together with its parent', () => {
    interface Column {
      collection: string;
      field: string;
      renamed_from?: string;
      type: string;
      meta: { field: string; note: string | null };
      schema: {
        name: string;
        data_type: string;
        is_nullable: boolean;
        is_indexed: boolean;
        default_value: unknown;
        generation_expression?: string;
      };
    }
    type Edit = (column: Column) => void;

    before(async () => {
      await api.sql(`
        CREATE TABLE top (id int PRIMARY KEY, a int, b int, g int GENERATED ALWAYS AS (a * 2) STORED);
        CREATE TABLE mid () INHERITS (top);
        CREATE TABLE low () INHERITS (mid)`);
      await api.ok('POST', '/schema/adopt', { tables: ['top', 'mid', 'low'] });
    });

    const edited = async (edits: Readonly<Record<string, Edit>>) => {
      const document = await api.ok<{ collections: object[]; fields: Column[] }>('GET', '/schema/snapshot');
      for (const column of document.fields) edits[`${column.collection}.${column.field}`]?.(column);
      return api.ok<{ warnings?: { code: string; collection: string; field: string }[] }>(
        'POST',
        '/schema/diff',
        document,
      );
    };
    const noted: Edit = ({ meta }) => (meta.note = 'A note');
    const isSame = async () => expect((await api.ok<{ ok: boolean }>('GET', '/schema/drift')).ok).to.equal(true);

    it('keeps what the child inherits in the same change', async () => {
      const diff = await edited({
        'top.a': ({ schema }) => (schema.is_nullable = false),
        'top.b': (column) => (Object.assign(column, { type: 'bigInteger' }).schema.data_type = 'bigint'),
        'mid.a': ({ schema }) => (schema.default_value = 7),
        'mid.b': noted,
        'low.b': ({ schema }) => (schema.is_indexed = true),
      });
      expect(diff.warnings?.map(({ code }) => code)).not.to.include('INHERITED');
      await api.ok('POST', '/schema/apply', diff);
      const { data } = await api.ok<{ data: Column }>('GET', '/fields/mid/b');
      expect([data.type, data.meta.note]).to.deep.equal(['bigInteger', 'A note']);
      await isSame();
    });

    it('changes the members of a type together', async () => {
      await api.ok('POST', '/fields/top', { field: 't', type: 'string', interface: 'input', schema: {} });
      const diff = await edited({
        'top.t': (column) => {
          Object.assign(column, { type: 'integer' });
          Object.assign(column.schema, { data_type: 'integer', max_length: null });
        },
        'mid.t': ({ schema }) => Object.assign(schema, { max_length: 100 }),
      });
      const inherited = diff.warnings?.filter(({ code }) => code === 'INHERITED');
      expect(inherited?.map(({ collection, field }) => [collection, field])).to.deep.equal([['mid', 't']]);
      await api.ok('DELETE', '/fields/top/t?purge');
    });

    it('keeps names that a child inherits when the parent is renamed', async () => {
      const document = await api.ok<{ collections: { collection: string }[]; fields: Column[] }>(
        'GET',
        '/schema/snapshot',
      );
      const text = JSON.stringify(document).replaceAll('"top"', '"summit"');
      const renamed = JSON.parse(text) as typeof document;
      for (const each of renamed.collections)
        if (each.collection === 'summit') Object.assign(each, { renamed_from: 'top' });
      for (const column of renamed.fields) if (column.collection === 'mid' && column.field === 'id') noted(column);
      await api.ok('POST', '/schema/apply', await api.ok<object>('POST', '/schema/diff', renamed));
      await isSame();
      await api.ok('POST', '/collections/summit/rename', { to: 'top' });
    });

    it('is reported and rejected if it changes a field that PostgreSQL renames with that of the parent', async () => {
      const diff = await edited({
        'top.a': (column) => {
          Object.assign(column, { field: 'z', renamed_from: 'a' });
          column.meta.field = column.schema.name = 'z';
        },
        'top.g': ({ schema }) =>
          Object.assign(schema, { generation_expression: schema.generation_expression?.replace(/\ba\b/, 'z') }),
        'mid.a': noted,
      });
      const inherited = diff.warnings?.filter(({ code }) => code === 'INHERITED');
      expect(inherited?.map(({ collection, field }) => [collection, field])).to.deep.equal([['mid', 'a']]);
      const { message } = await api.refused(
        { status: 400, code: 'INVALID_PAYLOAD', at: 'diff.fields[0].diff[0].rhs' },
        'POST',
        '/schema/apply',
        diff,
      );
      expect(message).to.contain('PostgreSQL renames "a" of "mid" together with the column of the table');
    });

    it('also deletes a generated column of the children, which has no values to keep', async () => {
      const { data: before } = await api.ok<{ data: object[] }>('GET', '/fields/low');
      await api.ok('DELETE', '/fields/top/g');
      const { data: after } = await api.ok<{ data: object[] }>('GET', '/fields/low');
      expect(after.length).to.equal(before.length - 1);
      await isSame();
    });
  });
});
