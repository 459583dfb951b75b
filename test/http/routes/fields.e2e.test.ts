import { expect } from 'chai';
import { until } from '../../support/until.js';
import { withService } from '../../support/with-service.js';
import { json, type Send } from '../../support/client.js';
import { alias, catalogColumn, key, plain } from './columns.js';

interface Listed {
  data: { collection: string; field: string; meta: Record<string, unknown> }[];
  meta?: object;
}

const READS = ['/fields', '/fields/many', '/fields/many/ref', '/relations', '/relations/many', '/relations/many/ref'];
const WRITES: [method: string, path: string, body?: unknown][] = [
  ['POST', '/fields/many', plain('x', 'string')],
  ['PATCH', '/fields/many', [{ field: 'ref', meta: { note: 'x' } }]],
  ['PATCH', '/fields/many/ref', { meta: { note: 'y' } }],
  ['DELETE', '/fields/many/extra'],
  ['POST', '/relations', { collection: 'many', field: 'extra', related_collection: 'one' }],
  ['PATCH', '/relations/many/ref', { schema: { on_delete: 'CASCADE' } }],
  ['DELETE', '/relations/many/ref'],
  ['POST', '/collections', [{ collection: 'x', schema: {} }]],
  ['PATCH', '/collections', [{ collection: 'one', meta: { note: 'x' } }]],
];

