/**
 * Delays failed logins. Each process counts separately, so two processes double the limit. Beyond a limit, one attempt
 * may proceed from time to time, so that failed logins cannot lock a user out. Rejected attempts do not count, so that
 * another client cannot extend the wait. A running verification takes a place in the limits until its result is known,
 * so that concurrent attempts cannot exceed them. Further attempts wait for that result.
 */
import { ipKeyGenerator, MemoryStore, type Options } from 'express-rate-limit';
import { createCounts } from '../../kernel/scheduler.js';
import { createSemaphore } from '../../kernel/semaphore.js';
import { limitTime, NotInTimeError } from '../../kernel/time.js';

/** 15 minutes, in milliseconds. */
const WINDOW = 15 * 60 * 1000;

/** Milliseconds between attempts beyond a limit. Each attempt doubles the pause, up to the longest. */
const PAUSE = { first: 30_000, longest: 120_000 } as const;

/**
 * Number of failures per window that cause no delay. `pair` stops a client that tries passwords, `address` one that
 * tries users, `email` one with many addresses. The last two would also delay the owner of the account, so they do not
 * apply to the network of the user's last login.
 */
const FAILURES = { pair: 10, address: 50, email: 100 } as const;

/** Milliseconds that an attempt waits for running verifications. */
const LONGEST_WAIT = 10_000;

interface Attempt {
  address: string;
  email: string;
}

/** The reason why an attempt must not proceed. */
interface Hold {
  /** True if the hold also applies to the network of the user's last login. */
  holdsAtHome: boolean;
  /** Seconds. */
  wait: number;
  /** True if the failures are below the limit, and only running verifications fill it. */
  mayEnd: boolean;
}

/** The attempt was not checked. */
export class HeldLoginError extends Error {
  override readonly name = 'HeldLoginError';
  /** Seconds. */
  readonly wait: number;

  constructor(message: string, wait: number) {
    super(message);
    this.wait = wait;
  }
}

export const failedTooOften = (seconds: number): string => `Too many failed logins. Try again in ${seconds} seconds.`;

const TOO_MANY_AT_ONCE = 'Too many logins at the same time. Try again.';

export interface LoginLimit {
  /**
   * Counts an attempt. Returns the number of seconds to wait, or null if the attempt may proceed.
   * @param atHome returns true if the user's last login came from the same network. Called only if the result matters.
   */
  begin(attempt: Attempt, atHome: () => Promise<boolean>): Promise<number | null>;
  /** Uncounts the attempt, because only failures count, and ends the pauses that the user's failures started. */
  succeeded(attempt: Attempt): Promise<void>;
  /**
   * Counts the attempt as a failure if `check` returns null. An error is not counted, because it reveals nothing about
   * the password.
   * @throws HeldLoginError, and the errors of `check`
   */
  verify<T>(attempt: Attempt, atHome: () => Promise<boolean>, check: () => Promise<T | null>): Promise<T | null>;
  stop(): void;
}

/** Returns the unit that counts as one address: an IPv4 address, or the network of an IPv6 address. */
export function networkOf(address: string): string {
  return ipKeyGenerator(address);
}

/**
 * Creates a limit that counts failures in memory, each for 15 minutes after the first.
 * @param limits for tests
 * @param longestWait for tests
 */
