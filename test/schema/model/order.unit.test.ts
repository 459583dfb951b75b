import { expect } from 'chai';
import type { Collection } from '../../../src/schema/model/model.js';
import {
  fieldsInOrder,
  sortGroupsFirst,
  sortNeededFirst,
  parentOf,
  sortPartitionsFirst,
  ancestorsOf,
  withPartitions,
} from '../../../src/schema/model/order.js';
import { type State, byName } from '../../../src/schema/model/state.js';
import { KEY, column, stateOf } from '../invariants/states.js';

/** Tables by the names of their parents. */
function partitioned(parents: Record<string, string | null>): State {
  const of = (table: string | null) => (collection: Collection) => ({
    ...collection,
    schema: { comment: null, ...(table !== null && { extras: { partition_of: { table, bound: 'DEFAULT' } } }) },
  });
  return stateOf(
    Object.fromEntries(Object.entries(parents).map(([name, table]) => [name, { fields: [KEY], change: of(table) }])),
  );
}

describe('the order of names', () => {
  it('is by code units on every machine', () => {
    expect(['b', 'a', 'Z', 'é', 'a'].sort(byName)).to.deep.equal(['Z', 'a', 'a', 'b', 'é']);
    expect([byName('a', 'b'), byName('b', 'a'), byName('a', 'a')]).to.deep.equal([-1, 1, 0]);
  });
});

describe('dependency order', () => {
  const order = (needs: Record<string, string[]>): string[] =>
    sortNeededFirst(Object.keys(needs), (name) => needs[name] ?? []);

  it('puts each item after its dependencies, otherwise by name', () => {
    expect(order({ c: [], a: [], b: [] })).to.deep.equal(['a', 'b', 'c']);
    expect(order({ a: ['c'], b: [], c: ['d'], d: [] })).to.deep.equal(['d', 'c', 'a', 'b']);
    expect(order({ a: ['b', 'c'], b: ['d'], c: [], d: ['c'] })).to.deep.equal(['c', 'd', 'b', 'a']);
    expect(order({ a: ['elsewhere'] })).to.deep.equal(['a']);
    expect(order({ a: ['b'], b: ['a'] }), 'a circle').to.deep.equal(['b', 'a']);
    expect(order({ a: ['a'] })).to.deep.equal(['a']);
  });

  it('puts groups before their members', () => {
    const groups: Record<string, string | null> = { a: 'z', b: null, z: null };
    expect(sortGroupsFirst(Object.keys(groups), (name) => groups[name])).to.deep.equal(['z', 'a', 'b']);
  });

  it('puts partitions before their tables on request, deepest first', () => {
    const state = partitioned({ top: null, part: 'top', deep: 'part', other: null });
    const ordered = (...names: string[]) => sortPartitionsFirst(names, state, (name) => name);
    expect(ordered('other', 'top', 'part', 'deep')).to.deep.equal(['deep', 'part', 'other', 'top']);
    expect(ordered('top', 'deep', 'other', 'part')).to.deep.equal(['deep', 'part', 'top', 'other']);
    expect(ordered('top', 'other')).to.deep.equal(['top', 'other']);
    expect(parentOf(state, 'deep')).to.equal('part');
    expect([ancestorsOf(state, 'deep'), ancestorsOf(state, 'top')]).to.deep.equal([['part', 'top'], []]);
    expect(withPartitions(state, 'top')).to.deep.equal(['top', 'part', 'deep']);
    expect(withPartitions(state, 'deep')).to.deep.equal(['deep']);
    expect(ancestorsOf(partitioned({ a: 'b', b: 'a' }), 'a'), 'a circle').to.deep.equal(['b', 'a']);
  });
});

describe('field order', () => {
  it('is by sort, missing last, then by name', () => {
    const sorted = (field: string, sort: number | null) => ({ ...column(field), meta: { sort } });
    const state = stateOf({
      t: {
        fields: [sorted('d', null), sorted('c', 2), sorted('b', null), sorted('a', 10), sorted('e', 2), sorted('f', 1)],
      },
    });
    const names = fieldsInOrder(state.collections.get('t')!).map(({ field }) => field);
    expect(names).to.deep.equal(['f', 'c', 'e', 'a', 'b', 'd']);
  });
});
