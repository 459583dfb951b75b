/**
 * Repeats a transaction until it gets its locks. A waiting strong lock blocks every later session, and a wait under the
 * log lock blocks every other change. Each attempt therefore waits only briefly, and holds nothing between attempts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { isConnectionLoss, isLocked, lockTimeout, unavailableProblem } from '../postgres/errors.js';
import { withClient } from '../postgres/pool.js';
import { IDLE } from '../postgres/limits.js';
import { type Holder, LockedError, holderKey } from '../projector/ddl/table-locks.js';
import { type TransactionAttempt, keepAlive } from './keep-alive.js';
import { StaleConnectionError } from './transaction/begin.js';
import {
  LogBusyError,
  type LockConflict,
  lockConflictProblem,
  isStillHeld,
  rollbackAndFindHolders,
} from './lock-conflict.js';
import type { Semaphore } from '../kernel/semaphore.js';
import type { OnBlocked, PipelineOptions } from './types.js';
import { ProblemError } from '../kernel/problem.js';

export interface LockWaitOptions {
  semaphore: Semaphore;
  options: PipelineOptions;
  /** When the caller gives up waiting (`performance.now`). */
  deadline: number;
  /** True if the client no longer waits. */
  abandoned?: (() => boolean) | undefined;
  onBlocked?: OnBlocked | undefined;
}

/**
 * Milliseconds between attempts while no primary is available, because of a restart or failover. Pauses are random, so
 * that waiting callers do not return all at once.
 */
const AWAY = { first: 100, longest: 1_000 };

/** Milliseconds between two attempts: the first pause, and the longest one with known and with unknown holders. */
const PAUSES = { first: 50, known: 400, unknown: 2_000 };

/** Milliseconds between two checks whether the holder of the log lock is still alive. */
const LOOK_AT_HOLDER = IDLE + 1_000;

/**
 * Runs `work` with a permit of the semaphore on a client of the pool. Each attempt is a new transaction.
 * @throws ProblemError LOCK_TIMEOUT if it is blocked until the deadline, and the errors of `work`
 */
export async function retryWhileLocked<T>(
  trying: LockWaitOptions,
  work: (at: TransactionAttempt) => Promise<T>,
): Promise<T> {
  const { options, deadline } = trying;
  const waited = new Set<string>();
  let stale = 0;
  let pause = PAUSES.first;
  let vacuumWait: number | undefined;
  for (;;) {
    const left = deadline - performance.now();
    const tableWait = Math.max(1, Math.min(options.lockWait, left));
    const ended = await tryOnce(trying, { left, tableWait, ...(vacuumWait && { vacuumWait }) }, work);
    if (ended.kind === 'done') return ended.value;
    if (ended.kind === 'stale') {
      await waitForServer(trying, ended.error, (stale += 1));
      continue;
    }
    const { conflict } = ended;
    report(options, conflict);
    await trying.onBlocked?.(lockConflictProblem(conflict));
    vacuumWait = undefined;
    if (willCancelItself(conflict.holders, waited)) vacuumWait = AUTOVACUUM_CANCEL;
    else if (!conflict.log) pause = await waitForHolders(trying, { conflict, pause });
    if (performance.now() >= deadline) throw new ProblemError(lockConflictProblem(conflict));
  }
}

/** @param count the number of attempts */
async function waitForServer(
  { deadline, abandoned, options }: LockWaitOptions,
  error: StaleConnectionError,
  count: number,
): Promise<void> {
  const pause = Math.min(AWAY.longest, AWAY.first * count) * (0.5 + Math.random() / 2);
  if (performance.now() + pause >= deadline) throw error;
  const { message } = error.cause as Error;
  if (count === 1) options.logger.info('a change is waiting for the database', { reason: message || error.message });
  await sleep(pause);
  if (abandoned?.() === true) throw new ProblemError(createClientGoneProblem());
}

