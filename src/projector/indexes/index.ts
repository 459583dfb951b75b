/**
 * Builds indexes after the commit of their event, because CREATE INDEX CONCURRENTLY cannot run in a transaction.
 *
 * The index projection has its own checkpoint and processes each event at least once. After a crash, the next start
 * continues from the checkpoint and replaces invalid indexes. A failed build stops only this projection and is
 * reported. The projection retries with increasing delays, and immediately when an event drops the index.
 */
import type pg from 'pg';
import { createEarliestTimer, computePause } from '../../kernel/time.js';
import { type LockedSession, cancelUntil, openLockedSession } from '../../postgres/locked-session.js';
import { isConnectionLoss, sqlState } from '../../postgres/errors.js';
import type { Logger } from '../../postgres/logger.js';
import type { ConnectionOptions } from '../../postgres/pool.js';
import type { LogEvent } from '../../schema/model/events.js';
import type { State } from '../../schema/model/state.js';
import {
  IndexBuildError,
  catchUp,
  type IndexFailure,
  indexTargets,
  loadCheckpoint,
  recordFailure,
  isDesired,
} from './catch-up.js';

export interface IndexProjection {
  /**
   * Notifies the projection of new events. The call is cheap, so make it after every commit.
   * @param events the new events. Undefined if they are unknown.
   */
  wake(events?: readonly LogEvent[]): void;
  /** Retries immediately and waits for the end of the attempt; `status` has the result. */
  retry(): Promise<void>;
  /** Cancels a running build and waits until it has ended. */
  stop(): Promise<void>;
  status(): IndexProjectionStatus;
}

interface IndexProjectionStatus {
  status: 'idle' | 'running' | 'failed' | 'stopped';
  /** The failure that stopped the projection, or null. */
  lastError: IndexFailure | null;
}

export interface IndexProjectionOptions {
  pool: pg.Pool;
  connection: ConnectionOptions;
  database: string;
  /** Returns the state at the head of the log when called, or later. */
  currentState: () => Promise<State>;
  logger: Logger;
  /** True while the database is read-only. Nothing happens then until the next wake. */
  readOnly?: () => boolean;
  /** Overrides pauses, in milliseconds. */
  pauses?: Partial<Pauses>;
}

interface Pauses {
  /** Pause between a wake and reading the log, so that a burst of commits is read once. */
  gather: number;
  /** Pause between a wake and reading the log if the events contain no indexes and only move the checkpoint. */
  quiet: number;
  /** Pause before checking whether the process with the lock has finished. */
  busy: number;
  /** Pause after the first failure. It doubles after each further failure. */
  retry: number;
  /** The longest pause between two attempts. */
  maximum: number;
}

const PAUSES: Pauses = { gather: 100, quiet: 1_000, busy: 1_000, retry: 1_000, maximum: 300_000 };

/**
 * Does nothing before the first `wake` or `retry`. It never throws: failures are logged, shown by `status` and
 * retried.
 */
export function createIndexProjection(options: IndexProjectionOptions): IndexProjection {
  const { pool, logger, readOnly = () => false } = options;
  const pauses = { ...PAUSES, ...options.pauses };
  const name = options.connection.schema;
  let running: Promise<void> | undefined;
  let session: LockedSession | undefined;
  const timer = createEarliestTimer(() => start());
  let woken = false;
  let stopped = false;
  let attempts = 0;
  let failure: IndexFailure | null = null;

  const openSession = async (): Promise<LockedSession | null> => {
    const opened = await openLockedSession({
      connection: { ...options.connection, applicationName: 'data-platform-service indexes' },
      database: options.database,
      purpose: 'concurrent-indexes',
      logger,
    });
    session = opened ?? undefined;
    return opened;
  };

  /** True if the server is now a standby. It then forgets the failure, because another server must fix it. */
  const isReadOnly = (): boolean => {
    if (!readOnly()) return false;
    attempts = 0;
    failure = null;
    return true;
  };

  const start = (): void => {
    if (stopped || isReadOnly()) return;
    if (running !== undefined) {
      woken = true;
      return;
    }
    running = run().finally(() => {
      running = undefined;
      session = undefined;
      if (woken) wake();
    });
  };

  const run = async (): Promise<void> => {
    woken = false;
    try {
      const work = { ...options, schema: name, openSession, stopping: () => stopped };
      if ((await catchUp(work)) === 'busy elsewhere') timer.set(pauses.busy);
      attempts = 0;
      failure = null;
    } catch (error) {
      if (stopped || isReadOnly()) return;
      attempts += 1;
      await report(error);
      timer.set(computePause(attempts, pauses));
    }
  };

  const report = async (error: unknown): Promise<void> => {
    if (!(error instanceof IndexBuildError) || isConnectionLoss(error.cause)) {
      logger.warn('the index build was interrupted', { error, attempts });
      return;
    }
    const { position, target, message, cause } = error;
    failure = { position, ...target, sqlstate: sqlState(cause) ?? null, message, attempts };
    logger.error('an index could not be built', { ...failure });
    await recordFailure(pool, failure).catch((lost: unknown) => {
      logger.warn('the failure of an index could not be recorded', { error: lost });
    });
  };

  /** True if the failure no longer matters, because the index was dropped or another process got past it. */
  const isOver = async (failed: IndexFailure): Promise<boolean> =>
    (await loadCheckpoint(pool)) >= failed.position || !(await isDesired(pool, await options.currentState(), failed));

  const restartIfOver = (failed: IndexFailure): void => {
    isOver(failed).then(
      (over) => {
        if (!over || failure !== failed) return;
        timer.clear();
        start();
      },
      () => undefined,
    );
  };

  const wake = (events?: readonly LogEvent[]): void => {
    if (stopped || isReadOnly()) return;
    const isConcerned = events?.some((event) => indexTargets(event).length > 0) !== false;
    if (running !== undefined) woken = true;
    else if (failure !== null) restartIfOver(failure);
    else if (attempts === 0) timer.set(isConcerned ? pauses.gather : pauses.quiet);
  };

  return {
    wake,
    async retry() {
      timer.clear();
      if (running === undefined) start();
      await running;
    },
    async stop() {
      stopped = true;
      timer.stop();
      if (running !== undefined) await cancelUntil(pool, () => session, running);
    },
    status() {
      if (stopped) return { status: 'stopped', lastError: failure };
      if (failure !== null) return { status: 'failed', lastError: failure };
      return { status: running === undefined ? 'idle' : 'running', lastError: null };
    },
  };
}
