import { expect } from 'chai';
import { createSeries } from '../../../src/features/webhooks/deliver.js';

const PAUSES = { quiet: 50, busy: 5_000, between: 500, slow: 30_000 };

describe('a series of changes', () => {
  it('delays no delivery before the first change', () => {
    expect(createSeries(PAUSES).computeWait(0)).to.be.at.most(0);
  });

  it('delays a delivery until no change has come for a pause', () => {
    const series = createSeries(PAUSES);
    for (const now of [1_000, 1_040, 1_080]) series.noteCommit(now);
    expect(series.computeWait(1_090)).to.equal(40);
    expect(series.computeWait(1_130)).to.equal(0);
  });

  it('delays a delivery for a limited time if changes never pause', () => {
    const series = createSeries(PAUSES);
    for (let now = 1_000; now <= 6_100; now += 20) series.noteCommit(now);
    expect(series.computeWait(5_999)).to.equal(1);
    expect(series.computeWait(6_000)).to.be.at.most(0);
    expect(series.computeWait(6_000, 5_990)).to.be.at.most(0);
  });

  it('delays later deliveries of a webhook until a pause, each for a limited time', () => {
    const series = createSeries(PAUSES);
    for (let now = 1_000; now <= 7_000; now += 20) series.noteCommit(now);
    expect(series.computeWait(7_000, 6_000, 6_900)).to.equal(50);
    for (let now = 7_000; now <= 7_400; now += 20) series.noteCommit(now);
    expect(series.computeWait(7_390, 6_000, 6_900)).to.equal(10);
    expect(series.computeWait(7_400, 6_000, 6_900)).to.be.at.most(0);
  });

  it('does not delay the deliveries of a webhook that has delivered slowly for a while', () => {
    const series = createSeries(PAUSES);
    for (let now = 1_000; now <= 40_000; now += 60) series.noteCommit(now);
    expect(series.computeWait(40_000, 20_000, 39_990)).to.be.above(0);
    expect(series.computeWait(40_000, 10_000, 39_990)).to.be.at.most(0);
  });
});