/**
 * True if one of the holders is a VACUUM or ANALYZE that the transaction has not waited for yet. An automatic one
 * cancels itself for a lock that waits for deadlock_timeout, which only a superuser may lower. So the transaction waits
 * that long once per process, behind a lock that blocks no reader or writer.
 */
function willCancelItself(holders: readonly Holder[], waited: Set<string>): boolean {
  const fresh = holders.filter((holder) => holder.maintenance && !waited.has(holderKey(holder)));
  for (const holder of fresh) waited.add(holderKey(holder));
  return fresh.length > 0;
}

/** Milliseconds: PostgreSQL's default deadlock_timeout, and time for the cancellation. */
const AUTOVACUUM_CANCEL = 1_500;

interface LockPause {
  conflict: LockConflict;
  pause: number;
}

/** Waits until the known holders have ended. @returns the next pause */
async function waitForHolders(
  { options, deadline, abandoned }: LockWaitOptions,
  { conflict, pause }: LockPause,
): Promise<number> {
  const isKnown = conflict.holders.length > 0;
  let next = pause;
  for (;;) {
    const left = deadline - performance.now();
    if (left <= 0) return next;
    await sleep(Math.min(left, next * (0.5 + Math.random() / 2)));
    if (abandoned?.() === true) throw new ProblemError(createClientGoneProblem());
    next = Math.min(next * 2, isKnown ? PAUSES.known : PAUSES.unknown);
    // If the holders cannot be queried, the next attempt will show whether they still block.
    if (!isKnown || !(await isStillHeld(options, conflict, deadline - performance.now()).catch(() => false)))
      return next;
  }
}

function createClientGoneProblem() {
  return unavailableProblem('The client disconnected while the change waited for a lock. Nothing was changed.');
}

type AttemptResult<T> =
  | { kind: 'done'; value: T }
  | { kind: 'stale'; error: StaleConnectionError }
  | { kind: 'locked'; conflict: LockConflict };

async function tryOnce<T>(
  { semaphore, options, deadline }: LockWaitOptions,
  { left, ...waits }: { left: number } & Pick<TransactionAttempt, 'tableWait' | 'vacuumWait'>,
  work: (at: TransactionAttempt) => Promise<T>,
): Promise<AttemptResult<T>> {
  const permit = await semaphore.acquire({ timeout: left, refusal: semaphoreTimeout });
  let begun = false;
  try {
    const onClient = async (client: pg.PoolClient): Promise<AttemptResult<T>> => {
      begun = true;
      const lockWait = Math.max(1, Math.min(deadline - performance.now(), LOOK_AT_HOLDER));
      const attendance = keepAlive(client, deadline);
      try {
        return { kind: 'done', value: await work({ client, attendance, lockWait, ...waits }) };
      } catch (error) {
        const isLockFailure = error instanceof LogBusyError || error instanceof LockedError || isLocked(error);
        if (!isLockFailure) throw error;
        return { kind: 'locked', conflict: await rollbackAndFindHolders(client, options, error) };
      } finally {
        attendance.end();
      }
    };
    return await withClient(options.pool, onClient, left - permit.waited);
  } catch (error) {
    if (error instanceof StaleConnectionError) return { kind: 'stale', error };
    // The connection failed before any work began. If it is lost during the work, the work throws its own error.
    if (!begun && isConnectionLoss(error))
      return { kind: 'stale', error: new StaleConnectionError('there is no connection', { cause: error }) };
    throw error;
  } finally {
    permit.release();
  }
}

const semaphoreTimeout = () =>
  new ProblemError(lockTimeout('Other changes of this process were in progress all the time'));

function report({ logger }: PipelineOptions, { holders, log }: LockConflict): void {
  logger.info('a change is waiting for a lock', {
    lock: log ? 'of the log' : 'on a table',
    holders: holders.map(({ pid, application, age, table }) => ({ pid, application, age, table })),
  });
}
