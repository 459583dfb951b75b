/** A semaphore of so many units, given in order of arrival. */
import { createCounts, once } from './per-caller.js';

export interface Permit {
  /** Milliseconds spent waiting. */
  waited: number;
  /** Gives back all of it. Idempotent. */
  release(): void;
}

export interface Acquire {
  /** 1 when absent; never more than there are. */
  units?: number;
  /** Who asks, where one caller may not have all of them. */
  caller?: string;
  /** Milliseconds; for ever when absent. */
  timeout?: number;
  /** Whoever asked is gone: the wait ends as after the timeout. */
  gone?: AbortSignal;
  /** What a wait that ends in vain is rejected with. */
  refusal?: () => Error;
}

export interface Semaphore {
  acquire(request?: Acquire): Promise<Permit>;
}

interface Waiter {
  units: number;
  caller: string;
  enter(): void;
}

const noPermit = (): Error => new Error('No permit was free in time');

/**
 * Who asks for more units than there are waits until the timeout, and all behind it do.
 * @param perCaller units at once of one caller, who may have more in one permit; its others let those behind pass
 */
export function createSemaphore(units = 1, perCaller = Infinity): Semaphore {
  const waiting: Waiter[] = [];
  const taken = createCounts();
  let free = units;

  // Whoever needs much is not overtaken by those behind, or it would wait for ever.
  const isFirst = ({ caller, units: asked }: Waiter): boolean =>
    taken.of(caller) === 0 || taken.of(caller) + asked <= perCaller;
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
    acquire: ({ units: asked = 1, caller = '', timeout, gone, refusal = noPermit } = {}) =>
      new Promise((resolve, reject) => {
        const started = performance.now();
        const settle = (): void => {
          clearTimeout(timer);
          gone?.removeEventListener('abort', leave);
        };
        const leave = (): void => {
          settle();
          waiting.splice(waiting.indexOf(waiter), 1);
          // Who stands behind may need less.
          admit();
          reject(refusal());
        };
        const enter = (): void => {
          settle();
          resolve(permitOf(caller, asked, performance.now() - started));
        };
        const waiter = { units: asked, caller, enter };
        const timer = timeout === undefined ? undefined : setTimeout(leave, timeout);
        gone?.addEventListener('abort', leave);
        waiting.push(waiter);
        if (gone?.aborted === true) leave();
        else admit();
      }),
  };
}
