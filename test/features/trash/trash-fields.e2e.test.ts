import { expect } from 'chai';
import { withService } from '../../support/with-service.js';
import { createApi } from '../../support/api.js';
import { json } from '../../support/client.js';
import { startService } from '../../support/service.js';

interface Entry {
  position: number;
  kind: string;
  collection: string;
  field: string | null;
  rows: number | null;
}

interface Plan {
  accepted: boolean;
  optional?: string[];
  errors?: { message: string }[];
  warnings: { code: string; message: string }[];
  statements: { summary: string }[];
}

interface Restored {
  data: { field: string; schema: Record<string, unknown>; meta: Record<string, unknown> };
  warnings?: { code: string; message: string }[];
}

const plain = (field: string, type = 'string', schema: object = {}, meta: object = {}) => ({
  field,
  type,
  schema,
  meta: { interface: 'input', ...meta },
});

describe('the trash of fields', () => {
  const { api, client } = withService({ each: true, consistent: true, settings: { KEEP_COPY_ROWS: '5' } });

  const table = (collection: string, fields: object[] = [], more: object = {}) =>
    api.ok('POST', '/collections', { collection, schema: {}, fields, ...more });
  const trashed = async () => (await api.ok<{ data: Entry[] }>('GET', '/trash')).data;
  const gone = async (path: string): Promise<number> => {
    await api.ok('DELETE', path);
    return (await trashed())[0]!.position;
  };
  const restore = (position: number, body: object = {}) => api.ok<Restored>('POST', `/trash/${position}/restore`, body);
  const planned = (position: number, body: object = {}) =>
    api.ok<Plan>('POST', `/trash/${position}/restore?dry_run`, body);
  const messagesOf = ({ warnings = [] }: { warnings?: { code: string; message: string }[] }, code: string) =>
    warnings.filter((each) => each.code === code).map(({ message }) => message);
  it('keeps the values of a dropped column, and restores them by primary key', async () => {
    await table('articles', [plain('title'), plain('body')]);
    await api.sql(`INSERT INTO articles (title) VALUES ('one'), (NULL), ('three')`);
    const position = await gone('/fields/articles/title');
    expect((await trashed())[0]).to.include({ kind: 'field', collection: 'articles', field: 'title', rows: 3 });
    expect(await api.sql('SELECT * FROM articles WHERE id = 1')).to.deep.equal([{ id: 1, body: null }]);
    await api.sql(`DELETE FROM articles WHERE id = 3; INSERT INTO articles (body) VALUES ('new'), ('newer')`);
    const plan = await planned(position);
    expect(messagesOf(plan, 'DATA_RESTORED')).to.deep.equal([
      `restore column title of articles from the trash (position ${position}): 2 values are restored, 2 rows written since have null, 1 value no longer has a row`,
    ]);
    const { data, warnings } = await restore(position);
    expect([data.field, warnings?.map(({ code, message }) => [code, message])]).to.deep.equal([
      'title',
      [
        [
          'DATA_NOT_RESTORED',
          `restore column title of articles from the trash (position ${position}): 1 value has no row with that primary key and is permanently deleted`,
        ],
      ],
    ]);
    expect(await api.sql('SELECT id, title FROM articles ORDER BY id')).to.deep.equal([
      { id: 1, title: 'one' },
      { id: 2, title: null },
      { id: 4, title: null },
      { id: 5, title: null },
    ]);
    expect(await trashed()).to.deep.equal([]);
    const schemas = await api.sql(`SELECT nspname FROM pg_namespace WHERE nspname LIKE '%trash%'`);
    expect(schemas).to.deep.equal([]);
    const again = await client(`/trash/${position}/restore`, { method: 'POST' });
    expect([again.status, again.text.includes('restored at')]).to.deep.equal([404, true]);
  });

  it('reports values whose row now has a different key, in a restore and when going back', async () => {
    await table('articles', [plain('title')]);
    await api.sql(`INSERT INTO articles (title) VALUES ('one'), (NULL), ('three')`);
    const lossOf = ({ headers, status }: { headers: Headers; status: number }) => [status, headers.get('x-warnings')];
    const before = await api.head();
    const dropMoved = async () => {
      const position = await gone('/fields/articles/title');
      await api.sql('UPDATE articles SET id = id + 10');
      return position;
    };
    const restored = await client(`/trash/${await dropMoved()}/restore`, { method: 'POST' });
    expect(lossOf(restored)).to.deep.equal([200, 'DATA_NOT_RESTORED']);
    expect((restored.json as Restored).warnings?.map(({ message }) => message.split(': ')[1])).to.deep.equal([
      '2 values have no row with that primary key and are permanently deleted',
    ]);
    await api.sql(`UPDATE articles SET title = 'new'`);
    await dropMoved();
    const diff = await client(`/history/diff?to=${before}`);
    expect(lossOf(await client('/schema/apply', json(diff.json)))).to.deep.equal([204, 'DATA_NOT_RESTORED']);
    await gone('/fields/articles/title');
    expect(lossOf(await client(`/trash/${(await trashed())[0]!.position}/restore`, { method: 'POST' }))).to.deep.equal([
      200,
      null,
    ]);
  });

  it('reports why it cannot keep a field, and drops it', async () => {
    await table('large', [plain('a'), plain('twice', 'integer', { generation_expression: 'id * 2' })]);
    await api.sql('INSERT INTO large SELECT FROM generate_series(1, 6)');
    await api.sql(`CREATE TABLE keyless (a text, b text)`);
    await api.ok('POST', '/schema/adopt', { tables: ['keyless'] });
    const snapshot = await api.ok<{ fields: { collection: string; field: string }[] }>('GET', '/schema/snapshot');
    const without = new Set(['large.a', 'large.twice', 'keyless.b']);
    const fields = snapshot.fields.filter(({ collection, field }) => !without.has(`${collection}.${field}`));
    const diff = await api.ok<object>('POST', '/schema/diff', { ...snapshot, fields });
    const plan = await api.ok<Plan>('POST', '/schema/apply?dry_run', diff);
    const start = 'the trash does not keep its values, because';
    expect(messagesOf(plan, 'DATA_NOT_KEPT')).to.deep.equal([
      `delete field keyless.b: ${start} the table has no primary key to match the values to rows`,
      `delete field large.a: ${start} the table has more than 5 rows (KEEP_COPY_ROWS). Delete the field online to keep them`,
      `delete field large.twice: ${start} its values are generated`,
    ]);
    await api.ok('POST', '/schema/apply', diff);
    expect(await trashed()).to.deep.equal([]);
    await table('small', [plain('a')]);
    await api.sql('INSERT INTO small SELECT FROM generate_series(1, 5)');
    await api.ok('DELETE', '/fields/small/a?purge');
    expect(await trashed()).to.deep.equal([]);
  });

  it('restores keys, indexes, checks, comment, privileges and the position', async () => {
    await api.sql(`CREATE TABLE things (id int PRIMARY KEY, a int NOT NULL DEFAULT 7, b int,
      CONSTRAINT "a is small" CHECK (a < b + 100), CONSTRAINT things_a_key UNIQUE (a));
      CREATE INDEX "by both" ON things (b, a DESC); COMMENT ON COLUMN things.a IS 'the a';
      GRANT SELECT (a) ON things TO PUBLIC; INSERT INTO things VALUES (1, 10, 1), (2, 20, 2)`);
    await api.ok('POST', '/schema/adopt', { tables: ['things'] });
    await api.ok('PATCH', '/collections/things', { meta: { sort_field: 'a' } });
    const before = await client('/schema/snapshot');
    const position = await gone('/fields/things/a');
    await restore(position);
    expect((await client('/schema/snapshot')).text).to.equal(before.text);
    expect(await api.sql('SELECT * FROM things ORDER BY id')).to.deep.equal([
      { id: 1, b: 1, a: 10 },
      { id: 2, b: 2, a: 20 },
    ]);
    const [acl] = await api.sql<{ acl: string }>(
      `SELECT attacl::text AS acl FROM pg_attribute WHERE attrelid = 'things'::regclass AND attname = 'a'`,
    );
    expect(acl?.acl).to.match(/^\{=r\//);
  });

  it('restores a column with its sequence at its value', async () => {
    await table('counted', [plain('n', 'integer', { has_auto_increment: true, is_nullable: false })]);
    await api.sql(`CREATE TABLE old (id int PRIMARY KEY, n serial); INSERT INTO old VALUES (1), (2);
      INSERT INTO counted SELECT FROM generate_series(1, 3)`);
    await api.ok('POST', '/schema/adopt', { tables: ['old'] });
    const [one, two] = [await gone('/fields/counted/n'), await gone('/fields/old/n')];
    await restore(one);
    await restore(two);
    await api.sql(`INSERT INTO counted DEFAULT VALUES; INSERT INTO old VALUES (3)`);
    expect(await api.sql('SELECT array_agg(n ORDER BY id) AS n FROM counted')).to.deep.equal([{ n: [1, 2, 3, 4] }]);
    expect(await api.sql('SELECT array_agg(n ORDER BY id) AS n FROM old')).to.deep.equal([{ n: [1, 2, 3] }]);
  });

  it('restores its relation and the alias that showed it, if the other side exists', async () => {
    await table('authors', [plain('name')]);
    await table('articles', [plain('author', 'integer')]);
    await api.ok('POST', '/fields/authors', {
      field: 'articles',
      type: 'alias',
      schema: null,
      meta: { special: ['o2m'], interface: 'list' },
    });
    const relation = {
      many_collection: 'articles',
      many_field: 'author',
      one_collection: 'authors',
      one_field: 'articles',
    };
    await api.ok('POST', '/relations', { ...relation, schema: { on_delete: 'SET NULL' } });
    await api.sql(`INSERT INTO authors (name) VALUES ('a'), ('b'); INSERT INTO articles (author) VALUES (1), (2)`);
    const before = await client('/schema/snapshot');
    const first = await gone('/fields/articles/author');
    await api.ok('POST', '/collections/articles/rename', { to: 'posts' });
    await api.ok('POST', '/collections/authors/rename', { to: 'people' });
    await api.ok('POST', '/collections/posts/rename', { to: 'articles' });
    await api.ok('POST', '/collections/people/rename', { to: 'authors' });
    await restore(first);
    // The id of a relation is the position of its event.
    const withoutIds = (text: string) => text.replaceAll(/\{"id":\d+,/g, '{');
    expect(withoutIds((await client('/schema/snapshot')).text)).to.equal(withoutIds(before.text));
    const second = await gone('/fields/articles/author');
    await api.sql('DELETE FROM authors WHERE id = 2');
    const refused = await api.refused(
      { status: 422, code: 'DATABASE_REFUSED' },
      'POST',
      `/trash/${second}/restore`,
      {},
    );
    expect(refused.message).to.contain('articles_author_foreign');
    await restore(second, { without: ['articles_author_foreign'] });
    expect(await api.sql('SELECT author FROM articles ORDER BY id')).to.deep.equal([{ author: 1 }, { author: 2 }]);
    const third = await gone('/fields/articles/author');
    await api.ok('DELETE', '/collections/authors');
    const { warnings } = await restore(third);
    expect(warnings?.map(({ code, message }) => [code, message])).to.deep.equal([
      ['NOT_RESTORED', 'not restored: relation articles.author: "authors" no longer exists'],
    ]);
  });

  it('follows renames of its collection, key and columns, and restores under another name', async () => {
    await api.sql(`CREATE TABLE t (k text, l int, v text, w int, PRIMARY KEY (k, l), CONSTRAINT c CHECK (length(v) < w));
      INSERT INTO t VALUES ('x', 1, 'vx', 10), ('y', 2, 'vy', 20)`);
    await api.ok('POST', '/schema/adopt', { tables: ['t'] });
    const position = await gone('/fields/t/v');
    for (const [field, to] of [
      ['k', 'key'],
      ['l', 'k'],
      ['w', 'most'],
    ])
      await api.ok('POST', `/fields/t/${field}/rename`, { to });
    await api.ok('POST', '/collections/t/rename', { to: 'u' });
    await api.ok('POST', '/fields/u', plain('v'));
    await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', `/trash/${position}/restore`, {});
    await api.refused({ status: 409, code: 'ALREADY_EXISTS', at: 'as' }, 'POST', `/trash/${position}/restore`, {
      as: 'most',
    });
    const { data } = await restore(position, { as: 'was v' });
    expect(data.field).to.equal('was v');
    expect(await api.sql('SELECT k, "was v" AS v FROM u ORDER BY k')).to.deep.equal([
      { k: 1, v: 'vx' },
      { k: 2, v: 'vy' },
    ]);
    const [check] = await api.sql<{ text: string }>(
      `SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE conname = 'c'`,
    );
    expect(check?.text).to.equal('CHECK ((length("was v") < most))');
  });

  it('rejects rows without the key, and missing tables', async () => {
    await api.sql(
      `CREATE TABLE t (id int PRIMARY KEY, other int NOT NULL UNIQUE, v text NOT NULL, w text); INSERT INTO t VALUES (1, 10, 'v', 'w')`,
    );
    await api.ok('POST', '/schema/adopt', { tables: ['t'] });
    const position = await gone('/fields/t/v');
    const refused = async (status: number, code: string) =>
      (await api.refused({ status, code }, 'POST', `/trash/${position}/restore`, {})).message;
    await api.ok('PATCH', '/fields/t/id', { type: 'bigInteger', schema: { data_type: 'bigint' } });
    expect(messagesOf(await planned(position), 'DATA_RESTORED')[0]).to.contain('1 value is restored');
    await api.ok('PATCH', '/fields/t/id', { type: 'string', schema: { data_type: 'character varying' } });
    expect(await refused(409, 'IN_USE')).to.contain('the type of the primary key "id" has changed');
    await api.ok('PATCH', '/fields/t', [
      { field: 'id', schema: { is_primary_key: false } },
      { field: 'other', schema: { is_primary_key: true } },
    ]);
    expect(await refused(409, 'IN_USE')).to.contain('its primary key has changed');
    const full = await gone('/collections/t');
    expect(await refused(409, 'IN_USE')).to.contain(`Restore it first: position ${full}`);
    await api.ok('DELETE', `/trash/${full}`);
    expect(await refused(409, 'IN_USE')).to.contain('permanently deleted');
    await api.ok('DELETE', `/trash/${position}`);
    expect(await refused(404, 'NOT_FOUND')).to.contain('it was purged at');
    // Manually: the purge event claims that the retention period was over.
    const [purged] = await api.sql<{ data: object }>(
      `SELECT data FROM service.service_events WHERE type = 'trash.purged' ORDER BY position DESC LIMIT 1`,
    );
    expect(purged?.data).to.deep.equal({ position });
  });

  it('rejects NOT NULL with the rows that lack a value, and restores without it', async () => {
    await table('t', [plain('a', 'string', { is_nullable: false }), plain('b')]);
    await api.sql(`INSERT INTO t (a) VALUES ('x'), ('y')`);
    const position = await gone('/fields/t/a');
    await api.sql(`INSERT INTO t (b) VALUES ('1'), ('2'), ('3')`);
    const { message, extensions } = await api.refused(
      { status: 422, code: 'DATABASE_REFUSED' },
      'POST',
      `/trash/${position}/restore`,
      {},
    );
    const advice = `so it cannot be NOT NULL. Restore it without that constraint, {"without": ["t_a_not_null"]}, and fill it afterwards.`;
    expect(message).to.equal(`3 rows were written since "a" was deleted, and have no value for it, ${advice}`);
    expect(extensions['without']).to.deep.equal(['t_a_not_null']);
    expect(extensions['offending']).to.deep.equal({ kind: 'null', count: 3, more: false });
    const tried = await api.ok<Plan>('POST', `/trash/${position}/restore?dry_run`);
    expect([tried.accepted, tried.optional]).to.deep.equal([false, ['t_a_not_null']]);
    expect(tried.errors?.map((each) => each.message)).to.deep.equal([message]);
    await api.refused(
      { status: 400, code: 'INVALID_PAYLOAD', at: 'without[1]' },
      'POST',
      `/trash/${position}/restore`,
      { without: ['t_a_not_null', 'other'] },
    );
    const back = await client('/schema/apply', json(await api.ok('GET', `/history/diff?to=${position - 1}`)));
    expect([back.status, back.text.includes('no value')]).to.deep.equal([422, false]);
    const { data } = await restore(position, { without: ['t_a_not_null'] });
    expect(data.schema['is_nullable']).to.equal(true);
    expect(await api.sql('SELECT count(a)::int AS n FROM t')).to.deep.equal([{ n: 2 }]);
  });

  it('restores by revert across renames, and treats a type change as no deletion', async () => {
    await table('t', [plain('a'), plain('b', 'integer')]);
    await api.sql(`INSERT INTO t (a, b) VALUES ('x', 1), ('y', 2)`);
    const then = await api.head();
    const before = await client('/schema/snapshot');
    await api.ok('PATCH', '/fields/t/b', { type: 'text', schema: { data_type: 'text' } });
    expect(await trashed()).to.deep.equal([]);
    await api.ok('POST', '/fields/t/a/rename', { to: 'c' });
    await gone('/fields/t/c');
    await api.ok('POST', '/collections/t/rename', { to: 'u' });
    await gone('/collections/u');
    const diff = await api.ok<Plan>('GET', `/history/diff?to=${then}`);
    const plan = await api.ok<Plan>('POST', '/schema/apply?dry_run', diff);
    const restored = (each: Plan) => each.warnings.filter(({ code }) => code.startsWith('DATA_'));
    expect(restored(plan)).to.deep.equal(restored(diff));
    expect(restored(diff).map(({ code }) => code)).to.deep.equal(['DATA_RESTORED', 'DATA_RESTORED']);
    await api.ok('POST', '/schema/apply', diff);
    expect((await client('/schema/snapshot')).text).to.equal(before.text);
    expect(await api.sql('SELECT a, b FROM t ORDER BY id')).to.deep.equal([
      { a: 'x', b: 1 },
      { a: 'y', b: 2 },
    ]);
    expect(await trashed()).to.deep.equal([]);
  });

  it('keeps deleted fields of renamed tables and of restored tables', async () => {
    await table('t', [plain('a'), plain('b')]);
    await table('s', [plain('c')]);
    const [early] = [
      await api.head(),
      await api.sql(`INSERT INTO t (a, b) VALUES ('x', 'y'); INSERT INTO s (c) VALUES ('z')`),
    ];
    await api.ok('POST', '/fields/t', plain('later'));
    await api.sql(`UPDATE t SET later = 'kept'`);
    await api.ok('POST', '/collections/t/rename', { to: 'old' });
    await api.ok('POST', '/collections/s/rename', { to: 't' });
    await api.ok('POST', '/collections/old/rename', { to: 's' });
    await api.ok('POST', '/fields/s/a/rename', { to: 'a2' });
    await api.ok('POST', '/fields/s/b/rename', { to: 'a' });
    // Both swap names again, and the later field is deleted.
    await api.ok('POST', '/schema/apply', await api.ok('GET', `/history/diff?to=${early}`));
    expect((await trashed()).map(({ field, rows }) => [field, rows])).to.deep.equal([['later', 1]]);
    await restore((await trashed())[0]!.position);
    expect(await api.sql('SELECT a, b, later FROM t')).to.deep.equal([{ a: 'x', b: 'y', later: 'kept' }]);
    // Now the whole table is restored, and the field is deleted again.
    await gone('/collections/t');
    await api.ok('POST', '/schema/apply', await api.ok('GET', `/history/diff?to=${early}`));
    expect((await trashed()).map(({ field, rows }) => [field, rows])).to.deep.equal([['later', 1]]);
    await restore((await trashed())[0]!.position, { as: 'latest' });
    expect(await api.sql('SELECT a, b, latest FROM t')).to.deep.equal([{ a: 'x', b: 'y', latest: 'kept' }]);
  });

  it('restores nothing for a diff that assigns its identities to other objects', async () => {
    await table('t', [plain('a')]);
    await table('s', [plain('c')]);
    await api.sql(`INSERT INTO t (a) VALUES ('x')`);
    const then = await api.head();
    const value = await gone('/fields/t/a');
    const full = await gone('/collections/t');
    type Item = {
      collection: string;
      field?: string;
      identity?: string;
      restores?: number;
      diff: { kind: string; rhs: { schema: unknown } }[];
    };
    type Diff = { hash: string; diff: { collections: Item[]; fields: Item[]; relations: Item[] } };
    const forged = async (change: (diff: Diff['diff']) => void) => {
      const back = await api.ok<Diff>('GET', `/history/diff?to=${then}`);
      change(back.diff);
      return client('/schema/apply', json(back));
    };
    const itemOf = (diff: Diff['diff'], field: string) => diff.fields.find((each) => each.field === field)!;
    const folder = await forged((diff) => {
      diff.fields = [];
      diff.collections[0]!.diff[0]!.rhs.schema = null;
    });
    expect([folder.status, folder.codes]).to.deep.equal([409, ['SCHEMA_CHANGED']]);
    const another = await forged((diff) => {
      Object.assign(itemOf(diff, 'a'), { identity: diff.collections[0]!.identity });
    });
    expect([another.status, another.codes]).to.deep.equal([400, ['INVALID_PAYLOAD']]);
    const alive = await forged((diff) => {
      itemOf(diff, 'a').identity = '2.1';
    });
    expect([alive.status, alive.codes]).to.deep.equal([409, ['SCHEMA_CHANGED']]);
    const odd = await forged((diff) => {
      Object.assign(diff.collections[0]!, { identity: 7, restores: -1 });
    });
    expect(odd.codes).to.deep.equal(['INVALID_PAYLOAD', 'INVALID_PAYLOAD']);
    expect((await trashed()).map(({ position }) => position)).to.deep.equal([full, value]);
    const honest = await forged(() => undefined);
    expect(honest.status, honest.text).to.equal(204);
    expect(await api.sql('SELECT a FROM t')).to.deep.equal([{ a: 'x' }]);
  });

  it('restores an empty field after a purge, and rejects a diff from before the purge', async () => {
    await table('t', [plain('a')]);
    await api.sql(`INSERT INTO t (a) VALUES ('x')`);
    const then = await api.head();
    const position = await gone('/fields/t/a');
    const early = await api.ok<Plan>('GET', `/history/diff?to=${then}`);
    await api.ok('DELETE', `/trash/${position}`);
    const stale = await client('/schema/apply', json(early));
    expect([stale.status, stale.codes]).to.deep.equal([409, ['SCHEMA_CHANGED']]);
    const diff = await api.ok<Plan>('GET', `/history/diff?to=${then}`);
    expect(diff.warnings.map(({ code }) => code)).to.deep.equal(['DATA_NOT_RESTORED']);
    await api.ok('POST', '/schema/apply', diff);
    expect(await api.sql('SELECT a FROM t')).to.deep.equal([{ a: null }]);
  });

  it('deletes primary key columns, and reports that their values are not kept', async () => {
    interface Snapshot {
      fields: { collection: string; field: string; schema: Record<string, unknown> }[];
    }
    await table('ik', [plain('code', 'string', { is_nullable: false })]);
    await table('pair', [
      plain('a', 'integer', { is_primary_key: true, is_nullable: false }),
      plain('b', 'integer', { is_nullable: false }),
      plain('c', 'integer', { is_nullable: false }),
    ]);
    await api.sql(`INSERT INTO ik (code) VALUES ('x'), ('y')`);
    await api.sql('INSERT INTO pair (a, b, c) VALUES (1, 1, 1), (2, 2, 2)');
    const apply = async (edit: (snapshot: Snapshot) => void) => {
      const snapshot = await api.ok<Snapshot>('GET', '/schema/snapshot');
      edit(snapshot);
      const diff = await api.ok<object>('POST', '/schema/diff', snapshot);
      const planned = await api.ok<Plan>('POST', '/schema/apply?dry_run', diff);
      await api.ok('POST', '/schema/apply', diff);
      return planned.warnings.filter(({ code }) => code === 'DATA_NOT_KEPT').map(({ message }) => message);
    };
    const key = { is_primary_key: true, is_unique: true };
    const reason =
      'the trash does not keep its values, because it is part of the primary key, which matches values to rows';
    expect(
      await apply((snapshot) => {
        snapshot.fields = snapshot.fields.filter(({ collection, field }) => collection !== 'ik' || field !== 'id');
        for (const { collection, field, schema } of snapshot.fields)
          if (collection === 'ik' && field === 'code') Object.assign(schema, key);
      }),
    ).deep.equal([`delete field ik.id: ${reason}`]);
    expect(await api.sql('SELECT code FROM ik ORDER BY code')).deep.equal([{ code: 'x' }, { code: 'y' }]);
    expect(
      await apply((snapshot) => {
        snapshot.fields = snapshot.fields.filter(({ collection, field }) => collection !== 'pair' || field !== 'a');
        for (const { collection, field, schema } of snapshot.fields)
          if (collection === 'pair' && field === 'b') Object.assign(schema, key);
      }),
    ).deep.equal([`delete field pair.a: ${reason}`]);
    expect(await api.sql('SELECT b, c FROM pair ORDER BY b')).deep.equal([
      { b: 1, c: 1 },
      { b: 2, c: 2 },
    ]);
  });

  it('warns about deletions that leave nothing in the trash, unless requested', async () => {
    await table('large', [plain('a'), plain('b'), plain('c'), { field: 'd', type: 'alias', interface: 'x' }]);
    await api.sql('INSERT INTO large (a) SELECT n::text FROM generate_series(1, 6) n');
    const warnings = async (path: string) => {
      const { status, headers } = await client(path, { method: 'DELETE' });
      expect(status).equal(204);
      return headers.get('x-warnings');
    };
    expect(await warnings('/fields/large/a')).equal('DATA_NOT_KEPT');
    expect(await warnings('/fields/large/b?purge')).equal(null);
    expect(await warnings('/fields/large/d')).equal(null);
    await api.sql('DELETE FROM large WHERE id > 2');
    expect(await warnings('/fields/large/c')).equal(null);
    expect(await warnings('/collections/large')).equal(null);
  });

  it('rejects deleting a column that other tables inherit, names them, and drops it everywhere with purge', async () => {
    await table('par', [plain('a'), plain('b')]);
    await api.sql('CREATE SCHEMA oth; CREATE TABLE oth.chi (extra int) INHERITS (par)');
    await api.sql('CREATE TABLE grandchild () INHERITS (oth.chi)');
    const expected = { status: 422, code: 'DATABASE_REFUSED' };
    const message =
      'Field "a" of "par" cannot be kept in the trash: the tables grandchild, oth.chi inherit from it, and ' +
      'PostgreSQL drops inherited columns together with the column of the parent. To drop them permanently, repeat the change with "purge".';
    const snapshot = await api.ok<{ fields: { collection: string; field: string }[] }>('GET', '/schema/snapshot');
    const without = (name: string) => ({
      ...snapshot,
      fields: snapshot.fields.filter(({ collection, field }) => collection !== 'par' || field !== name),
    });
    const diff = await api.ok('POST', '/schema/diff', without('a'));
    for (const [method, path, body] of [
      ['DELETE', '/fields/par/a'],
      ['DELETE', '/fields/par/a?dry_run'],
      ['POST', '/schema/apply', diff],
      ['POST', '/changes', { title: 'without a', diff }],
    ] as const) {
      const refused = await api.refused(expected, method, path, body);
      expect(refused.message).equal(message);
      expect(refused.extensions).to.deep.include({
        collection: 'par',
        field: 'a',
        inherited_by: ['grandchild', 'oth.chi'],
      });
    }
    const plan = await api.ok<Plan>('DELETE', '/fields/par/a?dry_run&purge');
    expect(plan.accepted).equal(true);
    const { status, headers } = await client('/fields/par/a?purge', { method: 'DELETE' });
    expect([status, headers.get('x-warnings')]).to.deep.equal([204, null]);
    const asked = {
      title: 'without b',
      purge: true,
      snapshot: { ...without('b'), fields: without('b').fields.filter(({ field }) => field !== 'a') },
    };
    const { data: request } = await api.ok<{ data: { id: string } }>('POST', '/changes', asked);
    const applied = await client(`/changes/${request.id}/apply`, { method: 'POST' });
    expect([applied.status, applied.headers.get('x-warnings')]).to.deep.equal([200, null]);
    expect(
      await api.sql(`SELECT attrelid::regclass::text AS name FROM pg_attribute WHERE attname IN ('a', 'b') AND NOT attisdropped
                       AND attrelid::regclass::text IN ('par', 'oth.chi', 'grandchild')`),
    ).to.deep.equal([]);
  });

  it('rejects deleting an inherited column even if the trash keeps nothing', async () => {
    const without = await startService({ KEEP_DELETED: '0' });
    const other = createApi(without);
    try {
      await other.ok('POST', '/collections', { collection: 'par', schema: {}, fields: [plain('a')] });
      await other.sql('CREATE TABLE chi () INHERITS (par)');
      await other.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'DELETE', '/fields/par/a');
      await other.ok('DELETE', '/fields/par/a?purge');
    } finally {
      await other.stop();
      await without.stop();
    }
  });

  it('shows for a change request what the trash will not keep and why, and warns when it is applied', async () => {
    await table('large', [plain('a')]);
    await table('small', [plain('c'), { field: 'd', type: 'alias', interface: 'x' }]);
    await table('whole');
    await api.sql('INSERT INTO large (a) SELECT n::text FROM generate_series(1, 6) n');
    const snapshot = await api.ok<{
      collections: { collection: string }[];
      fields: { collection: string; field: string }[];
    }>('GET', '/schema/snapshot');
    const gone = new Set(['large.a', 'small.c', 'small.d']);
    const expected = {
      ...snapshot,
      collections: snapshot.collections.filter(({ collection }) => collection !== 'whole'),
      fields: snapshot.fields.filter(
        ({ collection, field }) => collection !== 'whole' && !gone.has(`${collection}.${field}`),
      ),
    };
    const propose = async (more: object = {}) => {
      const { data } = await api.ok<{ data: { id: string } }>('POST', '/changes', {
        title: 't',
        snapshot: expected,
        ...more,
      });
      const shown = await api.ok<{ data: { planned: { loses: object[] } } }>('GET', `/changes/${data.id}`);
      return { id: data.id, loses: shown.data.planned.loses };
    };
    const loss = (collection: string, field: string | null, why: string | null) => ({
      collection,
      field,
      kept: why === null,
      why_not: why,
    });
    const tooMany = 'the table has more than 5 rows (KEEP_COPY_ROWS). Delete the field online to keep them';
    const { id, loses } = await propose();
    expect(loses).to.have.deep.members([
      loss('whole', null, null),
      loss('large', 'a', tooMany),
      loss('small', 'c', null),
      loss('small', 'd', 'it has no column'),
    ]);
    const online = await propose({ online: true });
    expect(online.loses).to.deep.include(loss('large', 'a', null));
    const purged = await propose({ purge: true });
    expect(purged.loses).to.deep.include(loss('whole', null, 'the change has the option purge'));
    const applied = await client(`/changes/${id}/apply`, { method: 'POST' });
    expect([applied.status, applied.headers.get('x-warnings')], applied.text).to.deep.equal([200, 'DATA_NOT_KEPT']);
  });
});
