import { expect } from 'chai';
import { withService } from '../../support/with-service.js';

const NEEDS = [
  { kind: 'domain', name: 'spelling_of', type: 'text' },
  { kind: 'domain', name: 'spelling_parent', type: 'text', default: `lower('X')` },
  { kind: 'domain', name: 'compared', type: 'text', checks: [{ name: 'c', definition: `CHECK (VALUE<>'')` }] },
  { kind: 'sequence', name: 'column_0' },
  { kind: 'sequence', name: 'column_1' },
];

const snapshot = (table: string) => ({
  version: 1,
  collections: [
    {
      collection: table,
      schema: {
        extras: {
          constraints: [{ name: `${table}_c`, definition: `CHECK (s<>'q'::spelling_of)` }],
          indexes: [{ name: `${table}_i`, definition: `USING btree ((t::compared)) WHERE t>'a'::spelling_parent` }],
          needs: NEEDS,
        },
      },
    },
  ],
  fields: [
    { field: 'id', type: 'integer', schema: { is_primary_key: true, is_nullable: false } },
    { field: 's', type: 'unknown', schema: { data_type: 'spelling_of' } },
    { field: 't', type: 'text', schema: { extras: { default: `'X'::compared` } } },
    {
      field: 'n',
      type: 'bigInteger',
      schema: { has_auto_increment: true, extras: { default: `nextval('column_0')` } },
    },
    {
      field: 'm',
      type: 'bigInteger',
      schema: { has_auto_increment: true, extras: { default: `nextval('column_1')` } },
    },
    { field: 'g', type: 'text', schema: { generation_expression: `t::compared` } },
  ].map((field) => ({ collection: table, ...field })),
  relations: [],
});

describe('temporary names of the service', () => {
  const { api } = withService();

  it('may equal names that tables need, in any spelling', async () => {
    const post = (path: string, body: unknown) => api.ok<object>('POST', path, body);
    // The second adoption finds existing needs, which must match.
    for (const table of ['column_2', 'dps_spelling']) {
      await post('/schema/apply', await post('/schema/diff?force&mode=merge', snapshot(table)));
      const { data } = await api.ok<{ data: { ok: boolean } }>('GET', '/projections/verify');
      expect(data, JSON.stringify(data)).to.include({ ok: true });
      expect(await api.ok('GET', '/schema/drift')).to.deep.include({ ok: true });
    }
  });
});
