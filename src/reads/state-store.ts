/* Holds the state at the head of the log in memory. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../postgres/logger.js';
import type { Queryable } from '../postgres/pool.js';
import type { LogEvent } from '../schema/model/events.js';
import type { State } from '../schema/model/state.js';
import { UnreadableEventError } from '../schema/fold/upcasting.js';
import { LogDivergedError, type Point, toUnreadable, foldLog, createStartPoint } from '../log/fold.js';
import type { StoredFolds } from './stored-folds.js';
import { shareNext } from '../kernel/memoize.js';
import { ProblemError } from '../kernel/problem.js';
import type { HeadCheck } from '../log/divergence.js';
import type { LogHead } from '../log/head.js';
import type { LogWatch } from '../log/watch.js';
import { unavailableProblem } from '../postgres/errors.js';
import type { ServerRole } from '../postgres/server.js';
import type { FreshnessOptions } from './freshness.js';

export { type Point } from '../log/fold.js';

export interface Store {
  /**
   * Folds the log, starting at the newest stored fold. Await this once before any other call. If the log cannot be read
   * to its end, the error is logged and `unreadable` returns it.
   */
  load(): Promise<void>;
  current(): State;
  point(): Point;
  /**
   * Returns the state at `head` or later, and reads missing events from the log.
   * @throws UnreadableEventError if an event up to there cannot be read
   */
  atHead(head: number): Promise<State>;
  /** Returns the error that prevents reading the log to its end, or undefined. */
  unreadable(): UnreadableEventError | undefined;
  /** Folds the log again, because it is no longer the log that `from` was folded from. */
  reload(from: Point): Promise<void>;
  /**
   * Publishes a committed state. Ignores it if the current state is newer.
   * @param base the state that it was folded from. It is also ignored if `base` belongs to a log that was replaced.
   * @param events the events after `base`, if the caller has them
   */
  publish(point: Point, base?: Point, events?: readonly LogEvent[]): void;
  /**
   * Announces that `point` is being committed and will be published before `ended` settles. A reader that sees it in
   * the database first waits for it instead of reading the log.
   * @param patience milliseconds that the reader waits at most
   */
  expect(point: Point, ended: Promise<unknown>, patience: number): void;
  /** Reports every new state in order. Returns the function that unsubscribes. */
  subscribe(listener: StoreListener): () => void;
  /** Replaces the state, even by an older one, because the log was replaced. */
  reset(point: Point): void;
}

/**
 * @param replaced true if the state belongs to another log
 * @param events all events since the previous state, so that listeners can skip irrelevant changes. Undefined if
 * another process committed them.
 */
export type StoreListener = (point: Point, replaced: boolean, events?: readonly LogEvent[]) => void;

interface StoreOptions {
  pool: Queryable;
  /** Called before folding again, when the log does not continue the events of this process. */
  onReplaced?: (from: Point) => Promise<void>;
  logger: Logger;
  /** Stored folds to start from. New ones are added. Without them, every start folds the whole log. */
  folds?: StoredFolds;
}

/** Resolves with `ended`, or after `patience` milliseconds without it. */
async function waitBriefly(ended: Promise<unknown>, patience: number): Promise<void> {
  const waiting = new AbortController();
  await Promise.race([ended, sleep(patience, undefined, { signal: waiting.signal }).catch(() => undefined)]);
  waiting.abort();
}

/**
 * Minimum milliseconds before an unreadable log is read again. The pause is longer after a slow attempt: ten times its
 * duration. Someone may have repaired the log in place.
 */
const LOOK_AGAIN = 2_000;

/**
 * Creates a store that is empty until `load`.
 * @throws Error from `point` and `atHead` before `load`
 */
