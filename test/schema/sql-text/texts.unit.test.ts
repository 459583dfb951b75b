import { expect } from 'chai';
import type { Domain, TableExtras } from '../../../src/schema/model/extras.js';
import { textsOfField, textsOfTable } from '../../../src/schema/sql-text/texts.js';
import { column } from '../../projector/columns.js';

const describeTexts = (texts: ReturnType<typeof textsOfTable>): string[] =>
  texts.map(({ kind, text, path }) => `${path.join('.')} ${kind} ${text}`);

describe('finding SQL texts of a request', () => {
  it('covers extras of a table', () => {
    const domain = {
      kind: 'domain',
      name: 'd',
      type: 'text',
      default: 'd1',
      checks: [{ name: 'x', definition: 'd2' }],
    };
    const extras = {
      primary_key: { name: 'p', columns: ['a'], definition: 'p1' },
      constraints: [
        { name: 'c', definition: 'c1' },
        { name: 'e', definition: 'c2' },
      ],
      indexes: [{ name: 'i', definition: 'i1' }],
      partition_by: 'b1',
      partition_of: { table: 't', bound: 'o1' },
      needs: [{ kind: 'schema', name: 's' }, domain as unknown as Domain],
    } as unknown as TableExtras;
    expect(describeTexts(textsOfTable(extras))).to.deep.equal([
      'schema.extras.primary_key.definition constraint p1',
      'schema.extras.constraints.0.definition constraint c1',
      'schema.extras.constraints.1.definition constraint c2',
      'schema.extras.indexes.0.definition index i1',
      'schema.extras.partition_by partition key b1',
      'schema.extras.partition_of.bound partition bound o1',
      'schema.extras.needs.1.default expression d1',
      'schema.extras.needs.1.checks.0.definition constraint d2',
    ]);
    expect(textsOfTable({ primary_key: { name: 'p', columns: ['a'] } })).to.deep.equal([]);
    expect(textsOfTable({})).to.deep.equal([]);
    expect(textsOfTable(undefined)).to.deep.equal([]);
  });

  it('returns generation expressions, defaults and checks of columns', () => {
    expect(describeTexts(textsOfField(column('a', 'integer', { generation_expression: 'b + 1' })))).to.deep.equal([
      'schema.generation_expression expression b + 1',
    ]);
    expect(describeTexts(textsOfField(column('a', 'integer', { extras: { default: 'random()' } })))).to.deep.equal([
      'schema.extras.default expression random()',
    ]);
    expect(textsOfField(column('a', 'integer'))).to.deep.equal([]);
    expect(textsOfField({ ...column('a', 'integer'), schema: null })).to.deep.equal([]);
  });
});
