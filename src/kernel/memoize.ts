import { runShared } from './scheduler.js';

/**
 * Caches the results of a pure function of a string. A database reports `now()` and `'{}'::jsonb` thousands of times, and
 * parsing each again is slow.
 */

/** Longer strings rarely repeat and would use too much memory. */
const MAX_LENGTH = 500;

/** Cached answers per function. The oldest is removed first. */
const MAX_ANSWERS = 2_000;

/** Errors of `ask` are not cached. Callers share the answers and must not change them. */
export function memoize<T>(ask: (text: string) => T): (text: string) => T {
  const answers = new Map<string, T>();
  return (text) => {
    if (text.length > MAX_LENGTH) return ask(text);
    const cached = answers.get(text);
    if (cached !== undefined) return cached;
    const answer = ask(text);
    const [oldest] = answers.size < MAX_ANSWERS ? [] : answers.keys();
    if (oldest !== undefined) answers.delete(oldest);
    answers.set(text, answer);
    return answer;
  };
}

/* Shares one running call among all callers that could have started it. */

/**
 * Runs `ask` one call at a time. All callers that arrive before a call begins share its result. Later callers wait for
 * the next call, because the running one may have read older data.
 */
export function shareNext<T>(ask: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;

  const start = (): Promise<T> => {
    next = undefined;
    const answer = runShared(ask);
    running = answer;
    const done = (): void => {
      if (running === answer) running = undefined;
    };
    answer.then(done, done);
    return answer;
  };

  return () => {
    if (next !== undefined) return next;
    if (running === undefined) return start();
    next = running.then(start, start);
    return next;
  };
}