describe('fields and relations as resources', () => {
  const { service, api } = withService({ each: true });
  beforeEach(async () => {
    await api.ok('POST', '/collections', { collection: 'one', schema: {}, fields: [key('id'), alias('list')] });
    await api.ok('POST', '/collections', {
      collection: 'many',
      schema: {},
      fields: [key('id'), plain('ref', 'integer'), plain('extra', 'integer')],
    });
    await api.ok('POST', '/relations', {
      collection: 'many',
      field: 'ref',
      related_collection: 'one',
      meta: { one_field: 'list' },
    });
  });

  const tokenOf = async (role: string): Promise<string> => {
    const user = { email: `${role}@example.com`, password: 'a long password', name: role, role };
    const { data } = await api.ok<{ data: { id: string } }>('POST', '/users', user);
    const created = await api.ok<{ data: { token: string } }>('POST', `/users/${data.id}/tokens`, { name: 'test' });
    return created.data.token;
  };
  const sending = (method: string, body: unknown, token: string | null): Send =>
    body === undefined ? { method, token } : { ...json(body, method), token };

  for (const role of ['reader', 'auditor']) {
    it(`are readable for a ${role}, and writable for admins only`, async () => {
      const token = await tokenOf(role);
      for (const path of READS) expect((await api.client(path, { token })).status, path).to.equal(200);
      const before = await api.head();
      for (const [method, path, body] of WRITES) {
        const { status, codes } = await api.client(path, sending(method, body, token));
        expect([status, ...codes], `${method} ${path}`).to.deep.equal([403, 'FORBIDDEN']);
      }
      expect(await api.head()).to.equal(before);
    });
  }

  it('are hidden from callers without a token', async () => {
    for (const path of READS) expect((await api.client(path, { token: null })).status, path).to.equal(401);
    for (const [method, path, body] of WRITES) {
      expect((await api.client(path, sending(method, body, null))).status, `${method} ${path}`).to.equal(401);
    }
  });

  it('are changed by an admin in one batch per request', async () => {
    for (const [method, path, body] of WRITES) {
      const { status, headers, text } = await api.client(path, sending(method, body, service.adminToken));
      expect(status, `${method} ${path}: ${text}`).to.equal(method === 'DELETE' ? 204 : 200);
      const rows = await api.sql('SELECT count(*)::int AS n FROM service.service_events WHERE batch = $1', [
        headers.get('x-batch-id'),
      ]);
      expect(rows[0]?.['n'], `${method} ${path}`).to.be.greaterThan(0);
      if (method === 'DELETE' && path === '/fields/many/extra') {
        await api.ok('POST', '/fields/many', plain('extra', 'integer'));
      }
    }
  });

  it('are listed in snapshot order with counts, pages and tags', async () => {
    const list = await api.ok<Listed>('GET', '/fields?meta=*');
    expect(list.data.map(({ collection, field }) => `${collection}.${field}`)).to.deep.equal([
      'many.id',
      'many.ref',
      'many.extra',
      'one.id',
      'one.list',
    ]);
    expect(list.meta).to.deep.equal({ total_count: 5, filter_count: 5 });
    const page = await api.ok<Listed>('GET', '/fields/many?offset=1&limit=1');
    expect(page.data.map(({ field }) => field)).to.deep.equal(['ref']);
    const relations = await api.ok<{ data: object[]; meta: object }>('GET', '/relations?meta=total_count');
    expect(relations.meta).to.deep.equal({ total_count: 1 });
    const { headers } = await api.client('/fields/many');
    const tag = headers.get('etag') ?? '';
    expect(headers.get('x-log-position')).to.equal(String(await api.head()));
    expect((await api.client('/fields/many', { headers: { 'if-none-match': tag } })).status).to.equal(304);
    await api.ok('PATCH', '/fields/many/ref', { meta: { note: 'x' } });
    expect((await api.client('/fields/many', { headers: { 'if-none-match': tag } })).status).to.equal(200);
  });

  it('return 404 if missing, and reject unknown parameters', async () => {
    const missing = { status: 404, code: 'NOT_FOUND' };
    for (const path of [
      '/fields/nope',
      '/fields/many/nope',
      '/fields/nope/x',
      '/relations/nope',
      '/relations/one/list',
    ]) {
      await api.refused(missing, 'GET', path);
    }
    await api.refused(missing, 'GET', '/relations/many/extra');
    for (const path of ['/fields/service_users', '/relations/service_tokens', '/relations/service_tokens/user_id']) {
      expect((await api.refused(missing, 'GET', path)).message).to.include('belongs to the service');
    }
    for (const path of ['/fields?sort=x', '/fields/many?limit=-1', '/fields/many/ref?meta=*', '/relations?offset=a']) {
      await api.refused({ status: 400, code: 'INVALID_QUERY' }, 'GET', path);
    }
    await api.refused({ status: 405, code: 'METHOD_NOT_ALLOWED' }, 'POST', '/fields', {});
    await api.refused({ status: 405, code: 'METHOD_NOT_ALLOWED' }, 'DELETE', '/relations/many');
  });

  it('a field shows the column that its foreign key references', async () => {
    const { data } = await api.ok<{ data: { schema: object } }>('GET', '/fields/many/ref');
    expect(data.schema).to.include({ foreign_key_table: 'one', foreign_key_column: 'id', table: 'many', name: 'ref' });
  });

  it('a folder has no fields, and the error has no body location', async () => {
    await api.ok('POST', '/collections', { collection: 'only_folder', schema: null });
    const invalid = { status: 400, code: 'INVALID_PAYLOAD' };
    const body = { field: 'a', type: 'string' };
    const { message, extensions } = await api.refused(invalid, 'POST', '/fields/only_folder', body);
    expect(message).to.include('"only_folder" is a folder');
    expect(extensions).not.to.have.property('path');
    await api.ok('DELETE', '/collections/only_folder');
  });

  it('a new field is placed last and accepts all members at once', async () => {
    const body = plain('code', 'string', {
      is_unique: true,
      is_indexed: true,
      is_nullable: false,
      comment: 'c',
      default_value: 'x',
    });
    const { data } = await api.appends<{ data: { meta: { sort: number; interface: string } } }>(
      ['field.created many.code'],
      'POST',
      '/fields/many',
      body,
    );
    expect(data.meta).to.include({ interface: 'x' });
    expect(await catalogColumn(api, 'many', 'code')).to.include({
      unique: true,
      indexes: 1,
      not_null: true,
      comment: 'c',
    });
    const list = await api.ok<Listed>('GET', '/fields/many');
    expect(list.data.at(-1)?.field).to.equal('code');
  });

  it('a new field after the largest sort number shares that number', async () => {
    await api.ok('PATCH', '/fields/many/extra', { meta: { sort: 2_147_483_647 } });
    const { data } = await api.ok<{ data: { meta: object } }>('POST', '/fields/many', plain('code', 'string'));
    expect(data.meta).to.include({ sort: 2_147_483_647 });
    const snapshot = await api.ok<object>('GET', '/schema/snapshot');
    await api.ok('POST', '/schema/diff', snapshot);
  });

  it('fields are reordered in one batch', async () => {
    const order = ['extra', 'ref', 'id'];
    const body = order.map((field, index) => ({ field, meta: { sort: index + 1 } }));
    const { data } = await api.ok<Listed>('PATCH', '/fields/many', body);
    expect(data.map(({ field }) => field)).to.deep.equal(order);
    const list = await api.ok<Listed>('GET', '/fields/many');
    expect(list.data.map(({ field }) => field)).to.deep.equal(order);
    await api.appends([], 'PATCH', '/fields/many', body);
  });

  it('several fields are changed in one batch, including columns', async () => {
    await api.appends(['field.updated many.extra', 'field.updated many.ref'], 'PATCH', '/fields/many', [
      { field: 'extra', type: 'string', schema: { default_value: 'x' } },
      { field: 'ref', schema: { is_indexed: true } },
    ]);
    expect(await catalogColumn(api, 'many', 'extra')).to.include({ type: 'character varying(255)' });
    expect(await catalogColumn(api, 'many', 'ref')).to.include({ indexes: 1 });
  });

  it('indexes are built after the commit on request', async () => {
    await api.ok('POST', '/fields/many?concurrentIndexCreation', plain('a', 'string', { is_indexed: true }));
    await api.ok('PATCH', '/fields/many/extra?concurrentIndexCreation=true', { schema: { is_indexed: true } });
    await api.ok('PATCH', '/fields/many?concurrentIndexCreation=1', [{ field: 'ref', schema: { is_indexed: true } }]);
    const marked = await api.sql(
      `SELECT field FROM service.service_events WHERE data->'concurrent_indexes' = 'true' ORDER BY position`,
    );
    expect(marked.map(({ field }) => field as string)).to.deep.equal(['a', 'extra', 'ref']);
    for (const field of ['a', 'extra', 'ref']) {
      await until(`${field} has its index`, async () => (await catalogColumn(api, 'many', field))?.indexes === 1);
    }
  });

  it('If-Match, Idempotency-Key and X-Reason are supported', async () => {
    const { headers } = await api.client('/fields/many/ref', {
      ...json({ meta: { note: 'x' } }, 'PATCH'),
      headers: { 'content-type': 'application/json', 'x-reason': 'because', 'idempotency-key': 'k' },
    });
    const again = await api.client('/fields/many/ref', {
      ...json({ meta: { note: 'x' } }, 'PATCH'),
      headers: { 'content-type': 'application/json', 'idempotency-key': 'k' },
    });
    expect(again.headers.get('x-batch-id')).to.equal(headers.get('x-batch-id'));
    const [event] = await api.sql('SELECT reason, command FROM service.service_events ORDER BY position DESC LIMIT 1');
    expect(event).to.deep.equal({ reason: 'because', command: 'update-fields' });
    const stale = await api.client('/relations/many/ref', {
      method: 'DELETE',
      headers: { 'if-match': `"${'0'.repeat(64)}"` },
    });
    expect([stale.status, ...stale.codes]).to.deep.equal([412, 'PRECONDITION_FAILED']);
  });

  it('names that need quoting work', async () => {
    for (const name of ["it's", 'a/b', 'ü "x"', '__proto__', 'select', 'é'.repeat(31)]) {
      const at = encodeURIComponent(name);
      await api.ok('POST', '/collections', { collection: name, schema: {}, fields: [key('id')] });
      await api.ok(
        'POST',
        `/fields/${at}`,
        plain(name, 'integer', { is_unique: true, is_indexed: true, comment: name }),
      );
      await api.ok('PATCH', `/fields/${at}/${at}`, { type: 'bigInteger', schema: { default_value: 1 } });
      await api.ok('PATCH', `/fields/${at}/${at}`, { type: 'integer' });
      await api.ok('POST', '/relations', { collection: name, field: name, related_collection: name });
      await api.ok('PATCH', `/relations/${at}/${at}`, { schema: { on_delete: 'SET NULL' } });
      await api.ok('GET', `/relations/${at}/${at}`);
      await api.ok('DELETE', `/relations/${at}/${at}`);
      await api.ok('DELETE', `/fields/${at}/${at}`);
    }
  });
});
