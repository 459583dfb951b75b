/** Waiting for the log to come to a position: so a client reads what it has written from a standby. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Problem, ProblemError } from '../kernel/problem.js';
import { unavailable } from '../postgres/errors.js';
import type { Fresh, Freshness } from './freshness.js';

export interface Positions {
  /**
   * What is committed when the log has come to `position`.
   * @param who `isKnown`: the caller's token is known; others have fewer places, and aren't told how far the log is
   * @throws ProblemError UNAVAILABLE when that takes too long, or too many wait already
   */
  reach(position: number, who: Who): Promise<Fresh>;
}

export interface Who {
  isKnown: boolean;
  /** Whether the client waits for the answer no longer: its place is free then. */
  abandoned?: () => boolean;
}

export interface PositionsOptions extends Pick<Freshness, 'check'> {
  /** Milliseconds. */
  timeout: number;
}

/** Of a process. A position that never comes must not gather requests without end. */
const MOST = 10_000;

/** Of those, for callers whose token may be still to come: anybody can say that of any token. */
const MOST_STRANGERS = 500;

/** Milliseconds between two looks: the first, and the longest. */
const PAUSES = { first: 2, longest: 50 };

interface Waiting extends Who {
  position: number;
  deadline: number;
  resolve: (fresh: Fresh) => void;
  reject: (error: ProblemError) => void;
}

const ADVICE = 'Ask again later, or ask the primary.';

const TOO_MANY = unavailable(`Too many wait for a position of the log here already. ${ADVICE}`);

/** All who wait share the looks. */
export function createPositions({ check, timeout }: PositionsOptions): Positions {
  const waiting = new Set<Waiting>();
  let strangers = 0;
  let pause = PAUSES.first;
  let running = false;

  const look = async (): Promise<void> => {
    const found = await check().catch((error: unknown) => error as Error);
    const now = performance.now();
    for (const each of waiting) {
      const isThere = 'head' in found && found.head >= each.position;
      if (!isThere && now < each.deadline && each.abandoned?.() !== true) continue;
      waiting.delete(each);
      if (!each.isKnown) strangers -= 1;
      if (isThere) each.resolve(found);
      else each.reject('head' in found ? tooFar(each, found.head) : (found as ProblemError));
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

  const tooFar = ({ position, isKnown }: Pick<Waiting, 'position' | 'isKnown'>, head: number): ProblemError => {
    const where = isKnown ? `: here it ends at ${head}` : '';
    const message = `The log has not come to position ${position} within ${timeout} ms${where}. ${ADVICE}`;
    const details = { position, ...(isKnown && { head }) };
    return new ProblemError({ ...unavailable(message), details } satisfies Problem);
  };

  return {
    async reach(position, who) {
      const fresh = await check();
      if (fresh.head >= position) return fresh;
      if (waiting.size >= MOST || (!who.isKnown && strangers >= MOST_STRANGERS)) throw new ProblemError(TOO_MANY);
      if (!who.isKnown) strangers += 1;
      return new Promise((resolve, reject) => {
        waiting.add({ ...who, position, deadline: performance.now() + timeout, resolve, reject });
        pause = PAUSES.first;
        if (!running) void run();
      });
    },
  };
}
