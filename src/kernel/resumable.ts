/**
 * Work that can pause after each step: a generator that yields nothing and returns the result. The caller decides
 * whether the event loop runs in between; the work itself stays pure.
 */
export type Resumable<T> = Generator<void, T, void>;

/** All steps at once. */
export function runToEnd<T>(steps: Resumable<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

const NO_PAUSE: readonly void[] = [];
const PAUSE: readonly void[] = [undefined];

/** `yield* pause()` after each of many quick steps: pauses after every `count` of them. */
export function pausingEvery(count: number): () => Iterable<void> {
  let left = count;
  return () => {
    left -= 1;
    if (left > 0) return NO_PAUSE;
    left = count;
    return PAUSE;
  };
}

/** What may be answered at once, and may take steps: both as steps. */
export function* stepsTo<T extends object>(answer: T | Resumable<T>): Resumable<T> {
  return 'next' in answer ? yield* answer : answer;
}
