/** One question that is under way answers all who could have asked it. */
import { runShared } from './scheduler.js';

/**
 * Calls of `ask` one after another, each shared by all who came before it began. Who comes while one is under way waits
 * for the next: the running one may have looked before the newcomer's reason to ask was there.
 */
export function shareNext<T>(ask: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;

  const start = (): Promise<T> => {
    next = undefined;
    const asked = runShared(ask);
    running = asked;
    const done = (): void => {
      if (running === asked) running = undefined;
    };
    asked.then(done, done);
    return asked;
  };

  return () => {
    if (next !== undefined) return next;
    if (running === undefined) return start();
    next = running.then(start, start);
    return next;
  };
}
