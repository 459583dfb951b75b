/** Waiting for the log to come to a position: so a client reads what it has written from a standby. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Problem, ProblemError } from '../kernel/problem.js';
import { unavailable } from '../postgres/errors.js';
import type { Fresh, Freshness } from './freshness.js';

export interface Positions {
  /**
   * What is committed when the log has come to `position`.
   * @throws ProblemError UNAVAILABLE when that takes too long, or too many wait already
   */
  reach(position: number): Promise<Fresh>;
}

export interface PositionsOptions extends Pick<Freshness, 'check'> {
  /** Milliseconds. */
  timeout: number;
}

/** Of a process. A position that never comes must not gather requests without end. */
const MOST = 10_000;

/** Milliseconds between two looks: the first, and the longest. */
const PAUSES = { first: 2, longest: 50 };

interface Waiting {
  position: number;
  deadline: number;
  resolve: (fresh: Fresh) => void;
  reject: (error: ProblemError) => void;
}

/** All who wait share the looks. */
export function createPositions({ check, timeout }: PositionsOptions): Positions {
  const waiting = new Set<Waiting>();
  let pause = PAUSES.first;
  let running = false;

  const look = async (): Promise<void> => {
    const found = await check().catch((error: unknown) => error as Error);
    const now = performance.now();
    for (const each of waiting) {
      const isThere = 'head' in found && found.head >= each.position;
      if (!isThere && now < each.deadline) continue;
      waiting.delete(each);
      if (isThere) each.resolve(found);
      else each.reject('head' in found ? tooFar(each.position, found.head) : (found as ProblemError));
    }
  };

  const run = async (): Promise<void> => {
    running = true;
    while (waiting.size > 0) {
      await sleep(pause);
      pause = Math.min(PAUSES.longest, pause * 1.5);
      await look();
    }
    running = false;
  };

  const tooFar = (position: number, head: number): ProblemError => {
    const message =
      `The log has not come to position ${position} within ${timeout} ms: here it ends at ${head}. ` +
      'Ask again later, or ask the primary.';
    return new ProblemError({ ...unavailable(message), details: { position, head } } satisfies Problem);
  };

  return {
    async reach(position) {
      const fresh = await check();
      if (fresh.head >= position) return fresh;
      if (waiting.size >= MOST) throw tooFar(position, fresh.head);
      return new Promise((resolve, reject) => {
        waiting.add({ position, deadline: performance.now() + timeout, resolve, reject });
        pause = PAUSES.first;
        if (!running) void run();
      });
    },
  };
}
