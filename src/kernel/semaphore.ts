/** A semaphore of so many units, given in order of arrival. */

export interface Permit {
  /** Milliseconds spent waiting. */
  waited: number;
  /** Keeps so many units and gives back the rest, where it holds more. */
  shrink(units: number): void;
  /** Gives back all of it. Idempotent. */
  release(): void;
}

export interface Acquire {
  /** 1 when absent; never more than there are. */
  units?: number;
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
  enter(): void;
}

/** Who asks for more units than there are waits until the timeout, and all behind it do. */
export function createSemaphore(units = 1): Semaphore {
  const waiting: Waiter[] = [];
  let free = units;

  // Whoever needs much is not overtaken by those behind, or it would wait for ever.
  const admit = (): void => {
    for (let next = waiting[0]; next !== undefined && next.units <= free; next = waiting[0]) {
      waiting.shift();
      free -= next.units;
      next.enter();
    }
  };

  const permitOf = (taken: number, waited: number): Permit => {
    let held = taken;
    const shrink = (to: number): void => {
      if (to >= held) return;
      free += held - to;
      held = to;
      admit();
    };
    return { waited, shrink, release: () => shrink(0) };
  };

  return {
    acquire: ({ units: asked = 1, timeout, gone, refusal = () => new Error('No permit was free in time') } = {}) =>
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
          resolve(permitOf(asked, performance.now() - started));
        };
        const waiter = { units: asked, enter };
        const timer = timeout === undefined ? undefined : setTimeout(leave, timeout);
        gone?.addEventListener('abort', leave);
        waiting.push(waiter);
        if (gone?.aborted === true) leave();
        else admit();
      }),
  };
}
