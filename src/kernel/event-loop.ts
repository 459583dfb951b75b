/** Long work in slices of time, so that the event loop can serve other requests in between. */
import { setImmediate } from 'node:timers/promises';
import type { Resumable } from './resumable.js';

/** Milliseconds of work before the event loop runs. */
const SLICE = 2;

/** Ends once the event loop has run everything that waits. */
export const yieldToEventLoop = (): Promise<void> => setImmediate();

export interface TimeSlice {
  /** Whether the present slice has lasted long enough. */
  isOver(): boolean;
  /** Lets the event loop run everything that waits, and begins the next slice. */
  yield(): Promise<void>;
}

/** Measures slices from now on: `if (slice.isOver()) await slice.yield()` in a loop. */
export function createTimeSlice(): TimeSlice {
  let began = performance.now();
  return {
    isOver: () => performance.now() - began > SLICE,
    async yield() {
      await yieldToEventLoop();
      began = performance.now();
    },
  };
}

/** Runs the steps to their end. */
export async function runYielding<T>(steps: Resumable<T>, slice: TimeSlice = createTimeSlice()): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (slice.isOver()) await slice.yield();
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
