/* Returns the state at any position by folding forward from the nearest known state. */
import { runShared } from '../../kernel/scheduler.js';
import { createSemaphore } from '../../kernel/semaphore.js';
import type { Queryable } from '../../postgres/pool.js';
import { type Point, foldLog, startPoint } from '../../log/fold.js';
import type { Store } from '../state-store.js';
import type { StoredFolds } from '../stored-folds.js';
import { isStorableTime } from '../../kernel/time.js';
import { own } from '../../postgres/own-tables.js';

/* Points in time of the log: a position, a timestamp, or now. */

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

export interface TimeTravel {
  /** Returns the state after the event at `position`, which must be in the log. 0 is the empty state. */
  at(position: number): Promise<Point>;
}

interface TimeTravelOptions {
  pool: Queryable;
  store: Pick<Store, 'point' | 'subscribe'>;
  folds: StoredFolds;
}

/** Recently requested states are cached, and later requests fold from the nearest one. */
const KEPT = { points: 8, collections: 10_000 } as const;

/** Concurrent folds. Each holds a state and uses the CPU fully. */
const AT_ONCE = 2;

/** Concurrent requests for the same position share one fold. Folds of different positions wait for one of two slots. */
export function createTimeTravel({ pool, store, folds }: TimeTravelOptions): TimeTravel {
  const kept = new Map<number, Point>();
  const running = new Map<number, Promise<Point>>();
  const semaphore = createSemaphore(AT_ONCE);

  // The cached states belong to the replaced log.
  store.subscribe((_point, replaced) => {
    if (replaced) kept.clear();
  });

  const remember = (point: Point): void => {
    kept.delete(point.head.position);
    kept.set(point.head.position, point);
    let collections = [...kept.values()].reduce((sum, each) => sum + each.state.collections.size, 0);
    for (const [position, { state }] of kept) {
      if (kept.size <= KEPT.points && (collections <= KEPT.collections || kept.size === 1)) return;
      kept.delete(position);
      collections -= state.collections.size;
    }
  };

  const nearestKept = (position: number): Point => {
    let nearest = startPoint();
    for (const point of kept.values()) {
      const { position: at } = point.head;
      if (at <= position && at > nearest.head.position) nearest = point;
    }
    return nearest;
  };

  const travel = async (position: number): Promise<Point> => {
    const permit = await semaphore.acquire();
    try {
      const near = nearestKept(position);
      const from = (await folds.nearest(position, near.head.position)) ?? near;
      const stops = { next: folds.nextStop, reached: folds.offer };
      const point = await foldLog(pool, from, { upTo: position, stops });
      remember(point);
      return point;
    } finally {
      permit.release();
    }
  };

  return {
    async at(position) {
      const now = store.point();
      if (now.head.position === position) return now;
      const found = position === 0 ? startPoint() : kept.get(position);
      if (found !== undefined) return found;
      let under = running.get(position);
      if (under === undefined) {
        under = runShared(() => travel(position)).finally(() => running.delete(position));
        running.set(position, under);
      }
      return under;
    },
  };
}
