import { expect } from 'chai';
import { computePause } from '../../src/kernel/time.js';

describe('the pause after repeated failures', () => {
  const LONGEST = [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000];

  for (const [index, longest] of [...LONGEST.entries(), [49, 10_000] as const, [5_000, 10_000] as const]) {
    it(`number ${index + 1}: is between ${longest / 2} and ${longest} ms`, () => {
      const waits = Array.from({ length: 300 }, () => computePause(index + 1, { retry: 100, maximum: 10_000 }));
      for (const wait of waits)
        expect(wait)
          .to.be.within(longest / 2, longest)
          .and.satisfy(Number.isInteger);
      expect(Math.min(...waits)).to.be.below(longest * 0.55);
      expect(Math.max(...waits)).to.be.above(longest * 0.95);
    });
  }
});
