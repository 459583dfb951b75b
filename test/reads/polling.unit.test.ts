/** How a process that can't be told of news asks for it. */
import { expect } from 'chai';
import { startPolling } from '../../src/reads/polling.js';
import { until } from '../support/until.js';

describe('asking for the end of the log', () => {
  it('goes on after a failure, which is told', async () => {
    const errors: unknown[] = [];
    let looks = 0;
    const look = () => {
      looks += 1;
      return looks === 2 ? Promise.reject(new Error('away')) : Promise.resolve(looks);
    };
    const polling = startPolling({ needed: () => true, look, onError: (error) => errors.push(error) });
    try {
      await until('it asks again', () => Promise.resolve(looks > 2));
      expect(errors.map(String)).to.deep.equal(['Error: away']);
    } finally {
      polling.stop();
    }
  });

  it('tells nothing any more when it was stopped, and asks no more', async () => {
    const errors: unknown[] = [];
    let looks = 0;
    let fail: (() => void) | undefined;
    const look = () => {
      looks += 1;
      return new Promise<number>((_resolve, reject) => {
        fail = () => reject(new Error('away'));
      });
    };
    const polling = startPolling({ needed: () => true, look, onError: (error) => errors.push(error) });
    await until('it asks', () => Promise.resolve(fail !== undefined));
    polling.stop();
    fail?.();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([errors, looks]).to.deep.equal([[], 1]);
  });

  it('asks nobody while nothing needs it', async () => {
    let [asked, looks] = [0, 0];
    const needed = () => {
      asked += 1;
      return false;
    };
    const look = () => {
      looks += 1;
      return Promise.resolve(0);
    };
    const polling = startPolling({ needed, look, onError: () => undefined });
    await until('it would have', () => Promise.resolve(asked > 1));
    polling.stop();
    expect(looks).to.equal(0);
  });
});
