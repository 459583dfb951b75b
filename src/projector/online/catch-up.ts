/** Whether a copy comes up to a table that is being written. Pure. */

/** Rows that were written and are followed in one go. */
export const NOTES_AT_ONCE = 10_000;

/** So few are left for the change itself: they are followed in a moment. */
const FEW = 500;

/** Times that all there was could be followed in one go. What has come since is no more than that took. */
const TIMES = 5;

/** Goes of `NOTES_AT_ONCE` between looks at what is left, and looks that find no less than those before, until it is hopeless. */
const LOOKS = { every: 20, vain: 5 };

/** Counts the goes of one copy, from its first batch of notes on; it asks the table for nothing. */
export class Pursuit {
  private whole = 0;
  /** Goes of `NOTES_AT_ONCE` since the last look. */
  private full = 0;
  private least = Infinity;
  private vain = 0;

  /** @param notes that were followed in one go */
  isNear(notes: number): boolean {
    if (notes < NOTES_AT_ONCE) this.whole += 1;
    else this.full += 1;
    return notes < FEW || this.whole > TIMES;
  }

  isTimeToLook(): boolean {
    return this.full === LOOKS.every;
  }

  /** @param left as many as wait to be followed */
  isHopeless(left: number): boolean {
    this.full = 0;
    this.vain = left < this.least ? 0 : this.vain + 1;
    this.least = Math.min(this.least, left);
    return this.vain === LOOKS.vain;
  }
}
