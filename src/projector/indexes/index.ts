/**
 * The follow-up projection that builds indexes after the commit of their event: CREATE INDEX CONCURRENTLY can't run in
 * a transaction. It has a checkpoint of its own, does each event at least once, and survives a crash: the next start
 * goes on from the checkpoint and replaces what the crash left invalid. An index that can't be built stops this
 * projection, visibly, and nothing else; it is tried again with growing pauses, and at once when an event gives it up.
 */
import type pg from 'pg';
import { growingPause } from '../../kernel/growing-pause.js';
import { type LockedSession, cancelUntil, openLockedSession } from '../../postgres/locked-session.js';
import { isConnectionLoss, sqlState } from '../../postgres/errors.js';
import type { Logger } from '../../postgres/logger.js';
import type { ConnectionOptions } from '../../postgres/pool.js';
import type { State } from '../../schema/model/state.js';
import { IndexBuildError, catchUp } from './catch-up.js';
import { type IndexFailure, loadCheckpoint, recordFailure } from './checkpoint.js';
import { isDesired } from './build-concurrently.js';

export interface IndexProjection {
  /** There may be something new in the log. Cheap; call it after every commit. */
  wake(): void;
  /** Tries again at once, and waits for the end of the attempt; `status` tells how it went. */
  retry(): Promise<void>;
  /** Cancels a build under way and waits for the end of it. */
  stop(): Promise<void>;
  status(): IndexProjectionStatus;
}

export interface IndexProjectionStatus {
  status: 'idle' | 'running' | 'failed' | 'stopped';
  /** What stopped it; null when nothing did. */
  lastError: IndexFailure | null;
}

export interface IndexProjectionOptions {
  /** For the checkpoint and for cancelling. */
  pool: pg.Pool;
  /** For the builder's own connection. */
  connection: ConnectionOptions;
  /** The name of the database. */
  database: string;
  /** The state at the head of the log at the moment of the call, or later. */
  currentState: () => Promise<State>;
  logger: Logger;
  /** The database takes no changes now: nothing is looked at until the next wake after that. */
  readOnly?: () => boolean;
  /** Milliseconds. */
  pauses?: Partial<Pauses>;
}

interface Pauses {
  /** Between a wake and the look at the log: a burst of commits is one look. */
  gather: number;
  /** Before looking whether the process that holds the lock has finished. */
  busy: number;
  /** After the first failure; doubled with each further one. */
  retry: number;
  /** The longest. */
  maximum: number;
}

const PAUSES: Pauses = { gather: 100, busy: 1_000, retry: 1_000, maximum: 300_000 };

/**
 * Looks at nothing before the first `wake` or `retry`. It never throws: what fails is logged, shown by `status`, and
 * tried again.
 */
export function createIndexProjection(options: IndexProjectionOptions): IndexProjection {
  const { pool, logger, readOnly = () => false } = options;
  const pauses = { ...PAUSES, ...options.pauses };
  const name = options.connection.schema;
  let running: Promise<void> | undefined;
  let session: LockedSession | undefined;
  let timer: NodeJS.Timeout | undefined;
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

  /** What went wrong on a server that is a standby now is another one's to mend. */
  const isReadOnly = (): boolean => {
    if (!readOnly()) return false;
    attempts = 0;
    failure = null;
    return true;
  };

  /** At most one timer; an earlier one wins. */
  const later = (milliseconds: number): void => {
    if (stopped || timer !== undefined) return;
    timer = setTimeout(start, milliseconds);
    timer.unref();
  };

  const start = (): void => {
    timer = undefined;
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
      if ((await catchUp(work)) === 'busy elsewhere') later(pauses.busy);
      attempts = 0;
      failure = null;
    } catch (error) {
      if (stopped || isReadOnly()) return;
      attempts += 1;
      await report(error);
      later(growingPause(attempts, pauses));
    }
  };

  const report = async (error: unknown): Promise<void> => {
    if (!(error instanceof IndexBuildError) || isConnectionLoss(error.cause)) {
      logger.warn('the builder of indexes was interrupted', { error, attempts });
      return;
    }
    const { position, target, message, cause } = error;
    failure = { position, ...target, sqlstate: sqlState(cause) ?? null, message, attempts };
    logger.error('an index could not be built', { ...failure });
    await recordFailure(pool, failure).catch((lost: unknown) => {
      logger.warn('the failure of an index could not be recorded', { error: lost });
    });
  };

  /** While an index can't be built, only its being given up is news; or that another process got past it. */
  const isOver = async (failed: IndexFailure): Promise<boolean> =>
    (await loadCheckpoint(pool)) >= failed.position || !(await isDesired(pool, await options.currentState(), failed));

  const hurry = (failed: IndexFailure): void => {
    isOver(failed).then(
      (over) => {
        if (!over || failure !== failed) return;
        clearTimeout(timer);
        start();
      },
      () => undefined,
    );
  };

  const wake = (): void => {
    if (stopped || isReadOnly()) return;
    if (running !== undefined) woken = true;
    else if (failure !== null) hurry(failure);
    else if (attempts === 0) later(pauses.gather);
  };

  return {
    wake,
    async retry() {
      clearTimeout(timer);
      timer = undefined;
      if (running === undefined) start();
      await running;
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      if (running !== undefined) await cancelUntil(pool, () => session, running);
    },
    status() {
      if (stopped) return { status: 'stopped', lastError: failure };
      if (failure !== null) return { status: 'failed', lastError: failure };
      return { status: running === undefined ? 'idle' : 'running', lastError: null };
    },
  };
}
