import { expect } from 'chai';
import type { Json } from '../../../src/kernel/json.js';
import { type Entry, applyEntry, entriesBetween, hasGap } from '../../../src/schema/diff/entries.js';

type Applied = Parameters<typeof applyEntry>[1];

/** The document after the entries, which must apply. */
function after(document: Json, entries: readonly Entry<never>[]): Json {
  const copy = structuredClone(document);
  for (const entry of entries) expect(applyEntry(copy, entry as Applied, entries.length)).to.equal(undefined);
  return copy;
}

describe('entries of a diff', () => {
  const pairs: [string, Json, Json, Entry<never>[]][] = [
    ['nothing', { a: 1 }, { a: 1 }, []],
    ['a member that comes', { a: 1 }, { a: 1, b: null }, [{ kind: 'N', path: ['b'], rhs: null }]],
    ['a member that goes', { a: 1, b: 2 }, { a: 1 }, [{ kind: 'D', path: ['b'], lhs: 2 }]],
    ['a member that changes', { a: { b: 1 } }, { a: { b: 2 } }, [{ kind: 'E', path: ['a', 'b'], lhs: 1, rhs: 2 }]],
    ['an object for an array', { a: [] }, { a: {} }, [{ kind: 'E', path: ['a'], lhs: [], rhs: {} }]],
    ['null for an object', { a: {} }, { a: null }, [{ kind: 'E', path: ['a'], lhs: {}, rhs: null }]],
    [
      'elements that come, the last one first',
      { a: [1] },
      { a: [1, 2, 3] },
      [
        { kind: 'A', path: ['a'], index: 2, item: { kind: 'N', rhs: 3 } },
        { kind: 'A', path: ['a'], index: 1, item: { kind: 'N', rhs: 2 } },
      ],
    ],
    [
      'elements that go, the last one first',
      { a: [1, 2, 3] },
      { a: [1] },
      [
        { kind: 'A', path: ['a'], index: 2, item: { kind: 'D', lhs: 3 } },
        { kind: 'A', path: ['a'], index: 1, item: { kind: 'D', lhs: 2 } },
      ],
    ],
    [
      'elements that change, the last one first, after those that went',
      { a: [1, { x: 1 }, 3] },
      { a: [2, { x: 2 }] },
      [
        { kind: 'A', path: ['a'], index: 2, item: { kind: 'D', lhs: 3 } },
        { kind: 'E', path: ['a', 1, 'x'], lhs: 1, rhs: 2 },
        { kind: 'E', path: ['a', 0], lhs: 1, rhs: 2 },
      ],
    ],
    [
      'a member named __proto__',
      {},
      JSON.parse('{"__proto__": 1}') as Json,
      [{ kind: 'N', path: ['__proto__'], rhs: 1 }],
    ],
  ];
  for (const [what, before, then, entries] of pairs) {
    it(`${what}: has these entries, and applying them works`, () => {
      expect(entriesBetween(before, then)).to.deep.equal(entries);
      expect(JSON.stringify(after(before, entries))).to.equal(JSON.stringify(then));
    });
  }

  const GONE = 'this path has no value';
  const NO_ARRAY = 'the value at this path is not an array';
  const OTHER = 'the current value differs from lhs';
  const misfits: [string, Json, object, boolean, string][] = [
    [
      'a new member over one that is there',
      { a: 1 },
      { kind: 'N', path: ['a'], rhs: 2 },
      true,
      'this path already has a value',
    ],
    ['a new member over null', { a: null }, { kind: 'N', path: ['a'], rhs: 2 }, true, 'this path already has a value'],
    ['an edit of what changed', { a: 3 }, { kind: 'E', path: ['a'], lhs: 1, rhs: 2 }, true, OTHER],
    ['an edit of what went', {}, { kind: 'E', path: ['a'], lhs: 1, rhs: 2 }, true, OTHER],
    ['an edit of what an object inherits', {}, { kind: 'E', path: ['toString'], lhs: null, rhs: 2 }, true, OTHER],
    ['a removal of what changed', { a: 3 }, { kind: 'D', path: ['a'], lhs: 1 }, true, OTHER],
    ['a removal of what went', {}, { kind: 'D', path: ['a'], lhs: 1 }, true, OTHER],
    ['a member of nothing', {}, { kind: 'N', path: ['a', 'b'], rhs: 1 }, true, GONE],
    ['a member of null', { a: null }, { kind: 'N', path: ['a', 'b'], rhs: 1 }, true, GONE],
    ['a member of a text', { a: 'x' }, { kind: 'N', path: ['a', 'b'], rhs: 1 }, true, GONE],
    [
      'an element of an object',
      { a: {} },
      { kind: 'A', path: ['a'], index: 0, item: { kind: 'N', rhs: 1 } },
      true,
      NO_ARRAY,
    ],
    ['an index into an object', { a: {} }, { kind: 'E', path: ['a', 0], lhs: 1, rhs: 2 }, true, NO_ARRAY],
  ];
  for (const [what, document, entry, conflict, message] of misfits) {
    it(`${what} does not apply and changes nothing`, () => {
      const copy = structuredClone(document);
      expect(applyEntry(copy, entry as Applied, 1)).to.deep.equal({ conflict, message });
      expect(copy).to.deep.equal(document);
    });
  }

  const element = (index: number, item: object): Applied => ({ kind: 'A', path: ['a'], index, item }) as Applied;

  it('apply to array elements only if those match', () => {
    const misfit = (entry: Applied, gap = 1) => applyEntry({ a: [1, 2] }, entry, gap)?.conflict;
    const edit = (index: number | string, lhs: number) => misfit({ kind: 'E', path: ['a', index], lhs, rhs: 5 });
    expect(misfit(element(1, { kind: 'D', lhs: 2 }))).to.equal(undefined);
    expect(misfit(element(1, { kind: 'D', lhs: 3 }))).to.equal(true);
    expect(misfit(element(2, { kind: 'D', lhs: 1 }))).to.equal(true);
    expect(misfit(element(0, { kind: 'D', lhs: 1 })), 'elements go from the end').to.equal(false);
    expect(misfit(element(1, { kind: 'N', rhs: 3 }))).to.equal(true);
    expect(misfit(element(2, { kind: 'N', rhs: 3 }))).to.equal(undefined);
    expect(misfit(element(4, { kind: 'N', rhs: 3 }), 2)).to.equal(undefined);
    expect(misfit(element(5, { kind: 'N', rhs: 3 }), 2), 'beyond the gap').to.equal(false);
    expect(edit(1, 2)).to.equal(undefined);
    expect(edit(1, 1)).to.equal(true);
    expect(edit('length', 2)).to.equal(true);
  });

  it('leave no gap in an array', () => {
    const gap: Json[] = [1];
    gap[2] = 3;
    for (const full of [gap, { a: gap }, [[gap]], { a: [{ b: gap }] }]) expect(hasGap(full)).to.equal(true);
    for (const full of [[], [null], { a: [[], {}] }, 'x', null, 0]) expect(hasGap(full)).to.equal(false);
  });
});
