import { expect } from 'chai';
import { withService } from '../support/with-service.js';

const INVALID = { status: 400, code: 'INVALID_PAYLOAD' };
const QUERY = { status: 400, code: 'INVALID_QUERY', at: 'fields' };

describe('the query parameter fields', () => {
  const { api } = withService();
  before(async () => {
    await api.ok('POST', '/collections', { collection: 'one', schema: {} });
    await api.ok('POST', '/collections', { collection: 'many', schema: {} });
    await api.ok('POST', '/fields/many', { field: 'ref', type: 'integer' });
    await api.ok('POST', '/relations', { collection: 'many', field: 'ref', related_collection: 'one' });
  });

  const cases: [path: string, members: string, shown: string[]][] = [
    ['/collections', 'fields=schema,collection', ['collection', 'schema']],
    ['/collections/one', 'fields=collection', ['collection']],
    ['/collections/service_users', 'fields=meta', ['meta']],
    ['/fields', 'fields=field&fields=collection', ['collection', 'field']],
    ['/fields/many', 'fields=type', ['type']],
    ['/fields/many/ref', 'fields=type,%20field', ['field', 'type']],
    ['/relations', 'fields=related_collection,id', ['id', 'related_collection']],
    ['/relations/many', 'fields=meta', ['meta']],
    ['/relations/many/ref', 'fields=schema', ['schema']],
    ['/users', 'fields=email', ['email']],
    ['/users/me', 'fields=role,email', ['email', 'role']],
  ];
  for (const [path, query, shown] of cases) {
    it(`chooses top-level members: ${path}?${query}`, async () => {
      const { data } = await api.ok<{ data: object | object[] }>('GET', `${path}?${query}`);
      const objects = Array.isArray(data) ? (data as object[]) : [data];
      expect(objects).not.deep.equal([]);
      for (const object of objects) expect(Object.keys(object)).deep.equal(shown);
      const full = await api.ok('GET', path);
      expect(await api.ok('GET', `${path}?fields=*`)).deep.equal(full);
      for (const wrong of ['nope', '', 'email.x', 'meta,,']) await api.refused(QUERY, 'GET', `${path}?fields=${wrong}`);
    });
  }

  it('works with pages, counts and validators', async () => {
    const path = '/fields?limit=1&offset=1&meta=*&fields=field';
    const first = await api.client(path);
    expect(first.json).deep.equal({ data: [{ field: 'ref' }], meta: { total_count: 3, filter_count: 3 } });
    const etag = first.headers.get('etag') ?? '';
    expect((await api.client(path, { headers: { 'if-none-match': etag } })).status).equal(304);
    const full = await api.client('/fields?limit=1&offset=1&meta=*');
    expect(full.headers.get('etag')).not.equal(etag);
    expect((await api.client('/fields?limit=1&offset=1&meta=*', { headers: { 'if-none-match': etag } })).status).equal(
      200,
    );
  });

  it('also selects members of the response to a change', async () => {
    const created = await api.ok('POST', '/collections?fields=collection', { collection: 'more', schema: {} });
    expect(created).deep.equal({ data: { collection: 'more' } });
    const several = await api.ok('PATCH', '/collections?fields=collection', [{ collection: 'more', meta: {} }]);
    expect(several).deep.equal({ data: [{ collection: 'more' }] });
    const body = { field: 'x', type: 'text' };
    expect(await api.ok('POST', '/fields/more?fields=type', body)).deep.equal({ data: { type: 'text' } });
    expect(await api.ok('PATCH', '/fields/more/x?fields=field', {})).deep.equal({ data: { field: 'x' } });
    expect(await api.ok('PATCH', '/fields/more?fields=field', [{ field: 'x' }])).deep.equal({ data: [{ field: 'x' }] });
    const id = '/relations/many/ref?fields=field';
    expect(await api.ok('PATCH', id, {})).deep.equal({ data: { field: 'ref' } });
    await api.refused(QUERY, 'POST', '/collections?fields=nope', { collection: 'never', schema: {} });
  });
});

