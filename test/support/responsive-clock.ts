import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/**
 * Measures waiting times for upper limits that are themselves the rule, such as LOCK_TIMEOUT. It counts ticks instead of
 * time: a tick of 20 ms ends when its timer and a trivial query have ended, however long a busy machine takes for them.
 * Load therefore makes measured times shorter, never longer, and cannot exceed a limit.
 */
export interface ResponsiveClock {
  /** Milliseconds that were counted so far. */
  now(): number;
  /** Waits until so many further milliseconds were counted. */
  pass(milliseconds: number): Promise<void>;
  timed<T>(work: Promise<T>): Promise<[result: T, milliseconds: number]>;
  stop(): Promise<void>;
}

const TICK_MS = 20;

/** @param connectionString of the server, without anything between that a test can interrupt */
export async function startResponsiveClock(connectionString: string): Promise<ResponsiveClock> {
  const client = new pg.Client(connectionString);
  // The tested service may end its server. Then the clock stands still.
  client.on('error', () => undefined);
  await client.connect();
  let [counted, isStopped] = [0, false];
  const ticking = (async () => {
    while (!isStopped) {
      await Promise.all([sleep(TICK_MS), client.query('SELECT 1')]);
      counted += TICK_MS;
    }
  })();
  ticking.catch(() => undefined);
  return {
    now: () => counted,
    async pass(milliseconds) {
      for (const end = counted + milliseconds; counted < end;) await Promise.race([sleep(TICK_MS), ticking]);
    },
    async timed(work) {
      const started = counted;
      return [await work, counted - started];
    },
    async stop() {
      isStopped = true;
      await ticking.catch(() => undefined);
      await client.end().catch(() => undefined);
    },
  };
}
