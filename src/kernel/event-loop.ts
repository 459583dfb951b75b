/** Long work in slices of time, so that the event loop can serve other requests in between. */
import { setImmediate } from 'node:timers/promises';
import type { Resumable } from './resumable.js';
import { type Piece, type Scheduler, scheduler } from './scheduler.js';

/** Ends once the event loop has run everything that waits. */
export const yieldToEventLoop = (): Promise<void> => setImmediate();

export interface TimeSlice {
  /** Whether the present slice has lasted long enough. */
  isOver(): boolean;
  /**
   * Waits for the next slice, which begins when it is the turn of this work.
   * @throws AbandonedError where nobody waits for the work, OverloadedError where it can't begin in time
   */
  yield(): Promise<void>;
  /** The work is over, or has failed. To be called where it is long and waits for nothing else. */
  end?(): void;
}

/** Measures slices from now on: `if (slice.isOver()) await slice.yield()` in a loop. */
export const createTimeSlice = (): TimeSlice => sliceOf(scheduler, false);

/** @param isGated see `Scheduler.begin` */
export function sliceOf(turns: Scheduler, isGated: boolean): TimeSlice {
  const piece: Piece = turns.begin(isGated);
  const { sliceMs } = turns;
  // Where others have used up this turn of the event loop, the first slice is over before it begins.
  let left = turns.isBusy() ? -1 : sliceMs;
  let looked = performance.now();
  const spend = (): void => {
    const now = performance.now();
    // What is longer was spent waiting for something else.
    const spent = Math.min(now - looked, MOST);
    looked = now;
    left -= spent;
    piece.spent(spent);
  };
  return {
    isOver() {
      spend();
      return left < 0 || piece.mustWait();
    },
    async yield() {
      await piece.turn();
      looked = performance.now();
      left = sliceMs;
    },
    end() {
      spend();
      piece.end();
    },
  };
}

/** Milliseconds of work between two looks. */
const MOST = 50;

/** Runs the steps to their end. @throws AbandonedError, OverloadedError, and what the steps throw */
export async function runYielding<T>(steps: Resumable<T>, slice: TimeSlice = sliceOf(scheduler, true)): Promise<T> {
  try {
    for (;;) {
      if (slice.isOver()) await slice.yield();
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  } catch (error) {
    // What the steps hold is let go.
    steps.return(undefined as never);
    throw error;
  } finally {
    slice.end?.();
  }
}

/** `[...items].map(convert)`. */
export async function mapYielding<T, U>(items: Iterable<T>, convert: (item: T) => U, slice: TimeSlice): Promise<U[]> {
  const converted: U[] = [];
  for (const item of items) {
    if (slice.isOver()) await slice.yield();
    converted.push(convert(item));
  }
  return converted;
}
