/** Counts how often work pauses; the event loop waits between two pauses. */
import type { Resumable } from '../../src/kernel/resumable.js';

/** The number of pauses of the whole work. */
export function stepsOf(work: Resumable<unknown>): number {
  let steps = 0;
  while (work.next().done !== true) steps += 1;
  return steps;
}
