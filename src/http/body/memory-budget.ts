/** Large bodies under way at once, bounded by their sum: the rest waits. */
import { refused } from '../errors.js';

/** A part of the sum. */
export interface Share {
  /** Gives back what turned out not to be needed. */
  shrink(bytes: number): void;
  /** Gives all of it back. Idempotent. */
  release(): void;
}

export interface Budget {
  /**
   * Waits until there is room for `bytes`, in order of arrival, and holds it. Rejects with UNAVAILABLE (503) when there
   * was none in time, and when `gone` is aborted before.
   */
  take(bytes: number, gone: AbortSignal): Promise<Share>;
}

/** Milliseconds that a request waits for them. */
const WAIT = 10_000;

/** @param total bytes; `take` never asks for more */
export function createBudget(total: number, wait = WAIT): Budget {
  const waiting: { bytes: number; enter: () => void }[] = [];
  let free = total;

  const admit = (): void => {
    for (let next = waiting[0]; next !== undefined && next.bytes <= free; next = waiting[0]) {
      waiting.shift();
      free -= next.bytes;
      next.enter();
    }
  };

  const shareOf = (bytes: number): Share => {
    let held = bytes;
    const shrink = (to: number): void => {
      if (to >= held) return;
      free += held - to;
      held = to;
      admit();
    };
    return { shrink, release: () => shrink(0) };
  };

  return {
    take: (bytes, gone) =>
      new Promise((resolve, reject) => {
        const settle = (): void => {
          clearTimeout(timer);
          gone.removeEventListener('abort', leave);
        };
        const leave = (): void => {
          settle();
          waiting.splice(waiting.indexOf(waiter), 1);
          // Who stands behind may need less.
          admit();
          reject(refused('UNAVAILABLE', 'Too many large bodies are under way: send it again in a moment.'));
        };
        const enter = (): void => {
          settle();
          resolve(shareOf(bytes));
        };
        const waiter = { bytes, enter };
        const timer = setTimeout(leave, wait);
        gone.addEventListener('abort', leave);
        waiting.push(waiter);
        admit();
      }),
  };
}
