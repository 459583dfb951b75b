import { expect } from 'chai';
import type { Json } from '../../../src/kernel/json.js';
import type { Step } from '../../../src/schema/diff/entries.js';
import { mergeValues, settle } from '../../../src/schema/merge/documents.js';

/** The merge of three values and its conflicts. Theirs is used then. */
function merged(base: Json | undefined, ours: Json | undefined, theirs: Json | undefined, path: Step[] = []) {
  const conflicts: string[] = [];
  const value = mergeValues({ base, ours, theirs }, path, (at, values) => {
    conflicts.push(at.join('.'));
    return values.theirs;
  });
  return { value, conflicts };
}
const noConflict = (value: Json | undefined) => ({ value, conflicts: [] as string[] });

describe('merging values', () => {
  it('takes the change of one side or of both alike', () => {
    expect(merged(1, 2, 1)).to.deep.equal(noConflict(2));
    expect(merged(1, 1, 3)).to.deep.equal(noConflict(3));
    expect(merged(1, 2, 2)).to.deep.equal(noConflict(2));
    expect(merged(undefined, undefined, 1)).to.deep.equal(noConflict(1));
    expect(merged(1, undefined, 1)).to.deep.equal(noConflict(undefined));
    expect(merged(1, 2, 3)).to.deep.equal({ value: 3, conflicts: [''] });
    expect(settle({ base: 1, ours: 2, theirs: 3 })).to.equal(null);
  });

  it('merges objects and names conflicting members', () => {
    expect(merged({ a: 1, b: 1 }, { a: 2, b: 1 }, { a: 1, b: 2 })).to.deep.equal(noConflict({ a: 2, b: 2 }));
    expect(merged({ a: 1, b: 1 }, { a: 2, b: 2 }, { a: 3, b: 1 }, ['meta'])).to.deep.equal({
      value: { a: 3, b: 2 },
      conflicts: ['meta.a'],
    });
    expect(merged({ a: 1 }, {}, { a: 1, b: 2 })).to.deep.equal(noConflict({ b: 2 }));
    expect(merged(null, { a: 1 }, { b: 2 })).to.deep.equal(noConflict({ a: 1, b: 2 }));
    expect(merged({ a: 1 }, { a: 2 }, [1])).to.deep.equal({ value: [1], conflicts: [''] });
    expect(merged({ a: 1 }, 'x', { a: 2 })).to.deep.equal({ value: { a: 2 }, conflicts: [''] });
  });

  it('never mixes members that form one value', () => {
    const [ours, theirs] = [
      { a: 1, b: 2 },
      { a: 2, b: 1 },
    ];
    for (const path of [
      ['schema', 'default_value'],
      ['meta', 'validation'],
    ])
      expect(merged({ a: 1, b: 1 }, ours, theirs, path)).to.deep.equal({ value: theirs, conflicts: [path.join('.')] });
    expect(merged({ a: 1, b: 1 }, ours, theirs, ['meta', 'options'])).to.deep.equal(noConflict({ a: 2, b: 2 }));
  });

  it('merges lists of named items by name and kind, and others as a whole', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name }));
    expect(merged([a!], [a!, b!], [a!, c!])).to.deep.equal(noConflict([a!, b!, c!]));
    expect(merged([a!], [a!, c!], [a!, b!])).to.deep.equal(noConflict([a!, b!, c!]));
    expect(merged([a!, b!], [b!], [a!, b!, c!])).to.deep.equal(noConflict([b!, c!]));
    expect(merged(null, [a!], [b!])).to.deep.equal(noConflict([a!, b!]));
    const kinds = [
      { kind: 'type', name: 'a' },
      { kind: 'sequence', name: 'a' },
    ];
    expect(merged([], [kinds[0]!], [kinds[1]!])).to.deep.equal(noConflict([kinds[1]!, kinds[0]!]));
    expect(merged([{ name: 'a', is: 1 }], [{ name: 'a', is: 2 }], [{ name: 'a', is: 3 }], ['list'])).to.deep.equal({
      value: [{ name: 'a', is: 3 }],
      conflicts: ['list.a.is'],
    });
    for (const other of [[1], [{ name: 1 }], [a!, a!]])
      expect(merged([], other, [b!])).to.deep.equal({ value: [b!], conflicts: [''] });
    expect(merged([], [a!], 'text')).to.deep.equal({ value: 'text', conflicts: [''] });
    expect(merged([], 'text', [a!])).to.deep.equal({ value: [a!], conflicts: [''] });
  });

  it('keeps the order of a side that contains the other, so that merging twice changes nothing', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name }));
    expect(merged([], [a!, b!], [b!])).to.deep.equal(noConflict([a!, b!]));
    expect(merged([], [b!], [a!, b!])).to.deep.equal(noConflict([a!, b!]));
    for (const [base, ours, theirs] of [
      [[], [b!], [c!, a!]],
      [[c!], [c!, a!], [b!, c!]],
    ] as const) {
      const { value } = merged([...base], [...ours], [...theirs]);
      expect(merged([...base], value, [...theirs])).to.deep.equal(noConflict(value));
      expect(merged([...base], [...ours], value)).to.deep.equal(noConflict(value));
    }
  });
});
