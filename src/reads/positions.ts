/** Waits until the log reaches a position, so that a client can read its own writes from a standby. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Problem, ProblemError } from '../kernel/problem.js';
import { unavailable } from '../postgres/errors.js';
import type { Fresh, Freshness } from './freshness.js';

export interface Positions {
  /**
   * Resolves when the log has reached `position`.
   * @param who `isKnown`: the token of the caller is known. Other callers have fewer slots and do not learn the head of
   * the log.
   * @throws ProblemError UNAVAILABLE if that takes too long, or if too many requests wait already
   */
  reach(position: number, who: Who): Promise<Fresh>;
}

interface Who {
  isKnown: boolean;
  /** True if the client no longer waits. Its slot is then free. */
  abandoned?: () => boolean;
}

export interface PositionsOptions extends Pick<Freshness, 'check'> {
  /** Milliseconds. */
  timeout: number;
}

/** Waiting requests per process. A position that never comes must not accumulate requests. */
const MOST = 10_000;

/**
 * Part of them for callers with an unknown token, which the standby may not have replayed yet. Anyone can send such a
 * token.
 */
const MOST_STRANGERS = 500;

/** Milliseconds between two checks: the first and the longest pause. */
const PAUSES = { first: 2, longest: 50 };

interface Waiting extends Who {
  position: number;
  deadline: number;
  resolve: (fresh: Fresh) => void;
  reject: (error: ProblemError) => void;
}

const ADVICE = 'Ask again later, or ask the primary.';

const TOO_MANY = unavailable(`Too many wait for a position of the log here already. ${ADVICE}`);

/** All waiting requests share the checks. */
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
