/** The state at the head of the log, held in memory. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../postgres/logger.js';
import type { Queryable } from '../postgres/pool.js';
import type { State } from '../schema/state.js';
import { LogDivergedError, type Point, foldLog, startPoint } from './fold-log.js';
import { shareNext } from './freshness.js';
import type { StoredFolds } from './stored-folds/index.js';

export { LogDivergedError, type Point, foldPage, foldPages } from './fold-log.js';

export interface Store {
  /** Folds the log, from the newest stored fold on. To be awaited once, before anything else. */
  load(): Promise<void>;
  current(): State;
  point(): Point;
  /** The state at `head` or later; reads what is missing from the log. */
  atHead(head: number): Promise<State>;
  /** Offers what was just committed. An older state than the one at hand is ignored. */
  publish(point: Point): void;
  /**
   * Tells that `point` is being committed and will be published before `ended` settles, if it is: whoever sees it in the
   * database before waits for that, and doesn't read from the log what is at hand.
   */
  expect(point: Point, ended: Promise<unknown>): void;
  /** Tells of every new state, in order. Returns what ends it. */
  subscribe(listener: (point: Point) => void): () => void;
  /** Takes another state than the one at hand, an older one too: the log isn't the one that was folded. */
  reset(point: Point): void;
}

export interface StoreOptions {
  pool: Queryable;
  logger: Logger;
  /** Where to begin, and where to leave states on the way; without, every start folds the whole log. */
  folds?: StoredFolds;
}

/** Milliseconds after which a commit that the database shows, and whose answer isn't here yet, is read like any other. */
const SOON = 1_000;

/** Ends with `ended`, or a little later without it. */
async function soon(ended: Promise<unknown>): Promise<void> {
  const waiting = new AbortController();
  await Promise.race([ended, sleep(SOON, undefined, { signal: waiting.signal }).catch(() => undefined)]);
  waiting.abort();
}

export function createStore({ pool, logger, folds }: StoreOptions): Store {
  let point: Point | undefined;
  let expected: { position: number; ended: Promise<unknown> } | undefined;
  const listeners = new Set<(point: Point) => void>();

  const at = (): Point => {
    if (point === undefined) throw new Error('the store is not loaded');
    return point;
  };

  const replace = (next: Point): void => {
    point = next;
    for (const listener of listeners) listener(next);
    folds?.offer(next);
  };

  const publish = (next: Point): void => {
    if (next.head.position > at().head.position) replace(next);
  };

  const load = async (): Promise<void> => {
    const started = performance.now();
    const from = (await folds?.nearest(Infinity)) ?? startPoint();
    const stops = folds && { next: folds.nextStop, reached: folds.offer };
    const loaded = await foldLog(pool, from, stops && { stops });
    replace(loaded);
    logger.info('log folded', {
      position: loaded.head.position,
      from: from.head.position,
      milliseconds: Math.round(performance.now() - started),
    });
  };

  // Shared like a freshness check: who comes while one runs may know of events it has passed already.
  const catchUp = shareNext(async () => {
    const from = at();
    try {
      publish(await foldLog(pool, from));
    } catch (error) {
      if (!(error instanceof LogDivergedError)) throw error;
      logger.error('the log is not the one that was folded; folding it anew', { position: from.head.position });
      await load();
    }
  });

  return {
    load,
    reset: replace,
    current: () => at().state,
    point: at,
    publish,
    atHead: async (head) => {
      const isBehind = () => at().head.position < head;
      if (isBehind() && expected !== undefined && expected.position <= head) await soon(expected.ended);
      if (isBehind()) await catchUp();
      return at().state;
    },
    expect: ({ head: { position } }, ended) => {
      const over = () => {
        if (expected === coming) expected = undefined;
      };
      const coming = { position, ended: ended.then(over, over) };
      expected = coming;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
