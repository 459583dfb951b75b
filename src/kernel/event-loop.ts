/** Splits long work into time slices, so that the event loop can serve other requests in between. */
import { setImmediate } from 'node:timers/promises';
import type { Resumable } from './resumable.js';
import { type Piece, type Scheduler, scheduler } from './scheduler.js';

/** Resolves after the event loop has run all pending callbacks. */
export const yieldToEventLoop = (): Promise<void> => setImmediate();

export interface TimeSlice {
  /** True if the current slice has used up its time. */
  isOver(): boolean;
  /**
   * Waits for the next slice of this work.
   * @throws AbandonedError if nobody waits for the result
   * @throws OverloadedError if the work cannot begin in time
   */
  yield(): Promise<void>;
  /** Ends the work after success or failure. Required for long work that waits for nothing else. */
  end?(): void;
}

/** Measures slices from now on. Use `if (slice.isOver()) await slice.yield()` in a loop. */
export const createTimeSlice = (): TimeSlice => sliceOf(scheduler, false);

/** @param isGated see `Scheduler.begin` */
export function sliceOf(turns: Scheduler, isGated: boolean): TimeSlice {
  const piece: Piece = turns.begin(isGated);
  const { sliceMs } = turns;
  // If other work has used up this turn of the event loop, the first slice ends immediately.
  let left = turns.isBusy() ? -1 : sliceMs;
  let looked = performance.now();
  const spend = (): void => {
    const now = performance.now();
    // A longer interval means that the work was waiting for something else.
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

/** Maximum milliseconds of work between two measurements. */
const MOST = 50;

/** Runs all steps. @throws AbandonedError, OverloadedError, and the errors of the steps */
export async function runYielding<T>(steps: Resumable<T>, slice: TimeSlice = sliceOf(scheduler, true)): Promise<T> {
  try {
    for (;;) {
      if (slice.isOver()) await slice.yield();
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  } catch (error) {
    // Runs the `finally` blocks of the steps.
    steps.return(undefined as never);
    throw error;
  } finally {
    slice.end?.();
  }
}

/** `[...items].map(convert)` in time slices. */
export async function mapYielding<T, U>(items: Iterable<T>, convert: (item: T) => U, slice: TimeSlice): Promise<U[]> {
  const converted: U[] = [];
  for (const item of items) {
    if (slice.isOver()) await slice.yield();
    converted.push(convert(item));
  }
  return converted;
}
