/** Points in time of the log: a position, a timestamp, or now. */
import { isStorableTime } from '../../kernel/time.js';
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';

export type Moment = { kind: 'now' } | { kind: 'position'; position: number } | { kind: 'time'; time: Date };

export const NOW: Moment = { kind: 'now' };

const POSITION = /^\d{1,15}$/;
const TIME = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d))?$/i;

/** Parses `42`, `2026-11-21T08:05:03Z`, `2026-11-21` (midnight, UTC) or `now`. Null for anything else. */
export function readMoment(text: string): Moment | null {
  if (text === 'now') return NOW;
  if (POSITION.test(text)) return { kind: 'position', position: Number(text) };
  // An unencoded plus sign arrives as a space.
  const [, date, time, zone] = TIME.exec(text.replace(/ (?=\d\d:\d\d$)/, '+')) ?? [];
  if (date === undefined) return null;
  const read = new Date(time === undefined ? `${date}T00:00:00Z` : `${date}T${time}${zone}`.toUpperCase());
  if (!isStorableTime(read) || !isDay(date)) return null;
  return { kind: 'time', time: read };
}

/** Date would read 30 February as 2 March. */
function isDay(date: string): boolean {
  const read = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(date);
}

/** Returns the position of the last event at or before a time, or 0. Times never decrease along the log. */
export async function positionAt(db: Queryable, time: Date, head: number): Promise<number> {
  const { rows } = await db.query<{ position: number }>(
    `SELECT position FROM ${own.events} WHERE occurred_at <= $1 AND position <= $2
      ORDER BY occurred_at DESC, position DESC LIMIT 1`,
    [time.toISOString(), head],
  );
  return rows[0]?.position ?? 0;
}

/** Returns the position of the last event before a time. A time after the last storable one is after every event. */
export async function positionBefore(db: Queryable, time: Date): Promise<number> {
  const { rows } = await db.query<{ position: number }>(
    `SELECT position FROM ${own.events} WHERE occurred_at < $1 ORDER BY occurred_at DESC, position DESC LIMIT 1`,
    [isStorableTime(time) ? time.toISOString() : 'infinity'],
  );
  return rows[0]?.position ?? 0;
}

/** True if an event occurred at the time or later. */
export async function isReached(db: Queryable, time: Date): Promise<boolean> {
  const { rowCount } = await db.query(`SELECT FROM ${own.events} WHERE occurred_at >= $1 LIMIT 1`, [
    time.toISOString(),
  ]);
  return rowCount === 1;
}
