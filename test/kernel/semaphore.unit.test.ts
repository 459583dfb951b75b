import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createSemaphore } from '../../src/kernel/semaphore.js';
import { lockTimeout } from '../../src/postgres/errors.js';
import { ProblemError } from '../../src/kernel/problem.js';

const timedOut = () => new ProblemError(lockTimeout());

describe('a semaphore', () => {
  it('admits one caller at a time, in order of arrival', async () => {
    const semaphore = createSemaphore();
    const order: number[] = [];
    let inside = 0;
    await Promise.all(
      [1, 2, 3, 4, 5].map(async (each) => {
        const permit = await semaphore.acquire({ timeout: 20_000, refusal: timedOut });
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

  it('rejects a caller that waited too long, and no other', async () => {
    const semaphore = createSemaphore();
    const started = performance.now();
    const first = await semaphore.acquire({ timeout: 10, refusal: timedOut });
    const impatient = semaphore.acquire({ timeout: 10, refusal: timedOut }).catch((error: unknown) => error);
    const patient = semaphore.acquire({ timeout: 20_000, refusal: timedOut });
    expect(await impatient).to.be.instanceOf(ProblemError);
    first.release();
    const permit = await patient;
    expect(permit.waited).to.be.within(9, performance.now() - started);
    permit.release();
    (await semaphore.acquire({ timeout: 10, refusal: timedOut })).release();
  });

  it('ignores repeated releases of a permit', async () => {
    const semaphore = createSemaphore();
    const first = await semaphore.acquire({ timeout: 10, refusal: timedOut });
    const waiting = [
      semaphore.acquire({ timeout: 20_000, refusal: timedOut }),
      semaphore.acquire({ timeout: 20_000, refusal: timedOut }),
    ];
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

  it('hands out several permits at once, in order', async () => {
    const semaphore = createSemaphore(10);
    const first = await semaphore.acquire({ units: 7 });
    const order: string[] = [];
    const large = semaphore.acquire({ units: 5 }).then((permit) => (order.push('large'), permit));
    const small = semaphore.acquire({ units: 3 }).then((permit) => (order.push('small'), permit));
    await sleep(2);
    expect(order).to.deep.equal([]);
    first.release();
    (await large).release();
    (await small).release();
    expect(order).to.deep.equal(['large', 'small']);
    (await semaphore.acquire({ units: 10, timeout: 10 })).release();
  });

  it('skips callers at their own limit, and no others', async () => {
    const semaphore = createSemaphore(10, 4);
    const order: string[] = [];
    const ask = (caller: string, units: number) =>
      semaphore.acquire({ units, caller }).then((permit) => (order.push(`${caller}${units}`), permit));
    const first = await ask('a', 6);
    const waiting = [ask('a', 1), ask('b', 2)];
    await waiting[1];
    expect(order).to.deep.equal(['a6', 'b2']);
    first.release();
    await waiting[0];
    expect(order).to.deep.equal(['a6', 'b2', 'a1']);
  });

  it('admits the next ones when a caller leaves while waiting or before', async () => {
    const semaphore = createSemaphore(10);
    const held = await semaphore.acquire({ units: 5 });
    const caller = new AbortController();
    const large = semaphore.acquire({ units: 10, disconnected: caller.signal, refusal: timedOut });
    const small = semaphore.acquire({ units: 5 });
    caller.abort();
    expect(await large.catch((error: unknown) => error)).to.be.instanceOf(ProblemError);
    (await small).release();
    held.release();
    const late = semaphore.acquire({ disconnected: caller.signal, refusal: timedOut });
    expect(await late.catch((error: unknown) => error)).to.be.instanceOf(ProblemError);
  });

  it('admits a caller that is already inside, without admitting others', async () => {
    const semaphore = createSemaphore();
    const caller = new AbortController();
    const inside = await semaphore.acquire({ disconnected: caller.signal });
    const behind = semaphore.acquire({ timeout: 20_000, refusal: timedOut });
    caller.abort();
    inside.release();
    (await behind).release();
  });
});
