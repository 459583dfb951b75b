/** Copies that come up to their tables, and those that never will. */
import { expect } from 'chai';
import { NOTES_AT_ONCE, Pursuit } from '../../../src/projector/online/catch-up.js';

/** What became of it, and after how many goes. Each go, so many rows are written. */
function pursued(left: number, written: (go: number) => number): ['near' | 'hopeless' | 'endless', number] {
  const pursuit = new Pursuit();
  let rest = left;
  for (let go = 1; go < 100_000; go += 1) {
    const notes = Math.min(rest, NOTES_AT_ONCE);
    rest += written(go) - notes;
    if (pursuit.isNear(notes)) return ['near', go];
    if (pursuit.isTimeToLook() && pursuit.isHopeless(rest)) return ['hopeless', go];
  }
  return ['endless', 0];
}

describe('the pursuit of what is written', () => {
  it('is over at once where little was', () => {
    expect(pursued(499, () => 0)).to.deep.equal(['near', 1]);
  });

  it('takes as long as it takes, where it comes nearer', () => {
    expect(pursued(10_000_000, () => 0)[0]).to.equal('near');
    expect(pursued(1_000_000, () => NOTES_AT_ONCE - 100)[0]).to.equal('near');
  });

  it('ends where all that is there can be followed in one go, however much comes meanwhile', () => {
    const [what, goes] = pursued(5_000, () => 9_000);
    expect([what, goes < 20]).to.deep.equal(['near', true]);
  });

  it('is given up where more is written than is followed, and not because of one burst', () => {
    expect(pursued(100_000, () => NOTES_AT_ONCE + 1)[0]).to.equal('hopeless');
    expect(pursued(100_000, () => 2 * NOTES_AT_ONCE)[0]).to.equal('hopeless');
    expect(pursued(100_000, (go) => (go === 30 ? 300_000 : 0))[0]).to.equal('near');
  });
});
