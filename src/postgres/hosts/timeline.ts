/**
 * Compares the timelines of servers. PostgreSQL increases the timeline with each promotion. Of two servers that both
 * claim to be the primary, the one with the lower timeline was deposed.
 */
import { LostConnectionError } from '../errors.js';

/** SQL: the server's timeline as an integer. Null in recovery. */
export const TIMELINE = `CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL
  ELSE ('x' || pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8))::bit(32)::int END`;

/**
 * Milliseconds after which an older timeline is accepted if no newer one was seen meanwhile. The database was then
 * restored, and this is no deposed primary. Longer than a cluster needs to fence the old primary.
 */
const BELIEVED_AFTER = 60_000;

export interface TimelineGuard {
  /**
   * Compares a timeline with the newest one seen.
   * @param timeline null for a standby, which is always accepted
   * @throws LostConnectionError for a deposed primary, which must not be read or written
   */
  admit(timeline: number | null): void;
}

/** @param clock returns milliseconds */
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
