import { expect } from 'chai';
import { constraintColumns, indexColumns, expressionColumns } from '../../../src/schema/sql-text/definitions.js';

describe('the columns in an SQL text', () => {
  it('are found in an index definition', () => {
    const definition = `USING btree (a, lower("B c"), (d || 'e') COLLATE "C" DESC) INCLUDE (f) WHERE (g IS NOT NULL)`;
    expect([...indexColumns(definition)]).to.have.members(['a', 'B c', 'd', 'f', 'g']);
  });

  it('are found in a constraint definition, for its own table only', () => {
    const columns: [string, string[]][] = [
      ['UNIQUE (a, b)', ['a', 'b']],
      ['PRIMARY KEY (a) INCLUDE (b)', ['a', 'b']],
      ["CHECK (((a < b) OR (lower(c) = 'd'::text)))", ['a', 'b', 'c']],
      ['FOREIGN KEY (a, b) REFERENCES other(c, d) ON DELETE CASCADE', ['a', 'b']],
      ['EXCLUDE USING gist (a WITH =, int4range(b, c) WITH &&) WHERE ((d > 0))', ['a', 'b', 'c', 'd']],
    ];
    for (const [definition, names] of columns) {
      expect([...constraintColumns(definition)], definition).to.have.members(names);
    }
  });

  it('are found in an expression, without the table name', () => {
    expect([...expressionColumns(`t.a + coalesce("b ""c", 1) * length('d')`)]).to.have.members(['a', 'b "c']);
    expect([...expressionColumns('no expression )')]).to.deep.equal([]);
  });
});
