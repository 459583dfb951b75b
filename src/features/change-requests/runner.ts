/**
 * Executes change requests. Every process of the service runs it. A session lock protects each request, so that another
 * process continues it if this one dies. Temporary failures are retried with increasing delays.
 */
import { createEarliestTimer, computePause } from '../../kernel/time.js';
import { isConnectionLoss } from '../../postgres/errors.js';
import { type LockedSession, cancelUntil, openLockedSession } from '../../postgres/locked-session.js';
import type { Logger } from '../../postgres/logger.js';
import type { ConnectionOptions } from '../../postgres/pool.js';
import { readWaitUntilNextDue, type Unfinished, readChange, unfinishedChanges } from './rows.js';
import { isAtRest } from '../../schema/change-requests/model.js';
import { LostError, TemporaryObstacleError, type Work, showPhase, advanceRequest } from './advance-request.js';

export interface ChangeRunner {
  /** Signals that the log may have new events. It is cheap, so call it after every commit. */
  wake(): void;
  /**
   * Stops running work between two batches or by cancelling it, and waits until it has stopped. Another process
   * continues the work.
   */
  stop(): Promise<void>;
}

export interface ChangeRunnerOptions extends Work {
  /** The connection of the sessions that hold the locks. */
  connection: ConnectionOptions;
  database: string;
  logger: Logger;
  /** True while the database is read-only. */
  readOnly?: () => boolean;
  /** See `OnRequest`. */
  tries?: number;
  /** The pauses in milliseconds. */
  pauses?: Partial<Pauses>;
}

interface Pauses {
  /** Pause between a wake and the check for work, so that a burst of commits causes one check. */
  gather: number;
  /** Pause before checking again while work is left, because another process may have died. */
  look: number;
  /** The longest pause while a request is scheduled, because the clock may be set. */
  clock: number;
  /** Pause after the first failure of a request. The pause doubles with each further failure. */
  retry: number;
  /** The longest pause after a failure. */
  maximum: number;
}

const PAUSES: Pauses = { gather: 50, look: 2_000, clock: 5_000, retry: 500, maximum: 30_000 };

/** Concurrent requests per process. Each uses a database session. */
const AT_ONCE = 4;

/** Additional slots for due requests, which must not wait for a preparation of several hours. */
const DUE_AT_ONCE = 2;

interface Running {
  abort: AbortController;
  /** True if the request is due and needs no preparation. */
  due: boolean;
  /**
   * True while the run works on a request that had not ended when the run read it. A run that begins after the end only
   * removes prepared objects, and only `stop` interrupts it.
   */
  interruptible: boolean;
  session?: LockedSession | undefined;
  ended: Promise<void>;
}

interface FailureRecord {
  count: number;
  /** Earliest time of the next start, by `performance.now`. */
  until: number;
}

/**
 * Creates a runner, which is idle until the first `wake`. While work is left, it also checks periodically. It never
 * throws, because failures are logged and retried.
 */
