/**
 * A log that isn't the one that was seen: its tail is gone (a failover, a restored backup), or it was rewritten.
 * The process that notices records it in service_divergences, where every head check of every process finds it.
 */
import type { Queryable } from '../postgres/pool.js';
import type { Divergence, LogPlace } from '../schema/model/events.js';
import type { Problem } from '../kernel/problem.js';
import { TIMELINE } from '../postgres/hosts/timeline.js';
import { own } from '../postgres/own-tables.js';
import { GENESIS_HASH } from './head.js';

/** What a look at the end of the log tells: all of one moment. */
export interface HeadCheck {
  /** The end of the log; 64 zeros in an empty one. */
  head: { position: number; hash: string };
  /** The newest checkpoint of a projection that isn't in the log; null: all are. */
  forgotten: LogPlace | null;
  /** Written down and not acknowledged; null: none. */
  pending: NotedDivergence[] | null;
  /** The newest divergence that was acknowledged: its id, 0 for none. */
  acknowledged: number;
  /** Of the server that was asked; null: it is a standby. */
  timeline: number | null;
}

/** A place whose event is known. */
export interface Place {
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
 * Whether the log acknowledges the row `d`. Only the event counts, whatever the row says. A scalar subquery, because
 * the planner turns EXISTS into a join: it expects hundreds of rows in the empty table of divergences and then scans the
 * whole log for them.
 */
const ACKNOWLEDGED = `(SELECT a.type = 'log.acknowledged' FROM ${own.events} a WHERE a.position = d.acknowledged) IS TRUE`;

/**
 * Columns of a head check, for a query whose FROM holds the last event as `h`. Every read and every change runs it, so
 * the log is only looked up by position: see `ACKNOWLEDGED`.
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

/** One row: a head check, and the last event's time. The members of an empty log's head are null. */
export const CHECK_QUERY = `
SELECT h.position, h.hash, h.occurred_at, ${CHECK_COLUMNS}
  FROM (SELECT) one LEFT JOIN LATERAL (
    SELECT position, hash, occurred_at FROM ${own.events} ORDER BY position DESC LIMIT 1) h ON true`;

/** The row of `CHECK_QUERY`. */
export type CheckRow = Omit<HeadCheck, 'head'> & {
  position: number | null;
  hash: string | null;
  occurred_at: Date | null;
};

/** An empty log's head is position 0 with the hash that the first event follows. */
export function toHeadCheck(row: CheckRow): HeadCheck {
  const { position, hash, forgotten, pending, acknowledged, timeline } = row;
  return { head: { position: position ?? 0, hash: hash ?? GENESIS_HASH }, forgotten, pending, acknowledged, timeline };
}

/** In one round trip. It only looks: what is found is told and written down by the watch. */
export async function checkHead(db: Queryable): Promise<HeadCheck> {
  const { rows } = await db.query<CheckRow>(CHECK_QUERY);
  return toHeadCheck(rows[0] as CheckRow);
}

/** Whether a place is one of this log. @param hash whole, or its first digits */
export async function isInLog(db: Queryable, { position, hash }: { position: number; hash: string }): Promise<boolean> {
  if (position === 0) return GENESIS_HASH.startsWith(hash);
  const { rowCount } = await db.query(
    `SELECT FROM ${own.events} WHERE position = $1 AND pg_catalog.starts_with(hash, $2)`,
    [position, hash],
  );
  return rowCount === 1;
}

/** Whether a process that has folded the log up to `seen` finds another log than that one. */
export function isReplaced({ head }: Pick<HeadCheck, 'head'>, seen: { position: number; hash: string }): boolean {
  // What comes after it has to continue it, and is held against it when it is read.
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
 * Writes down that `seen` isn't in the log. A process that slept through a divergence and its acknowledgement saw a part
 * of what was acknowledged then: that is not written down again.
 * @param since the newest acknowledged divergence that was known when `seen` was still in the log
 * @param path places of the log that `seen` was the end of: where the two part
 * @returns the row that says so
 */
export async function noteDivergence(
  db: Queryable,
  { seen, found, since, path }: { seen: LogPlace; found: LogPlace; since: number; path: readonly Place[] },
): Promise<NotedDivergence | undefined> {
  const covered = await acknowledgedSince(db, { seen, since });
  if (covered !== undefined) return covered;
  const [positions, hashes] = [path.map(({ position }) => String(position)), path.map(({ hash }) => hash)];
  await db.query(NOTE, [seen.position, seen.hash, found.position, found.hash, positions, hashes]);
  const pending = await pendingDivergences(db);
  return pending.find((each) => each.seen.position === seen.position && each.seen.hash === seen.hash);
}

/** What was acknowledged after `since`, and covers the loss of `seen`. Only reads. */
export async function acknowledgedSince(
  db: Queryable,
  { seen, since }: { seen: LogPlace; since: number },
): Promise<NotedDivergence | undefined> {
  const { rows } = await db.query<{ noted: NotedDivergence }>(COVERED, [seen.position, since]);
  return rows[0]?.noted;
}

/** What is written down and not acknowledged, in the order it was noticed. */
export async function pendingDivergences(db: Queryable): Promise<NotedDivergence[]> {
  const { rows } = await db.query<{ noted: NotedDivergence }>(PENDING);
  return rows.map(({ noted }) => noted);
}

/** Which of the rows are there no more: only an event may remove one. */
export async function missingDivergences(db: Queryable, ids: readonly number[]): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `SELECT id FROM pg_catalog.unnest($1::bigint[]) id WHERE NOT EXISTS (SELECT FROM ${own.divergences} d WHERE d.id = id.id)`,
    [ids.map(String)],
  );
  return rows.map(({ id }) => id);
}

/** As the event that acknowledges it names it. */
export function toDivergence({ seen, found, fork = null, noticed_at }: Divergence): Divergence {
  return { seen, found, fork, noticed_at };
}

/** Nothing is changed before it is acknowledged. */
export function logDiverged({ seen, found }: Pick<Divergence, 'seen' | 'found'>): Problem {
  const what =
    found.position < seen.position
      ? `it went on to position ${seen.position}, and ends at ${found.position} now`
      : `position ${seen.position} is not the event that it was`;
  return {
    code: 'LOG_DIVERGED',
    message:
      `The log is not the one that was seen: ${what}. Nothing is changed until somebody has looked at it ` +
      '(GET /history/verify) and acknowledged it: dps acknowledge-log, or POST /history/acknowledge.',
    details: { seen, found },
  };
}

/** An event that acknowledges divergences. */
export interface AcknowledgedLog {
  position: number;
  divergences: Divergence[];
}

/** Of the log itself: what is written down elsewhere may be gone. */
export async function readAcknowledgements(db: Queryable): Promise<AcknowledgedLog[]> {
  const { rows } = await db.query<{ position: number; data: unknown }>(
    `SELECT position, data FROM ${own.events}
      WHERE subject ->> 'kind'::text = 'log' AND type = 'log.acknowledged' ORDER BY position`,
  );
  return rows.map(({ position, data }) => ({ position, divergences: divergencesIn(data) }));
}

/** What an event names that acknowledges. Whoever can rewrite a log can write anything there: of another shape it is none. */
export function divergencesIn(data: unknown): Divergence[] {
  const { divergences } = (data ?? {}) as { divergences?: unknown };
  if (!Array.isArray(divergences)) return [];
  return (divergences as (Partial<Divergence> | null)[]).filter(
    (each): each is Divergence => isPlace(each?.seen) && isPlace(each?.found),
  );
}

const isPlace = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'position' in value && typeof value.position === 'number';
