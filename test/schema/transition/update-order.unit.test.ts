import { expect } from 'chai';
import type { Field } from '../../../src/schema/model/model.js';
import { updateOrder } from '../../../src/schema/transition/transition.js';
import { column } from '../../projector/columns.js';

const fields = (...all: Field[]): ReadonlyMap<string, Field> => new Map(all.map((field) => [field.field, field]));
const indexed = (name: string, index_name?: string) =>
  column(name, 'integer', { is_indexed: true, ...(index_name !== undefined && { extras: { index_name } }) });
const unique = (name: string, unique_name?: string) =>
  column(name, 'integer', { is_unique: true, ...(unique_name !== undefined && { extras: { unique_name } }) });
const plain = (name: string, group: string | null = null): Field => {
  const field = column(name, 'integer');
  return { ...field, meta: { ...field.meta, group } };
};

describe('the order of field updates', () => {
  it('is by name without dependencies', () => {
    const same = [fields(plain('a'), plain('b')), fields(plain('a'), plain('b'))] as const;
    expect(updateOrder(['b', 'a'], ...same)).to.deep.equal(['a', 'b']);
  });

  it('puts groups before their members', () => {
    const after = fields(plain('a', 'b'), plain('b', 'c'), plain('c'));
    expect(updateOrder(['a', 'b', 'c'], fields(), after)).to.deep.equal(['c', 'b', 'a']);
  });

  it('puts the previous owner of an index or constraint name before the new one', () => {
    for (const part of [indexed, unique]) {
      const before = fields(plain('a'), part('b', 'x'));
      const after = fields(part('a', 'x'), plain('b'));
      expect(updateOrder(['a', 'b'], before, after)).to.deep.equal(['b', 'a']);
      expect(updateOrder(['b', 'a'], before, after)).to.deep.equal(['b', 'a']);
    }
    const chain = [
      fields(plain('a'), indexed('b', 'x'), indexed('c', 'y')),
      fields(indexed('a', 'x'), indexed('b', 'y'), plain('c')),
    ] as const;
    expect(updateOrder(['a', 'b', 'c'], ...chain)).to.deep.equal(['c', 'b', 'a']);
  });

  it('combines the order of groups with the order of index names', () => {
    const before = fields(plain('a'), indexed('b', 'x'), plain('c'), plain('d'));
    const grouped = { ...indexed('a', 'x'), meta: { ...indexed('a').meta, group: 'c' } };
    expect(
      updateOrder(['a', 'b', 'c', 'd'], before, fields(grouped, plain('b'), plain('c'), plain('d'))),
    ).to.deep.equal(['c', 'b', 'a', 'd']);
  });

  it('ignores index names that do not change', () => {
    const before = fields(plain('a'), indexed('b', 'x'));
    expect(updateOrder(['a', 'b'], before, fields(plain('a'), indexed('b', 'x')))).to.deep.equal(['a', 'b']);
  });
});
