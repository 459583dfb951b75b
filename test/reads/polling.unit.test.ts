import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { type Polling, startPolling } from '../../src/follow-log.js';

describe('polling the end of the log', () => {
  let requests: number[];
  let errors: string[];
  let polling: Polling;
  let now: number;
  let needed: boolean;
  /** The end of the log, or the error of the query. */
  let answer: number | Error;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    [requests, errors, now, needed, answer] = [[], [], 0, true, 5];
    const look = () => {
      requests.push(now);
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    };
    polling = startPolling({ needed: () => needed, look, onError: (error) => errors.push(String(error)) });
  });

  afterEach(() => {
    polling.stop();
    mock.timers.reset();
  });

  /** Advances the clock. */
  async function pass(milliseconds: number): Promise<void> {
    for (const end = now + milliseconds; now < end;) {
      now += 25;
      mock.timers.tick(25);
      await turn();
    }
  }

  it('starts soon, and slows down without new events', async () => {
    await pass(4_000);
    expect(requests).to.deep.equal([25, 50, 100, 200, 400, 800, 1_600, 2_600, 3_600]);
  });

  it('speeds up after new events', async () => {
    await pass(900);
    answer = 6;
    await pass(1_000);
    expect(requests).to.deep.equal([25, 50, 100, 200, 400, 800, 1_600, 1_625, 1_675, 1_775]);
  });

  it('continues after a reported failure at the longest interval', async () => {
    await pass(50);
    answer = new Error('away');
    await pass(50);
    answer = 5;
    await pass(2_000);
    expect(requests).to.deep.equal([25, 50, 100, 1_100, 2_100]);
    expect(errors).to.deep.equal(['Error: away']);
  });

  it('stops reporting and querying when stopped', async () => {
    answer = new Error('away');
    now = 25;
    mock.timers.tick(25);
    polling.stop();
    await pass(2_000);
    expect([requests, errors]).to.deep.equal([[25], []]);
  });

  it('checks for need with growing intervals', async () => {
    needed = false;
    await pass(900);
    expect(requests).to.deep.equal([]);
    needed = true;
    await pass(1_000);
    expect(requests).to.deep.equal([1_575, 1_600, 1_650, 1_750]);
  });
});
