/* Decides which position of the log may be signed. No failover may lose it, and the log must be the one seen before. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { ProblemError } from '../../kernel/problem.js';
import { unavailableProblem } from '../../postgres/errors.js';
import type { Parameterised } from '../../postgres/exchange.js';
import { SETTING_KEYS, own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import type { LogPosition } from '../../schema/model/events.js';
import {
  CHECK_COLUMNS,
  type CheckRow,
  type HeadCheck,
  toHeadCheck,
  type NotedDivergence,
  createLogDivergedProblem,
} from '../divergence.js';
import type { LogHead } from '../head.js';
import { originOf, checkpointText, signNote } from './checkpoint.js';
import type { Keys } from './keys.js';

/* Identifies the log of a database by the event that began it, see `originOf`. */

/**
 * SQL for a row with the position and hash of the event that began the log, as of `position`. There is no row if the
 * log is empty.
 */
const logBeginningSql = (position: string): string => `(
  (SELECT a.position, a.hash FROM ${own.events} a
    WHERE a.subject ->> 'kind'::text = 'log' AND a.type = 'log.acknowledged' AND a.position <= ${position}
    ORDER BY a.position DESC LIMIT 1)
  UNION ALL SELECT f.position, f.hash FROM ${own.events} f WHERE f.position = 1 AND ${position} >= 1
  ORDER BY position DESC LIMIT 1)`;

/** Null if the log has no event up to the position. */
export async function originAt(db: Queryable, position: number): Promise<string | null> {
  const { rows } = await db.query<{ hash: string }>(`SELECT b.hash FROM ${logBeginningSql('$1::bigint')} b`, [
    position,
  ]);
  return rows[0] === undefined ? null : originOf(rows[0].hash);
}

/**
 * SQL for the beginning of the log, as stored at the last signature or acknowledgement. If the whole log was replaced,
 * it no longer contains this event.
 */
const KEPT_BEGINNING = `
  SELECT (k.value ->> 'position'::text)::bigint AS position, k.value ->> 'hash'::text AS hash
    FROM ${own.settings} k WHERE k.key = '${SETTING_KEYS.logBeginning}'`;

