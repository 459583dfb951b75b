import { expect } from 'chai';
import type { CatalogColumn, CatalogTable } from '../../../src/projector/catalog/model.js';
import { renamedColumns, renamedTables, withNames } from '../../../src/features/drift/renames.js';
import { runToEnd } from '../../../src/kernel/resumable.js';
import type { NewEvent } from '../../../src/schema/model/events.js';
import type { Field } from '../../../src/schema/model/model.js';
import { type CollectionNode, initialState } from '../../../src/schema/model/state.js';
import { follow } from '../../support/given.js';
import {
  catalogColumn,
  catalogConstraint,
  catalogIndex,
  catalogReference,
  catalogTable,
} from '../../projector/catalog-tables.js';
import { column, created, relationCreated } from '../../projector/columns.js';

function nodeOf(name: string, fields: Field[], ...more: NewEvent[]): CollectionNode {
  const state = follow(initialState(), [created('other'), created(name, fields), ...more]);
  const node = state.collections.get(name);
  if (node === undefined) throw new Error('no collection');
  return node;
}

const ID = catalogColumn('id', 'integer', { nullable: false, identity: 'by default' });
const A = catalogColumn('a', 'text');
const node = nodeOf('t', [column('a', 'text', { is_indexed: true })]);

const renamesOf = (missing: CollectionNode[], ...tables: CatalogTable[]): [string, string][] =>
  [...runToEnd(renamedTables(missing, tables))].map(([name, table]) => [name, table.name]);
const moved = (more: Partial<CatalogTable> = {}): CatalogTable =>
  catalogTable('moved', { columns: [ID, A], indexes: [catalogIndex('t_a_index', ['a'])], ...more });

describe('a table under another name', () => {
  it('has exactly the same columns in any order, and at least one matching object name', () => {
    expect(renamesOf([node], moved())).to.deep.equal([['t', 'moved']]);
    expect(renamesOf([node], moved({ columns: [A, ID] }))).to.deep.equal([['t', 'moved']]);
    expect(renamesOf([node], catalogTable('else'), moved())).to.deep.equal([['t', 'moved']]);
    const alias = nodeOf('t', [column('a', 'text', { is_indexed: true }), column('b', 'alias', null)]);
    expect(renamesOf([alias], moved())).to.deep.equal([['t', 'moved']]);
  });

  it('matches names of indexes, sequences and foreign keys, which a copy does not have', () => {
    const bare = { indexes: [] };
    const key = catalogConstraint('t_pkey', 'primary key', { columns: ['id'] });
    expect(renamesOf([node], moved({ ...bare, constraints: [key] }))).to.deep.equal([]);
    expect(renamesOf([node], moved({ indexes: [catalogIndex('i', ['a'])] }))).to.deep.equal([]);
    const counting = { ...ID, sequence: { schema: 'public', name: 't_id_seq' } };
    expect(renamesOf([node], moved({ ...bare, columns: [counting, A] }))).to.deep.equal([['t', 'moved']]);
    const pointing = nodeOf('t', [column('a', 'integer')], relationCreated('t.a', 'other'));
    const columns = [ID, catalogColumn('a', 'integer')];
    const constraints = [catalogReference('t_a_foreign', 'a', 'other')];
    expect(renamesOf([pointing], moved({ ...bare, columns, constraints }))).to.deep.equal([['t', 'moved']]);
    expect(
      renamesOf([pointing], moved({ ...bare, columns, constraints: [catalogReference('f', 'a', 'other')] })),
    ).to.deep.equal([]);
  });

  it('does not match with other columns', () => {
    expect(renamesOf([node], moved({ columns: [ID] }))).to.deep.equal([]);
    expect(renamesOf([node], moved({ columns: [ID, A, catalogColumn('b', 'text')] }))).to.deep.equal([]);
    expect(renamesOf([node], moved({ columns: [ID, catalogColumn('a', 'integer')] }))).to.deep.equal([]);
    expect(renamesOf([node], moved({ columns: [ID, catalogColumn('b', 'text')] }))).to.deep.equal([]);
    expect(renamesOf([], moved())).to.deep.equal([]);
    expect(renamesOf([node])).to.deep.equal([]);
  });

  it('does not match if several are similar', () => {
    expect(renamesOf([node], moved(), catalogTable('copy', { columns: [ID, A] }))).to.deep.equal([]);
    const copies = ['one', 'two', 'three'].map((name) => catalogTable(name, { columns: [ID, A] }));
    expect(renamesOf([node], ...copies, moved())).to.deep.equal([]);
  });
});

describe('a column under another name', () => {
  const columns = (fields: Field[], ...there: CatalogColumn[]): [string, string][] =>
    [...renamedColumns(nodeOf('t', fields), catalogTable('t', { columns: [ID, ...there] }))].map(([name, each]) => [
      name,
      each.name,
    ]);
  const text = (name: string): CatalogColumn => catalogColumn(name, 'text');

  it('is the only extra one of its kind', () => {
    expect(columns([column('a', 'text')], text('b'))).to.deep.equal([['a', 'b']]);
    expect(
      columns([column('a', 'text'), column('n', 'integer')], text('b'), catalogColumn('m', 'integer')),
    ).to.deep.equal([
      ['a', 'b'],
      ['n', 'm'],
    ]);
    // A field without a column does not count.
    expect(columns([column('a', 'text'), column('b', 'alias', null)], text('b'))).to.deep.equal([['a', 'b']]);
  });

  it('does not match if several are possible or none is of the same kind', () => {
    expect(columns([column('a', 'text')], text('b'), text('c'))).to.deep.equal([]);
    expect(columns([column('a', 'text'), column('b', 'text')], text('c'))).to.deep.equal([]);
    expect(columns([column('a', 'text')], catalogColumn('b', 'integer'))).to.deep.equal([]);
    expect(columns([column('a', 'text')], catalogColumn('b', 'text', { nullable: false }))).to.deep.equal([]);
    expect(columns([column('a', 'text')], text('a'), text('b'))).to.deep.equal([]);
    expect(columns([column('a', 'text')])).to.deep.equal([]);
  });

  it('is translated in everything that names it', () => {
    const table = catalogTable('t', {
      columns: [ID, text('b')],
      constraints: [catalogConstraint('c', 'check', { columns: ['id', 'b'] })],
      indexes: [catalogIndex('i', [], { columns: ['b', null, 'id'] })],
    });
    expect(withNames(table, new Map([['a', text('b')]]))).to.deep.equal({
      ...table,
      columns: [ID, text('a')],
      constraints: [catalogConstraint('c', 'check', { columns: ['id', 'a'] })],
      indexes: [catalogIndex('i', [], { columns: ['a', null, 'id'] })],
    });
  });
});
