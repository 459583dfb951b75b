import { expect } from 'chai';
import {
  type HeadCheck,
  parseDivergences,
  isReplaced,
  createLogDivergedProblem,
  toDivergence,
  toHeadCheck,
} from '../../src/log/divergence.js';
import { GENESIS_HASH } from '../../src/log/head.js';

const place = (position: number, hash = 'a'.repeat(64)) => ({ position, hash });

describe('a diverged log', () => {
  it('ends earlier or has another event at a position, and a longer log may continue the same log', () => {
    const at = (position: number, hash?: string): Pick<HeadCheck, 'head'> => ({ head: place(position, hash) });
    const seen = place(5);
    expect(isReplaced(at(4), seen)).to.equal(true);
    expect(isReplaced(at(5), seen)).to.equal(false);
    expect(isReplaced(at(5, 'b'.repeat(64)), seen)).to.equal(true);
    expect(isReplaced(at(6, 'b'.repeat(64)), seen)).to.equal(false);
  });

  it('is rejected with a message about its extent', () => {
    const advice =
      'The service rejects changes until you verify the log (GET /history/verify) and acknowledge the fork (dps acknowledge-log, or POST /history/acknowledge).';
    const [seen, shorter, forged] = [place(5), place(3), place(5, 'b'.repeat(64))];
    expect(createLogDivergedProblem({ seen, found: shorter })).to.deep.equal({
      code: 'LOG_DIVERGED',
      message: `The log has forked: it had continued to position 5, and ends at 3 now. ${advice}`,
      details: { seen, found: shorter },
    });
    expect(createLogDivergedProblem({ seen, found: forged }).message).to.equal(
      `The log has forked: position 5 now has a different event. ${advice}`,
    );
  });

  it('is acknowledged by an event with only the seen and found positions', () => {
    const noted = { id: 7, seen: place(5), found: place(3), noticed_at: '2026-01-01T00:00:00.000Z' };
    const { id: _id, ...reported } = noted;
    expect(toDivergence(noted)).to.deep.equal({ ...reported, fork: null });
    expect(toDivergence({ ...noted, fork: 2 })).to.deep.equal({ ...reported, fork: 2 });
  });

  it('is read from an event with any content', () => {
    const full = { seen: place(5), found: { position: 3 } };
    expect(parseDivergences({ divergences: [full] })).to.deep.equal([full]);
    for (const data of [null, undefined, 7, {}, { divergences: null }, { divergences: { 0: full } }])
      expect(parseDivergences(data), JSON.stringify(data)).to.deep.equal([]);
    const others = [null, 7, {}, { seen: place(5) }, { found: place(5) }, { seen: 5, found: 3 }];
    const wrong = [
      { ...full, found: null },
      { ...full, found: {} },
      { ...full, seen: { position: '5' } },
    ];
    expect(parseDivergences({ divergences: [...others, full, ...wrong] })).to.deep.equal([full]);
  });

  it('is identified by its end, even if it is empty', () => {
    const rest = { forgotten: place(2), pending: null, acknowledged: 3, timeline: 4 };
    const empty = { ...rest, position: null, hash: null, occurred_at: null };
    expect(toHeadCheck(empty)).to.deep.equal({ head: { position: 0, hash: GENESIS_HASH }, ...rest });
    const row = { ...rest, ...place(9), occurred_at: new Date() };
    expect(toHeadCheck(row)).to.deep.equal({ head: place(9), ...rest });
  });
});
