/** The content of an event about a diverged log. */

/** A position in the log with the hash of its event. The hash is null if only the position was known. */
export interface LogPlace {
  position: number;
  hash: string | null;
}

/** A log that is shorter than the log seen before, or differs from it. */
export interface Divergence {
  /** The newest position seen that the log no longer contains. */
  seen: LogPlace;
  /** The end of the present log. */
  found: LogPlace;
  /**
   * Position of the newest event that both logs contain, as far as known. Nothing up to it is lost. The log may have
   * continued since, so it can be before `found`. Null if no common event is known.
   */
  fork?: number | null;
  /** ISO 8601. */
  noticed_at: string;
}
