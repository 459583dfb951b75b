import { mock } from 'node:test';
import { expect } from 'chai';
import { createEarliestTimer, isStorableTime } from '../../src/kernel/time.js';

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

describe('a timer for the earliest time', () => {
  let fired = 0;
  const timer = () => createEarliestTimer(() => (fired += 1));
  beforeEach(() => {
    fired = 0;
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(() => mock.timers.reset());

  it('fires once, at the earliest of the times that were set', () => {
    const earliest = timer();
    for (const milliseconds of [5_000, 1_000, 3_000]) earliest.set(milliseconds);
    mock.timers.tick(999);
    expect(fired).to.equal(0);
    mock.timers.tick(9_000);
    expect(fired).to.equal(1);
    earliest.set(5_000);
    mock.timers.tick(5_000);
    expect(fired).to.equal(2);
  });

  it('can be set again after it was cleared, and not after it was stopped', () => {
    const earliest = timer();
    earliest.set(1_000);
    earliest.clear();
    mock.timers.tick(2_000);
    expect(fired).to.equal(0);
    earliest.set(3_000);
    mock.timers.tick(3_000);
    expect(fired).to.equal(1);
    earliest.stop();
    earliest.set(1_000);
    mock.timers.tick(2_000);
    expect(fired).to.equal(1);
  });
});
