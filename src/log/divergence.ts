/**
 * Detects a log that is no longer the one seen before. A failover or a restored backup may have lost its tail, or
 * someone rewrote it. The process that notices this writes to service_divergences, where every head check of every
 * process finds it.
 */
import type { Queryable } from '../postgres/pool.js';
import type { Divergence, LogPosition } from '../schema/model/events.js';
import type { Problem } from '../kernel/problem.js';
import { TIMELINE } from '../postgres/hosts/choose-host.js';
import { own } from '../postgres/own-tables.js';
import { GENESIS_HASH } from './head.js';

/** The result of a head check, all read in one statement. */
export interface HeadCheck {
  /** The end of the log. The hash of an empty log is 64 zeros. */
  head: { position: number; hash: string };
  /** The newest checkpoint of a projection that the log does not contain. Null if the log contains all of them. */
  forgotten: LogPosition | null;
  /** Divergences that are recorded and not acknowledged. Null if there are none. */
  pending: NotedDivergence[] | null;
  /** Id of the newest acknowledged divergence. 0 if there is none. */
  acknowledged: number;
  /** Timeline of the PostgreSQL server, which increases with each promotion. Null on a standby. */
  timeline: number | null;
}

/** A position with the hash of its event. */
export interface HashedPosition {
  position: number;
  hash: string;
}

/** A row of service_divergences. */
export interface NotedDivergence extends Divergence {
  id: number;
}

const NOTED = `'id', d.id, 'seen', pg_catalog.json_build_object('position', d.seen_position, 'hash', d.seen_hash),
  'found', pg_catalog.json_build_object('position', d.found_position, 'hash', d.found_hash), 'fork', d.fork_position,
  'noticed_at', pg_catalog.to_char(d.noticed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * True if the log acknowledges the row `d`. Only the event counts, not the columns of the row. EXISTS is not used
 * because the planner turns it into a join: it expects hundreds of rows in the usually empty table of divergences, and
 * scans the whole log.
 */
const ACKNOWLEDGED = `(SELECT a.type = 'log.acknowledged' FROM ${own.events} a WHERE a.position = d.acknowledged) IS TRUE`;

/**
 * Columns of a head check, for a query whose FROM clause names the last event `h`. Every read and every change runs
 * this query. It therefore looks up events only by position (see `ACKNOWLEDGED`).
 */
export const CHECK_COLUMNS = `
  (SELECT pg_catalog.json_build_object('position', p.position, 'hash', p.hash) FROM ${own.projections} p
    WHERE p.position > 0 AND (SELECT p.hash IS NULL OR e.hash = p.hash
                                FROM ${own.events} e WHERE e.position = p.position) IS NOT TRUE
    ORDER BY p.position DESC LIMIT 1) AS forgotten,
  (SELECT pg_catalog.json_agg(pg_catalog.json_build_object(${NOTED}) ORDER BY d.id) FROM ${own.divergences} d
    WHERE NOT ${ACKNOWLEDGED}) AS pending,
  (SELECT coalesce(pg_catalog.max(d.id), 0) FROM ${own.divergences} d WHERE ${ACKNOWLEDGED}) AS acknowledged,
  ${TIMELINE} AS timeline`;

/**
 * Returns one row with a head check and the time of the last event. The members of the head are null for an empty log.
 */
export const CHECK_QUERY = `
SELECT h.position, h.hash, h.occurred_at, ${CHECK_COLUMNS}
  FROM (SELECT) one LEFT JOIN LATERAL (
    SELECT position, hash, occurred_at FROM ${own.events} ORDER BY position DESC LIMIT 1) h ON true`;

export type CheckRow = Omit<HeadCheck, 'head'> & {
  position: number | null;
  hash: string | null;
  occurred_at: Date | null;
};

/** Converts a row. The head of an empty log is position 0 with the hash that precedes the first event. */
export function toHeadCheck(row: CheckRow): HeadCheck {
  const { position, hash, forgotten, pending, acknowledged, timeline } = row;
  return { head: { position: position ?? 0, hash: hash ?? GENESIS_HASH }, forgotten, pending, acknowledged, timeline };
}

/** Checks the head of the log in one round trip and writes nothing. `LogWatch` reports and records divergences. */
export async function checkHead(db: Queryable): Promise<HeadCheck> {
  const { rows } = await db.query<CheckRow>(CHECK_QUERY);
  return toHeadCheck(rows[0] as CheckRow);
}

/** True if the log contains an event with this position and hash. @param hash the whole hash or a prefix */
export async function isInLog(db: Queryable, { position, hash }: { position: number; hash: string }): Promise<boolean> {
  if (position === 0) return GENESIS_HASH.startsWith(hash);
  const { rowCount } = await db.query(
    `SELECT FROM ${own.events} WHERE position = $1 AND pg_catalog.starts_with(hash, $2)`,
    [position, hash],
  );
  return rowCount === 1;
}

/** True if the log no longer continues the events that a process has folded up to `seen`. */
export function isReplaced({ head }: Pick<HeadCheck, 'head'>, seen: { position: number; hash: string }): boolean {
  // A later head must descend from `seen`. The fold checks that when it reads the events.
  return head.position < seen.position || (head.position === seen.position && head.hash !== seen.hash);
}

const COVERED = `
SELECT pg_catalog.json_build_object(${NOTED}) AS noted FROM ${own.divergences} d
 WHERE ${ACKNOWLEDGED} AND d.seen_position >= $1 AND d.id > $2 ORDER BY d.id DESC LIMIT 1`;

const NOTE = `
INSERT INTO ${own.divergences} (seen_position, seen_hash, found_position, found_hash, fork_position)
SELECT $1, $2, $3, $4, (SELECT pg_catalog.max(e.position) FROM ${own.events} e
                          JOIN ROWS FROM (pg_catalog.unnest($5::bigint[]), pg_catalog.unnest($6::text[])) known (position, hash) USING (position, hash))
