/** Returns the state at any position by folding forward from the nearest known state. */
import { runShared } from '../../kernel/scheduler.js';
import { createSemaphore } from '../../kernel/semaphore.js';
import type { Queryable } from '../../postgres/pool.js';
import { type Point, foldLog, startPoint } from '../../log/fold.js';
import type { Store } from '../state-store.js';
import type { StoredFolds } from '../stored-folds/index.js';

export interface TimeTravel {
  /** Returns the state after the event at `position`, which must be in the log. 0 is the empty state. */
  at(position: number): Promise<Point>;
}

export interface TimeTravelOptions {
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
