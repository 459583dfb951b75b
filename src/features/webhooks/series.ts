/* Decides how long deliveries wait during a series of changes, so that they do not slow it down. */

/** Milliseconds. */
export interface SeriesPauses {
  /** Pause after the last commit before a delivery. */
  quiet: number;
  /** The longest wait for such a pause before the first delivery of a series. */
  busy: number;
  /** The longest wait for such a pause between two deliveries of a webhook. */
  between: number;
  /** How long a webhook delivers slowly. Afterwards it delivers its remaining events without waiting. */
  slow: number;
}

/** All times are of one monotonic clock, in milliseconds. */
export interface Series {
  noteCommit(now: number): void;
  /**
   * Returns the milliseconds that the next delivery still waits. Zero or less if it need not wait.
   * @param since when the webhook began to deliver its events. Absent before it begins
   * @param previous when the previous delivery ended. Absent before the first one
   */
  computeWait(now: number, since?: number, previous?: number): number;
}

export function createSeries({ quiet, busy, between, slow }: SeriesPauses): Series {
  let first = -Infinity;
  let last = -Infinity;
  return {
    noteCommit(now) {
      if (now - last > quiet) first = now;
      last = now;
    },
    computeWait(now, since = Infinity, previous = -Infinity) {
      const longest = Math.max(first + busy, previous + between);
      // A series may never end, and a change just after each pause begins a new one. A webhook with many events would
      // then never catch up.
      return Math.min(last + quiet, longest, since + slow) - now;
    },
  };
}
