/* Queries the state of a server over a separate connection. */
import pg from 'pg';
import { sqlState, LostConnectionError } from '../errors.js';
import type { SessionAttrs } from './address.js';

/*
 * Compares the timelines of servers. PostgreSQL increases the timeline with each promotion. Of two servers that both
 * claim to be the primary, the one with the lower timeline was deposed.
 */

/** SQL: the server's timeline as an integer. Null in recovery. */
export const TIMELINE = `CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL
  ELSE ('x' || pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 8))::bit(32)::int END`;

/**
 * Milliseconds after which an older timeline is accepted if no newer one was seen since. The server is then a restored
 * database, not a former primary. This is longer than a cluster needs to fence the old primary.
 */
const BELIEVED_AFTER = 60_000;

interface TimelineGuard {
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
          `the server is no longer the primary: it is on timeline ${timeline}, and timeline ${newest} exists`,
        );
      }
      newest = timeline;
      seen = now;
    },
  };
}

/** The state that a server reports about itself. */
export interface ProbedServer {
  /** True in recovery, when it accepts no writes. */
  standby: boolean;
  /** True if transactions of new sessions are read-only. */
  readOnly: boolean;
  /** Increases with each promotion. Null on a standby. */
  timeline: number | null;
}

export type Probed = { found: ProbedServer } | { error: Error };

/** Milliseconds to wait for an answer. A stopped server process accepts connections without answering. */
const LIMIT = 1_500;

const QUESTION = `
  SELECT pg_catalog.pg_is_in_recovery() AS standby,
         pg_catalog.pg_is_in_recovery() OR pg_catalog.current_setting('default_transaction_read_only')::boolean AS "readOnly",
         ${TIMELINE} AS timeline`;

/** @param connectionString an address with one host */
export async function probe(connectionString: string): Promise<Probed> {
  const client = new pg.Client({
    connectionString,
    application_name: 'data-platform-service probe',
    connectionTimeoutMillis: LIMIT,
    query_timeout: LIMIT,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<ProbedServer>(QUESTION);
    return { found: rows[0] as ProbedServer };
  } catch (error) {
    return { error: error as Error };
  } finally {
    client.end().catch(() => undefined);
  }
}

/** True if a server matches `target_session_attrs`. `prefer-standby` accepts all, standbys first. */
export function matchesAttributes({ standby, readOnly }: ProbedServer, attrs: SessionAttrs): boolean {
  switch (attrs) {
    case 'read-write':
      return !readOnly;
    case 'read-only':
      return readOnly;
    case 'primary':
      return !standby;
    case 'standby':
      return standby;
    default:
      return true;
  }
}

/**
 * True if the server rejects the connection for a reason other than starting, stopping or being full. Waiting does not
 * help.
 */
export function isRefusal(error: Error): boolean {
  const state = sqlState(error);
  return state !== undefined && /^(?:28|3D|42)/.test(state);
}
