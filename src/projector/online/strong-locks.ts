/**
 * Runs a short transaction under strong locks while applications use the table. A waiting strong lock blocks all
 * later sessions, so each attempt waits only briefly and is repeated without limit. Between attempts, it waits until
 * known holders have finished.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isLocked } from '../../postgres/errors.js';
import type { LockedTable } from '../ddl/step.js';
import type { Sql } from '../ddl/sql.js';
import { HOLDERS, type Holder, conflictsOf, lockTables, readHolders, holderKey } from '../ddl/table-locks.js';
import type { StepContext } from './types.js';

export type Locking = Pick<StepContext, 'session' | 'schema' | 'signal'> & Partial<Pick<StepContext, 'progress'>>;

export interface LockWaits {
  /** Milliseconds to wait for a strong lock. Other sessions queue behind it for that time. */
  strong: number;
}

/**
 * Milliseconds to wait for the weak lock. It only blocks DDL and VACUUM. Autovacuum cancels itself for a session that
 * waits longer than deadlock_timeout (1 s), so the strong lock need not wait for it.
 */
const WEAK = 5_000;

/** Milliseconds between attempts, and between checks of the holders. */
const PAUSES = { first: 50, longest: 2_000, look: 400 };

/** Milliseconds until the next attempt even if the known holders remain, because others may hold the lock by then. */
const PATIENCE = 10_000;

export interface Work {
  /** Statements that run in the same transaction before the locks are requested, so nobody waits for them. */
  before?: readonly Sql[];
  /** Statements that run under the locks. They are sent in one message, because other sessions wait for all of them. */
  under: readonly Sql[];
}

/** Runs statements in a transaction that holds the locks. They may run several times. */
export async function runUnderStrongLocks(
  context: Locking,
  locks: readonly LockedTable[],
  waits: LockWaits,
  work: Work,
): Promise<void> {
  for (let pause = PAUSES.first; ; pause = Math.min(pause * 2, PAUSES.longest)) {
    context.signal.throwIfAborted();
    if (await tryWork(context, locks, waits, work)) {
      context.progress?.({ waiting_for: [] });
      return;
    }
    await waitForHolders(context, locks, pause);
  }
}

async function tryWork(
  { session, schema }: Locking,
  locks: readonly LockedTable[],
  { strong }: LockWaits,
  { before = [], under }: Work,
): Promise<boolean> {
  const weak = locks.map(({ table }) => ({ table, lock: 'SHARE UPDATE EXCLUSIVE' }) as const);
  await session.query('BEGIN');
  try {
    await session.query(`SET LOCAL lock_timeout = ${WEAK}`);
    await session.query(lockTables(schema, weak));
    for (const each of before) await session.query(each);
    await session.query(`SET LOCAL lock_timeout = ${strong}`);
    await session.query([lockTables(schema, locks), ...under, 'COMMIT'].join(';\n'));
    return true;
  } catch (error) {
    await session.query('ROLLBACK');
    if (isLocked(error)) return false;
    throw error;
  }
}

async function waitForHolders(context: Locking, locks: readonly LockedTable[], pause: number): Promise<void> {
  const { signal, progress } = context;
  const until = performance.now() + PATIENCE;
  let first: ReadonlySet<string> | undefined;
  for (;;) {
    const holders = await findHolders(context, locks);
    progress?.({ waiting_for: holders });
    const names = holders.map(holderKey);
    first ??= new Set(names);
    const isHeld = names.some((name) => first?.has(name));
    await sleep(isHeld ? PAUSES.look : pause * (0.5 + Math.random() / 2), undefined, { signal });
    if (!isHeld || performance.now() >= until) return;
  }
}

async function findHolders({ session, schema }: Locking, locks: readonly LockedTable[]): Promise<Holder[]> {
  return readHolders((await session.query(HOLDERS, conflictsOf(schema, locks))).rows);
}