export function createStore({ pool, logger, folds, onReplaced }: StoreOptions): Store {
  let point: Point | undefined;
  let failure: { error: UnreadableEventError; again: number } | undefined;
  let expected: { position: number; ended: Promise<unknown>; patience: number } | undefined;
  const listeners = new Set<StoreListener>();
  /** Points of the current log. They ensure that states of two logs are never mixed. */
  let lineage = new WeakSet<Point>();

  const at = (): Point => {
    if (point === undefined) throw new Error('the store is not loaded');
    return point;
  };

  const replace = (next: Point, replaced: boolean, events?: readonly LogEvent[]): void => {
    if (replaced) lineage = new WeakSet();
    lineage.add(next);
    point = next;
    failure = undefined;
    for (const listener of listeners) listener(next, replaced, events);
    folds?.offer(next);
  };

  const publish = (next: Point, base?: Point, events?: readonly LogEvent[]): void => {
    if (base !== undefined && !lineage.has(base)) return;
    if (next.head.position > at().head.position) replace(next, false, at() === base ? events : undefined);
  };

  /** Runs `work`. Remembers an UnreadableEventError as the reason, and throws any other error. */
  const trackReadability = async (work: () => Promise<void>): Promise<void> => {
    const started = performance.now();
    try {
      await work();
      failure = undefined;
    } catch (error) {
      if (!(error instanceof UnreadableEventError)) throw error;
      const now = performance.now();
      if (failure?.error.message !== error.message) {
        logger.error('the log cannot be read to its end', { position: error.position, reason: error.message });
      }
      failure = { error, again: now + Math.max(LOOK_AGAIN, 10 * (now - started)) };
    }
  };

  const load = async (): Promise<void> => {
    const started = performance.now();
    const from = (await folds?.nearest(Infinity)) ?? createStartPoint();
    const stops = folds && { next: folds.nextStop, reached: folds.offer };
    const replaced = point !== undefined;
    point ??= createStartPoint();
    const loaded = await foldLog(pool, from, stops && { stops }).catch((error: unknown) => {
      // The state of the previous log must not be served, even if the new log cannot be read.
      if (replaced) replace(from, true);
      throw toUnreadable(error);
    });
    replace(loaded, replaced);
    logger.info('log folded', {
      position: loaded.head.position,
      from: from.head.position,
      milliseconds: Math.round(performance.now() - started),
    });
  };

  // Concurrent calls share one read, as freshness checks do. A call that arrives during a read gets the next read,
  // because it may know of events that the running one has already passed.
  const catchUp = shareNext(async () => {
    const from = at();
    try {
      await trackReadability(async () => publish(await foldLog(pool, from), from));
    } catch (error) {
      if (!(error instanceof LogDivergedError)) throw error;
      await reload(from);
    }
  });

  const reload = async (from: Point): Promise<void> => {
    await onReplaced?.(from);
    logger.warn('folding the log again', { position: from.head.position });
    // Another caller may have reloaded the log already.
    if (at() === from) await trackReadability(load);
  };

  return {
    load: () => trackReadability(load),
    reload,
    unreadable: () => failure?.error,
    reset: (next) => replace(next, true),
    current: () => at().state,
    point: at,
    publish,
    atHead: async (head) => {
      const isBehind = () => at().head.position < head;
      if (isBehind() && expected !== undefined && expected.position <= head)
        await waitBriefly(expected.ended, expected.patience);
      if (isBehind() && (failure === undefined || performance.now() > failure.again)) await catchUp();
      if (isBehind() && failure !== undefined) throw failure.error;
      return at().state;
    },
    expect: ({ head: { position } }, ended, patience) => {
      const over = () => {
        if (expected === coming) expected = undefined;
      };
      const coming = { position, ended: ended.then(over, over), patience };
      expected = coming;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/* Compares every head check with the events that this process has folded. */

interface HeadChecksOptions {
  store: Pick<Store, 'point' | 'reload'>;
  watch: Pick<LogWatch, 'examine' | 'admit'>;
  role: Pick<ServerRole, 'current'>;
  /** Milliseconds after which a standby counts as diverged if it has replayed all WAL but lacks events seen before. */
  patience?: number;
}

const PATIENCE = 10_000;

/** Creates the checks. If the log lacks folded events, everything is folded again before a request is answered. */
export function createHeadChecks({
  store,
  watch,
  role,
  patience = PATIENCE,
}: HeadChecksOptions): NonNullable<FreshnessOptions['watch']> {
  let short: number | undefined;

  /**
   * Rejects requests while the log ends before events seen earlier. Such a log has lost its tail, or a standby is just
   * behind after a restart or replacement. Until that is clear, requests fail instead of showing older states.
   */
  const refuseBehind = (check: HeadCheck, knownHead: LogHead): void => {
    const { standby, lag } = role.current();
    const isShort = standby && check.head.position < knownHead.position;
    const now = performance.now();
    if (!isShort || lag > 0) short = undefined;
    if (isShort) short ??= now;
    if (short === undefined || now - short >= patience) return;
    throw new ProblemError(
      unavailableProblem(
        `The standby is behind this process, which has already shown position ${knownHead.position}. The log of the standby ends at ` +
          `${check.head.position}. Try again later.`,
      ),
    );
  };

  return {
    seen: () => store.point().head,
    admit: (check) => watch.admit(check),
    async examine(check, oldHead) {
      const from = store.point();
      refuseBehind(check, oldHead);
      if ((await watch.examine(check, oldHead)) && from.head === oldHead) await store.reload(from);
    },
  };
}
