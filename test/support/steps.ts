/** How often work pauses: what is done between two pauses is what the event loop waits for. */
import type { Resumable } from '../../src/kernel/resumable.js';

/** The pauses of the whole work. */
export function stepsOf(work: Resumable<unknown>): number {
  let steps = 0;
  while (work.next().done !== true) steps += 1;
  return steps;
}
