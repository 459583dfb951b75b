import { expect } from 'chai';
import { NOTES_AT_ONCE, CatchUpCounter } from '../../../src/projector/online/run-copy.js';

/** The result and the number of passes. Each pass writes a number of rows. */
function runPursuit(left: number, written: (go: number) => number): ['near' | 'hopeless' | 'endless', number] {
  const pursuit = new CatchUpCounter();
  let rest = left;
  for (let go = 1; go < 100_000; go += 1) {
    const notes = Math.min(rest, NOTES_AT_ONCE);
    rest += written(go) - notes;
    if (pursuit.isNear(notes)) return ['near', go];
    if (pursuit.isTimeToLook() && pursuit.isHopeless(rest)) return ['hopeless', go];
  }
  return ['endless', 0];
}

describe('catching up with writes', () => {
  it('ends immediately if few remain', () => {
    expect(runPursuit(499, () => 0)).to.deep.equal(['near', 1]);
    expect(runPursuit(500, () => 0)).to.deep.equal(['near', 2]);
  });

  it('continues while it makes progress', () => {
    expect(runPursuit(10_000_000, () => 0)).to.deep.equal(['near', 1_001]);
    expect(runPursuit(1_000_000, () => NOTES_AT_ONCE - 100)[0]).to.equal('near');
  });

  it('ends when all notes fit into one go, however many arrive', () => {
    expect(runPursuit(5_000, () => 9_000)).to.deep.equal(['near', 6]);
    expect(runPursuit(NOTES_AT_ONCE, () => NOTES_AT_ONCE - 1)).to.deep.equal(['near', 7]);
  });

  it('gives up after five counts without progress, but not for one burst', () => {
    expect(runPursuit(100_000, () => NOTES_AT_ONCE)).to.deep.equal(['hopeless', 120]);
    expect(runPursuit(100_000, () => NOTES_AT_ONCE + 1)).to.deep.equal(['hopeless', 120]);
    expect(runPursuit(100_000, () => 2 * NOTES_AT_ONCE)).to.deep.equal(['hopeless', 120]);
    expect(runPursuit(300_000, (go) => (go === 30 ? 300_000 : 0))).to.deep.equal(['near', 61]);
    // Progress resets the counter.
    expect(runPursuit(300_000, (go) => (go === 70 ? 0 : NOTES_AT_ONCE))).to.deep.equal(['hopeless', 180]);
  });

  it('counts only after several full passes', () => {
    const pursuit = new CatchUpCounter();
    expect(pursuit.isTimeToLook()).to.equal(false);
    expect(pursuit.isNear(600)).to.equal(false);
    expect(pursuit.isTimeToLook()).to.equal(false);
  });
});
