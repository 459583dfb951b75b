/** How often a login may fail. Counted in this process: a second process doubles the number, not the order of it. */
import { ipKeyGenerator, MemoryStore, type Options } from 'express-rate-limit';

/** 15 minutes, in milliseconds. */
const WINDOW = 15 * 60 * 1000;

/**
 * Failures allowed within the window. The pair stops somebody who tries passwords; the address, somebody who tries
 * users; the e-mail, somebody with many addresses. The last is generous, because it locks the user out as well.
 */
const FAILURES = { pair: 10, address: 50, email: 100 } as const;

export interface LoginLimit {
  /** Counts an attempt. Seconds to wait, or null when it may go ahead. */
  begin(address: string, email: string): Promise<number | null>;
  /** Takes the attempt back: only failures count. */
  succeeded(address: string, email: string): Promise<void>;
  stop(): void;
}

export function createLoginLimit(limits: Record<keyof typeof FAILURES, number> = FAILURES): LoginLimit {
  const stores = { pair: newStore(), address: newStore(), email: newStore() };

  const countersOf = (address: string, email: string) => {
    const network = ipKeyGenerator(address);
    const user = email.toLowerCase();
    return [
      { store: stores.pair, key: `${network} ${user}`, limit: limits.pair },
      { store: stores.address, key: network, limit: limits.address },
      { store: stores.email, key: user, limit: limits.email },
    ];
  };

  return {
    async begin(address, email) {
      let wait: number | null = null;
      for (const { store, key, limit } of countersOf(address, email)) {
        const { totalHits, resetTime } = await store.increment(key);
        if (totalHits > limit) wait = Math.max(wait ?? 1, secondsUntil(resetTime));
      }
      return wait;
    },

    async succeeded(address, email) {
      for (const { store, key } of countersOf(address, email)) await store.decrement(key);
    },

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
