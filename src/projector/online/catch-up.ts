/** Decides whether a copy can catch up with a table that is being written. Pure. */

export const NOTES_AT_ONCE = 10_000;

/** With so few notes left, the change itself can process them quickly. */
const FEW = 500;

/**
 * How many times all notes were processed in one go. New ones then take about as long to process as the last go took.
 */
const TIMES = 5;

/**
 * `every`: goes of `NOTES_AT_ONCE` between counts of the remaining notes. `vain`: counts without progress until it is
 * hopeless.
 */
const LOOKS = { every: 20, vain: 5 };

/** Counts the goes of one copy, from its first batch of notes. It does not query the table. */
export class Pursuit {
  private whole = 0;
  /** Goes of `NOTES_AT_ONCE` since the last count. */
  private full = 0;
  private least = Infinity;
  private vain = 0;

  /** @param notes processed in one go */
  isNear(notes: number): boolean {
    if (notes < NOTES_AT_ONCE) this.whole += 1;
    else this.full += 1;
    return notes < FEW || this.whole > TIMES;
  }

  isTimeToLook(): boolean {
    return this.full === LOOKS.every;
  }

  /** @param left the number of remaining notes */
  isHopeless(left: number): boolean {
    this.full = 0;
    this.vain = left < this.least ? 0 : this.vain + 1;
    this.least = Math.min(this.least, left);
    return this.vain === LOOKS.vain;
  }
}
