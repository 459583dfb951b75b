/**
 * Limits failed logins per process, so two processes double the limit. Rejected attempts are not counted, so that
 * another client cannot extend a user's lockout.
 */
import { ipKeyGenerator, MemoryStore, type Options } from 'express-rate-limit';

/** 15 minutes, in milliseconds. */
const WINDOW = 15 * 60 * 1000;

/**
 * Failures allowed per window. `pair` stops a client that tries passwords, `address` one that tries users, `email`
 * one with many addresses. The last two would also lock out the owner, so they do not apply to the network of the
 * user's last login.
 */
const FAILURES = { pair: 10, address: 50, email: 100 } as const;

export interface Attempt {
  address: string;
  email: string;
}

export interface LoginLimit {
  /**
   * Counts an attempt. Returns seconds to wait, or null if it may proceed.
   * @param atHome whether the user's last login came from the same network; called only if it decides
   */
  begin(attempt: Attempt, atHome: () => Promise<boolean>): Promise<number | null>;
  /** Removes the attempt again, because only failures count. */
  succeeded(attempt: Attempt): Promise<void>;
  stop(): void;
}

/** The unit that counts as one address: an IPv4 address, or the network of an IPv6 address. */
export function networkOf(address: string): string {
  return ipKeyGenerator(address);
}

/**
 * Failures are counted in memory, each for 15 minutes after the first.
 * @param limits for tests
 */
export function createLoginLimit(limits: Record<keyof typeof FAILURES, number> = FAILURES): LoginLimit {
  const stores = { pair: newStore(), address: newStore(), email: newStore() };

  const countersOf = ({ address, email }: Attempt) => {
    const network = networkOf(address);
    const user = email.toLowerCase();
    return [
      { store: stores.pair, key: `${network} ${user}`, limit: limits.pair, holdsAtHome: true },
      { store: stores.address, key: network, limit: limits.address, holdsAtHome: false },
      { store: stores.email, key: user, limit: limits.email, holdsAtHome: false },
    ];
  };

  /**
   * Counts the attempt and returns the exceeded counters. Attempts run one at a time, because the store returns live
   * counters.
   */
  let last: Promise<unknown> = Promise.resolve();
  const count = (attempt: Attempt): Promise<{ holdsAtHome: boolean; wait: number }[]> => {
    const counted = last.then(async () => {
      const over: { holdsAtHome: boolean; wait: number }[] = [];
      for (const { store, key, limit, holdsAtHome } of countersOf(attempt)) {
        const { totalHits, resetTime } = await store.increment(key);
        if (totalHits > limit) over.push({ holdsAtHome, wait: secondsUntil(resetTime) });
      }
      return over;
    });
    last = counted.catch(() => undefined);
    return counted;
  };

  const takeBack = async (attempt: Attempt): Promise<void> => {
    for (const { store, key } of countersOf(attempt)) {
      await store.decrement(key);
      // Removes empty counters; otherwise every address that is tried once would stay in memory.
      if ((await store.get(key))?.totalHits === 0) await store.resetKey(key);
    }
  };

  return {
    async begin(attempt, atHome) {
      // Counts first and undoes it later, so that concurrent attempts cannot exceed the limit.
      const over = await count(attempt);
      if (over.length === 0) return null;
      const holds = over.some(({ holdsAtHome }) => holdsAtHome) || !(await atHome());
      if (!holds) return null;
      await takeBack(attempt);
      return Math.max(...over.map(({ wait }) => wait));
    },

    succeeded: takeBack,

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

function secondsUntil(time: Date | undefined): number {
  return time ? Math.max(1, Math.ceil((time.getTime() - Date.now()) / 1000)) : WINDOW / 1000;
}
