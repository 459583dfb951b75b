import { expect } from 'chai';
import { withService } from '../../support/with-service.js';
import { alias, catalogColumn, key, plain } from './columns.js';

const IN_USE = { status: 409, code: 'IN_USE' };

interface Shown {
  [member: string]: unknown;
}

describe('deleting a field', () => {
  const { api } = withService({ each: true, consistent: true });

  const create = (collection: string, fields: object[], meta: object = {}) =>
    api.ok('POST', '/collections', { collection, schema: {}, fields, meta });
  const shown = async (path: string) => (await api.ok<{ data: Shown }>('GET', path)).data;

  it('drops its column, its index and its values only', async () => {
    await create('t', [key('id'), plain('a', 'string', { is_indexed: true, is_unique: true }), plain('b', 'string')]);
    await api.sql(`INSERT INTO t VALUES (1, 'x', 'kept')`);
    await api.appends(['field.deleted t.a'], 'DELETE', '/fields/t/a');
    expect(await catalogColumn(api, 't', 'a')).to.equal(undefined);
    expect(await api.sql('SELECT * FROM t')).to.deep.equal([{ id: 1, b: 'kept' }]);
    await api.refused({ status: 404, code: 'NOT_FOUND' }, 'DELETE', '/fields/t/a');
  });

  it('returns the batch with all events', async () => {
    await create('t', [key('id'), plain('status', 'string')], { archive_field: 'status' });
    const { headers } = await api.client('/fields/t/status', { method: 'DELETE' });
    const events = await api.sql('SELECT type FROM service.service_events WHERE batch = $1 ORDER BY position', [
      headers.get('x-batch-id'),
    ]);
    expect(events.map(({ type }) => type as string)).to.deep.equal(['collection.updated', 'field.deleted']);
    const unchanged = await api.client('/collections/t', {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: '{"meta":{}}',
    });
    expect([unchanged.status, unchanged.headers.get('x-batch-id')]).to.deep.equal([200, null]);
  });

  it('rejects a primary key and names its references', async () => {
    await create('one', [key('id')]);
    await create('many', [key('id'), plain('ref', 'integer')]);
    const single = await api.refused(IN_USE, 'DELETE', '/fields/one/id');
    expect(single.extensions['needed_by']).to.deep.equal([]);
    await api.ok('POST', '/relations', { collection: 'many', field: 'ref', related_collection: 'one' });
    const { extensions, message } = await api.refused(IN_USE, 'DELETE', '/fields/one/id');
    expect(extensions['needed_by']).to.deep.equal(['many.ref']);
    expect(message).to.include('many.ref');
  });

  it('deletes a many-to-one relation and the alias on its other side', async () => {
    await create('one', [key('id'), alias('list')]);
    await create('many', [key('id'), plain('ref', 'integer')]);
    await api.ok('POST', '/relations', {
      collection: 'many',
      field: 'ref',
      related_collection: 'one',
      meta: { one_field: 'list' },
    });
    await api.appends(
      ['relation.deleted many.ref', 'field.deleted many.ref', 'field.deleted one.list'],
      'DELETE',
      '/fields/many/ref',
    );
    expect(await api.ok('GET', '/relations')).to.deep.equal({ data: [] });
    expect((await shown('/collections/one'))['collection']).to.equal('one');
  });

  it('keeps the relation when its alias is deleted', async () => {
    await create('one', [key('id'), alias('list')]);
    await create('many', [key('id'), plain('ref', 'integer')]);
    const relation = { many_collection: 'many', many_field: 'ref', one_collection: 'one', one_field: 'list' };
    await api.ok('POST', '/relations', relation);
    await api.appends(['relation.updated many.ref', 'field.deleted one.list'], 'DELETE', '/fields/one/list');
    expect(await shown('/relations/many/ref')).to.include({ one_field: null, one_collection: 'one' });
  });

  it('clears sort_field and archive_field that name it', async () => {
    await create('one', [key('id')]);
    await create('many', [key('id'), plain('ref', 'integer'), plain('sort', 'integer')], {
      sort_field: 'sort',
      archive_field: 'sort',
    });
    await api.ok('POST', '/relations', {
      collection: 'many',
      field: 'ref',
      related_collection: 'one',
      meta: { sort_field: 'sort' },
    });
    await api.appends(
      ['relation.updated many.ref', 'collection.updated many', 'field.deleted many.sort'],
      'DELETE',
      '/fields/many/sort',
    );
    expect((await shown('/collections/many'))['meta']).to.include({ sort_field: null, archive_field: null });
    expect(await shown('/relations/many/ref')).to.include({ sort_field: null });
  });

  it('deletes the far alias of a junction, and removes the reference to it from the other half', async () => {
    await create('a', [key('id'), alias('bs')]);
    await create('b', [key('id'), alias('as')]);
    await create('a_b', [key('id'), plain('a', 'integer'), plain('b', 'integer')]);
    const half = (field: string, other: string, one_field: string) =>
      api.ok('POST', '/relations', {
        collection: 'a_b',
        field,
        related_collection: field,
        meta: { one_field, junction_field: other },
      });
    await half('a', 'b', 'bs');
    await half('b', 'a', 'as');
    await api.appends(
      ['relation.deleted a_b.a', 'relation.updated a_b.b', 'field.deleted a.bs', 'field.deleted a_b.a'],
      'DELETE',
      '/fields/a_b/a',
    );
    expect(await shown('/relations/a_b/b')).to.include({ junction_field: null, one_field: 'as' });
  });

  it('moves the members of a group to its parent group', async () => {
    await create('t', [key('id'), alias('outer'), alias('inner', { group: 'outer' })]);
    await api.ok('POST', '/fields/t', { ...plain('a', 'string'), meta: { group: 'inner' } });
    await api.appends(['field.updated t.a', 'field.deleted t.inner'], 'DELETE', '/fields/t/inner');
    expect((await shown('/fields/t/a'))['meta']).to.include({ group: 'outer' });
    await api.appends(['field.updated t.a', 'field.deleted t.outer'], 'DELETE', '/fields/t/outer');
    expect((await shown('/fields/t/a'))['meta']).to.include({ group: null });
  });

  it('rejects the collection field of a many-to-any relation and names the relation', async () => {
    await create('one', [key('id')]);
    await create('any', [key('id'), plain('item', 'integer'), plain('kind', 'string')]);
    await api.ok('POST', '/relations', {
      many_collection: 'any',
      many_field: 'item',
      one_collection: null,
      one_allowed_collections: ['one'],
      one_collection_field: 'kind',
    });
    const { extensions } = await api.refused(IN_USE, 'DELETE', '/fields/any/kind');
    expect(extensions['needed_by']).to.deep.equal(['any.item']);
    await api.ok('DELETE', '/fields/any/item');
    await api.ok('DELETE', '/fields/any/kind');
  });

  it('rejects the input of a generated column and names that column', async () => {
    await create('t', [
      key('id'),
      plain('net', 'integer'),
      plain('tax', 'integer'),
      plain('gross', 'integer', { generation_expression: 't.net + coalesce("tax", 0)' }),
    ]);
    for (const field of ['net', 'tax']) {
      const { extensions, message } = await api.refused(IN_USE, 'DELETE', `/fields/t/${field}`);
      expect(extensions['needed_by']).to.deep.equal(['t.gross']);
      expect(message).to.include('"gross" is computed from');
    }
    await create(
      'u',
      ['gross', 'twice']
        .map((name) => plain(name, 'integer', { generation_expression: 'net * 2' }))
        .concat([plain('net', 'integer')]),
    );
    const { message: both } = await api.refused(IN_USE, 'DELETE', '/fields/u/net');
    expect(both).to.equal('"gross", "twice" are computed from "net"; delete or change them first');
    await api.ok('PATCH', '/fields/t/gross', { schema: { generation_expression: 'net' } });
    await api.ok('DELETE', '/fields/t/tax');
    await api.ok('DELETE', '/fields/t/gross');
    await api.ok('DELETE', '/fields/t/net');
  });

  it('rejects an adopted column with dependent views, triggers or defaults and names them', async () => {
    await api.sql(`CREATE TABLE held (id int PRIMARY KEY, v int, t int, n serial, m int);
      ALTER TABLE held ALTER m SET DEFAULT nextval('held_n_seq'); CREATE VIEW shows AS SELECT v FROM held;
      CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
      CREATE TRIGGER watches BEFORE UPDATE OF t ON held FOR EACH ROW EXECUTE FUNCTION f()`);
    await api.ok('POST', '/schema/adopt', { tables: ['held'] });
    for (const [field, dependent] of [
      ['v', 'view shows'],
      ['t', 'trigger watches'],
      ['n', 'default value for column m'],
    ] as const) {
      const { message } = await api.refused(IN_USE, 'DELETE', `/fields/held/${field}`);
      expect(message).to.include(dependent);
    }
  });

  it('drops the constraints and indexes of an adopted column only', async () => {
    await api.sql(
      'CREATE TABLE old (id int PRIMARY KEY, a int, b int, c int, t text, n serial, CHECK (a < b), UNIQUE (b, c))',
    );
    await api.sql('CREATE INDEX several ON old (a, c)');
    await api.sql('CREATE INDEX lowered ON old (lower(t)) WHERE a > 0');
    await api.sql('CREATE INDEX kept ON old (lower(t))');
    await api.ok('POST', '/schema/adopt', { tables: ['old'] });
    await api.appends(['collection.updated old', 'field.deleted old.a'], 'DELETE', '/fields/old/a');
    const left = await api.sql(
      `SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = 'old'::regclass`,
    );
    expect(left.map(({ name }) => name as string)).to.have.members(['old_pkey', 'old_b_c_key', 'kept']);
    await api.appends(['collection.updated old', 'field.deleted old.c'], 'DELETE', '/fields/old/c');
    await api.appends(['field.deleted old.b'], 'DELETE', '/fields/old/b');
    await api.appends(['collection.updated old', 'field.deleted old.n'], 'DELETE', '/fields/old/n');
  });

  it('rejects system fields and missing fields', async () => {
    await api.refused({ status: 403, code: 'FORBIDDEN' }, 'DELETE', '/fields/service_users/email');
    await api.refused({ status: 404, code: 'NOT_FOUND' }, 'DELETE', '/fields/nope/x');
  });
});
