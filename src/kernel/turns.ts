/** Long work in pieces, so that whoever waits for the event loop gets a turn in between. */
import { setImmediate } from 'node:timers/promises';
import type { Steps } from './steps.js';

/** Milliseconds of work before others get a turn. */
const PIECE = 2;

/** Ends once everybody who waits has had a turn. */
export const nextTurn = (): Promise<void> => setImmediate();

export interface Pace {
  /** Whether the present piece has lasted long enough. */
  due(): boolean;
  /** Gives others their turn, and begins the next piece. */
  turn(): Promise<void>;
}

/** Measures pieces from now on: `if (pace.due()) await pace.turn()` in a loop. */
export function createPace(): Pace {
  let began = performance.now();
  return {
    due: () => performance.now() - began > PIECE,
    async turn() {
      await nextTurn();
      began = performance.now();
    },
  };
}

/** Runs the steps to their end. */
export async function inTurns<T>(steps: Steps<T>, pace: Pace = createPace()): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (pace.due()) await pace.turn();
  }
}

/** `[...items].map(convert)`. */
export async function mapInTurns<T, U>(items: Iterable<T>, convert: (item: T) => U, pace: Pace): Promise<U[]> {
  const converted: U[] = [];
  for (const item of items) {
    if (pace.due()) await pace.turn();
    converted.push(convert(item));
  }
  return converted;
}
