/** A semaphore of one permit, given in order of arrival. */
import { type Problem, ProblemError } from './problem.js';

export interface Permit {
  /** Milliseconds spent waiting. */
  waited: number;
  release(): void;
}

export interface Semaphore {
  /** @throws ProblemError `timeoutProblem()` when no permit is free within `timeout` milliseconds */
  acquire(timeout: number, timeoutProblem: () => Problem): Promise<Permit>;
}

/**
 * Orders the commands of this process, as the log's lock orders those of all processes. Without it, each waiting command
 * would sit on a connection of the pool, and reads would find none.
 */
export function createSemaphore(): Semaphore {
  const waiting: (() => void)[] = [];
  let busy = false;

  const releaseNext = (): void => {
    const next = waiting.shift();
    if (next === undefined) busy = false;
    else next();
  };

  const permit = (started: number): Permit => {
    let ended = false;
    const end = (): void => {
      if (!ended) releaseNext();
      ended = true;
    };
    return { waited: performance.now() - started, release: end };
  };

  return {
    acquire: (timeout, timeoutProblem) => {
      const started = performance.now();
      if (!busy) {
        busy = true;
        return Promise.resolve(permit(started));
      }
      return new Promise((resolve, reject) => {
        const go = (): void => {
          clearTimeout(timer);
          resolve(permit(started));
        };
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(go), 1);
          reject(new ProblemError(timeoutProblem()));
        }, timeout);
        waiting.push(go);
      });
    },
  };
}
