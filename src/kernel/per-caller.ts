/** Counts units per caller. */
export interface Counts {
  /** A negative count subtracts. */
  add(caller: string, count: number): void;
  of(caller: string): number;
  total(): number;
}

export function createCounts(): Counts {
  const counts = new Map<string, number>();
  let total = 0;
  return {
    add(caller, count) {
      const now = (counts.get(caller) ?? 0) + count;
      if (now === 0) counts.delete(caller);
      else counts.set(caller, now);
      total += count;
    },
    of: (caller) => counts.get(caller) ?? 0,
    total: () => total,
  };
}

/** Returns a function that calls `act` on its first call only. */
export function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}
