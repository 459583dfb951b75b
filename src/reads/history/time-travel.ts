/* Returns the state at any position by folding forward from the nearest known state. */
import { runShared } from '../../kernel/scheduler.js';
import { createSemaphore } from '../../kernel/semaphore.js';
import type { Queryable } from '../../postgres/pool.js';
import { type Point, foldCollections, foldLog, createStartPoint } from '../../log/fold.js';
import type { LogHead } from '../../log/head.js';
import { reindex, renameIndexes } from '../../schema/fold/replace-names.js';
import { type State, initialState } from '../../schema/model/state.js';
import type { Store } from '../state-store.js';
import type { StoredFolds } from '../stored-folds.js';
import { isStorableTime } from '../../kernel/time.js';
import { own } from '../../postgres/own-tables.js';

/* A point in time of the log: a position, a timestamp, or now. */

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

/** `Date` would accept 30 February and return 2 March. */
function isDay(date: string): boolean {
  const read = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(date);
}

/** Returns the position of the last event at or before a time, or 0. Times never decrease along the log. */
export async function findPositionAt(db: Queryable, time: Date, head: number): Promise<number> {
  const { rows } = await db.query<{ position: number }>(
    `SELECT position FROM ${own.events} WHERE occurred_at <= $1 AND position <= $2
      ORDER BY occurred_at DESC, position DESC LIMIT 1`,
    [time.toISOString(), head],
  );
  return rows[0]?.position ?? 0;
}

/**
 * Returns the position of the last event before a time. The time may be later than any timestamp that PostgreSQL can
 * store.
 */
export async function findPositionBefore(db: Queryable, time: Date): Promise<number> {
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

/* Reads some collections at a position. */

/** Returns the collections that foreign keys reference and that the state does not contain. */
const findMissingTargets = ({ collections }: State): Set<string> =>
  new Set(
    [...collections.values()]
      .flatMap(({ relations }) => [...relations.values()])
      .flatMap(({ one_collection: one, schema }) => (schema === null || one === null ? [] : [one]))
      .filter((one) => !collections.has(one)),
  );

/** Adds the collections that foreign keys reference. Documents show the columns of their primary keys. */
async function withTargets(db: Queryable, state: State, position: number): Promise<State | undefined> {
  const missing = findMissingTargets(state);
  const targets = missing.size === 0 ? initialState() : await foldCollections(db, missing, position);
  if (targets === undefined) return undefined;
  let { collections, referencedBy, indexNames } = state;
  for (const [name, node] of targets.collections) {
    if (!missing.has(name)) continue;
    collections = collections.set(name, node);
    referencedBy = reindex(referencedBy, name, undefined, node.relations);
    indexNames = renameIndexes(indexNames, [{ collection: name, before: undefined, after: node }]);
  }
  return { ...state, position, collections, referencedBy, indexNames };
}

async function readHead(db: Queryable, position: number): Promise<LogHead> {
  const { rows } = await db.query<{ hash: string; occurred_at: Date }>(
    `SELECT hash, occurred_at FROM ${own.events} WHERE position = $1`,
    [position],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`position ${position} is not in the log`);
  return { position, hash: row.hash, occurred_at: row.occurred_at.toISOString() };
}

async function collectionsAt(db: Queryable, names: Iterable<string>, position: number): Promise<Point | undefined> {
  const folded = foldCollections(db, names, position).then((state) => state && withTargets(db, state, position));
  const [state, head] = await Promise.all([folded, readHead(db, position)]);
  return state && { state, head };
}

export interface TimeTravel {
  /** Returns the state after the event at `position`, which must be in the log. 0 is the empty state. */
  at(position: number): Promise<Point>;
  /** Returns at least the collections with these names at the position, and those that their foreign keys reference. */
  collectionsAt(names: Iterable<string>, position: number): Promise<Point>;
}

interface TimeTravelOptions {
  pool: Queryable;
  store: Pick<Store, 'point' | 'subscribe'>;
  folds: StoredFolds;
}

/** Size of the cache of recently requested states. A later request folds from the nearest one. */
const KEPT = { points: 8, collections: 10_000 } as const;

/** Maximum number of concurrent folds. Each one holds a state in memory and uses a CPU fully. */
const AT_ONCE = 2;

/** Concurrent requests for one position share a fold. At most `AT_ONCE` folds run at the same time. */
export function createTimeTravel({ pool, store, folds }: TimeTravelOptions): TimeTravel {
  const kept = new Map<number, Point>();
  const running = new Map<number, Promise<Point>>();
  const semaphore = createSemaphore(AT_ONCE);

  // The cached states belong to the log that was replaced.
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

  const findNearestKept = (position: number): Point => {
    let nearest = createStartPoint();
    for (const point of kept.values()) {
      const { position: at } = point.head;
      if (at <= position && at > nearest.head.position) nearest = point;
    }
    return nearest;
  };

  const foldTo = async (position: number): Promise<Point> => {
    const permit = await semaphore.acquire();
    try {
      const near = findNearestKept(position);
      const from = (await folds.nearest(position, near.head.position)) ?? near;
      const stops = { next: folds.nextStop, reached: folds.offer };
      const point = await foldLog(pool, from, { upTo: position, stops });
      remember(point);
      return point;
    } finally {
      permit.release();
    }
  };

  /** Returns the state at a position if it is in memory. */
  const findKnown = (position: number): Point | undefined => {
    const now = store.point();
    if (now.head.position === position) return now;
    return position === 0 ? createStartPoint() : kept.get(position);
  };

  const at = async (position: number): Promise<Point> => {
    const cached = findKnown(position);
    if (cached !== undefined) return cached;
    let under = running.get(position);
    if (under === undefined) {
      under = runShared(() => foldTo(position)).finally(() => running.delete(position));
      running.set(position, under);
    }
    return under;
  };

  return {
    at,
    collectionsAt: async (names, position) =>
      findKnown(position) ?? (await collectionsAt(pool, names, position)) ?? at(position),
  };
}
