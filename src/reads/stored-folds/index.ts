/**
 * Stored folds: states along the log, written in the background and verified by hash. They only save work. A wrong one
 * is deleted and written again by the next fold.
 */
import type { Logger } from '../../postgres/logger.js';
import type { Queryable } from '../../postgres/pool.js';
import { REFUSE_OLDER_RELEASE } from '../../postgres/release-guard.js';
import type { Point } from '../../log/fold.js';
import { deleteFold, foldPositions, insertFold, readFold } from './table.js';

export interface StoredFolds {
  /** Returns the newest valid one after `above` and at or before `position`. */
  nearest(position: number, above?: number): Promise<Point | undefined>;
  /** Returns the position after `from` at which the next point is worth storing. */
  nextStop(from: Point): number;
  /** Stores a point in the background, unless there is one nearby. */
  offer(point: Point): void;
  /** Resolves when nothing is being stored. */
  idle(): Promise<void>;
  /** Stores `last` if that is fast and finishes running writes. Nothing is stored afterwards. */
  close(last?: Point): Promise<void>;
}

export interface StoredFoldsOptions {
  pool: Queryable;
  logger: Logger;
  /** The secret of the service. Folds written with another secret are discarded. */
  secret: string;
  /** True while the database is read-only. Nothing is stored or deleted then. */
  readOnly?: () => boolean;
  /** Events between stored folds, by the number of collections. */
  interval?: (collections: number) => number;
}

/**
 * The cost of a fold grows with the collections, and its benefit grows with the events. An interval of as many events
 * as collections keeps both in balance.
 */
const INTERVAL = (collections: number): number => Math.min(50_000, Math.max(5_000, collections));

/** Points waiting to be stored. Each holds a state in memory. */
const MAX_WAITING = 4;

/** Maximum collections of a state that is stored at shutdown, and minimum events that make it worthwhile. */
const AT_THE_END = { collections: 2_000, events: 1_000 } as const;

/** Failed writes are logged and skipped. Wrong folds are logged and deleted. */
export function createStoredFolds(options: StoredFoldsOptions): StoredFolds {
  const { pool, logger, secret, readOnly = () => false, interval = INTERVAL } = options;
  const waiting: Point[] = [];
  let known: number[] | undefined;
  let running: Promise<void> | undefined;
  let closed = false;

  /** Other processes store folds too, so the list is a hint and is read again before each write. */
  const list = async (): Promise<number[]> => (known = await foldPositions(pool));

  const before = (position: number): number => known?.findLast((each) => each <= position) ?? 0;

  const isDue = ({ state, head }: Point, events = interval(state.collections.size)): boolean => {
    const after = known?.find((each) => each > head.position);
    // Requires half an interval to the next later fold, so that new folds lie between remaining ones.
    const farFromNext = after === undefined || after - head.position >= events / 2;
    return head.position - before(head.position) >= events && farFromNext;
  };

  const store = async (point: Point, events?: number): Promise<void> => {
    try {
      await list();
      if (!isDue(point, events)) return;
      const started = performance.now();
      await pool.query(REFUSE_OLDER_RELEASE.text);
      await insertFold(pool, point, secret);
      await list();
      const milliseconds = Math.round(performance.now() - started);
      logger.debug('fold stored', { position: point.head.position, milliseconds });
    } catch (error) {
      logger.warn('a fold could not be stored', { position: point.head.position, error });
    }
  };

  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await store(next);
    running = undefined;
  };

  const offer = (point: Point): void => {
    if (closed || readOnly() || waiting.length >= MAX_WAITING || !isDue(point)) return;
    const last = waiting.at(-1)?.head.position;
    if (last !== undefined && point.head.position - last < interval(point.state.collections.size)) return;
    waiting.push(point);
    running ??= work();
  };

  const nearest = async (position: number, above = 0): Promise<Point | undefined> => {
    const candidates = (await list()).filter((each) => each > above && each <= position);
    for (const candidate of candidates.reverse()) {
      const fold = await readFold(pool, candidate, secret);
      if (fold !== null && 'state' in fold) return fold;
      if (fold === null) continue;
      logger.warn('a stored fold is wrong; it is thrown away', { position: candidate, why: fold.why });
      if (!readOnly()) await deleteFold(pool, candidate);
      known = known?.filter((each) => each !== candidate);
    }
    return undefined;
  };

  return {
    nearest,
    nextStop: (from) => from.head.position + interval(from.state.collections.size),
    offer,
    idle: async () => running,
    close: async (last) => {
      closed = true;
      await running;
      if (last !== undefined && !readOnly() && last.state.collections.size <= AT_THE_END.collections) {
        await store(last, AT_THE_END.events);
      }
    },
  };
}
