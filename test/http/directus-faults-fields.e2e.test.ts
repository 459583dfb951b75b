/** Faults that users of similar services reported for fields and relations must not occur here. */
import { expect } from 'chai';
import { createApi } from '../support/api.js';
import { startService } from '../support/service.js';
import { withService } from '../support/with-service.js';
import { json } from '../support/client.js';
import { alias, catalogColumn, key, plain } from './routes/columns.js';

interface Document {
  [member: string]: unknown;
}

interface Shown {
  data: Document & { schema: Document | null; meta: Document };
}

interface Snapshot {
  fields: (Document & { collection: string; field: string; schema: Document | null })[];
}

const NOTHING = { collections: [], fields: [], relations: [] };
const INVALID = { status: 400, code: 'INVALID_PAYLOAD' };
const DATABASE = { status: 422, code: 'DATABASE_REFUSED' };

const statuses = (replies: { status: number }[]) => replies.map(({ status }) => status).sort((a, b) => a - b);

describe('known Directus faults do not occur for fields and relations', () => {
  const { api } = withService({ each: true, consistent: true });
  beforeEach(async () => {
    await create('t', [key('id'), plain('a', 'string')]);
  });

  const create = (collection: string, fields: object[]) =>
    api.ok('POST', '/collections', { collection, schema: {}, fields });
  const get = async (path: string) => (await api.ok<Shown>('GET', path)).data;
  const diff = (document: unknown) => api.ok<{ hash: string; diff: object }>('POST', '/schema/diff', document);

  it('5.1: a field is created as requested or rejected', async () => {
    await api.refused({ ...INVALID, at: 'type' }, 'POST', '/fields/t', { field: 'x' });
    await api.appends(['field.created t.links'], 'POST', '/fields/t', { field: 'links', type: 'alias' });
    expect(await get('/fields/t/links')).to.include({ type: 'alias', schema: null });
    const { data } = await api.ok<{ data: Document[] }>('GET', '/fields/t');
    expect(data.map(({ field }) => field)).to.deep.equal(['id', 'a', 'links']);
  });

  it('5.1: a field without meta or schema is complete, including in the snapshot', async () => {
    await api.ok('POST', '/fields/t', { field: 'bare', type: 'json' });
    expect((await get('/fields/t/bare')).meta).to.include({ collection: 't', field: 'bare', width: 'full' });
    const { fields } = await api.ok<Snapshot>('GET', '/schema/snapshot');
    expect(fields.map(({ field }) => field)).to.include('bare');
  });

  it('5.1: a repeated name must be equal', async () => {
    const meta = { collection: 'other', field: 'x' };
    await api.refused({ ...INVALID, at: 'meta.collection' }, 'POST', '/fields/t', { ...plain('x', 'string'), meta });
    await api.refused({ ...INVALID, at: 'schema.name' }, 'POST', '/fields/t', plain('x', 'string', { name: 'y' }));
    await api.refused({ ...INVALID, at: 'meta.ID' }, 'POST', '/fields/t', { ...plain('x', 'string'), meta: { ID: 1 } });
  });

  it('5.1: changing only the type changes the column and keeps other settings', async () => {
    await api.ok('PATCH', '/fields/t/a', { schema: { max_length: 40, comment: 'kept', is_indexed: true } });
    await api.ok('PATCH', '/fields/t/a', { type: 'string', schema: {} });
    expect(await catalogColumn(api, 't', 'a')).to.include({ type: 'character varying(40)' });
    await api.ok('PATCH', '/fields/t/a', { type: 'text' });
    expect(await catalogColumn(api, 't', 'a')).to.include({ type: 'text', comment: 'kept', indexes: 1 });
  });

  it('5.1: the type is the given one, regardless of special', async () => {
    await api.ok('POST', '/fields/t', { ...plain('doc', 'json'), meta: { special: ['cast-json'] } });
    await api.ok('PATCH', '/fields/t/doc', { type: 'string' });
    expect(await get('/fields/t/doc')).to.include({ type: 'string' });
    expect(await catalogColumn(api, 't', 'doc')).to.include({ type: 'character varying(255)' });
  });

  it('5.1: a referenced primary key cannot become null, change its type or be deleted', async () => {
    await create('many', [key('id'), plain('t', 'integer')]);
    await api.ok('POST', '/relations', { collection: 'many', field: 't', related_collection: 't' });
    await api.refused(INVALID, 'PATCH', '/fields/t/id', { schema: { is_nullable: true } });
    expect(await catalogColumn(api, 't', 'id')).to.include({ not_null: true });
    await api.refused(INVALID, 'PATCH', '/fields/t/id', { type: 'uuid' });
    await api.refused({ status: 409, code: 'IN_USE' }, 'PATCH', '/fields/t/id', { schema: { is_primary_key: false } });
    await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/fields/t/id');
    await api.ok('GET', '/fields/t');
  });

  it('5.1: a column in place of an alias, or a second auto increment, leaves nothing behind', async () => {
    await api.ok('POST', '/fields/t', alias('x'));
    await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', '/fields/t', plain('x', 'string'));
    expect(await catalogColumn(api, 't', 'x')).to.equal(undefined);
    await api.refused(INVALID, 'POST', '/fields/t', key('second', 'integer', { has_auto_increment: true }));
    expect(await catalogColumn(api, 't', 'second')).to.equal(undefined);
  });

  it('5.2: a relation without a foreign key gets none, and a given constraint name is used', async () => {
    await api.ok('POST', '/fields/t', plain('parent', 'integer'));
    const relation = { collection: 't', field: 'parent', related_collection: 't' };
    const names = `SELECT conname AS name FROM pg_constraint WHERE contype = 'f' AND conrelid = 't'::regclass`;
    await api.ok('POST', '/relations', { ...relation, schema: null });
    expect(await api.sql(names)).to.deep.equal([]);
    await api.ok('DELETE', '/relations/t/parent');
    await api.ok('POST', '/relations', { ...relation, schema: { constraint_name: 'my "fk"' } });
    expect(await api.sql(names)).to.deep.equal([{ name: 'my "fk"' }]);
  });

  it('5.2, 11.4: PATCH keeps omitted members of a relation', async () => {
    await api.ok('POST', '/fields/t', plain('parent', 'integer'));
    const schema = { on_delete: 'CASCADE', on_update: 'RESTRICT' };
    await api.ok('POST', '/relations', { collection: 't', field: 'parent', related_collection: 't', schema });
    const complete = { collection: 't', field: 'parent', related_collection: 't' };
    for (const body of [complete, complete, { schema: {} }, { meta: null }]) {
      await api.appends([], 'PATCH', '/relations/t/parent', body);
    }
    expect((await get('/relations/t/parent')).schema).to.include(schema);
  });

  it('5.2: deleting a relation again returns 404', async () => {
    await api.ok('POST', '/fields/t', plain('parent', 'integer'));
    await api.ok('POST', '/relations', { collection: 't', field: 'parent', related_collection: 't' });
    await api.ok('DELETE', '/relations/t/parent');
    await api.refused({ status: 404, code: 'NOT_FOUND' }, 'DELETE', '/relations/t/parent');
    await api.refused({ status: 404, code: 'NOT_FOUND' }, 'GET', '/relations/t/parent');
  });

  it('6: sending a field back as read changes nothing, and quotes are not doubled', async () => {
    await api.ok('PATCH', '/fields/t/a', { schema: { default_value: "it's '' a::b \\ \"x\"", comment: "it's" } });
    const read = await get('/fields/t/a');
    for (let round = 0; round < 3; round++) {
      const answer = await api.appends<Shown>([], 'PATCH', '/fields/t/a', read);
      expect(answer.data).to.deep.equal(read);
    }
    await api.sql('INSERT INTO t (id) VALUES (1)');
    expect(await api.sql('SELECT a FROM t')).to.deep.equal([{ a: "it's '' a::b \\ \"x\"" }]);
  });

  it('8: a big integer keeps its digits when its field changes', async () => {
    await api.ok('POST', '/fields/t', plain('n', 'bigInteger', { default_value: '9007199254740993' }));
    await api.ok('PATCH', '/fields/t/n', { schema: { is_nullable: false }, meta: { note: 'x' } });
    expect((await get('/fields/t/n')).schema).to.include({ default_value: '9007199254740993' });
    const body = '{"schema":{"default_value":9007199254740993}}';
    const sent = await api.client('/fields/t/n', { ...json({}, 'PATCH'), body });
    expect([sent.status, ...sent.codes]).to.deep.equal([400, 'INVALID_PAYLOAD']);
    await api.sql('INSERT INTO t (id) VALUES (1)');
    expect(await api.sql('SELECT n::text FROM t')).to.deep.equal([{ n: '9007199254740993' }]);
  });

  it('a default function is not evaluated when the field changes', async () => {
    await api.ok('POST', '/fields/t', plain('at', 'timestamp', { default_value: 'now()' }));
    await api.ok('POST', '/fields/t', plain('token', 'uuid', { default_value: 'gen_random_uuid()' }));
    await api.ok('POST', '/fields/t', plain('later', 'dateTime'));
    await api.ok('PATCH', '/fields/t/later', { schema: { default_value: 'CURRENT_TIMESTAMP' } });
    for (const id of [1, 2]) await api.sql('INSERT INTO t (id) VALUES ($1)', [id]);
    const [distinct] = await api.sql(
      'SELECT count(DISTINCT at)::int AS at, count(DISTINCT token)::int AS token, count(DISTINCT later)::int AS later FROM t',
    );
    expect(distinct).to.deep.equal({ at: 2, token: 2, later: 2 });
  });

  it('9: a key of any type is in the snapshot, and has the same defaults on another instance', async () => {
    await api.ok('POST', '/collections', {
      collection: 'keyed',
      schema: {},
      fields: [key('code', 'uuid', { default_value: 'gen_random_uuid()' })],
    });
    const document = await api.ok<Snapshot>('GET', '/schema/snapshot');
    for (const field of document.fields) delete field['meta'];
    const other = await startService();
    const target = createApi(other);
    try {
      await target.ok('POST', '/schema/apply', await target.ok('POST', '/schema/diff', document));
      expect(await catalogColumn(target, 'keyed', 'code')).to.deep.equal(await catalogColumn(api, 'keyed', 'code'));
    } finally {
      await target.stop();
      await other.stop();
    }
  });

  it('10: changing a column to an alias and back by snapshot takes one apply each', async () => {
    const document = await api.ok<Snapshot>('GET', '/schema/snapshot');
    const column = document.fields.find(({ field }) => field === 'a') as Document;
    for (const change of [
      { type: 'alias', schema: null },
      { type: 'string', schema: { name: 'a', table: 't' } },
    ]) {
      Object.assign(column, change);
      await api.ok('POST', '/schema/apply', await diff(document));
      expect((await diff(document)).diff).to.deep.equal(NOTHING);
    }
    expect(await catalogColumn(api, 't', 'a')).to.include({ type: 'character varying(255)' });
  });

  it('10: a key changes its type together with its references in one apply', async () => {
    await create('many', [key('id'), plain('t', 'integer')]);
    await api.ok('POST', '/relations', { collection: 'many', field: 't', related_collection: 't' });
    await api.sql('INSERT INTO t VALUES (1)');
    await api.sql('INSERT INTO many VALUES (1, 1)');
    const document = await api.ok<Snapshot>('GET', '/schema/snapshot');
    for (const field of document.fields) {
      if (`${field.collection}.${field.field}` !== 't.id' && `${field.collection}.${field.field}` !== 'many.t')
        continue;
      Object.assign(field, { type: 'string' });
      delete field.schema?.['data_type'];
      delete field.schema?.['max_length'];
    }
    await api.ok('POST', '/schema/apply', await diff(document));
    expect((await diff(document)).diff).to.deep.equal(NOTHING);
    expect(await catalogColumn(api, 't', 'id')).to.include({ type: 'character varying(255)' });
    expect(await api.sql('SELECT t.id FROM t JOIN many ON many.t = t.id')).to.deep.equal([{ id: '1' }]);
  });

  it('15: invalid requests return 400 or 422 with a location, never 500', async () => {
    await api.sql(`INSERT INTO t VALUES (1, 'x')`);
    const mistakes: [object, object][] = [
      [INVALID, { schema: { is_nullable: 'yes' } }],
      [INVALID, { schema: { max_length: '10' } }],
      [INVALID, { schema: { default_value: { a: 1 } } }],
      [INVALID, { meta: { sort: 'first' } }],
      [INVALID, { meta: { special: 'cast-json' } }],
      [INVALID, { meta: 'x' }],
      [INVALID, { schema: [] }],
      [DATABASE, { type: 'integer' }],
      [DATABASE, { type: 'json' }],
      [DATABASE, { type: 'uuid' }],
    ];
    for (const [expected, body] of mistakes)
      await api.refused(expected as typeof INVALID, 'PATCH', '/fields/t/a', body);
    expect(await api.sql('SELECT * FROM t')).to.deep.equal([{ id: 1, a: 'x' }]);
  });

  it('16: one of two equal concurrent changes succeeds, and the other is rejected or finds nothing to do', async () => {
    const several = <T>(send: () => Promise<T>) => Promise.all([1, 2, 3, 4].map(send));
    const created = await several(() => api.client('/fields/t', json(plain('twin', 'integer'))));
    expect(statuses(created)).to.deep.equal([200, 409, 409, 409]);
    const related = await several(() =>
      api.client('/relations', json({ collection: 't', field: 'twin', related_collection: 't' })),
    );
    expect(statuses(related)).to.deep.equal([200, 409, 409, 409]);
    const changed = await several(() => api.client('/fields/t/twin', json({ type: 'bigInteger' }, 'PATCH')));
    expect(statuses(changed)).to.deep.equal([200, 200, 200, 200]);
    expect(changed.filter(({ headers }) => headers.has('x-batch-id'))).to.have.length(1);
    const deleted = await several(() => api.client('/fields/t/twin', { method: 'DELETE' }));
    expect(statuses(deleted)).to.deep.equal([204, 404, 404, 404]);
  });

  it('17: a rejected change with concurrentIndexCreation leaves no column and no index', async () => {
    await api.sql(`INSERT INTO t VALUES (1)`);
    const body = plain('needed', 'string', { is_nullable: false, is_indexed: true });
    await api.refused(DATABASE, 'POST', '/fields/t?concurrentIndexCreation', body);
    const changes = [{ field: 'a', schema: { is_indexed: true, is_nullable: false } }];
    await api.refused(DATABASE, 'PATCH', '/fields/t?concurrentIndexCreation', changes);
    expect(await catalogColumn(api, 't', 'needed')).to.equal(undefined);
    expect(await catalogColumn(api, 't', 'a')).to.include({ indexes: 0 });
  });

  it('18: names with blanks or too many bytes create no unusable objects', async () => {
    for (const name of [' x', 'x ', 'é'.repeat(32), '', 'a\u0000b', 'xmin']) {
      await api.refused(INVALID, 'POST', '/fields/t', plain(name, 'string'));
    }
    await api.ok('POST', '/fields/t', plain('a b', 'string'));
    expect(await get('/fields/t/a%20b')).to.include({ field: 'a b' });
    await api.ok('DELETE', '/fields/t/a%20b');
  });
});
