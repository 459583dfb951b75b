/** What an event says of a log that was found to be another one. */

/** A place in the log: `hash` is that of the event there; null where only the position was known. */
export interface LogPlace {
  position: number;
  hash: string | null;
}

/** A log that was found to be shorter than, or other than, what was seen of it. */
export interface Divergence {
  /** The newest place of the log that was seen, and that is not in it any more. */
  seen: LogPlace;
  /** The end of the log that was found instead. */
  found: LogPlace;
  /**
   * Position of the newest event that is in both, as far as whoever noticed it remembers: nothing up to there is lost. The
   * log may have gone on since, so it is not always the end that was found. Null: nothing in common is remembered.
   */
  fork?: number | null;
  /** ISO 8601. */
  noticed_at: string;
}
