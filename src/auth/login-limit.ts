/**
 * How often a login may fail. Counted in this process: a second process doubles the number, not the order of it. What is
 * refused here isn't counted, so another client that goes on trying locks no user out for longer.
 */
import { ipKeyGenerator, MemoryStore, type Options } from 'express-rate-limit';

/** 15 minutes, in milliseconds. */
const WINDOW = 15 * 60 * 1000;

/**
 * Failures allowed within the window. The pair stops a client that tries passwords; the address, one that tries
 * users; the e-mail, one with many addresses. The last two would lock out the owner as well: they don't hold
 * where the user's last login came from.
 */
const FAILURES = { pair: 10, address: 50, email: 100 } as const;

export interface Attempt {
  address: string;
  email: string;
}

export interface LoginLimit {
  /**
   * Counts an attempt that may go ahead. Seconds to wait, or null.
   * @param atHome whether the user's last login came from the same network; asked only where it decides
   */
  begin(attempt: Attempt, atHome: () => Promise<boolean>): Promise<number | null>;
  /** Takes the attempt back: only failures count. */
  succeeded(attempt: Attempt): Promise<void>;
  stop(): void;
}

/** What counts as one address: an IPv4 address, or the network that one holder of IPv6 addresses has. */
export function networkOf(address: string): string {
  return ipKeyGenerator(address);
}

/** Failures are counted in memory, each for 15 minutes from its first one. @param limits for tests */
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
   * Counts the attempt and gives the counters that are over their limit. One attempt after another, because the store
   * answers with counters that later attempts go on counting in.
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
      // What counts nothing is forgotten: otherwise every address that is tried once would stay in memory.
      if ((await store.get(key))?.totalHits === 0) await store.resetKey(key);
    }
  };

  return {
    async begin(attempt, atHome) {
      // Counted first and taken back, not looked up first: of many at once no more than the limit get through.
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
  // The store reads nothing but the window from the options of the middleware that it was made for.
  store.init({ windowMs: WINDOW } as Options);
  return store;
}

function secondsUntil(time: Date | undefined): number {
  return time ? Math.max(1, Math.ceil((time.getTime() - Date.now()) / 1000)) : WINDOW / 1000;
}
