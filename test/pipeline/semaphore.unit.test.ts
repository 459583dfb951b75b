import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createSemaphore } from '../../src/kernel/semaphore.js';
import { lockTimeout } from '../../src/postgres/errors.js';
import { ProblemError } from '../../src/kernel/problem.js';

describe('the queue of a process', () => {
  it('lets one in at a time, in order of arrival', async () => {
    const queue = createSemaphore();
    const order: number[] = [];
    let inside = 0;
    await Promise.all(
      [1, 2, 3, 4, 5].map(async (each) => {
        const turn = await queue.acquire(1_000, lockTimeout);
        inside += 1;
        expect(inside).to.equal(1);
        await sleep(2);
        order.push(each);
        inside -= 1;
        turn.release();
      }),
    );
    expect(order).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it('turns away who has waited too long, and nobody else', async () => {
    const queue = createSemaphore();
    const first = await queue.acquire(10, lockTimeout);
    const impatient = queue.acquire(10, lockTimeout).catch((error: unknown) => error);
    const patient = queue.acquire(1_000, lockTimeout);
    expect(await impatient).to.be.instanceOf(ProblemError);
    first.release();
    const turn = await patient;
    expect(turn.waited).to.be.at.least(9);
    turn.release();
    (await queue.acquire(10, lockTimeout)).release();
  });

  it('takes the end of a turn once', async () => {
    const queue = createSemaphore();
    const first = await queue.acquire(10, lockTimeout);
    const waiting = [queue.acquire(1_000, lockTimeout), queue.acquire(1_000, lockTimeout)];
    first.release();
    first.release();
    const second = await waiting[0];
    let third = false;
    void waiting[1]?.then((turn) => {
      third = true;
      turn.release();
    });
    await sleep(5);
    expect(third).to.equal(false);
    second?.release();
    await sleep(5);
    expect(third).to.equal(true);
  });
});