describe('members of Directus responses', () => {
  const { api } = withService();
  before(async () => {
    await api.ok('POST', '/collections', { collection: 't', schema: { name: 't', schema: 'public', comment: null } });
  });

  const column = async (field: string): Promise<Record<string, unknown>> =>
    (await api.ok<{ data: { schema: Record<string, unknown> } }>('GET', `/fields/t/${field}`)).data.schema;

  it('include length as max_length if the type has one, and ignore it otherwise', async () => {
    await api.ok('POST', '/fields/t', { field: 's', type: 'string', schema: { length: 36 } });
    expect((await column('s'))['max_length']).equal(36);
    await api.ok('PATCH', '/fields/t/s', { schema: { length: 40, max_length: 40 } });
    expect((await column('s'))['max_length']).equal(40);
    await api.appends([], 'PATCH', '/fields/t/s', { schema: { length: 40 } });
    await api.appends([], 'PATCH', '/fields/t/s', { schema: { length: null } });
    await api.ok('POST', '/fields/t', { field: 'u', type: 'uuid', schema: { length: 36 } });
    expect((await column('u'))['max_length']).equal(null);
    const at = 'schema.length';
    await api.refused({ ...INVALID, at }, 'PATCH', '/fields/t/s', { schema: { length: 41, max_length: 40 } });
    await api.refused({ ...INVALID, at }, 'PATCH', '/fields/t/u', { schema: { length: '36' } });
    await api.refused({ ...INVALID, at: 'schema.max_length' }, 'PATCH', '/fields/t/s', { schema: { length: 0 } });
  });

  it('reject another database schema wherever it is named', async () => {
    const schema = { schema: 'other' };
    const one = { collection: 'x', schema, fields: [{ field: 'a', type: 'text', interface: 'input', schema }] };
    const refused = { ...INVALID, at: 'schema.schema' };
    await api.refused({ ...refused, also: ['fields[0].schema.schema'] }, 'POST', '/collections', one);
    const first = { ...INVALID, at: '[0].schema.schema' };
    await api.refused({ ...first, also: ['[0].fields[0].schema.schema'] }, 'POST', '/collections', [one]);
    await api.refused({ ...INVALID, at: 'fields[0].schema.schema' }, 'POST', '/collections', { ...one, schema: {} });
    await api.refused(refused, 'PATCH', '/collections/t', { schema });
    await api.refused({ ...INVALID, at: '[0].schema.schema' }, 'PATCH', '/collections', [{ collection: 't', schema }]);
    await api.refused(refused, 'POST', '/fields/t', { field: 'a', type: 'text', schema });
    await api.refused(refused, 'PATCH', '/fields/t/id', { schema });
    await api.refused({ ...INVALID, at: '[0].schema.schema' }, 'PATCH', '/fields/t', [{ field: 'id', schema }]);
    const snapshot = await api.ok<{ collections: { schema: object }[] }>('GET', '/schema/snapshot');
    snapshot.collections[0]!.schema = { ...snapshot.collections[0]!.schema, ...schema };
    const { client } = api;
    const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(snapshot) };
    const diff = await client('/schema/diff', sent);
    expect([diff.status, diff.text]).deep.include(400);
    expect(diff.text).include('collections[0].schema.schema');
    const rhs = { collection: 'y', meta: {}, schema };
    const entry = { collection: 'y', diff: [{ kind: 'N', rhs }] };
    const apply = { hash: 'x', diff: { collections: [entry], fields: [], relations: [] } };
    const at = 'diff.collections[0].diff[0].rhs.schema.schema';
    await api.refused({ ...INVALID, at }, 'POST', '/schema/apply', apply);
    await api.appends([], 'PATCH', '/fields/t/id', { schema: { schema: 'public', foreign_key_schema: null } });
    await api.appends([], 'PATCH', '/collections/t', { schema: { schema: 'public', name: 't' } });
    await api.refused({ ...INVALID, at: 'schema.schema' }, 'POST', '/collections', {
      collection: 'x',
      schema: { schema: 5 },
    });
  });

  it('ignore row numbers and searchable, and reject other unknown members', async () => {
    await api.appends([], 'PATCH', '/fields/t/id', { meta: { id: 1841, searchable: true } });
    await api.refused({ ...INVALID, at: 'meta.findable' }, 'PATCH', '/fields/t/id', { meta: { findable: true } });
    await api.refused({ ...INVALID, at: 'schema.size' }, 'PATCH', '/fields/t/id', { schema: { size: 1 } });
  });

  it('users of every role can read themselves', async () => {
    for (const role of ['admin', 'auditor', 'reader']) {
      const email = `one-${role}@example.com`;
      const { data: user } = await api.ok<{ data: { id: string } }>('POST', '/users', { email, role });
      const path = `/users/${user.id}/tokens`;
      const { data } = await api.ok<{ data: { token: string } }>('POST', path, {});
      const me = await api.client('/users/me', { token: data.token });
      const { access, ...own } = (me.json as { data: { access: { role: string } } }).data;
      expect([me.status, own, access.role]).deep.equal([200, user, role]);
      expect((await api.client('/server/specs/oas', { token: data.token })).status).equal(200);
    }
    expect((await api.client('/users/me', { token: null })).status).equal(401);
    const documents = await Promise.all(['/server/specs/oas', '/server/openapi.json'].map((path) => api.client(path)));
    expect(documents[0]?.text).equal(documents[1]?.text);
  });
});
