/** Checks that ECMAScript and PostgreSQL both write a time with a four-digit year. */

const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/** The end of the message about any other time. */
export const TIME_RANGE = 'from the year 1 to 9999, in UTC';

/** True if the database can store the time. PostgreSQL has no year 0, and both write years after 9999 differently. */
export function isStorableTime(time: Date): boolean {
  return time.getTime() >= EARLIEST && time.getTime() <= LATEST;
}

/** The result did not arrive in time. The work may still be running. */
export class NotInTimeError extends Error {
  override readonly name = 'NotInTimeError';
}

/**
 * Returns the result of `work` if it arrives within `limit` milliseconds.
 * @throws NotInTimeError, and the errors of `work`
 */
export async function limitTime<T>(work: Promise<T>, limit: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NotInTimeError(`no response within ${limit} ms`)), limit);
  });
  try {
    return await Promise.race([work, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}

interface PauseLimits {
  /** Milliseconds after the first failure. Each further failure doubles them. */
  retry: number;
  /** Maximum milliseconds. */
  maximum: number;
}

/**
 * Returns whole milliseconds to wait after `failures` failures in a row (from 1). Half of the time is random, so that
 * processes that failed together do not retry together ("equal jitter": M. Brooker, Exponential Backoff and Jitter,
 * 2015).
 */
export function computePause(failures: number, { retry, maximum }: PauseLimits): number {
  const full = Math.min(maximum, retry * 2 ** (failures - 1));
  return Math.round(full * (0.5 + Math.random() / 2));
}

/** Fires once at the earliest of the times that were set since it last fired. It does not keep the process alive. */
export interface EarliestTimer {
  /** @param milliseconds from now */
  set(milliseconds: number): void;
  clear(): void;
  /** Clears the timer, and ignores every later `set`. */
  stop(): void;
}

export function createEarliestTimer(fire: () => void): EarliestTimer {
  let due = Infinity;
  let handle: NodeJS.Timeout | undefined;
  let stopped = false;

  const clear = (): void => {
    clearTimeout(handle);
    due = Infinity;
  };
  return {
    set(milliseconds) {
      const at = performance.now() + milliseconds;
      if (stopped || at >= due) return;
      clearTimeout(handle);
      due = at;
      handle = setTimeout(() => {
        due = Infinity;
        fire();
      }, milliseconds);
      handle.unref();
    },
    clear,
    stop() {
      stopped = true;
      clear();
    },
  };
}
