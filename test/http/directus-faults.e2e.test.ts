/** Faults that users of similar services reported must not occur here. */
import { expect } from 'chai';
import { createApi } from '../support/api.js';
import { startService } from '../support/service.js';
import { until } from '../support/until.js';
import { withService } from '../support/with-service.js';

interface Document {
  [member: string]: unknown;
}

interface Snapshot {
  collections: (Document & { collection: string; meta: Document })[];
  fields: (Document & { collection: string; field: string; schema: Document | null })[];
  relations: (Document & { many_collection: string; many_field: string; schema: Document | null })[];
}

interface Diff {
  hash: string;
  diff: { collections: Document[]; fields: Document[]; relations: Document[] };
}

const NOTHING = { collections: [], fields: [], relations: [] };
const key = (field: string, type = 'integer', schema: object = {}) => ({
  field,
  type,
  interface: 'x',
  schema: { is_primary_key: true, ...schema },
});
const plain = (field: string, type: string, schema: object = {}) => ({ field, type, interface: 'x', schema });

const statuses = (replies: { status: number }[]) => replies.map(({ status }) => status).sort((a, b) => a - b);

describe('known Directus faults do not occur', () => {
  const { api } = withService({ each: true });

  const create = (collection: string, fields: object[] = [], more: object = {}) =>
    api.ok('POST', '/collections', { collection, schema: {}, fields, ...more });
  const snapshot = () => api.ok<Snapshot>('GET', '/schema/snapshot');
  const diff = (document: unknown, query = '') => api.ok<Diff>('POST', `/schema/diff${query}`, document);
  const apply = ({ hash, diff: changes }: Diff) => api.ok('POST', '/schema/apply', { hash, diff: changes });
  const relate = async (relation: object) => api.ok('POST', '/relations', relation);

  it('1, 2: sending an older or partial snapshot again removes nothing', async () => {
    await create('articles', [key('id'), plain('title', 'string', { is_indexed: true })], {
      icon: 'box',
      versioning: true,
    });
    await api.sql(`INSERT INTO articles (id, title) VALUES (1, 'kept')`);
    const trimmed = await snapshot();
    for (const { meta } of trimmed.collections)
      for (const member of ['icon', 'versioning', 'preview_url']) delete meta[member];
    for (const field of trimmed.fields) {
      delete field.schema?.['is_indexed'];
      delete field['type'];
    }
    const answer = await diff(trimmed);
    expect(answer.diff).to.deep.equal(NOTHING);
    await apply(answer);
    for (const field of trimmed.fields) delete (field as Document)['schema'];
    expect((await diff(trimmed)).diff).to.deep.equal(NOTHING);
    expect(await api.sql('SELECT title FROM articles')).to.deep.equal([{ title: 'kept' }]);
  });

  it('1: a D entry with a path resets that member and never deletes the collection', async () => {
    await create('articles', [key('id')], { icon: 'box' });
    const { hash } = await diff(await snapshot());
    const changes = {
      collections: [{ collection: 'articles', diff: [{ kind: 'D', path: ['meta', 'icon'], lhs: 'box' }] }],
    };
    await api.appends(['collection.updated articles'], 'POST', '/schema/apply', { hash, diff: changes });
    expect(await api.sql('SELECT count(*)::int AS n FROM articles')).to.deep.equal([{ n: 0 }]);
  });

  it('3: a collection without schema keeps its kind, and a table does not become a folder', async () => {
    await create('articles');
    const document = await snapshot();
    for (const collection of document.collections) delete collection['schema'];
    expect((await diff(document)).diff).to.deep.equal(NOTHING);
    for (const collection of document.collections) collection['schema'] = null;
    await api.refused(
      { status: 400, code: 'INVALID_PAYLOAD', at: 'collections[0].schema' },
      'POST',
      '/schema/diff',
      document,
    );
  });

  it('4: a relation can be changed member by member repeatedly', async () => {
    await create('authors', [key('id')]);
    await create('articles', [key('id'), plain('author', 'integer')]);
    await relate({ collection: 'articles', field: 'author', related_collection: 'authors' });
    for (const body of [
      {},
      { meta: { one_deselect_action: 'delete' } },
      { schema: { on_delete: 'CASCADE' } },
      { schema: { on_delete: 'CASCADE' } },
    ]) {
      await api.ok('PATCH', '/relations/articles/author', body);
    }
    const { data } = await api.ok<{ data: Document }>('GET', '/relations/articles/author');
    expect(data).to.deep.include({ one_deselect_action: 'delete' });
    expect(data['schema']).to.include({ on_delete: 'CASCADE' });
  });

  it('5: names of Object.prototype are ordinary names', async () => {
    for (const name of ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__']) {
      await create(name, [key(name), plain('x', 'string')]);
      const path = `/collections/${encodeURIComponent(name)}`;
      expect((await api.ok<{ data: Document }>('GET', path)).data['collection']).to.equal(name);
      await api.ok('PATCH', path, { meta: { note: name } });
    }
    expect((await diff(await snapshot())).diff).to.deep.equal(NOTHING);
    await api.ok('GET', '/collections');
    for (const name of ['constructor', '__proto__']) await api.ok('DELETE', `/collections/${name}`);
  });

  it('6, 8: defaults are read back as given: quotes, colons, big integers', async () => {
    const defaults: [string, string, unknown][] = [
      ['quote', 'string', "it's"],
      ['colons', 'string', 'a::b'],
      ['function_like', 'string', 'now()'],
      ['null_like', 'string', 'NULL'],
      ['empty', 'string', ''],
      ['backslash', 'text', 'a\\b'],
      ['big', 'bigInteger', '9223372036854775807'],
      ['above', 'bigInteger', '9007199254740993'],
      ['list', 'json', []],
      ['object', 'json', { a: "it's" }],
    ];
    await create('t', [
      key('id'),
      ...defaults.map(([field, type, value]) => plain(field, type, { default_value: value })),
    ]);
    const document = await snapshot();
    for (const [name, , value] of defaults) {
      const field = document.fields.find((each) => each.field === name);
      expect(field?.schema?.['default_value'], name).to.deep.equal(value);
    }
    await apply(await diff(document));
    expect((await diff(await snapshot())).diff).to.deep.equal(NOTHING);
    await api.sql('INSERT INTO t (id) VALUES (1)');
    const [row] = await api.sql<Document>('SELECT quote, colons, function_like, null_like, big::text, object FROM t');
    expect(row).to.deep.equal({
      quote: "it's",
      colons: 'a::b',
      function_like: 'now()',
      null_like: 'NULL',
      big: '9223372036854775807',
      object: { a: "it's" },
    });
  });

  it('8: a number that JSON cannot represent is rejected instead of rounded', async () => {
    const body = `{"collection":"t","schema":{},"fields":[{"field":"n","type":"bigInteger","interface":"x","schema":{"default_value":9223372036854775807}}]}`;
    const reply = await api.client('/collections', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(reply.status).to.equal(400);
    expect(reply.text).to.include('fields[0].schema.default_value').and.include('string');
  });

  it('7: the snapshot matches PostgreSQL: bytea, unlimited varchar and numeric, smallint, jsonb, generated', async () => {
    await create('t', [
      key('id', 'uuid', { default_value: 'gen_random_uuid()' }),
      plain('bytes', 'binary'),
      plain('free', 'string', { max_length: null }),
      plain('number', 'decimal', { numeric_precision: null, numeric_scale: null }),
      plain('double', 'float', { data_type: 'double precision' }),
      plain('small', 'integer', { data_type: 'smallint' }),
      plain('doc', 'json', { data_type: 'jsonb' }),
      plain('twice', 'integer', { generation_expression: 'small * 2' }),
    ]);
    const document = await snapshot();
    const other = await startService();
    const target = createApi(other);
    try {
      const there = await target.ok<Diff>('POST', '/schema/diff', document);
      await target.ok('POST', '/schema/apply', there);
      const columns = `SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated
        FROM pg_attribute a WHERE a.attrelid = 't'::regclass AND a.attnum > 0 ORDER BY 1`;
      expect(await target.sql(columns)).to.deep.equal(await api.sql(columns));
      expect((await target.ok<Diff>('POST', '/schema/diff', document)).diff).to.deep.equal(NOTHING);
    } finally {
      await target.stop();
      await other.stop();
    }
  });

  it('9, 10: every snapshot converges after one apply', async () => {
    await create('authors', [key('id')]);
    await create('articles', [
      key('id'),
      plain('author', 'integer'),
      plain('size', 'integer'),
      plain('was_column', 'string'),
    ]);
    await relate({ collection: 'articles', field: 'author', related_collection: 'authors' });
    const document = await snapshot();
    const field = (name: string) =>
      document.fields.find((each) => each.collection === 'articles' && each.field === name);
    Object.assign(document.relations[0]?.schema ?? {}, { constraint_name: 'renamed_fk', on_delete: 'SET NULL' });
    Object.assign(field('size') ?? {}, { type: 'bigInteger' });
    delete field('size')?.schema?.['data_type'];
    Object.assign(field('was_column') ?? {}, { type: 'alias', schema: null });
    await apply(await diff(document));
    expect((await diff(document)).diff).to.deep.equal(NOTHING);
    const [constraint] = await api.sql<Document>(
      `SELECT conname, confdeltype FROM pg_constraint WHERE contype = 'f' AND conrelid = 'articles'::regclass`,
    );
    expect(constraint).to.deep.equal({ conname: 'renamed_fk', confdeltype: 'n' });
  });

  it('10: a relation can be retargeted, in the metadata and in the database', async () => {
    await create('a', [key('id')]);
    await create('b', [key('id')]);
    await create('many', [key('id'), plain('ref', 'integer')]);
    await relate({ many_collection: 'many', many_field: 'ref', one_collection: 'a' });
    const document = await snapshot();
    Object.assign(document.relations[0] ?? {}, { one_collection: 'b' });
    await apply(await diff(document));
    expect((await diff(document)).diff).to.deep.equal(NOTHING);
    const target = await api.sql(
      `SELECT confrelid::regclass::text AS target FROM pg_constraint WHERE contype = 'f' AND conrelid = 'many'::regclass`,
    );
    expect(target).to.deep.equal([{ target: 'b' }]);
  });

  it('11: collections with references to them or to themselves can be deleted, and columns are kept', async () => {
    await create('authors', [key('id')]);
    await create('articles', [key('id'), plain('author', 'integer'), plain('parent', 'integer')]);
    await relate({ many_collection: 'articles', many_field: 'author', one_collection: 'authors' });
    await relate({ many_collection: 'articles', many_field: 'parent', one_collection: 'articles' });
    await api.sql('INSERT INTO authors (id) VALUES (1)');
    await api.sql('INSERT INTO articles (id, author) VALUES (1, 1)');
    await api.appends(
      ['relation.deleted articles.author', 'collection.deleted authors'],
      'DELETE',
      '/collections/authors',
    );
    expect(await api.sql('SELECT author FROM articles')).to.deep.equal([{ author: 1 }]);
    await api.ok('DELETE', '/collections/articles');
  });

  it('11: system collections and their relations cannot be deleted', async () => {
    await api.refused({ status: 403, code: 'FORBIDDEN' }, 'DELETE', '/collections/service_users');
    await api.refused({ status: 403, code: 'FORBIDDEN' }, 'DELETE', '/relations/service_tokens/user_id');
    await api.refused({ status: 403, code: 'FORBIDDEN' }, 'DELETE', '/fields/service_users/email');
  });

  it('12: changing a missing object does not create it', async () => {
    await create('t');
    await api.refused({ status: 404, code: 'NOT_FOUND' }, 'PATCH', '/collections/nope', { meta: { note: 'x' } });
    await api.refused({ status: 404, code: 'NOT_FOUND' }, 'PATCH', '/fields/t/nope', { meta: { note: 'x' } });
    await api.refused({ status: 404, code: 'NOT_FOUND' }, 'DELETE', '/fields/t/nope');
    await api.refused({ status: 403, code: 'FORBIDDEN' }, 'PATCH', '/collections/service_users', {
      meta: { note: 'x' },
    });
    expect((await snapshot()).collections.map((each) => each.collection)).to.deep.equal(['t']);
  });

  it('14: force=false does not force, and the diff is checked in addition to the hash', async () => {
    await create('t');
    const document = { ...(await snapshot()), service: '0.0.1' };
    await api.refused(
      { status: 400, code: 'INVALID_PAYLOAD', at: 'service' },
      'POST',
      '/schema/diff?force=false',
      document,
    );
    await api.refused(
      { status: 400, code: 'INVALID_PAYLOAD', at: 'service' },
      'POST',
      '/schema/diff?force=0',
      document,
    );
    await api.ok('POST', '/schema/diff?force', document);
    const { hash } = await diff(await snapshot());
    const system = { collections: [{ collection: 'service_users', diff: [{ kind: 'D', lhs: {} }] }] };
    await api.refused(
      { status: 400, code: 'INVALID_PAYLOAD', at: 'diff.collections[0].collection' },
      'POST',
      '/schema/apply',
      { hash, diff: system },
    );
    const tampered = {
      collections: [{ collection: 't', diff: [{ kind: 'E', path: ['meta', 'note'], lhs: 'other', rhs: 'x' }] }],
    };
    const also = ['diff.collections[0].diff[0]'];
    await api.refused({ status: 409, code: 'SCHEMA_CHANGED', also }, 'POST', '/schema/apply', {
      hash,
      diff: tampered,
    });
  });

  it('15: PostgreSQL errors return 422 with reason and location, and nothing changes', async () => {
    await create('t', [key('id'), plain('a', 'string'), plain('b', 'string')]);
    await api.sql(`INSERT INTO t (id, a, b) VALUES (1, NULL, 'x'), (2, 'y', 'x')`);
    const change = async (field: string, schema: object) => {
      const document = await snapshot();
      Object.assign(document.fields.find((each) => each.field === field)?.schema ?? {}, schema);
      const refused = await api.refused(
        { status: 422, code: 'DATABASE_REFUSED' },
        'POST',
        '/schema/apply',
        await diff(document),
      );
      expect(refused.extensions).to.include({ collection: 't', field });
      return refused.extensions['sqlstate'];
    };
    expect(await change('a', { is_nullable: false })).to.equal('23502');
    expect(await change('b', { is_unique: true })).to.equal('23505');
    expect((await diff(await snapshot())).diff).to.deep.equal(NOTHING);
  });

  it('16: one of two equal concurrent applies succeeds, and the others report a changed schema', async () => {
    const document = {
      ...(await snapshot()),
      collections: [
        { collection: 'a', schema: {} },
        { collection: 'b', schema: {} },
      ],
    };
    const body = await diff(document);
    const send = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const replies = await Promise.all([1, 2, 3, 4].map(() => api.client('/schema/apply', send)));
    expect(statuses(replies)).to.deep.equal([204, 409, 409, 409]);
    const twins = await Promise.all(
      [1, 2, 3, 4].map(() =>
        api.client('/collections', { ...send, body: JSON.stringify({ collection: 'c', schema: {} }) }),
      ),
    );
    expect(statuses(twins)).to.deep.equal([200, 409, 409, 409]);
  });

  it('17: concurrentIndexCreation works for one and several indexes, and leaves nothing behind on errors', async () => {
    const indexed = (collection: string) => ({
      collection,
      schema: {},
      fields: [plain('a', 'string', { is_indexed: true })],
    });
    await api.ok('POST', '/collections?concurrentIndexCreation', indexed('one'));
    await api.ok('POST', '/collections?concurrentIndexCreation=true', [indexed('two'), indexed('three')]);
    await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', '/collections?concurrentIndexCreation', [
      indexed('four'),
      indexed('one'),
    ]);
    const valid = `SELECT t.relname AS name FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
      WHERE t.relname IN ('one', 'two', 'three', 'four') AND NOT i.indisprimary AND i.indisvalid ORDER BY 1`;
    await until('the indexes are built', async () => (await api.sql(valid)).length === 3);
    expect(await api.sql(valid)).to.deep.equal([{ name: 'one' }, { name: 'three' }, { name: 'two' }]);
  });

  it('18: a batch of fields is applied completely or not at all', async () => {
    await create('t', [key('id'), plain('a', 'string'), plain('b', 'string')]);
    await api.sql(`INSERT INTO t (id) VALUES (1)`);
    const body = [
      { field: 'a', meta: { note: 'changed' } },
      { field: 'b', schema: { is_nullable: false } },
    ];
    await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'PATCH', '/fields/t', body);
    expect((await api.ok<{ data: { meta: Document } }>('GET', '/fields/t/a')).data.meta['note']).to.equal(null);
  });

  it('19: export names sort by time', async () => {
    const { headers } = await api.client('/schema/snapshot?export=json');
    expect(headers.get('content-disposition')).to.match(/filename="[^"]*\d{4}-?\d{2}-?\d{2}[^"]*\.json"/);
  });
});
