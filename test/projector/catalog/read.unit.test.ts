import { expect } from 'chai';
import {
  type ColumnRow,
  type ConstraintRow,
  type IndexRow,
  type TableRow,
  toColumn,
  toConstraint,
  toIndex,
  toTable,
} from '../../../src/projector/catalog/read.js';
import { preparedName } from '../../../src/projector/online/copy.js';

const NAMES = new Map([
  [1, 'id'],
  [2, 'a'],
]);

describe('a row of the catalog', () => {
  it('becomes a table, a partition or an inheriting table', () => {
    const parents = [{ schema: 'public', table: 'p' }];
    const bare: TableRow = [1, 't', 'r', null, false, null, null, null, null];
    const plain = {
      name: 't',
      kind: 'table',
      comment: null,
      partitionOf: null,
      partitionKey: null,
      extension: null,
      inherits: [],
      columns: [],
      constraints: [],
      indexes: [],
      prepared: [],
    };
    expect(toTable(bare)).to.deep.equal(plain);
    expect(toTable([1, 't', 'p', 'x', false, 'LIST (a)', null, null, 'postgis'])).to.deep.equal({
      ...plain,
      kind: 'partitioned',
      comment: 'x',
      partitionKey: 'LIST (a)',
      extension: 'postgis',
    });
    expect(toTable([1, 't', 'r', null, true, null, 'DEFAULT', parents, null])).to.deep.equal({
      ...plain,
      partitionOf: { schema: 'public', table: 'p', bound: 'DEFAULT' },
    });
    expect(toTable([1, 't', 'r', null, false, null, null, parents, null])).to.deep.equal({
      ...plain,
      inherits: parents,
    });
  });

  const row = (more: { [place: number]: unknown } = {}): ColumnRow => {
    const usual = [9, 1, 'a', 'text', 0, 'b', true, false, '', '', null, null, null, null, null, false, null, null];
    return usual.map((each, index) => more[index] ?? each) as unknown as ColumnRow;
  };
  const column = {
    name: 'a',
    type: 'text',
    dimensions: 0,
    typeKind: 'b',
    builtIn: true,
    nullable: true,
    notNull: null,
    default: null,
    identity: null,
    generated: null,
    collation: null,
    comment: null,
    sequence: null,
    inherited: false,
  };
  const prepared = preparedName('5a8c9b1e-0d7f-4c3b-9a55-2f1f0c9f6f11', 'k');
  const columns: [string, { [place: number]: unknown }, object][] = [
    ['plain', {}, {}],
    ['with a default', { 10: "'x'" }, { default: "'x'" }],
    ['stored', { 9: 's', 10: 'x' }, { generated: { expression: 'x', kind: 'stored' } }],
    ['virtual', { 9: 'v', 10: 'x' }, { generated: { expression: 'x', kind: 'virtual' } }],
    ['counting for all', { 8: 'a' }, { identity: 'always' }],
    [
      'counting',
      { 8: 'd', 13: 'public', 14: 's' },
      { identity: 'by default', sequence: { schema: 'public', name: 's' } },
    ],
    ['not null', { 7: true }, { nullable: false }],
    [
      'not null by a name',
      { 7: true, 16: 'n', 17: 'NOT VALID' },
      { nullable: false, notNull: { name: 'n', more: 'NOT VALID' } },
    ],
    ['to become not null', { 7: true, 16: prepared }, { nullable: true, notNull: null }],
    [
      'with all else',
      { 4: 2, 6: false, 11: '"C"', 12: 'c', 15: true },
      { dimensions: 2, collation: '"C"', comment: 'c', inherited: true },
    ],
  ];
  for (const [words, more, expected] of columns) {
    it(`becomes a column: ${words}`, () => {
      const builtIn = more[6] !== false;
      expect(toColumn(row(more))).to.deep.equal({ ...column, builtIn, ...expected });
    });
  }

  it('becomes a constraint of each kind with its column names', () => {
    const constraint = (...[kind, columnsOf]: [ConstraintRow[2], number[] | null]) =>
      toConstraint(
        [9, 'c', kind, columnsOf, 'text', true, false, false, false, 0, null, null, null, 'a', 'a', 's'],
        NAMES,
      );
    expect(constraint('c', null)).to.deep.equal({
      name: 'c',
      kind: 'check',
      columns: [],
      definition: 'text',
      validated: true,
      deferrable: false,
      initiallyDeferred: false,
      inherited: false,
      references: null,
    });
    const kinds = (['p', 'u', 'f', 'c', 'x'] as const).map((kind) => constraint(kind, [2, 1, 7]));
    expect(kinds.map(({ kind }) => kind)).to.deep.equal(['primary key', 'unique', 'foreign key', 'check', 'exclusion']);
    expect(kinds[0]?.columns).to.deep.equal(['a', 'id']);
  });

  it('becomes a foreign key with its actions', () => {
    const rules = (update: ConstraintRow[13], remove: ConstraintRow[14], match: ConstraintRow[15]) =>
      toConstraint(
        [9, 'c', 'f', [2], '', false, true, true, true, 0, 'public', 'o', ['id'], update, remove, match],
        NAMES,
      );
    expect(rules('a', 'r', 's')).to.deep.include({
      validated: false,
      deferrable: true,
      initiallyDeferred: true,
      inherited: true,
    });
    const told = [rules('a', 'r', 's'), rules('c', 'n', 'f'), rules('d', 'a', 'p')].map(({ references }) => references);
    const target = { schema: 'public', table: 'o', columns: ['id'] };
    expect(told).to.deep.equal([
      { ...target, onUpdate: 'NO ACTION', onDelete: 'RESTRICT', match: 'simple' },
      { ...target, onUpdate: 'CASCADE', onDelete: 'SET NULL', match: 'full' },
      { ...target, onUpdate: 'SET DEFAULT', onDelete: 'NO ACTION', match: 'partial' },
    ]);
  });

  it('becomes an index with its included columns', () => {
    const index = (tail: string, plain: string | null): IndexRow => [
      9,
      8,
      'i',
      'btree',
      [2, 0, 1],
      2,
      true,
      false,
      true,
      'a > 0',
      true,
      'CREATE',
      false,
      tail,
      plain,
    ];
    expect(toIndex(index('x', null), NAMES, 'c')).to.deep.equal({
      name: 'i',
      columns: ['a', null],
      included: ['id'],
      method: 'btree',
      unique: true,
      primary: false,
      valid: true,
      predicate: 'a > 0',
      hasExpressions: true,
      definition: 'CREATE',
      constraint: 'c',
      inherited: false,
      tail: 'x',
      plain: false,
    });
    expect(toIndex(index('x', 'x'), NAMES, null)).to.include({ plain: true, constraint: null });
    expect(toIndex(index('x', 'y'), NAMES, null)).to.include({ plain: false });
  });
});
