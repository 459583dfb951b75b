import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { ProblemError } from '../../src/kernel/problem.js';
import { type FreshState, createPositions } from '../../src/reads/freshness.js';

const STRANGERS = 500;

const messagesOf = (answer: Promise<FreshState>): Promise<string> =>
  answer.then(
    ({ head }) => `at ${head}`,
    (error: unknown) => (error as ProblemError).problem.message,
  );

describe('waiting for a position', () => {
  it('has room for any number of callers with unknown tokens', async () => {
    let head = 5;
    const check = (): Promise<FreshState> => Promise.resolve({ head, hash: '', authEpoch: 1, standby: true, lag: 0 });
    const positions = createPositions({ check, timeout: 20_000 });
    const strangers = Array.from({ length: STRANGERS }, () => messagesOf(positions.reach(6, { isKnown: false })));
    await sleep(5);
    expect(await messagesOf(positions.reach(6, { isKnown: false }))).to.match(/^Too many requests already wait/);
    const known = messagesOf(positions.reach(6, { isKnown: true }));
    head = 6;
    expect(await known).to.equal('at 6');
    expect(new Set(await Promise.all(strangers))).to.deep.equal(new Set(['at 6']));
    head = 7;
    expect(await messagesOf(positions.reach(7, { isKnown: false }))).to.equal('at 7');
    // Only their slots are free again.
    const others = Array.from({ length: STRANGERS }, () => messagesOf(positions.reach(8, { isKnown: false })));
    expect(await messagesOf(positions.reach(8, { isKnown: false }))).to.match(/^Too many requests already wait/);
    head = 8;
    expect(new Set(await Promise.all(others))).to.deep.equal(new Set(['at 8']));
  });

  it('shares frequent checks among all waiting callers', async () => {
    let requestCount = 0;
    // Available at the tenth check, after all have checked once.
    const check = (): Promise<FreshState> => {
      requestCount += 1;
      return Promise.resolve({ head: requestCount < 30 ? 5 : 6, hash: '', authEpoch: 1, standby: true, lag: 0 });
    };
    const positions = createPositions({ check, timeout: 10_000 });
    const all = Array.from({ length: 20 }, () => messagesOf(positions.reach(6, { isKnown: true })));
    expect(new Set(await Promise.all(all))).to.deep.equal(new Set(['at 6']));
    expect(requestCount).to.equal(30);
    await sleep(60);
    expect(requestCount, 'nobody waits').to.equal(30);
  });

  it('ends when the client disconnects', async () => {
    const check = (): Promise<FreshState> =>
      Promise.resolve({ head: 5, hash: '', authEpoch: 1, standby: true, lag: 0 });
    const positions = createPositions({ check, timeout: 60_000 });
    let gone = false;
    const waiting = Array.from({ length: STRANGERS }, () =>
      messagesOf(positions.reach(6, { isKnown: false, abandoned: () => gone })),
    );
    expect(await messagesOf(positions.reach(6, { isKnown: false }))).to.match(/^Too many requests already wait/);
    gone = true;
    expect(new Set(await Promise.all(waiting)).size).to.equal(1);
    gone = false;
    const next = messagesOf(positions.reach(6, { isKnown: false, abandoned: () => gone }));
    gone = true;
    expect(await next).not.to.match(/^Too many requests already wait/);
  });

  it('is rejected when ten thousand already wait', async () => {
    let head = 5;
    const check = (): Promise<FreshState> => Promise.resolve({ head, hash: '', authEpoch: 1, standby: true, lag: 0 });
    const positions = createPositions({ check, timeout: 20_000 });
    const all = Array.from({ length: 10_000 }, () => messagesOf(positions.reach(6, { isKnown: true })));
    const tooMany =
      'Too many requests already wait for a position of the log here. Try again later, or ask the primary.';
    for (const isKnown of [true, false]) expect(await messagesOf(positions.reach(6, { isKnown }))).to.equal(tooMany);
    head = 6;
    expect(new Set(await Promise.all(all))).to.deep.equal(new Set(['at 6']));
  });

  it('reports a check that still fails at the deadline', async () => {
    let fails = false;
    const away = new ProblemError({ code: 'UNAVAILABLE', message: 'away' });
    const fresh: FreshState = { head: 5, hash: '', authEpoch: 1, standby: true, lag: 0 };
    const positions = createPositions({
      check: () => (fails ? Promise.reject(away) : Promise.resolve(fresh)),
      timeout: 50,
    });
    const waiting = messagesOf(positions.reach(6, { isKnown: true }));
    fails = true;
    expect(await waiting).to.equal('away');
  });

  it('reports the end of the log only if known', async () => {
    const check = (): Promise<FreshState> =>
      Promise.resolve({ head: 5, hash: '', authEpoch: 1, standby: true, lag: 0 });
    const positions = createPositions({ check, timeout: 20 });
    const problemOf = (isKnown: boolean) =>
      positions.reach(6, { isKnown }).then(
        () => undefined,
        (error: unknown) => (error as ProblemError).problem,
      );
    const advice = 'Try again later, or ask the primary.';
    expect(await problemOf(true)).to.deep.equal({
      code: 'UNAVAILABLE',
      message: `The log did not reach position 6 within 20 ms: here it ends at 5. ${advice}`,
      details: { position: 6, head: 5 },
    });
    expect(await problemOf(false)).to.deep.equal({
      code: 'UNAVAILABLE',
      message: `The log did not reach position 6 within 20 ms. ${advice}`,
      details: { position: 6 },
    });
  });
});
