import { expect } from 'chai';
import fc from 'fast-check';
import { runToEnd } from '../../src/kernel/resumable.js';
import { sortInSteps } from '../../src/kernel/lists-and-maps.js';

const byKey = ([a]: [number, number], [b]: [number, number]) => a - b;

/** Few keys, so that many are equal; the second member distinguishes them. */
const items = (length: number, keys = 50) =>
  Array.from({ length }, (_, index): [number, number] => [(index * 7_919) % keys, index]);

describe('sorting in steps', () => {
  it('yields the same as sorting at once, and is stable', () => {
    for (const length of [0, 1, 2, 499, 500, 501, 1_000, 1_501, 4_321]) {
      const input = items(length);
      expect(runToEnd(sortInSteps(input, byKey))).to.deep.equal([...input].sort(byKey));
    }
    fc.assert(
      fc.property(fc.array(fc.integer(), { maxLength: 2_000 }), (input) => {
        const compare = (a: number, b: number) => a - b;
        expect(runToEnd(sortInSteps(input, compare))).to.deep.equal([...input].sort(compare));
      }),
      { numRuns: 20 },
    );
  });

  it('does not modify its input', () => {
    const input = items(1_200);
    runToEnd(sortInSteps(input, byKey));
    expect(input).to.deep.equal(items(1_200));
  });

  it('makes at most a few thousand comparisons between pauses', () => {
    let compared = 0;
    let most = 0;
    const steps = sortInSteps(items(20_000, 20_000), (a, b) => {
      compared += 1;
      return byKey(a, b);
    });
    while (steps.next().done !== true) {
      most = Math.max(most, compared);
      compared = 0;
    }
    expect(most).to.be.within(1, 5_000);
  });
});
