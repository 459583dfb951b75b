import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createSemaphore } from '../../src/kernel/semaphore.js';
import { lockTimeout } from '../../src/postgres/errors.js';
import { ProblemError } from '../../src/kernel/problem.js';

describe('the semaphore of a process', () => {
  it('lets one in at a time, in order of arrival', async () => {
    const semaphore = createSemaphore();
    const order: number[] = [];
    let inside = 0;
    await Promise.all(
      [1, 2, 3, 4, 5].map(async (each) => {
        const permit = await semaphore.acquire(1_000, lockTimeout);
        inside += 1;
        expect(inside).to.equal(1);
        await sleep(2);
        order.push(each);
        inside -= 1;
        permit.release();
      }),
    );
    expect(order).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it('refuses the caller that has waited too long, and no other', async () => {
    const semaphore = createSemaphore();
    const first = await semaphore.acquire(10, lockTimeout);
    const impatient = semaphore.acquire(10, lockTimeout).catch((error: unknown) => error);
    const patient = semaphore.acquire(1_000, lockTimeout);
    expect(await impatient).to.be.instanceOf(ProblemError);
    first.release();
    const permit = await patient;
    expect(permit.waited).to.be.at.least(9);
    permit.release();
    (await semaphore.acquire(10, lockTimeout)).release();
  });

  it('takes the release of a permit once', async () => {
    const semaphore = createSemaphore();
    const first = await semaphore.acquire(10, lockTimeout);
    const waiting = [semaphore.acquire(1_000, lockTimeout), semaphore.acquire(1_000, lockTimeout)];
    first.release();
    first.release();
    const second = await waiting[0];
    let third = false;
    void waiting[1]?.then((permit) => {
      third = true;
      permit.release();
    });
    await sleep(5);
    expect(third).to.equal(false);
    second?.release();
    await sleep(5);
    expect(third).to.equal(true);
  });
});
