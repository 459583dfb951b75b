/** The state at the head of the log, held in memory. */
import { type LogHead, emptyHead } from '../log/head.js';
import { readEventPages } from '../log/read.js';
import type { Logger } from '../postgres/logger.js';
import type { Queryable } from '../postgres/pool.js';
import type { StoredEvent } from '../schema/events.js';
import { evolve } from '../schema/evolve.js';
import { type State, initialState } from '../schema/state.js';
import { shareNext } from './freshness.js';

/** A state with the place in the log it belongs to. */
export interface Point {
  readonly state: State;
  readonly head: LogHead;
}

export interface Store {
  /** Folds the log from its start, in pages. To be awaited once, before anything else. */
  load(): Promise<void>;
  current(): State;
  point(): Point;
  /** The state at `head` or later; reads what is missing from the log. */
  atHead(head: number): Promise<State>;
  /** Offers what was just committed. An older state than the one at hand is ignored. */
  publish(point: Point): void;
  /** Tells of every new state, in order. Returns what ends it. */
  subscribe(listener: (point: Point) => void): () => void;
  /** Takes another state than the one at hand, an older one too: the log isn't the one that was folded. */
  reset(point: Point): void;
}

export interface StoreOptions {
  pool: Queryable;
  logger: Logger;
}

/** The log doesn't continue what was folded so far: the database was restored to an earlier state, for one. */
export class LogDivergedError extends Error {
  override readonly name = 'LogDivergedError';
}

export function createStore({ pool, logger }: StoreOptions): Store {
  let point: Point | undefined;
  const listeners = new Set<(point: Point) => void>();

  const at = (): Point => {
    if (point === undefined) throw new Error('the store is not loaded');
    return point;
  };

  const replace = (next: Point): void => {
    point = next;
    for (const listener of listeners) listener(next);
  };

  const publish = (next: Point): void => {
    if (next.head.position > at().head.position) replace(next);
  };

  const load = async (): Promise<void> => {
    const started = performance.now();
    const loaded = await foldPages({ state: initialState(), head: emptyHead() }, readEventPages(pool, { after: 0 }));
    replace(loaded);
    logger.info('log folded', {
      position: loaded.head.position,
      milliseconds: Math.round(performance.now() - started),
    });
  };

  // Shared like a freshness check: who comes while one runs may know of events it has passed already.
  const catchUp = shareNext(async () => {
    const from = at();
    try {
      publish(await foldPages(from, readEventPages(pool, { after: from.head.position })));
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
      if (at().head.position < head) await catchUp();
      return at().state;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/**
 * Folds events that continue `from`.
 * @throws LogDivergedError when they don't
 */
export function foldPage(from: Point, events: readonly StoredEvent[]): Point {
  let { state, head } = from;
  for (const event of events) {
    if (event.previous_hash !== head.hash || event.position !== head.position + 1) {
      throw new LogDivergedError(`event ${event.position} does not follow position ${head.position}`);
    }
    state = evolve(state, event);
    head = { position: event.position, hash: event.hash, occurred_at: event.occurred_at };
  }
  return { state, head };
}

/** `foldPage` over pages as they come. */
export async function foldPages(from: Point, pages: AsyncIterable<StoredEvent[]>): Promise<Point> {
  let point = from;
  for await (const page of pages) point = foldPage(point, page);
  return point;
}
