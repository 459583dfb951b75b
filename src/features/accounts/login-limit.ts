/**
 * Delays failed logins. Each process counts separately, so two processes double the limit. Beyond a limit, one attempt
 * may proceed from time to time, so that failed logins cannot lock a user out. Rejected attempts do not count, so that
 * another client cannot extend the wait.
 */
import { ipKeyGenerator, MemoryStore, type Options } from 'express-rate-limit';

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

interface Attempt {
  address: string;
  email: string;
}

export interface LoginLimit {
  /**
   * Counts an attempt. Returns the number of seconds to wait, or null if the attempt may proceed.
   * @param atHome tells if the user's last login came from the same network. Called only if the result matters.
   */
  begin(attempt: Attempt, atHome: () => Promise<boolean>): Promise<number | null>;
  /** Uncounts the attempt, because only failures count, and ends the pauses that the user's failures started. */
  succeeded(attempt: Attempt): Promise<void>;
  stop(): void;
}

/** Returns the unit that counts as one address: an IPv4 address, or the network of an IPv6 address. */
export function networkOf(address: string): string {
  return ipKeyGenerator(address);
}

/**
 * Creates a limit that counts failures in memory, each for 15 minutes after the first.
 * @param limits for tests
 */
export function createLoginLimit(limits: Record<keyof typeof FAILURES, number> = FAILURES): LoginLimit {
  const stores = { pair: newStore(), address: newStore(), email: newStore() };

  /** When the next attempt of a counter may proceed, in milliseconds since 1970. */
  const pausedUntil = new Map<string, number>();

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

  /** @param beyond failures beyond the limit */
  const startPause = (pause: string, beyond: number): void => {
    const now = Date.now();
    for (const [each, until] of pausedUntil) if (until <= now) pausedUntil.delete(each);
    pausedUntil.set(pause, now + Math.min(PAUSE.longest, PAUSE.first * 2 ** beyond));
  };

  /** Attempts are counted one at a time, because the store returns live counters. */
  let last: Promise<unknown> = Promise.resolve();
  const count = (attempt: Attempt): Promise<{ holdsAtHome: boolean; wait: number }[]> => {
    const counted = last.then(async () => {
      const pausing: { holdsAtHome: boolean; wait: number }[] = [];
      const starting: [pause: string, beyond: number][] = [];
      for (const { store, key, limit, holdsAtHome, pause } of countersOf(attempt)) {
        const { totalHits } = await store.increment(key);
        const left = (pausedUntil.get(pause) ?? 0) - Date.now();
        if (left > 0) pausing.push({ holdsAtHome, wait: Math.ceil(left / 1000) });
        else if (totalHits >= limit) starting.push([pause, totalHits - limit]);
      }
      // An attempt that must wait starts no pause.
      if (!pausing.some(({ holdsAtHome }) => holdsAtHome)) for (const each of starting) startPause(...each);
      return pausing;
    });
    last = counted.catch(() => undefined);
    return counted;
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

  return {
    async begin(attempt, atHome) {
      // The attempt is counted first and uncounted after a success, so that concurrent attempts cannot exceed the
      // limit.
      const pausing = await count(attempt);
      if (pausing.length === 0) return null;
      const holds = pausing.some(({ holdsAtHome }) => holdsAtHome) || !(await atHome());
      if (!holds) return null;
      await takeBack(attempt);
      return Math.max(...pausing.map(({ wait }) => wait));
    },

    async succeeded(attempt) {
      await takeBack(attempt);
      for (const { pause, store } of countersOf(attempt)) if (store !== stores.address) pausedUntil.delete(pause);
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
