/** One at a time, in order of arrival. */
import { type Problem, ProblemError } from './problem.js';

export interface Permit {
  /** Milliseconds spent waiting. */
  waited: number;
  release(): void;
}

export interface Semaphore {
  /** @throws ProblemError `late()` when the turn doesn't come within `timeout` milliseconds */
  acquire(timeout: number, late: () => Problem): Promise<Permit>;
}

/**
 * The queue of this process. The database has one of its own for all processes; without this one, each waiting command
 * would sit on a connection of the pool, and reads would find none.
 */
export function createSemaphore(): Semaphore {
  const waiting: (() => void)[] = [];
  let busy = false;

  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) busy = false;
    else next();
  };

  const turn = (started: number): Permit => {
    let ended = false;
    const end = (): void => {
      if (!ended) leave();
      ended = true;
    };
    return { waited: performance.now() - started, release: end };
  };

  return {
    acquire: (timeout, late) => {
      const started = performance.now();
      if (!busy) {
        busy = true;
        return Promise.resolve(turn(started));
      }
      return new Promise((resolve, reject) => {
        const go = (): void => {
          clearTimeout(timer);
          resolve(turn(started));
        };
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(go), 1);
          reject(new ProblemError(late()));
        }, timeout);
        waiting.push(go);
      });
    },
  };
}
