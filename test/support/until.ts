import { setTimeout as sleep } from 'node:timers/promises';

/** Polls for a condition until the test's own timeout, or for `limit` milliseconds. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, limit = 120_000): Promise<void> {
  const end = Date.now() + limit;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`not within ${limit} ms: ${what}`);
    await sleep(5);
  }
}
