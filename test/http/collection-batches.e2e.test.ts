import { expect } from 'chai';
import { withService } from '../support/with-service.js';
import { json } from '../support/client.js';
import { key, plain } from './routes/columns.js';

const INVALID = { status: 400, code: 'INVALID_PAYLOAD' };

interface Several {
  data: { collection: string; meta: Record<string, unknown> }[];
}

describe('several collections in one request', () => {
  const { api } = withService({ each: true, consistent: true });

  const table = (collection: string, more: object = {}) => ({ collection, schema: {}, fields: [key('id')], ...more });
  const names = async () => {
    const { data } = await api.ok<Several>('GET', '/collections');
    return data.map(({ collection }) => collection).filter((name) => !name.startsWith('service_'));
  };

  it('are created in one batch, groups first, and returned in request order', async () => {
    const body = [table('b', { meta: { group: 'folder' } }), { collection: 'folder', schema: null }, table('a')];
    const { status, headers, json: answer } = await api.client('/collections', json(body));
    expect(status).to.equal(200);
    expect((answer as Several).data.map(({ collection }) => collection)).to.deep.equal(['b', 'folder', 'a']);
    const batches = await api.sql('SELECT DISTINCT batch FROM service.service_events');
    expect(batches).to.deep.equal([{ batch: headers.get('x-batch-id') }]);
    const order = await api.sql<{ collection: string }>(
      'SELECT collection FROM service.service_events ORDER BY position',
    );
    expect(order.map(({ collection }) => collection)).to.satisfy(
      (listed: string[]) => listed.indexOf('folder') < listed.indexOf('b'),
    );
  });

  it('are all created or none', async () => {
    await api.ok('POST', '/collections', table('there'));
    await api.refused({ status: 409, code: 'ALREADY_EXISTS', at: '[1].collection' }, 'POST', '/collections', [
      table('x'),
      table('there'),
    ]);
    await api.refused({ ...INVALID, at: '[1].collection' }, 'POST', '/collections', [table('x'), table('x')]);
    await api.refused({ ...INVALID, at: '[1].fields[0].type' }, 'POST', '/collections', [
      table('x'),
      table('y', { fields: [plain('a', 'nope')] }),
    ]);
    await api.refused({ ...INVALID, at: '[0].meta.group' }, 'POST', '/collections', [
      table('x', { meta: { group: 'nope' } }),
    ]);
    await api.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', '/collections', [
      table('x'),
      table('y', { fields: [plain('g', 'timestamp', { generation_expression: 'now()' })] }),
    ]);
    await api.sql('CREATE TABLE unmanaged ()');
    const taken = await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', '/collections', [
      table('x'),
      table('unmanaged'),
    ]);
    expect(taken.message).to.include('Adopt it');
    for (const body of [[1], [null], [[]]]) await api.refused(INVALID, 'POST', '/collections', body);
    expect(await names()).to.deep.equal(['there']);
  });

  it('are rejected with the location of missing and system collections', async () => {
    await api.ok('POST', '/collections', [table('a')]);
    for (const [name, status, code] of [
      ['nobody', 404, 'NOT_FOUND'],
      ['service_users', 403, 'FORBIDDEN'],
    ] as const) {
      const body = [
        { collection: 'a', meta: {} },
        { collection: name, meta: {} },
      ];
      await api.refused({ status, code, at: '[1].collection' }, 'PATCH', '/collections', body);
    }
  });

  it('are all changed in one batch or none', async () => {
    await api.ok('POST', '/collections', [table('a'), table('b'), { collection: 'folder', schema: null }]);
    const { data } = await api.appends<Several>(
      ['collection.updated a', 'collection.updated b'],
      'PATCH',
      '/collections',
      [
        { collection: 'b', meta: { sort: 1, group: 'folder' } },
        { collection: 'a', meta: { sort: 2 } },
      ],
    );
    expect(data.map(({ collection, meta }) => [collection, meta['sort']])).to.deep.equal([
      ['b', 1],
      ['a', 2],
    ]);
    await api.refused({ status: 404, code: 'NOT_FOUND' }, 'PATCH', '/collections', [
      { collection: 'a', meta: { sort: 9 } },
      { collection: 'nope', meta: {} },
    ]);
    await api.refused({ status: 403, code: 'FORBIDDEN' }, 'PATCH', '/collections', [
      { collection: 'service_users', meta: {} },
    ]);
    await api.refused({ ...INVALID, at: '[1].meta.group' }, 'PATCH', '/collections', [
      { collection: 'folder', meta: { note: 'x' } },
      { collection: 'b', meta: { group: 'nope' } },
    ]);
    await api.refused({ ...INVALID, at: '[1].collection' }, 'PATCH', '/collections', [
      { collection: 'a', meta: {} },
      { collection: 'a', meta: {} },
    ]);
    for (const body of [{}, null, [{}], [1]]) await api.refused(INVALID, 'PATCH', '/collections', body);
  });
});
