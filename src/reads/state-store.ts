/** The state at the head of the log, held in memory. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../postgres/logger.js';
import type { Queryable } from '../postgres/pool.js';
import type { State } from '../schema/model/state.js';
import { UnreadableEventError } from '../schema/fold/upcasting.js';
import { LogDivergedError, type Point, broken, foldLog, startPoint } from '../log/fold.js';
import type { StoredFolds } from './stored-folds/index.js';
import { shareNext } from '../kernel/share-next.js';

export { LogDivergedError, type Point, foldPage, foldPages } from '../log/fold.js';

export interface Store {
  /**
   * Folds the log, from the newest stored fold on. To be awaited once, before anything else. A log that can't be read to
   * its end is said in the service's log, and by `unreadable`.
   */
  load(): Promise<void>;
  current(): State;
  point(): Point;
  /**
   * The state at `head` or later; reads what is missing from the log.
   * @throws UnreadableEventError where an event up to there can't be read
   */
  atHead(head: number): Promise<State>;
  /** Why the log can't be read to its end; undefined: it can. */
  unreadable(): UnreadableEventError | undefined;
  /** Folds the log again: it is not the one that `from` was folded of. */
  reload(from: Point): Promise<void>;
  /**
   * Offers what was just committed. An older state than the one at hand is ignored.
   * @param base what it was folded from: ignored as well where another log has taken the place of that one since
   */
  publish(point: Point, base?: Point): void;
  /**
   * Tells that `point` is being committed and will be published before `ended` settles, if it is: a reader that sees it in the
   * database before waits for that, and doesn't read from the log what is at hand.
   */
  expect(point: Point, ended: Promise<unknown>): void;
  /** Tells of every new state, in order; `replaced`: of another log than the one before. Returns what ends it. */
  subscribe(listener: StoreListener): () => void;
  /** Takes another state than the one at hand, an older one too: the log isn't the one that was folded. */
  reset(point: Point): void;
}

export type StoreListener = (point: Point, replaced: boolean) => void;

export interface StoreOptions {
  pool: Queryable;
  /** Told, before it is folded again, that the log doesn't go on from where this process is. */
  onReplaced?: (from: Point) => Promise<void>;
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

/**
 * A log that can't be read is looked at again after that many milliseconds, or ten times as long as the last look took: it
 * may have been mended in place.
 */
const LOOK_AGAIN = 2_000;

/**
 * Empty until `load`: before that the state is asked for in vain. @throws Error from `point` and `atHead` where it
 * isn't loaded
 */
export function createStore({ pool, logger, folds, onReplaced }: StoreOptions): Store {
  let point: Point | undefined;
  let failure: { error: UnreadableEventError; again: number } | undefined;
  let expected: { position: number; ended: Promise<unknown> } | undefined;
  const listeners = new Set<StoreListener>();
  /** Points of the log at hand: two histories are never mixed. */
  let lineage = new WeakSet<Point>();

  const at = (): Point => {
    if (point === undefined) throw new Error('the store is not loaded');
    return point;
  };

  const replace = (next: Point, replaced: boolean): void => {
    if (replaced) lineage = new WeakSet();
    lineage.add(next);
    point = next;
    failure = undefined;
    for (const listener of listeners) listener(next, replaced);
    folds?.offer(next);
  };

  const publish = (next: Point, base?: Point): void => {
    if (base !== undefined && !lineage.has(base)) return;
    if (next.head.position > at().head.position) replace(next, false);
  };

  /** What can't be read is kept as the reason; anything else is thrown. */
  const readably = async (work: () => Promise<void>): Promise<void> => {
    const started = performance.now();
    try {
      await work();
      failure = undefined;
    } catch (error) {
      if (!(error instanceof UnreadableEventError)) throw error;
      const now = performance.now();
      if (failure?.error.message !== error.message) {
        logger.error('the log can not be read to its end', { position: error.position, reason: error.message });
      }
      failure = { error, again: now + Math.max(LOOK_AGAIN, 10 * (now - started)) };
    }
  };

  const load = async (): Promise<void> => {
    const started = performance.now();
    const from = (await folds?.nearest(Infinity)) ?? startPoint();
    const stops = folds && { next: folds.nextStop, reached: folds.offer };
    const replaced = point !== undefined;
    point ??= startPoint();
    const loaded = await foldLog(pool, from, stops && { stops }).catch((error: unknown) => {
      // Nothing of another log is answered, also where this one can't be.
      if (replaced) replace(from, true);
      throw broken(error);
    });
    replace(loaded, replaced);
    logger.info('log folded', {
      position: loaded.head.position,
      from: from.head.position,
      milliseconds: Math.round(performance.now() - started),
    });
  };

  // Shared like a freshness check: a request that comes while one runs may know of events it has passed already.
  const catchUp = shareNext(async () => {
    const from = at();
    try {
      await readably(async () => publish(await foldLog(pool, from), from));
    } catch (error) {
      if (!(error instanceof LogDivergedError)) throw error;
      await reload(from);
    }
  });

  const reload = async (from: Point): Promise<void> => {
    await onReplaced?.(from);
    logger.warn('folding the log again', { position: from.head.position });
    // Another caller may have done it meanwhile.
    if (at() === from) await readably(load);
  };

  return {
    load: () => readably(load),
    reload,
    unreadable: () => failure?.error,
    reset: (next) => replace(next, true),
    current: () => at().state,
    point: at,
    publish,
    atHead: async (head) => {
      const isBehind = () => at().head.position < head;
      if (isBehind() && expected !== undefined && expected.position <= head) await soon(expected.ended);
      if (isBehind() && (failure === undefined || performance.now() > failure.again)) await catchUp();
      if (isBehind() && failure !== undefined) throw failure.error;
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
