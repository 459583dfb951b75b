/**
 * Which history a server is on. PostgreSQL counts the timeline up with each promotion, so of two servers that both
 * believe to be the primary, the one with the lower number is the one that was deposed.
 */
import { LostConnectionError } from '../errors.js';

/** SQL: the server's timeline as an integer; null while it is in recovery. */
export const TIMELINE = `CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL
  ELSE ('x' || pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8))::bit(32)::int END`;

/**
 * Milliseconds after which an older timeline is believed, when none newer was seen meanwhile: then it isn't a deposed
 * primary that comes back, it is a database that was restored. Longer than a cluster takes to fence the old one.
 */
const BELIEVED_AFTER = 60_000;

export interface TimelineGuard {
  /**
   * Compares what a server says with the newest timeline that was seen.
   * @param timeline null: it is a standby, which promises nothing
   * @throws LostConnectionError from a deposed primary: nothing is read from it, or written
   */
  admit(timeline: number | null): void;
}

/** @param clock milliseconds */
export function createTimelineGuard(clock: () => number = () => performance.now()): TimelineGuard {
  let newest = 0;
  let seen = -Infinity;
  return {
    admit(timeline) {
      if (timeline === null) return;
      const now = clock();
      if (timeline < newest && now - seen < BELIEVED_AFTER) {
        throw new LostConnectionError(
          `the server is a primary that was deposed: it is on timeline ${timeline}, and ${newest} was seen`,
        );
      }
      newest = timeline;
      seen = now;
    },
  };
}
