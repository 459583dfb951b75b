/** A semaphore with several units, granted in order of arrival. */
import { createCounts, once } from './scheduler.js';

export interface Permit {
  /** Milliseconds spent waiting. */
  waited: number;
  /** Releases all units. Idempotent. */
  release(): void;
}

interface AcquireOptions {
  /** Defaults to 1. Capped at the units of the semaphore. */
  units?: number;
  /** Identifies the caller, where one caller may not take all units. */
  caller?: string;
  /** Milliseconds. Absent means no limit. */
  timeout?: number;
  /** Aborts when the caller has disconnected. The wait then ends as after the timeout. */
  disconnected?: AbortSignal;
  /** Creates the error that a failed wait rejects with. */
  refusal?: () => Error;
}

export interface Semaphore {
  acquire(request?: AcquireOptions): Promise<Permit>;
}

interface Waiter {
  units: number;
  caller: string;
  enter(): void;
}

const createTimeoutError = (): Error => new Error('No permit became available in time');

/**
 * Creates a semaphore. A request for more units than exist waits until the timeout, and all requests behind it wait as
 * well.
 * @param perCaller concurrent units of one caller. One permit may exceed it. Requests above it do not block others
 * behind them.
 */
export function createSemaphore(units = 1, perCaller = Infinity): Semaphore {
  const waiting: Waiter[] = [];
  const taken = createCounts();
  let free = units;

  // True if the limit per caller admits the request. Requests behind a large one do not overtake it, because it would
  // otherwise wait forever.
  const isFirst = ({ caller, units: requested }: Waiter): boolean =>
    taken.of(caller) === 0 || taken.of(caller) + requested <= perCaller;
  const admit = (): void => {
    for (let next = waiting.find(isFirst); next !== undefined && next.units <= free; next = waiting.find(isFirst)) {
      waiting.splice(waiting.indexOf(next), 1);
      free -= next.units;
      taken.add(next.caller, next.units);
      next.enter();
    }
  };

  const permitOf = (caller: string, units: number, waited: number): Permit => {
    const release = once(() => {
      free += units;
      taken.add(caller, -units);
      admit();
    });
    return { waited, release };
  };

  return {
    acquire: ({ units: requested = 1, caller = '', timeout, disconnected, refusal = createTimeoutError } = {}) =>
      new Promise((resolve, reject) => {
        const started = performance.now();
        const settle = (): void => {
          clearTimeout(timer);
          disconnected?.removeEventListener('abort', leave);
        };
        const leave = (): void => {
          settle();
          waiting.splice(waiting.indexOf(waiter), 1);
          // Requests behind the removed one may need less.
          admit();
          reject(refusal());
        };
        const enter = (): void => {
          settle();
          resolve(permitOf(caller, requested, performance.now() - started));
        };
        const waiter = { units: requested, caller, enter };
        const timer = timeout === undefined ? undefined : setTimeout(leave, timeout);
        disconnected?.addEventListener('abort', leave);
        waiting.push(waiter);
        if (disconnected?.aborted === true) leave();
        else admit();
      }),
  };
}
