/** Shares one running call among all callers that could have started it. */
import { runShared } from './scheduler.js';

/**
 * Runs `ask` one call at a time. All callers that arrive before a call begins share its result. Later callers wait for
 * the next call, because the running one may have read older data.
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
