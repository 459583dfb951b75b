import { mock } from 'node:test';
import { expect } from 'chai';
import { NotInTimeError, limitTime } from '../../src/kernel/time.js';

describe('waiting with a limit', () => {
  it('ends with the result, its error, or a timeout', async () => {
    expect(await limitTime(Promise.resolve(1), 1_000)).to.equal(1);
    const failing = limitTime(Promise.reject(new Error('no')), 1_000);
    expect(await failing.catch((error: Error) => error.message)).to.equal('no');
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      let ended: unknown;
      void limitTime(new Promise(() => undefined), 100).catch((error: unknown) => (ended = error));
      mock.timers.tick(99);
      await new Promise(setImmediate);
      expect(ended).to.equal(undefined);
      mock.timers.tick(1);
      await new Promise(setImmediate);
      expect(ended).to.be.instanceOf(NotInTimeError).with.property('message', 'no response within 100 ms');
    } finally {
      mock.timers.reset();
    }
  });
});