ON CONFLICT DO NOTHING`;

const PENDING = `
SELECT pg_catalog.json_build_object(${NOTED}) AS noted FROM ${own.divergences} d WHERE NOT ${ACKNOWLEDGED} ORDER BY d.id`;

/**
 * Records that the log does not contain `seen`. A process may have been suspended during a divergence and its
 * acknowledgement. What it saw is covered by that acknowledgement and is not recorded again.
 * @param since the newest acknowledged divergence when `seen` was last known to be in the log
 * @param path earlier positions before `seen`, to find where the two logs fork
 * @returns the recorded row
 */
export async function noteDivergence(
  db: Queryable,
  {
    seen,
    found,
    since,
    path,
  }: { seen: LogPosition; found: LogPosition; since: number; path: readonly HashedPosition[] },
): Promise<NotedDivergence | undefined> {
  const covered = await findAcknowledgedSince(db, { seen, since });
  if (covered !== undefined) return covered;
  const [positions, hashes] = [path.map(({ position }) => String(position)), path.map(({ hash }) => hash)];
  await db.query(NOTE, [seen.position, seen.hash, found.position, found.hash, positions, hashes]);
  const pending = await readPendingDivergences(db);
  return pending.find((each) => each.seen.position === seen.position && each.seen.hash === seen.hash);
}

/** Returns the divergence, acknowledged after `since`, that covers the loss of `seen`. Only reads. */
export async function findAcknowledgedSince(
  db: Queryable,
  { seen, since }: { seen: LogPosition; since: number },
): Promise<NotedDivergence | undefined> {
  const { rows } = await db.query<{ noted: NotedDivergence }>(COVERED, [seen.position, since]);
  return rows[0]?.noted;
}

/** Returns the divergences that are not acknowledged, in the order in which they were detected. */
export async function readPendingDivergences(db: Queryable): Promise<NotedDivergence[]> {
  const { rows } = await db.query<{ noted: NotedDivergence }>(PENDING);
  return rows.map(({ noted }) => noted);
}

/** Returns those of the ids whose rows no longer exist. Only an acknowledging event may remove a row. */
export async function findMissingDivergences(db: Queryable, ids: readonly number[]): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `SELECT id FROM pg_catalog.unnest($1::bigint[]) id WHERE NOT EXISTS (SELECT FROM ${own.divergences} d WHERE d.id = id.id)`,
    [ids.map(String)],
  );
  return rows.map(({ id }) => id);
}

/** Converts a row to the form in which the acknowledging event records it. */
export function toDivergence({ seen, found, fork = null, noticed_at }: Divergence): Divergence {
  return { seen, found, fork, noticed_at };
}

/** Creates the problem for every change until the divergence is acknowledged. */
export function createLogDivergedProblem({ seen, found }: Pick<Divergence, 'seen' | 'found'>): Problem {
  const what =
    found.position < seen.position
      ? `it had continued to position ${seen.position}, and ends at ${found.position} now`
      : `position ${seen.position} now has a different event`;
  return {
    code: 'LOG_DIVERGED',
    message:
      `The log has forked: ${what}. The service rejects changes until you verify the log ` +
      '(GET /history/verify) and acknowledge the fork (dps acknowledge-log, or POST /history/acknowledge).',
    details: { seen, found },
  };
}

export interface AcknowledgedLog {
  position: number;
  divergences: Divergence[];
}

/** Reads the events of the log, because rows in other tables may be lost. */
export async function readAcknowledgements(db: Queryable): Promise<AcknowledgedLog[]> {
  const { rows } = await db.query<{ position: number; data: unknown }>(
    `SELECT position, data FROM ${own.events}
      WHERE subject ->> 'kind'::text = 'log' AND type = 'log.acknowledged' ORDER BY position`,
  );
  return rows.map(({ position, data }) => ({ position, divergences: parseDivergences(data) }));
}

/**
 * Returns the divergences that an acknowledging event names. An attacker who rewrites the log can store anything there,
 * so malformed data is ignored.
 */
export function parseDivergences(data: unknown): Divergence[] {
  const { divergences } = (data ?? {}) as { divergences?: unknown };
  if (!Array.isArray(divergences)) return [];
  return (divergences as (Partial<Divergence> | null)[]).filter(
    (each): each is Divergence => isPlace(each?.seen) && isPlace(each?.found),
  );
}

const isPlace = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'position' in value && typeof value.position === 'number';
