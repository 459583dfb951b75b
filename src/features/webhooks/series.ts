/* Decides how long deliveries wait during a series of changes, so that they do not slow it down. */

/** Milliseconds. */
export interface SeriesPauses {
  /** Pause after the last commit before a delivery. */
  quiet: number;
  /** The longest wait before a webhook begins to deliver its events. */
  busy: number;
  /** The longest total wait between the events that a webhook delivers in a row. */
  between: number;
}

export interface Series {
  /** Records a commit. All times are of one monotonic clock, in milliseconds. */
  noteCommit(now: number): void;
  /**
   * Returns the milliseconds that a delivery still waits. Zero or less if it need not wait.
   * @param since when the webhook began to deliver its events. Absent before it begins
   */
  computeWait(now: number, since?: number): number;
}

export function createSeries({ quiet, busy, between }: SeriesPauses): Series {
  let first = -Infinity;
  let last = -Infinity;
  return {
    noteCommit(now) {
      if (now - last > quiet) first = now;
      last = now;
    },
    // A change just after each pause begins a new series. Without `since`, a webhook with many events would never catch up.
    computeWait: (now, since = Infinity) => Math.min(last + quiet, first + busy, since + between) - now,
  };
}
