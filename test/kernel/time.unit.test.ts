import { expect } from 'chai';
import { isStorableTime } from '../../src/kernel/time.js';

describe('storable time', () => {
  it('ranges from the beginning of year 1 to the end of 9999', () => {
    const CASES: [string, boolean][] = [
      ['0001-01-01T00:00:00.000Z', true],
      ['0000-12-31T23:59:59.999Z', false],
      ['9999-12-31T23:59:59.999Z', true],
      ['+010000-01-01T00:00:00.000Z', false],
      ['2024-02-29T00:00:00Z', true],
      ['no time', false],
    ];
    for (const [text, storable] of CASES) expect(isStorableTime(new Date(text)), text).to.equal(storable);
  });
});
