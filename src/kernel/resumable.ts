/**
 * Work that can pause after each step: a generator that yields nothing and returns the result. The work itself stays
 * pure, and its caller decides whether the event loop runs in between.
 */
export type Resumable<T> = Generator<void, T, void>;

/** Runs all steps without a pause. */
export function runToEnd<T>(steps: Resumable<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

const NO_PAUSE: readonly void[] = [];
const PAUSE: readonly void[] = [undefined];

/** Call `yield* pause()` after each of many short steps. It pauses after every `count` of them. */
export function pauseEvery(count: number): () => Iterable<void> {
  let left = count;
  return () => {
    left -= 1;
    if (left > 0) return NO_PAUSE;
    left = count;
    return PAUSE;
  };
}

/** Runs `answer` if it is work in steps. Otherwise `answer` is already the result. */
export function* stepsTo<T extends object>(answer: T | Resumable<T>): Resumable<T> {
  return 'next' in answer ? yield* answer : answer;
}
