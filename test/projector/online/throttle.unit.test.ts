import { expect } from 'chai';
import { firstSize, nextSize, restAfter } from '../../../src/projector/online/run-copy.js';

describe('the speed of a copy', () => {
  const sizes: [string, rows: number, milliseconds: number, next: number][] = [
    ['stays where a batch takes what it should', 1_000, 100, 1_000],
    ['shrinks at once', 10_000, 1_000, 1_000],
    ['grows slowly', 1_000, 10, 1_500],
    ['grows as far as fits', 1_000, 80, 1_250],
    ['is a whole number', 1_001, 1, 1_502],
    ['has a least', 1_000, 100_000, 100],
    ['has a most', 90_000, 1, 100_000],
    ['grows where no time was measured', 1_000, 0, 1_500],
  ];
  for (const [words, rows, milliseconds, next] of sizes) {
    it(`follows the size of a batch, which ${words}`, () => {
      expect(nextSize({ rows, milliseconds })).to.equal(next);
    });
  }

  it('starts with a moderate batch', () => {
    expect(nextSize({ rows: firstSize, milliseconds: 100 })).to.equal(firstSize);
  });

  const rests: [string, milliseconds: number, rate: number | null, rest: number][] = [
    ['half of what a batch took', 100, null, 50],
    ['half of it up to twice of what it should take', 200, null, 100],
    ['three times of it where it took longer', 201, null, 603],
    ['until the rate fits', 100, 2_000, 400],
    ['no less than without a rate', 100, 1_000_000, 50],
    ['three times where that is longer than the rate asks', 300, 1_000, 900],
  ];
  for (const [words, milliseconds, rate, rest] of rests) {
    it(`a copy pauses ${words}`, () => {
      expect(restAfter({ rows: 1_000, milliseconds }, { rate })).to.equal(rest);
    });
  }
});