/** Does nothing if the log does not contain the event. */
export const storeFirstEvent = ({ position, hash }: LogPosition): Parameterised => ({
  text: `INSERT INTO ${own.settings} (key, value)
         SELECT '${SETTING_KEYS.logBeginning}', pg_catalog.jsonb_build_object('position', e.position, 'hash', e.hash)
           FROM ${own.events} e WHERE e.position = $1 AND e.hash = $2
         ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
  values: [position, hash],
});

/** Returns the origin of the checkpoints signed so far. The log may no longer contain that event. */
export async function originBefore(db: Queryable, position: number): Promise<string | null> {
  const { rows } = await db.query<{ hash: string }>(KEPT_BEGINNING);
  return rows[0] === undefined ? originAt(db, position) : originOf(rows[0].hash);
}

/** The end of the log. All members are read in one snapshot. */
export interface LogEnd {
  origin: string;
  /** The event that determines the origin. */
  beginning: LogPosition;
  position: number;
  hash: string;
  /** ISO 8601. */
  occurred_at: string;
  /** A WAL position of PostgreSQL at or after the COMMIT of the event. */
  lsn: string;
}

interface HeadView {
  /** True if the server is in recovery. Checkpoints are not signed there. */
  standby: boolean;
  /** Null if the log is empty. */
  end: LogEnd | null;
  /** Its `forgotten` also covers signed positions: a stored checkpoint, or the event that began the log. */
  check: HeadCheck;
}

type LookRow = CheckRow & {
  standby: boolean;
  beginning: LogPosition | null;
  lsn: string | null;
  broken: LogPosition | null;
};

/**
 * The snapshot is taken before the WAL position is read. The position is therefore after every commit that the snapshot
 * shows. pg_current_wal_flush_lsn() would be wrong: with synchronous_commit off, an event is visible before it is
 * flushed.
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
  LEFT JOIN LATERAL ${logBeginningSql('h.position')} b ON true`;

/** Reads everything in one query and thus in one snapshot. `isKept` checks the standbys. */
async function readHeadView(db: Queryable): Promise<HeadView> {
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

interface StandbyState {
  /** The number of standbys that must have flushed the event, and the number that have. */
  there: boolean;
  /** How many standbys must have flushed the event, and how many have. */
  needed: number;
  flushed: number;
  /** True if this role may not see the progress of standbys. */
  hidden: boolean;
}

/** Programs that only archive WAL. Like logical subscribers, they cannot replace a primary. */
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
 * Checks that a failover would keep the events up to `end`. It can be repeated with the same `end`. A server that was
 * promoted since then has the event at the same WAL position, or else `there` is false.
 * @param standbys how many must have flushed it. Null requires one standby if the server has or expects any.
 */
async function isKept(db: Queryable, end: LogEnd, standbys: number | null): Promise<StandbyState> {
  const { rows } = await db.query<KeptRow>(KEPT, [end.position, end.hash, end.lsn]);
  const { there, attached, flushed, slots, hidden } = rows[0] as KeptRow;
  return { there, needed: standbys ?? Math.min(1, attached + slots), flushed, hidden };
}

/* Signs checkpoints of the log on request and publishes them to the configured target. */

interface SignedCheckpoint {
  position: number;
  /** The signed note, which is the complete file of a checkpoint. */
  note: string;
}

export interface Checkpoints {
  /**
   * Signs the newest position that may be signed. On a standby it returns the newest published checkpoint.
   * @throws ProblemError NOT_FOUND for an empty log, LOG_DIVERGED, or UNAVAILABLE if no position may be signed yet
   */
  sign(): Promise<SignedCheckpoint>;
  /**
   * Returns the newest position that may be signed. Undefined if there is nothing to sign.
   * @throws ProblemError LOG_DIVERGED, or UNAVAILABLE while standbys have not received it
   */
  signable(): Promise<LogEnd | undefined>;
  /** @returns the signed note with the current time */
  signEnd(end: LogEnd): Promise<string>;
}

export interface CheckpointOptions {
  pool: pg.Pool;
  keys: Pick<Keys, 'signer'>;
  /**
   * Number of standbys that must have flushed the signed events. Null requires one standby if the server has or expects
   * any.
   */
  standbys: number | null;
  /** Returns the end of the log that this process has folded. */
  seen: () => LogHead;
  /** Checks, before signing, that the log still contains `seen`. The caller must read `seen` before the check. */
  examine: (check: HeadCheck, seen: LogHead) => Promise<void>;
  /** True if the server is a standby, or was promoted and is not prepared for writes yet. */
  readOnly: () => boolean;
  /** Returns the divergence that must be acknowledged before anything is signed. */
  pending: () => NotedDivergence | undefined;
  clock?: () => Date;
}

/** Milliseconds to wait for standbys in total, and milliseconds between two checks of them. */
const PATIENCE = 2_000;
const LOOK_EVERY = 50;

/** Remembers the newest position that may be signed. There is no background work. */
export function createCheckpoints(options: CheckpointOptions): Checkpoints {
  const { pool, keys, standbys, clock = () => new Date() } = options;
  /** The newest position that standbys are known to have, and a later one that is not confirmed yet. */
  let kept: LogEnd | undefined;
  let waiting: LogEnd | undefined;
  /** The beginning of the log, as this process stored it in the database. */
  let beginning: string | null = null;

  const readCheckedHead = async (): Promise<HeadView> => {
    const seen = options.seen();
    const view = await readHeadView(pool);
    await options.examine(view.check, seen);
    const pending = options.pending();
    if (pending !== undefined) throw new ProblemError(createLogDivergedProblem(pending));
    return { ...view, standby: view.standby || options.readOnly() };
  };

  const signEnd = async (end: LogEnd): Promise<string> => {
    const { key, privateKey } = await keys.signer();
    if (beginning !== end.beginning.hash) {
      const { text, values } = storeFirstEvent(end.beginning);
      await pool.query(text, values as unknown[]);
      beginning = end.beginning.hash;
    }
    const now = clock().toISOString();
    // If the clock was set back, the checkpoint gets the time of its event.
    const time = now < end.occurred_at ? end.occurred_at : now;
    return signNote(checkpointText({ ...end, time }), key, privateKey);
  };

  /** Waits briefly until `end` may be signed. @returns the last check */
  const settle = async (end: LogEnd): Promise<StandbyState> => {
    const until = performance.now() + PATIENCE;
    for (;;) {
      const isHeadKept = await isKept(pool, end, standbys);
      if (!isHeadKept.there || isEnough(isHeadKept) || performance.now() + LOOK_EVERY > until) return isHeadKept;
      await sleep(LOOK_EVERY);
    }
  };

  /** Checks again the position that an earlier call waited for. Standbys may have reached it by now. */
  const recheckWaiting = async (end: LogEnd): Promise<void> => {
    const seen = waiting ?? end;
    const isSeenKept = seen.origin === end.origin ? await isKept(pool, seen, standbys) : undefined;
    if (isSeenKept !== undefined && isEnough(isSeenKept)) kept = seen;
    waiting = isSeenKept?.there === true && !isEnough(isSeenKept) ? seen : end;
  };

  /** Returns the newest position up to `end` that may be signed. It is an earlier one if standbys are behind. */
  const findNewestKept = async (end: LogEnd): Promise<LogEnd | StandbyState> => {
    const headView = await settle(end);
    if (isEnough(headView)) return (kept = end);
    await recheckWaiting(end);
    const usable = kept?.origin === end.origin && (await isKept(pool, kept, standbys)).there;
    return kept !== undefined && usable ? kept : headView;
  };

  return {
    signEnd,
    sign: async () => {
      const { standby, end } = await readCheckedHead();
      if (end === null) {
        throw new ProblemError({ code: 'NOT_FOUND', message: 'The log is empty, so no checkpoint can be signed yet.' });
      }
      const newest = standby ? undefined : await findNewestKept(end);
      if (newest !== undefined && 'hash' in newest) return { position: newest.position, note: await signEnd(newest) };
      const published = await newestNote(pool, end.origin);
      if (published !== undefined) return published;
      throw new ProblemError(unavailableProblem(newest === undefined ? ON_STANDBY : explainNotSigned(newest)));
    },
    signable: async () => {
      const { standby, end } = await readCheckedHead();
      if (standby || end === null) return undefined;
      const signableHead = await findNewestKept(end);
      if ('hash' in signableHead) return signableHead;
      throw new ProblemError(unavailableProblem(explainNotSigned(signableHead)));
    },
  };
}

const isEnough = ({ there, flushed, needed }: StandbyState): boolean => there && flushed >= needed;

const ON_STANDBY = 'A standby signs no checkpoints, and none has been published yet. Ask the primary.';

function explainNotSigned({ there, needed, flushed, hidden }: StandbyState): string {
  if (!there) return 'The log has just forked. No checkpoint was signed. Try again.';
  const wanted = `${needed} ${needed === 1 ? 'standby' : 'standbys'} must have flushed a position before it is signed`;
  if (hidden) {
    return `${wanted}, and the database does not show their progress. GRANT pg_read_all_stats to the role of the service.`;
  }
  return `${wanted}, and ${flushed === 0 ? 'none has' : `only ${flushed} have`} (CHECKPOINT_WAIT_FOR_STANDBYS).`;
}

async function newestNote(pool: pg.Pool, origin: string): Promise<SignedCheckpoint | undefined> {
  const { rows } = await pool.query<SignedCheckpoint>(
    `SELECT position, note FROM ${own.checkpoints} WHERE origin = $1 ORDER BY position DESC LIMIT 1`,
    [origin],
  );
  return rows[0];
}
