/**
 * Work that can pause after each step: a generator that yields nothing and returns the result. Whoever runs it decides
 * whether others get a turn in between; the work itself stays pure.
 */
export type Resumable<T> = Generator<void, T, void>;

/** All steps at once. */
export function runToEnd<T>(steps: Resumable<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
