import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { ProblemError } from '../../src/kernel/problem.js';
import type { Fresh } from '../../src/reads/freshness.js';
import { createPositions } from '../../src/reads/positions.js';

const STRANGERS = 500;

const said = (answer: Promise<Fresh>): Promise<string> =>
  answer.then(
    ({ head }) => `at ${head}`,
    (error: unknown) => (error as ProblemError).problem.message,
  );

describe('who waits for a position', () => {
  it('finds a place, however many wait whose token nobody knows yet', async () => {
    let head = 5;
    const check = (): Promise<Fresh> => Promise.resolve({ head, hash: '', authEpoch: 1, standby: true, lag: 0 });
    const positions = createPositions({ check, timeout: 2_000 });
    const strangers = Array.from({ length: STRANGERS }, () => said(positions.reach(6, { isKnown: false })));
    await sleep(5);
    const started = performance.now();
    expect(await said(positions.reach(6, { isKnown: false }))).to.match(/^Too many wait/);
    expect(performance.now() - started).to.be.lessThan(1_000);
    const known = said(positions.reach(6, { isKnown: true }));
    head = 6;
    expect(await known).to.equal('at 6');
    expect(new Set(await Promise.all(strangers))).to.deep.equal(new Set(['at 6']));
    head = 7;
    // Their places are free again.
    expect(await said(positions.reach(7, { isKnown: false }))).to.equal('at 7');
  });

  it('gives its place up when the client has hung up', async () => {
    const check = (): Promise<Fresh> => Promise.resolve({ head: 5, hash: '', authEpoch: 1, standby: true, lag: 0 });
    const positions = createPositions({ check, timeout: 60_000 });
    let gone = false;
    const waiting = Array.from({ length: STRANGERS }, () =>
      said(positions.reach(6, { isKnown: false, abandoned: () => gone })),
    );
    expect(await said(positions.reach(6, { isKnown: false }))).to.match(/^Too many wait/);
    gone = true;
    expect(new Set(await Promise.all(waiting)).size).to.equal(1);
    gone = false;
    const next = said(positions.reach(6, { isKnown: false, abandoned: () => gone }));
    gone = true;
    expect(await next).not.to.match(/^Too many wait/);
  });

  it('is told where the log ends only if known', async () => {
    const check = (): Promise<Fresh> => Promise.resolve({ head: 5, hash: '', authEpoch: 1, standby: true, lag: 0 });
    const positions = createPositions({ check, timeout: 20 });
    expect(await said(positions.reach(6, { isKnown: true }))).to.contain('ends at 5');
    expect(await said(positions.reach(6, { isKnown: false })))
      .to.contain('has not come to position 6')
      .and.not.contain('5');
  });
});
