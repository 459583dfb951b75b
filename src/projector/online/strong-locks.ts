/**
 * A short transaction under strong locks, beside applications that use the table. A strong lock that is waited for stops
 * everybody who comes later, so it is asked for with a short wait, again and again, never given up; and while it is known
 * who is in the way, their end is waited for without asking.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isLocked } from '../../postgres/errors.js';
import type { LockedTable } from '../ddl/statement.js';
import type { Sql } from '../ddl/sql.js';
import { HOLDERS, type Holder, conflictsOf, lockTables, readHolders, holderKey } from '../ddl/table-locks.js';
import type { StepContext } from './types.js';

export type Locking = Pick<StepContext, 'session' | 'schema' | 'signal'> & Partial<Pick<StepContext, 'progress'>>;

export interface LockWaits {
  /** Milliseconds that a strong lock is waited for, and others behind it. */
  strong: number;
}

/**
 * Milliseconds that the weak lock is waited for. It is in nobody's way but that of other changes and of VACUUM; an automatic
 * one cancels itself for a session that waits as long as deadlock_timeout (1 s), so that the strong lock doesn't have to.
 */
const WEAK = 5_000;

/** Milliseconds between tries, and between looks at those who are in the way. */
const PAUSES = { first: 50, longest: 2_000, look: 400 };

/** Milliseconds after which it is tried again though those who were in the way still are: it may be others by then. */
const PATIENCE = 10_000;

export interface Work {
  /** In the same transaction, before the locks are asked for: nobody waits for it. */
  before?: readonly Sql[];
  /** In one message: others wait for all of it. */
  under: readonly Sql[];
}

/** Runs statements in a transaction that holds the locks. They may be run several times. */
export async function underStrongLocks(
  context: Locking,
  locks: readonly LockedTable[],
  waits: LockWaits,
  work: Work,
): Promise<void> {
  for (let pause = PAUSES.first; ; pause = Math.min(pause * 2, PAUSES.longest)) {
    context.signal.throwIfAborted();
    if (await tried(context, locks, waits, work)) {
      context.progress?.({ waiting_for: [] });
      return;
    }
    await waitForHolders(context, locks, pause);
  }
}

async function tried(
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
    const holders = await holdersOf(context, locks);
    progress?.({ waiting_for: holders });
    const names = holders.map(holderKey);
    first ??= new Set(names);
    const isHeld = names.some((name) => first?.has(name));
    await sleep(isHeld ? PAUSES.look : pause * (0.5 + Math.random() / 2), undefined, { signal });
    if (!isHeld || performance.now() >= until) return;
  }
}

async function holdersOf({ session, schema }: Locking, locks: readonly LockedTable[]): Promise<Holder[]> {
  return readHolders((await session.query(HOLDERS, conflictsOf(schema, locks))).rows);
}
