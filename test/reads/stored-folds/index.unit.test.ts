import { expect } from 'chai';
import type { Point } from '../../../src/log/fold.js';
import { createStoredFolds, type StoredFoldsOptions } from '../../../src/reads/stored-folds.js';

describe('stored folds', () => {
  it('are as many events apart as there are collections, from 5,000 to 50,000', () => {
    // The next stop is computed without a query.
    const { nextStop } = createStoredFolds({ secret: 's' } as StoredFoldsOptions);
    const pointOf = (size: number) =>
      ({ head: { position: 10 }, state: { collections: { size } } }) as unknown as Point;
    for (const [collections, stop] of [
      [0, 5_010],
      [5_000, 5_010],
      [20_000, 20_010],
      [50_000, 50_010],
      [90_000, 50_010],
    ] as const) {
      expect(nextStop(pointOf(collections)), String(collections)).to.equal(stop);
    }
  });
});
