import { expect } from 'chai';
import type { CatalogColumn, CatalogTable } from '../../../src/projector/catalog/model.js';
import { conflictingObjects, listTableParts, partOf } from '../../../src/features/drift/objects.js';
import { preparedName } from '../../../src/projector/online/copy.js';
import type { Json } from '../../../src/kernel/json.js';
import type { Difference } from '../../../src/projector/verify/index.js';
import { catalogColumn, catalogConstraint, catalogIndex, catalogTable } from '../../projector/catalog-tables.js';

const KEY = catalogConstraint('t_pkey', 'primary key', { columns: ['id'] });
const CHECK = catalogConstraint('c', 'check', { columns: ['a'] });
const TABLE = catalogTable('t', {
  constraints: [KEY, CHECK],
  indexes: [
    catalogIndex('i', ['a']),
    catalogIndex('t_pkey', ['id'], { constraint: 't_pkey' }),
    catalogIndex('c', ['a'], { constraint: 'c' }),
  ],
});

const difference = (member: string, expected: Json, actual: Json, field?: string): Difference => ({
  where: 'catalog',
  collection: 't',
  ...(field === undefined ? {} : { field }),
  member,
  expected,
  found: actual,
});

interface Around {
  renamed?: [string, CatalogColumn][];
  loose?: string[];
}

function conflicting(differences: Difference[], { renamed = [], loose = [] }: Around = {}) {
  const place = { schema: 'public', table: TABLE, renamed: new Map(renamed), loose: new Set(loose) };
  const { statements, rest } = conflictingObjects(differences, place);
  const names = ({ constraints, indexes }: CatalogTable) =>
    [...constraints, ...indexes].map(({ name }) => name).join(' ');
  return { statements: statements.map(({ sql }) => sql), whole: statements, rest: names(rest) };
}

const ALL = 't_pkey c i t_pkey c';

describe('objects dropped before the right one is created', () => {
  it('are those with a name that belongs to another', () => {
    const { whole: full, rest } = conflicting([difference('constraint c', { kind: 'unique' }, { kind: 'check' }, 'a')]);
    expect(full).to.deep.equal([
      {
        field: 'a',
        sql: 'ALTER TABLE "public"."t" DROP CONSTRAINT "c"',
        summary: 'drop constraint c of t',
        drops: true,
        object: { kind: 'constraint', name: 'c', table: 't' },
      },
    ]);
    expect(rest).to.equal('t_pkey i t_pkey');
    expect(conflicting([difference('index i', { unique: true }, { unique: false })])).to.deep.include({
      statements: ['DROP INDEX "public"."i"'],
      rest: 't_pkey c t_pkey c',
      whole: [
        {
          field: null,
          sql: 'DROP INDEX "public"."i"',
          summary: 'drop index i of t',
          drops: true,
          object: { kind: 'index', name: 'i', table: 't' },
        },
      ],
    });
  });

  it('are those only in the table, on the table as a whole', () => {
    const unknown = [difference('constraint c', null, { kind: 'check' })];
    expect(conflicting(unknown, { loose: ['constraint c'] }).statements).to.have.length(1);
    expect(conflicting(unknown, { loose: ['index c'] })).to.deep.include({ statements: [], rest: ALL });
  });

  it('are leftovers of ended change requests', () => {
    const name = preparedName('5a8c9b1e-0d7f-4c3b-9a55-2f1f0c9f6f11', 'k');
    const left = [difference(`index ${name}`, null, { unique: false })];
    expect(conflicting(left).statements).to.deep.equal([`DROP INDEX "public"."${name}"`]);
  });

  it('exclude primary keys, missing objects and other kinds', () => {
    for (const each of [
      difference('constraint t_pkey', { columns: ['a'] }, { columns: ['id'] }, 'id'),
      difference('constraint c', { kind: 'check' }, null),
      difference('schema.comment', 'x', 'y'),
      difference('xconstraint c', 'x', 'y'),
    ]) {
      expect(conflicting([each], { loose: [each.member] }), each.member).to.deep.include({ statements: [], rest: ALL });
    }
    // An index has its own name.
    expect(conflicting([difference('index t_pkey', { unique: true }, { unique: false })]).statements).to.have.length(1);
  });

  it('exclude those fixed by a column rename', () => {
    const renamed: [string, CatalogColumn][] = [['a', catalogColumn('b', 'text')]];
    const index = (columns: Json, unique = false): Json => ({ columns, unique });
    const differs = (actual: Json) =>
      conflicting([difference('index i', index(['a', 'c']), actual)], { renamed }).statements;
    expect(differs(index(['b', 'c']))).to.deep.equal([]);
    expect(differs(index(['b', 'c'], true))).to.have.length(1);
    expect(differs(index(['b', null]))).to.have.length(1);
    expect(differs(index('b'))).to.have.length(1);
    expect(differs('b')).to.have.length(1);
  });
});

describe('a part of a table', () => {
  it('is read from its member name', () => {
    expect(partOf({ member: 'constraint a b\nc' })).to.deep.equal({ kind: 'constraint', name: 'a b\nc' });
    expect(partOf({ member: 'index i' })).to.deep.equal({ kind: 'index', name: 'i' });
    for (const member of ['column', 'domain d', 'the index i', 'indexes i']) expect(partOf({ member })).to.equal(null);
  });

  it('is loose if it depends on the whole table', () => {
    expect(listTableParts(null)).to.deep.equal([]);
    expect(listTableParts({ comment: null })).to.deep.equal([]);
    const extras = {
      constraints: [{ name: 'c', definition: 'x' }],
      indexes: [{ name: 'i', definition: 'x' }],
      unmanaged: [{ kind: 'default' as const, name: 'a' }],
    };
    expect(listTableParts({ comment: null, extras })).to.deep.equal(['constraint c', 'index i', 'default a']);
  });
});
