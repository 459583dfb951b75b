import { expect } from 'chai';
import type { ColumnSchema } from '../../../src/schema/model/model.js';
import { columnFaults } from '../../../src/schema/invariants/columns.js';
import { column } from '../../projector/columns.js';

const schemaOf = (type: string, members: Partial<ColumnSchema>): ColumnSchema => ({
  ...(column('a', type).schema as ColumnSchema),
  ...members,
});

describe('invalid column settings', () => {
  const request = { is_primary_key: true, is_unique: true, is_indexed: true };
  const first = (schema: ColumnSchema) => columnFaults(schema).map(([member]) => member);

  it('are reported once, at the first member, for types without comparison or storage', () => {
    for (const schema of [schemaOf('json', request), schemaOf('integer', { ...request, extras: { virtual: true } })]) {
      expect(first(schema)).to.deep.equal(['is_primary_key']);
      expect(first({ ...schema, is_primary_key: false })).to.deep.equal(['is_unique']);
      expect(first({ ...schema, is_primary_key: false, is_unique: false })).to.deep.equal(['is_indexed']);
      expect(first({ ...schema, is_primary_key: false, is_unique: false, is_indexed: false })).to.deep.equal([]);
    }
    expect(columnFaults(schemaOf('json', request))[0]?.[1]).to.contain('jsonb');
  });

  it('are not reported for other columns', () => {
    expect(first(schemaOf('json', { data_type: 'jsonb', ...request }))).to.deep.equal([]);
    expect(first(schemaOf('integer', request))).to.deep.equal([]);
  });
});