export function createChangeRunner(options: ChangeRunnerOptions): ChangeRunner {
  const { pool, logger, readOnly = () => false } = options;
  const pauses = { ...PAUSES, ...options.pauses };
  const running = new Map<string, Running>();
  const failed = new Map<string, FailureRecord>();
  const timer = createEarliestTimer(() => start());
  let looking: Promise<void> | undefined;
  let again = false;
  let stopped = false;

  const start = (): void => {
    if (stopped || readOnly()) return;
    if (looking !== undefined) {
      again = true;
      return;
    }
    looking = look()
      .catch((error: unknown) => {
        logger.warn('change requests could not be read', { error });
        timer.set(pauses.look);
      })
      .finally(() => {
        looking = undefined;
        if (again) timer.set(0);
        again = false;
      });
  };

  const look = async (): Promise<void> => {
    await Promise.all([...running].map(([id, run]) => interruptIfEnded(id, run)));
    // This query runs first. A request that becomes due between the two queries is then found by the second. In the
    // other order it would be missed.
    const wait = await readWaitUntilNextDue(pool);
    const unfinished = await unfinishedChanges(pool);
    const ids = new Set(unfinished.map(({ id }) => id));
    for (const id of failed.keys()) if (!ids.has(id)) failed.delete(id);
    for (const each of unfinished) if (!running.has(each.id)) beginInTime(each);
    if (ids.size > 0) timer.set(pauses.look);
    if (wait !== null) timer.set(Math.min(Math.max(pauses.gather, wait), pauses.clock));
  };

  /** Starts no request before its pause is over. Requests without a free slot wait until one is released. */
  const beginInTime = ({ id, due }: Unfinished): void => {
    const wait = (failed.get(id)?.until ?? 0) - performance.now();
    if (wait > 0) timer.set(wait);
    else if (!stopped && hasPlace(due)) begin(id, due);
  };

  const hasPlace = (due: boolean): boolean => {
    const dueNow = [...running.values()].filter((each) => each.due).length;
    return running.size < AT_ONCE || (due && dueNow < DUE_AT_ONCE && running.size < AT_ONCE + DUE_AT_ONCE);
  };

  /** Interrupts work on a request that this or another process has withdrawn. */
  const interruptIfEnded = async (id: string, run: Running): Promise<void> => {
    if (run.abort.signal.aborted || !run.interruptible) return;
    const request = await readChange(pool, id);
    if (request === undefined || (isAtRest(request) && request.state !== 'scheduled'))
      interrupt(run, 'the change request has ended');
  };

  const interrupt = (run: Running, why: string): void => {
    if (run.abort.signal.aborted) return;
    run.abort.abort(new Error(why));
    void cancelUntil(pool, () => run.session, run.ended);
  };

  const begin = (id: string, due: boolean): void => {
    const run: Running = { abort: new AbortController(), due, interruptible: false, ended: Promise.resolve() };
    running.set(id, run);
    run.ended = work(id, run).finally(() => {
      running.delete(id);
      // An interrupted request still needs a cleanup, so the next check starts immediately.
      if (run.abort.signal.aborted) timer.set(0);
    });
  };

  const work = async (id: string, run: Running): Promise<void> => {
    try {
      const connection = { ...options.connection, applicationName: 'data-platform-service changes' };
      const opened = await openLockedSession({ ...options, connection, purpose: `change ${id}` });
      if (opened === null) return;
      run.session = opened;
      try {
        const { signal } = run.abort;
        const setInterruptible = (value: boolean): void => void (run.interruptible = value);
        const result = await advanceRequest({ ...options, id, session: opened, signal, setInterruptible });
        if (result === 'ended') timer.set(0);
        failed.delete(id);
      } finally {
        run.session = undefined;
        await opened.close();
      }
    } catch (error) {
      if (!run.abort.signal.aborted) await noteFailure(id, error);
    }
  };

  const noteFailure = async (id: string, error: unknown): Promise<void> => {
    const isQuick =
      (error instanceof TemporaryObstacleError && !(error instanceof LostError)) || isConnectionLoss(error);
    const count = (failed.get(id)?.count ?? 0) + 1;
    const pause = isQuick ? pauses.retry : computePause(count, pauses);
    failed.set(id, { count, until: performance.now() + pause });
    const details = { change: id, attempts: count, error };
    if (error instanceof TemporaryObstacleError)
      logger.info('a change request is waiting', { change: id, reason: error.message });
    else {
      logger.warn('a change request was interrupted', details);
      const phase = `tried again after: ${error instanceof Error ? error.message : String(error)}`;
      await showPhase(pool, id, { phase }).catch(() => undefined);
    }
    timer.set(pause);
  };

  return {
    wake: () => {
      if (!stopped && !readOnly()) timer.set(pauses.gather);
    },
    async stop() {
      stopped = true;
      timer.stop();
      await looking;
      const runs = [...running.values()];
      for (const run of runs) interrupt(run, 'this process is stopping');
      await Promise.all(runs.map(({ ended }) => ended));
    },
  };
}
