import { setTimeout as sleep } from 'node:timers/promises';

/** Polls for a condition until the test's own timeout, or for `limit` milliseconds. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, limit = 120_000): Promise<void> {
  const end = Date.now() + limit;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`not within ${limit} ms: ${what}`);
    await sleep(5);
  }
}

/**
 * Waits until a session waits for a lock on a table or a view.
 * @param run runs SQL on another connection and returns the rows
 */
export const untilAwaited = (relation: string, run: (sql: string) => Promise<readonly unknown[]>): Promise<void> =>
  until(`a session waits for ${relation}`, async () => {
    const waiting = `SELECT FROM pg_locks WHERE NOT granted AND relation = '${relation}'::regclass`;
    return (await run(waiting)).length > 0;
  });
