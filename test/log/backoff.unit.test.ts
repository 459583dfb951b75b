import { expect } from 'chai';
import { defaultBackoff } from '../../src/log/listener.js';

describe('the wait before the listener connects again', () => {
  const LONGEST = [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000];

  for (const [index, longest] of [...LONGEST.entries(), [49, 10_000] as const, [5_000, 10_000] as const]) {
    it(`attempt ${index + 1}: from ${longest / 2} to ${longest} ms, anywhere in between`, () => {
      const waits = Array.from({ length: 300 }, () => defaultBackoff(index + 1));
      for (const wait of waits)
        expect(wait)
          .to.be.within(longest / 2, longest)
          .and.satisfy(Number.isInteger);
      expect(Math.min(...waits)).to.be.below(longest * 0.55);
      expect(Math.max(...waits)).to.be.above(longest * 0.95);
    });
  }
});
