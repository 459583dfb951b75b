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
  it('becomes a table or a partition', () => {
    const partitionOf = { schema: 'public', table: 'p', bound: 'DEFAULT' };
    const bare: TableRow = [1, 't', null, null, null, null];
    const plain = {
      name: 't',
      schema: undefined,
      table: 't',
      comment: null,
      partitionOf: null,
      partitionKey: null,
      extension: null,
      columns: [],
      constraints: [],
      indexes: [],
      prepared: [],
    };
    expect(toTable(bare)).to.deep.equal(plain);
    expect(toTable([1, 't', 'x', 'LIST (a)', null, 'postgis'])).to.deep.equal({
      ...plain,
      comment: 'x',
      partitionKey: 'LIST (a)',
      extension: 'postgis',
    });
    expect(toTable([1, 't', null, null, partitionOf, null])).to.deep.equal({ ...plain, partitionOf });
  });

  const row = (more: { [place: number]: unknown } = {}): ColumnRow => {
    const usual = [9, 1, 'a', 'text', true, false, '', '', ...Array.from({ length: 8 }, () => null)];
    return usual.map((each, index) => more[index] ?? each) as unknown as ColumnRow;
  };
  const column = {
    name: 'a',
    type: 'text',
    builtIn: true,
    nullable: true,
    notNull: null,
    default: null,
    identity: null,
    generated: null,
    collation: null,
    comment: null,
    sequence: null,
  };
  const prepared = preparedName('5a8c9b1e-0d7f-4c3b-9a55-2f1f0c9f6f11', 'k');
  const columns: [string, { [place: number]: unknown }, object][] = [
    ['plain', {}, {}],
    ['with a default', { 8: "'x'" }, { default: "'x'" }],
    ['stored', { 7: 's', 8: 'x' }, { generated: { expression: 'x', kind: 'stored' } }],
    ['virtual', { 7: 'v', 8: 'x' }, { generated: { expression: 'x', kind: 'virtual' } }],
    ['counting for all', { 6: 'a' }, { identity: 'always' }],
    [
      'counting',
      { 6: 'd', 11: 'public', 12: 's' },
      { identity: 'by default', sequence: { schema: 'public', name: 's' } },
    ],
    ['not null', { 5: true }, { nullable: false }],
    [
      'not null by a name',
      { 5: true, 13: 'n', 14: 'p', 15: 'NOT VALID' },
      { nullable: false, notNull: { name: 'n', parentName: 'p', more: 'NOT VALID' } },
    ],
    ['to become not null', { 5: true, 13: prepared }, { nullable: true, notNull: null }],
    ['with all else', { 4: false, 9: '"C"', 10: 'c' }, { collation: '"C"', comment: 'c' }],
  ];
  for (const [words, more, expected] of columns) {
    it(`becomes a column: ${words}`, () => {
      const builtIn = more[4] !== false;
      expect(toColumn(row(more))).to.deep.equal({ ...column, builtIn, ...expected });
    });
  }

  it('becomes a constraint of each kind with its column names', () => {
    const constraint = (...[kind, columnsOf]: [ConstraintRow[2], number[] | null]) =>
      toConstraint([9, 'c', kind, columnsOf, 'text', true, false, false, 0, null, null, null, 'a', 'a', 's'], NAMES);
    expect(constraint('c', null)).to.deep.equal({
      name: 'c',
      kind: 'check',
      columns: [],
      definition: 'text',
      validated: true,
      deferrable: false,
      initiallyDeferred: false,
      references: null,
    });
    const kinds = (['p', 'u', 'f', 'c', 'x'] as const).map((kind) => constraint(kind, [2, 1, 7]));
    expect(kinds.map(({ kind }) => kind)).to.deep.equal(['primary key', 'unique', 'foreign key', 'check', 'exclusion']);
    expect(kinds[0]?.columns).to.deep.equal(['a', 'id']);
  });

  it('becomes a foreign key with its actions', () => {
    const rules = (update: ConstraintRow[12], remove: ConstraintRow[13], match: ConstraintRow[14]) =>
      toConstraint([9, 'c', 'f', [2], '', false, true, true, 0, 'public', 'o', ['id'], update, remove, match], NAMES);
    expect(rules('a', 'r', 's')).to.deep.include({
      validated: false,
      deferrable: true,
      initiallyDeferred: true,
    });
    const reported = [rules('a', 'r', 's'), rules('c', 'n', 'f'), rules('d', 'a', 'p')].map(
      ({ references }) => references,
    );
    const target = { schema: 'public', table: 'o', columns: ['id'] };
    expect(reported).to.deep.equal([
      { ...target, onUpdate: 'NO ACTION', onDelete: 'RESTRICT', match: 'simple' },
      { ...target, onUpdate: 'CASCADE', onDelete: 'SET NULL', match: 'full' },
      { ...target, onUpdate: 'SET DEFAULT', onDelete: 'NO ACTION', match: 'partial' },
    ]);
  });

  it('becomes an index without its included columns', () => {
    const index = (tail: string, plain: string | null): IndexRow => [
      9,
      8,
      'i',
      'btree',
      [2, 0, 1],
      2,
      true,
      true,
      tail,
      plain,
    ];
    expect(toIndex(index('x', null), NAMES, 'c')).to.deep.equal({
      name: 'i',
      columns: ['a', null],
      method: 'btree',
      unique: true,
      valid: true,
      constraint: 'c',
      tail: 'x',
      plain: false,
    });
    expect(toIndex(index('x', 'x'), NAMES, null)).to.include({ plain: true, constraint: null });
    expect(toIndex(index('x', 'y'), NAMES, null)).to.include({ plain: false });
  });
});