export function createLoginLimit(
  limits: Record<keyof typeof FAILURES, number> = FAILURES,
  longestWait = LONGEST_WAIT,
): LoginLimit {
  const stores = { pair: newStore(), address: newStore(), email: newStore() };

  /** When the next attempt of a counter may proceed, in milliseconds since 1970. */
  const pausedUntil = new Map<string, number>();

  /** Running verifications by counter. The counters include them. */
  const running = createCounts();
  let nextResult = createSignal();

  /** The attempts of one network are admitted in the order of their arrival. */
  const queue = createSemaphore(Infinity, 1);

  const countersOf = ({ address, email }: Attempt) => {
    const network = networkOf(address);
    const user = email.toLowerCase();
    return [
      {
        store: stores.pair,
        key: `${network} ${user}`,
        limit: limits.pair,
        holdsAtHome: true,
        pause: `pair ${network} ${user}`,
      },
      { store: stores.address, key: network, limit: limits.address, holdsAtHome: false, pause: `address ${network}` },
      { store: stores.email, key: user, limit: limits.email, holdsAtHome: false, pause: `email ${user}` },
    ];
  };

  const pauseLeft = (pause: string): number => (pausedUntil.get(pause) ?? 0) - Date.now();

  /** @param beyond failures beyond the limit */
  const startPause = (pause: string, beyond: number): void => {
    const now = Date.now();
    for (const [each, until] of pausedUntil) if (until <= now) pausedUntil.delete(each);
    pausedUntil.set(pause, now + Math.min(PAUSE.longest, PAUSE.first * 2 ** beyond));
  };

  const readHolds = async (attempt: Attempt, isAtHome: boolean): Promise<Hold[]> => {
    const holds: Hold[] = [];
    for (const { store, key, limit, holdsAtHome, pause } of countersOf(attempt)) {
      const left = pauseLeft(pause);
      if (left <= 0 || (isAtHome && !holdsAtHome)) continue;
      const hits = (await store.get(key))?.totalHits ?? 0;
      holds.push({ holdsAtHome, wait: Math.ceil(left / 1000), mayEnd: hits - running.of(pause) < limit });
    }
    return holds;
  };

  const count = async (attempt: Attempt, isRunning: boolean): Promise<void> => {
    for (const { store, key, limit, pause } of countersOf(attempt)) {
      const { totalHits } = await store.increment(key);
      if (isRunning) running.add(pause, 1);
      if (pauseLeft(pause) <= 0 && totalHits >= limit) startPause(pause, totalHits - limit);
    }
  };

  /** Attempts are counted one at a time, so that concurrent attempts cannot exceed the limit. */
  let last: Promise<unknown> = Promise.resolve();
  const countUnlessHeld = (attempt: Attempt, isAtHome: boolean, isRunning: boolean): Promise<Hold[]> => {
    const holds = last.then(async () => {
      const found = await readHolds(attempt, isAtHome);
      if (found.length === 0) await count(attempt, isRunning);
      return found;
    });
    last = holds.catch(() => undefined);
    return holds;
  };

  /** Returns what holds the attempt. If nothing does, the attempt is counted. */
  const admit = async (attempt: Attempt, atHome: () => Promise<boolean>, isRunning: boolean): Promise<Hold[]> => {
    const holds = await countUnlessHeld(attempt, false, isRunning);
    const isDecided = holds.length === 0 || holds.some(({ holdsAtHome }) => holdsAtHome);
    return isDecided || !(await atHome()) ? holds : countUnlessHeld(attempt, true, isRunning);
  };

  /** Waits until the attempt is admitted or must be rejected. */
  const admitInTurn = async (attempt: Attempt, atHome: () => Promise<boolean>): Promise<void> => {
    const deadline = performance.now() + longestWait;
    const left = (): number => Math.max(0, deadline - performance.now());
    const turn = await queue.acquire({
      caller: networkOf(attempt.address),
      timeout: longestWait,
      refusal: () => new NotInTimeError('the network did not get its turn'),
    });
    try {
      for (;;) {
        // A result that arrives during the admission also ends the wait.
        const { fired } = nextResult;
        const holds = await admit(attempt, atHome, true);
        if (holds.length === 0) return;
        const longest = longestOf(holds);
        if (!holds.every(({ mayEnd }) => mayEnd)) throw new HeldLoginError(failedTooOften(longest), longest);
        await limitTime(fired, left());
      }
    } finally {
      turn.release();
    }
  };

  const takeBack = async (attempt: Attempt): Promise<void> => {
    for (const { store, key, limit, pause } of countersOf(attempt)) {
      await store.decrement(key);
      const hits = (await store.get(key))?.totalHits ?? 0;
      if (hits < limit) pausedUntil.delete(pause);
      // Empty counters are removed. Otherwise, each address that was ever tried would stay in memory.
      if (hits === 0) await store.resetKey(key);
    }
  };

  const succeeded = async (attempt: Attempt): Promise<void> => {
    await takeBack(attempt);
    for (const { pause, store } of countersOf(attempt)) if (store !== stores.address) pausedUntil.delete(pause);
  };

  const end = (attempt: Attempt): void => {
    for (const { pause } of countersOf(attempt)) running.add(pause, -1);
    nextResult.fire();
    nextResult = createSignal();
  };

  return {
    async begin(attempt, atHome) {
      const holds = await admit(attempt, atHome, false);
      return holds.length === 0 ? null : longestOf(holds);
    },

    succeeded,

    async verify(attempt, atHome, check) {
      try {
        await admitInTurn(attempt, atHome);
      } catch (error) {
        throw error instanceof NotInTimeError ? new HeldLoginError(TOO_MANY_AT_ONCE, 1) : error;
      }
      try {
        const result = await check();
        if (result !== null) await succeeded(attempt);
        return result;
      } catch (error) {
        await takeBack(attempt);
        throw error;
      } finally {
        end(attempt);
      }
    },

    stop() {
      for (const store of Object.values(stores)) store.shutdown();
    },
  };
}

function newStore(): MemoryStore {
  const store = new MemoryStore();
  // The store reads only the window from the middleware options.
  store.init({ windowMs: WINDOW } as Options);
  return store;
}

function createSignal(): { fired: Promise<void>; fire: () => void } {
  let fire = (): void => undefined;
  const fired = new Promise<void>((resolve) => (fire = resolve));
  return { fired, fire };
}

const longestOf = (holds: readonly Hold[]): number => Math.max(...holds.map(({ wait }) => wait));
