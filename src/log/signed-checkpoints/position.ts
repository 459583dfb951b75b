/* Decides which position of the log may be signed: no failover can lose it, and the log is the one seen before. */
import { CHECK_COLUMNS, type CheckRow, type HeadCheck, toHeadCheck } from '../divergence.js';
import type { LogPlace } from '../../schema/model/events.js';
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import { originOf } from './checkpoint.js';
import type { Parameterised } from '../../postgres/exchange.js';

/* Identifies the log of a database by the event that began it, see `originOf`. */

/** A row with position and hash of the event that began the log as of `position`. No row for an empty log. */
const beginningAt = (position: string): string => `(
  (SELECT a.position, a.hash FROM ${own.events} a
    WHERE a.subject ->> 'kind'::text = 'log' AND a.type = 'log.acknowledged' AND a.position <= ${position}
    ORDER BY a.position DESC LIMIT 1)
  UNION ALL SELECT f.position, f.hash FROM ${own.events} f WHERE f.position = 1 AND ${position} >= 1
  ORDER BY position DESC LIMIT 1)`;

/** Null if the log has no event up to the position. */
export async function originAt(db: Queryable, position: number): Promise<string | null> {
  const { rows } = await db.query<{ hash: string }>(`SELECT b.hash FROM ${beginningAt('$1::bigint')} b`, [position]);
  return rows[0] === undefined ? null : originOf(rows[0].hash);
}

const KEY = 'log_beginning';

/**
 * A row with position and hash of the event that began the log at the last signature or acknowledgement. A log that was
 * replaced as a whole no longer contains it.
 */
const KEPT_BEGINNING = `
  SELECT (k.value ->> 'position'::text)::bigint AS position, k.value ->> 'hash'::text AS hash
    FROM ${own.settings} k WHERE k.key = '${KEY}'`;

/** Changes nothing if the log has no such event. */
export const keepBeginning = ({ position, hash }: LogPlace): Parameterised => ({
  text: `INSERT INTO ${own.settings} (key, value)
         SELECT '${KEY}', pg_catalog.jsonb_build_object('position', e.position, 'hash', e.hash)
           FROM ${own.events} e WHERE e.position = $1 AND e.hash = $2
         ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
  values: [position, hash],
});

/** Returns the origin of checkpoints signed so far. The log may no longer contain the event. */
export async function originBefore(db: Queryable, position: number): Promise<string | null> {
  const { rows } = await db.query<{ hash: string }>(KEPT_BEGINNING);
  return rows[0] === undefined ? originAt(db, position) : originOf(rows[0].hash);
}

/** The end of the log, read at one time. */
export interface LogEnd {
  origin: string;
  /** The event that determines the origin. */
  beginning: LogPlace;
  position: number;
  hash: string;
  /** ISO 8601. */
  occurred_at: string;
  /** A WAL position of PostgreSQL at or after the COMMIT of the event. */
  lsn: string;
}

export interface Look {
  /** True if the server is in recovery. Nothing is signed there. */
  standby: boolean;
  /** Null if the log is empty. */
  end: LogEnd | null;
  /** A forgotten position may also be one that was signed: a stored checkpoint, or the event that began the log. */
  check: HeadCheck;
}

type LookRow = CheckRow & {
  standby: boolean;
  beginning: LogPlace | null;
  lsn: string | null;
  broken: LogPlace | null;
};

/**
 * The snapshot is older than the WAL position, so the position is behind every commit that the snapshot shows.
 * pg_current_wal_flush_lsn() fails here: with synchronous_commit off an event is visible before it is flushed.
 */
const LOOK = `
SELECT h.position, h.hash, h.occurred_at, pg_is_in_recovery() AS standby,
       CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_insert_lsn() END::text AS lsn,
       pg_catalog.json_build_object('position', b.position, 'hash', b.hash) AS beginning,
       (SELECT pg_catalog.json_build_object('position', s.position, 'hash', s.hash)
          FROM (SELECT c.position, c.hash FROM ${own.checkpoints} c WHERE c.origin = $1 || b.hash
                UNION ALL ${KEPT_BEGINNING}) s
         WHERE (SELECT e.hash = s.hash FROM ${own.events} e WHERE e.position = s.position) IS NOT TRUE
         ORDER BY s.position DESC LIMIT 1) AS broken,
       ${CHECK_COLUMNS}
  FROM (SELECT) one
  LEFT JOIN LATERAL (SELECT position, hash, occurred_at FROM ${own.events} ORDER BY position DESC LIMIT 1) h ON true
  LEFT JOIN LATERAL ${beginningAt('h.position')} b ON true`;

/** Reads everything in one query, so that it belongs to one snapshot. `isKept` checks the standbys. */
export async function lookAtEnd(db: Queryable): Promise<Look> {
  const { rows } = await db.query<LookRow>(LOOK, [originOf('')]);
  const row = rows[0] as LookRow;
  const check = toHeadCheck(row);
  return { standby: row.standby, end: toLogEnd(row), check: { ...check, forgotten: check.forgotten ?? row.broken } };
}

function toLogEnd({ position, hash, occurred_at, beginning, lsn }: LookRow): LogEnd | null {
  if (position === null || hash === null || occurred_at === null || !beginning?.hash) return null;
  const origin = originOf(beginning.hash);
  return { origin, beginning, position, hash, occurred_at: occurred_at.toISOString(), lsn: lsn ?? '0/0' };
}

export interface Kept {
  /** True if the log still contains the event and this server is the primary. */
  there: boolean;
  /** Number of standbys that must have flushed the event, and that have. */
  needed: number;
  flushed: number;
  /** True if PostgreSQL hides the progress of standbys from this role. */
  hidden: boolean;
}

/** Programs that only archive WAL cannot replace a primary. Neither can logical subscribers. */
const RECEIVERS = `'pg_basebackup', 'pg_receivewal', 'barman_receive_wal'`;

const KEPT = `
WITH standby AS (
  SELECT r.flush_lsn FROM pg_catalog.pg_stat_replication r
   WHERE r.application_name NOT IN (${RECEIVERS})
     AND NOT EXISTS (SELECT FROM pg_catalog.pg_replication_slots s
                      WHERE s.active_pid = r.pid AND (s.slot_type = 'logical' OR s.temporary)))
SELECT NOT pg_is_in_recovery() AND EXISTS (SELECT FROM ${own.events} WHERE position = $1 AND hash = $2) AS there,
       (SELECT count(*)::int FROM standby) AS attached,
       (SELECT count(*)::int FROM standby WHERE flush_lsn >= $3::pg_lsn) AS flushed,
       (SELECT count(*)::int FROM pg_catalog.pg_replication_slots
         WHERE slot_type = 'physical' AND NOT temporary) AS slots,
       NOT pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE') AS hidden`;

interface KeptRow {
  there: boolean;
  attached: number;
  flushed: number;
  slots: number;
  hidden: boolean;
}

/**
 * Checks that a failover would keep the events up to `end`. A repeated call needs no other `end`: a server promoted
 * since has the event at the same WAL position, or `there` is false.
 * @param standbys how many must have flushed it. Null requires one if the server has or expects one.
 */
export async function isKept(db: Queryable, end: LogEnd, standbys: number | null): Promise<Kept> {
  const { rows } = await db.query<KeptRow>(KEPT, [end.position, end.hash, end.lsn]);
  const { there, attached, flushed, slots, hidden } = rows[0] as KeptRow;
  return { there, needed: standbys ?? Math.min(1, attached + slots), flushed, hidden };
}
