import { MAX_PROBLEMS } from '../../../src/kernel/problem.js';
import { expect } from 'chai';
import { checkJson } from '../../../src/schema/normal-form/json.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

const paths = (value: unknown): (string | undefined)[] => runToEnd(checkJson(value)).problems.map(({ path }) => path);

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

describe('checkJson', () => {
  it('accepts every JSON value', () => {
    expect(runToEnd(checkJson({ a: [1, 'ü 😀', null, true, { '': -0.5 }] })).problems).to.deep.equal([]);
    for (const leaf of ['x', 1, null, false]) expect(runToEnd(checkJson(leaf)).problems).to.deep.equal([]);
  });

  it('reports the location of NUL and lone surrogates in values and names', () => {
    expect(paths({ a: ['fine', 'no\0'] })).to.deep.equal(['a[1]']);
    expect(paths({ a: { b: 'x\udc00' } })).to.deep.equal(['a.b']);
    expect(paths({ a: { 'b\0': 1 } })).to.deep.equal(['a']);
    expect(paths('\ud800')).to.deep.equal(['']);
  });

  it('rejects infinite numbers and other values outside JSON', () => {
    expect(paths([1, Number.NaN, Number.POSITIVE_INFINITY])).to.have.members(['[1]', '[2]']);
    expect(paths({ a: undefined, b: () => 1 })).to.have.members(['a', 'b']);
  });

  it('allows 64 levels and rejects the 65th', () => {
    expect(runToEnd(checkJson(nested(64))).problems).to.deep.equal([]);
    expect(runToEnd(checkJson(nested(65))).problems[0]?.message).to.include('64 levels');
    expect(runToEnd(checkJson(nested(3), { maxDepth: 2 })).problems).to.have.length(1);
  });

  it('survives a million levels and a cycle', () => {
    expect(runToEnd(checkJson(nested(1_000_000))).problems).to.have.length(1);
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect(runToEnd(checkJson(circle)).problems).to.have.length(1);
  });

  it('stops at aliases that expand to billions of values', () => {
    let laughs: unknown[] = ['lol'];
    for (let level = 0; level < 40; level++) laughs = [laughs, laughs];
    expect(runToEnd(checkJson(laughs, { maxValues: 10_000 })).problems[0]?.message).to.include('10000 values');
  });

  it('limits the number of problems', () => {
    expect(runToEnd(checkJson(Array.from({ length: 500 }, () => ['\0']))).problems.length).to.be.within(
      1,
      MAX_PROBLEMS,
    );
  });

  it('yields within one long array', () => {
    for (const item of [1, {}, []]) {
      let pauses = 0;
      const steps = checkJson(Array.from({ length: 100_000 }, () => item));
      for (let step = steps.next(); step.done !== true; step = steps.next()) pauses += 1;
      // In the array, and in visits of its items.
      const expected = item === 1 ? 50 : 100;
      expect(pauses, JSON.stringify(item)).to.be.within(expected, expected + 1);
    }
  });
});
