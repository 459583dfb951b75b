/**
 * Works on change requests, in whichever process is alive: each under a lock that belongs to a session of its own, so that
 * a process that dies leaves it to the others. What fails for now is tried again, with growing pauses.
 */
import { growingPause } from '../../kernel/growing-pause.js';
import { isConnectionLoss } from '../../postgres/errors.js';
import { type LockedSession, cancelUntil, openLockedSession } from '../../postgres/locked-session.js';
import type { Logger } from '../../postgres/logger.js';
import type { ConnectionOptions } from '../../postgres/pool.js';
import { untilNextDue } from '../../projector/change-requests/due.js';
import { type Unfinished, readChange, unfinishedChanges } from '../../projector/change-requests/rows.js';
import { isAtRest } from '../../schema/change-requests/model.js';
import { LostError, NotNowError, type Work, showPhase, workOn } from './work-on.js';

export interface ChangeRunner {
  /** There may be something new in the log. Cheap; call it after every commit. */
  wake(): void;
  /** Stops what runs, between two batches or by cancelling, and waits for the end of it: another process goes on. */
  stop(): Promise<void>;
}

export interface ChangeRunnerOptions extends Work {
  /** For the sessions. */
  connection: ConnectionOptions;
  /** The name of the database. */
  database: string;
  logger: Logger;
  /** The database takes no changes now. */
  readOnly?: () => boolean;
  /** See `OnRequest`. */
  tries?: number;
  /** Milliseconds. */
  pauses?: Partial<Pauses>;
}

interface Pauses {
  /** Between a wake and the look at what there is to do: a burst of commits is one look. */
  gather: number;
  /** Before looking again while something is left: another process may have died over it. */
  look: number;
  /** The longest while something is scheduled: the clock may be set. */
  clock: number;
  /** After the first failure of a request; doubled with each further one. */
  retry: number;
  /** The longest. */
  maximum: number;
}

const PAUSES: Pauses = { gather: 50, look: 2_000, clock: 5_000, retry: 500, maximum: 30_000 };

/** Requests that one process works on at a time: each takes a session of the server. */
const AT_ONCE = 4;

/** More, of those whose time has come: what is prepared may take hours, and they are not to wait for that. */
const DUE_AT_ONCE = 2;

interface Running {
  abort: AbortController;
  /** See `Unfinished`. */
  due: boolean;
  /** What was prepared is being taken away: nothing but a stop interrupts that. */
  cleaning: boolean;
  session?: LockedSession | undefined;
  ended: Promise<void>;
}

interface Failed {
  count: number;
  /** Not before (`performance.now`). */
  until: number;
}

/**
 * Looks at nothing before the first `wake`, then also by itself while something is left to do. It never throws: what
 * fails is logged and tried again.
 */
export function createChangeRunner(options: ChangeRunnerOptions): ChangeRunner {
  const { pool, logger, readOnly = () => false } = options;
  const pauses = { ...PAUSES, ...options.pauses };
  const running = new Map<string, Running>();
  const failed = new Map<string, Failed>();
  let timer: { at: number; handle: NodeJS.Timeout } | undefined;
  let looking: Promise<void> | undefined;
  let again = false;
  let stopped = false;

  /** At most one timer: the earliest wins. */
  const later = (milliseconds: number): void => {
    const at = performance.now() + milliseconds;
    if (stopped || (timer !== undefined && timer.at <= at)) return;
    clearTimeout(timer?.handle);
    timer = { at, handle: setTimeout(start, milliseconds) };
    timer.handle.unref();
  };

  const start = (): void => {
    timer = undefined;
    if (stopped || readOnly()) return;
    if (looking !== undefined) {
      again = true;
      return;
    }
    looking = look()
      .catch((error: unknown) => {
        logger.warn('change requests could not be looked for', { error });
        later(pauses.look);
      })
      .finally(() => {
        looking = undefined;
        if (again) later(0);
        again = false;
      });
  };

  const look = async (): Promise<void> => {
    await Promise.all([...running].map(([id, run]) => interruptIfEnded(id, run)));
    // Asked first: what becomes due between the two questions is found by the second, and forgotten the other way round.
    const wait = await untilNextDue(pool);
    const unfinished = await unfinishedChanges(pool);
    const ids = new Set(unfinished.map(({ id }) => id));
    for (const id of failed.keys()) if (!ids.has(id)) failed.delete(id);
    for (const each of unfinished) if (!running.has(each.id)) beginInTime(each);
    if (ids.size > 0) later(pauses.look);
    if (wait !== null) later(Math.min(Math.max(pauses.gather, wait), pauses.clock));
  };

  /** Not before its pause is over. Those that find no place are looked at again when one is free. */
  const beginInTime = ({ id, due }: Unfinished): void => {
    const wait = (failed.get(id)?.until ?? 0) - performance.now();
    if (wait > 0) later(wait);
    else if (!stopped && hasPlace(due)) begin(id, due);
  };

  const hasPlace = (due: boolean): boolean => {
    const dueNow = [...running.values()].filter((each) => each.due).length;
    return running.size < AT_ONCE || (due && dueNow < DUE_AT_ONCE && running.size < AT_ONCE + DUE_AT_ONCE);
  };

  /** It was withdrawn, here or by another process. */
  const interruptIfEnded = async (id: string, run: Running): Promise<void> => {
    if (run.abort.signal.aborted || run.cleaning) return;
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
    const run: Running = { abort: new AbortController(), due, cleaning: false, ended: Promise.resolve() };
    running.set(id, run);
    run.ended = work(id, run).finally(() => {
      running.delete(id);
      // An interrupted one is cleaned up.
      if (run.abort.signal.aborted) later(0);
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
        const onCleaning = (): void => void (run.cleaning = true);
        if ((await workOn({ ...options, id, session: opened, signal, onCleaning })) === 'ended') later(0);
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
    const isQuick = (error instanceof NotNowError && !(error instanceof LostError)) || isConnectionLoss(error);
    const count = (failed.get(id)?.count ?? 0) + 1;
    const pause = isQuick ? pauses.retry : growingPause(count, pauses);
    failed.set(id, { count, until: performance.now() + pause });
    const how = { change: id, attempts: count, error };
    if (error instanceof NotNowError) logger.info('a change request waits', { change: id, reason: error.message });
    else {
      logger.warn('a change request was interrupted', how);
      const phase = `tried again after: ${error instanceof Error ? error.message : String(error)}`;
      await showPhase(pool, id, { phase }).catch(() => undefined);
    }
    later(pause);
  };

  return {
    wake: () => {
      if (!stopped && !readOnly()) later(pauses.gather);
    },
    async stop() {
      stopped = true;
      clearTimeout(timer?.handle);
      await looking;
      const runs = [...running.values()];
      for (const run of runs) interrupt(run, 'this process stops');
      await Promise.all(runs.map(({ ended }) => ended));
    },
  };
}
