import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { shareNext } from '../../src/kernel/memoize.js';

describe('shareNext', () => {
  /** Returns the value at the time of the call, after a delay. */
  function slowReader() {
    const world = { value: 0, asked: 0, under_way: 0, most: 0 };
    const ask = async (): Promise<number> => {
      world.asked += 1;
      world.under_way += 1;
      world.most = Math.max(world.most, world.under_way);
      const { value } = world;
      await sleep(5);
      world.under_way -= 1;
      return value;
    };
    return { world, check: shareNext(ask) };
  }

  it('runs once for all calls before it begins', async () => {
    const { world, check } = slowReader();
    const first = check();
    const others = [check(), check(), check()];
    expect(await Promise.all([first, ...others])).to.deep.equal([0, 0, 0, 0]);
    expect(world.asked).to.equal(2);
  });

  it('never returns a result older than the call, and runs one at a time', async () => {
    const { world, check } = slowReader();
    const calls: Promise<void>[] = [];
    for (let round = 0; round < 200; round += 1) {
      world.value = round;
      calls.push(check().then((answer) => expect(answer).to.be.at.least(round) as unknown as void));
      if (round % 3 === 0) await sleep(1);
      if (round % 7 === 0) await Promise.resolve();
    }
    await Promise.all(calls);
    expect(world.most).to.equal(1);
    expect(world.asked).to.be.lessThan(200);
  });

  it('runs again after a failure, which only its callers receive', async () => {
    let count = 0;
    const check = shareNext(async () => {
      count += 1;
      const mine = count;
      await sleep(1);
      if (mine === 1) throw new Error('away');
      return mine;
    });
    const first = check();
    const second = check();
    expect(await first.catch((error: unknown) => (error as Error).message)).to.equal('away');
    expect(await second).to.equal(2);
    expect(await check()).to.equal(3);
  });

  it('shares one run among all calls before it began', async () => {
    const requests: ((answer: number) => void)[] = [];
    const ask = shareNext(() => new Promise<number>((resolve) => requests.push(resolve)));
    const first = ask();
    const [second, third] = [ask(), ask()];
    expect(second).to.equal(third).and.not.equal(first);
    expect(requests).to.have.lengthOf(1);
    requests[0]?.(1);
    expect(await first).to.equal(1);
    expect(requests).to.have.lengthOf(2);
    const fourth = ask();
    expect(fourth).not.to.equal(second);
    requests[1]?.(2);
    expect(await Promise.all([second, third])).to.deep.equal([2, 2]);
    requests[2]?.(3);
    expect(await fourth).to.equal(3);
    await new Promise(setImmediate);
    void ask();
    expect(requests, 'no call is in progress anymore').to.have.lengthOf(4);
  });

  it('continues with the next run after a failure', async () => {
    let calls = 0;
    const ask = shareNext(() => (++calls === 1 ? Promise.reject(new Error('no')) : Promise.resolve(calls)));
    const [first, second] = [ask(), ask()];
    expect(await first.catch((error: Error) => error.message)).to.equal('no');
    expect(await second).to.equal(2);
  });
});
