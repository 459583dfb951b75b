import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createQueue } from '../../src/kernel/queue.js';
import { lockTimeout } from '../../src/postgres/errors.js';
import { ProblemError } from '../../src/kernel/problem.js';

describe('the queue of a process', () => {
  it('lets one in at a time, in order of arrival', async () => {
    const queue = createQueue();
    const order: number[] = [];
    let inside = 0;
    await Promise.all(
      [1, 2, 3, 4, 5].map(async (each) => {
        const turn = await queue.enter(1_000, lockTimeout);
        inside += 1;
        expect(inside).to.equal(1);
        await sleep(2);
        order.push(each);
        inside -= 1;
        turn.end();
      }),
    );
    expect(order).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it('turns away who has waited too long, and nobody else', async () => {
    const queue = createQueue();
    const first = await queue.enter(10, lockTimeout);
    const impatient = queue.enter(10, lockTimeout).catch((error: unknown) => error);
    const patient = queue.enter(1_000, lockTimeout);
    expect(await impatient).to.be.instanceOf(ProblemError);
    first.end();
    const turn = await patient;
    expect(turn.waited).to.be.at.least(9);
    turn.end();
    (await queue.enter(10, lockTimeout)).end();
  });

  it('takes the end of a turn once', async () => {
    const queue = createQueue();
    const first = await queue.enter(10, lockTimeout);
    const waiting = [queue.enter(1_000, lockTimeout), queue.enter(1_000, lockTimeout)];
    first.end();
    first.end();
    const second = await waiting[0];
    let third = false;
    void waiting[1]?.then((turn) => {
      third = true;
      turn.end();
    });
    await sleep(5);
    expect(third).to.equal(false);
    second?.end();
    await sleep(5);
    expect(third).to.equal(true);
  });
});
