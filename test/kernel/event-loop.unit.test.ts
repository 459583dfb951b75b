import { mock } from 'node:test';
import { expect } from 'chai';
import { createTimeSlice, mapYielding, runYielding, yieldToEventLoop } from '../../src/kernel/event-loop.js';
import { type Resumable, runToEnd, stepsTo, pauseEvery } from '../../src/kernel/resumable.js';

describe('work in steps', () => {
  function* threeSteps(): Resumable<{ done: string }> {
    for (let step = 0; step < 3; step++) yield;
    return { done: 'all' };
  }

  it('returns its result, with or without pauses', async () => {
    expect(runToEnd(threeSteps())).to.deep.equal({ done: 'all' });
    expect(runToEnd(stepsTo(threeSteps()))).to.deep.equal({ done: 'all' });
    expect(runToEnd(stepsTo({ at: 'once' }))).to.deep.equal({ at: 'once' });
    expect(await runYielding(threeSteps())).to.deep.equal({ done: 'all' });
  });

  it('pauses after a fixed number of items', () => {
    const pause = pauseEvery(3);
    const pauses = Array.from({ length: 7 }, () => [...pause()].length);
    expect(pauses).to.deep.equal([0, 0, 1, 0, 0, 1, 0]);
  });

  it('yields to the event loop after a slice of 2 ms, and not before', async () => {
    let yielded = 0;
    const slice = (isOver: boolean) => ({ isOver: () => isOver, yield: () => ((yielded += 1), Promise.resolve()) });
    await runYielding(threeSteps(), slice(false));
    expect(await mapYielding([1, 2], (each) => each * 2, slice(false))).to.deep.equal([2, 4]);
    expect(yielded).to.equal(0);
    await runYielding(threeSteps(), slice(true));
    expect(yielded).to.equal(4);
    expect(await mapYielding([1, 2], (each) => each * 2, slice(true))).to.deep.equal([2, 4]);
    expect(yielded).to.equal(6);

    let clock = 100;
    const now = mock.method(performance, 'now', () => clock);
    try {
      await yieldToEventLoop();
      const own = createTimeSlice();
      let others = false;
      setImmediate(() => (others = true));
      clock += 1.9;
      expect(own.isOver()).to.equal(false);
      clock += 0.2;
      expect(own.isOver()).to.equal(true);
      await own.yield();
      expect([others, own.isOver()]).to.deep.equal([true, false]);
    } finally {
      now.mock.restore();
    }
  });
});
