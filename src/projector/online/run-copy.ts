/* Copies the values of a column in batches while the table is in use. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../../kernel/json.js';
import { integer, literal, sql } from '../ddl/sql.js';
import {
  type ColumnCopy,
  applyNotes,
  compareCopy,
  copyBatch,
  copyTable,
  createCopying,
  lostTable,
  notedTable,
} from './copy.js';
import type { EngineStep } from './steps.js';
import { PreparationRefused, type StepContext } from './types.js';
import type { Queryable } from '../../postgres/pool.js';

/* Controls the speed of a copy: batches of limited duration with pauses for other sessions. */

export interface CopyPace {
  /** Maximum number of rows per second; null if only the batches limit it. */
  rate: number | null;
  /** Milliseconds that a standby may lag. Beyond that, the preparation waits for it. */
  maxLag: number;
}

/** Target duration of a batch in milliseconds. */
const TARGET = 100;
const SIZE = { first: 1_000, least: 100, most: 100_000 };

/** Duration of the pause after a batch, as a fraction of the batch's duration. */
const REST = 0.5;
/** The fraction after a batch that took far too long, which shows that the server is overloaded. */
const LONG_REST = 3;

/** Milliseconds between checks of lagging standbys. */
const LOOK = 1_000;

interface Batch {
  /** The requested number of rows. */
  rows: number;
  /** The duration of the batch. */
  milliseconds: number;
}

export const firstSize = SIZE.first;

/** Returns the number of rows of the next batch. It grows slowly and shrinks immediately. */
export function nextSize({ rows, milliseconds }: Batch): number {
  const fitting = (rows * TARGET) / milliseconds;
  return Math.round(Math.min(SIZE.most, Math.max(SIZE.least, Math.min(fitting, rows * 1.5))));
}

/** Returns the milliseconds to pause after a batch. */
export function restAfter({ rows, milliseconds }: Batch, { rate }: Pick<CopyPace, 'rate'>): number {
  const rest = milliseconds * (milliseconds > 2 * TARGET ? LONG_REST : REST);
  return rate === null ? rest : Math.max(rest, (rows / rate) * 1_000 - milliseconds);
}

/** Selects the replication lag in milliseconds. Standbys that the account may not see count as zero. */
const LAG = `
SELECT coalesce(pg_catalog.max(1000::numeric * extract(epoch FROM replay_lag)), 0)::float8 AS behind
FROM pg_catalog.pg_stat_replication WHERE state IN ('streaming', 'catchup')`;

/** Waits until every standby is within the limit. */
export async function waitForStandbys(
  db: Queryable,
  { signal, progress }: Pick<StepContext, 'signal' | 'progress'>,
  { maxLag }: Pick<CopyPace, 'maxLag'>,
): Promise<void> {
  for (;;) {
    const { rows } = await db.query<{ behind: number }>(LAG);
    const behind = rows[0]?.behind ?? 0;
    if (behind <= maxLag) return;
    progress({ phase: `waiting for a standby that is ${(behind / 1_000).toFixed(1)} s behind` });
    await sleep(LOOK, undefined, { signal });
  }
}

/** Decides whether a copy can catch up with a table that is being written. This decision needs no I/O. */

export const NOTES_AT_ONCE = 10_000;

/** Maximum number of notes that the change itself can process quickly. */
const FEW = 500;

/**
 * A copy has caught up after more than this many passes that processed all notes. New notes then take about as long to
 * process as the last pass took.
 */
const TIMES = 5;

/**
 * `every`: passes of `NOTES_AT_ONCE` between counts of the remaining notes. `vain`: the copy fails after this number of
 * consecutive counts without progress.
 */
const LOOKS = { every: 20, vain: 5 };

/** Counts the passes of one copy, from its first batch of notes. It does not query the table. */
export class CatchUpCounter {
  private whole = 0;
  /** Passes with at least `NOTES_AT_ONCE` notes since the last count of the remaining notes. */
  private full = 0;
  private least = Infinity;
  private vain = 0;

  /** @param notes processed in one pass */
  isNear(notes: number): boolean {
    if (notes < NOTES_AT_ONCE) this.whole += 1;
    else this.full += 1;
    return notes < FEW || this.whole > TIMES;
  }

  isTimeToLook(): boolean {
    return this.full === LOOKS.every;
  }

  /** @param left the number of remaining notes */
  isHopeless(left: number): boolean {
    this.full = 0;
    this.vain = left < this.least ? 0 : this.vain + 1;
    this.least = Math.min(this.least, left);
    return this.vain === LOOKS.vain;
  }
}

/** The checkpoint of a copy. It is stored between batches, and another process can continue from it. */
interface Progress {
  /** The oid of the copy. */
  copy: string;
  /** The key of the last copied row; null before the first. */
  after: string[] | null;
  copied: number;
  /** True after all rows were copied. From here on, only new writes are processed. */
  done: boolean;
}

export function readCopying({ id, schema }: StepContext, { prepared }: EngineStep): ColumnCopy {
  if (prepared.what.kind !== 'copy') throw new Error('not the step of a copy');
  return createCopying({ id, schema }, { ...prepared, what: prepared.what });
}

/** Copies the missing rows, then processes notes until few are left. */
export async function copyValues(
  context: StepContext,
  step: EngineStep,
  { pace, total }: { pace: CopyPace; total: number | null },
): Promise<void> {
  const copying = readCopying(context, step);
  // PostgreSQL then raises an error instead of hiding rows by row security.
  await context.session.query('SET row_security = off');
  try {
    let progress = progressOf(context.checkpoint, await readOid(context, copying));
    let size = firstSize;
    while (!progress.done) {
      await waitForStandbys(context.session, context, pace);
      const started = performance.now();
      progress = await copyNextBatch(context, copying, { progress, size });
      const batch = { rows: size, milliseconds: performance.now() - started };
      context.progress({ done: total ? Math.min(1, progress.copied / total) : null, phase: 'copying rows' });
      if (await follow(context, copying)) progress = await restartCopy(context, copying);
      size = nextSize(batch);
      await sleep(restAfter(batch, pace), undefined, { signal: context.signal });
    }
    await followToTheEnd(context, copying, pace);
  } finally {
    await context.session.query('RESET row_security').catch(() => undefined);
  }
}

/** Returns the stored progress. A recreated copy is empty, even if progress was stored for the previous one. */
function progressOf(checkpoint: StepContext['checkpoint'], copy: string): Progress {
  const isOfCopy = isObject(checkpoint) && checkpoint['copy'] === copy;
  return isOfCopy ? (checkpoint as unknown as Progress) : nothingOf(copy);
}

const nothingOf = (copy: string): Progress => ({ copy, after: null, copied: 0, done: false });

async function readOid({ session }: StepContext, copying: ColumnCopy): Promise<string> {
  const { rows } = await session.query<{ oid: string }>(
    sql`SELECT ${literal(copyTable(copying))}::regclass::oid::text AS oid`,
  );
  return rows[0]?.oid ?? '';
}

interface Next {
  progress: Progress;
  size: number;
}

async function copyNextBatch(context: StepContext, copying: ColumnCopy, { progress, size }: Next): Promise<Progress> {
  const batch = copyBatch(copying, progress.after, integer(String(size)));
  return inTransaction(context, async () => {
    const { rows } = await context.session.query<{ rows: number; last: string[] | null }>(batch);
    const { rows: count, last } = rows[0] ?? { rows: 0, last: null };
    const next = {
      copy: progress.copy,
      after: last ?? progress.after,
      copied: progress.copied + count,
      done: count < size,
    };
    await context.save({ ...next });
    return next;
  });
}

/** @returns whether the table was truncated in the meantime */
async function follow(context: StepContext, copying: ColumnCopy): Promise<boolean> {
  return (await followOnce(context, copying)).truncated;
}

async function followOnce(
  { session }: StepContext,
  copying: ColumnCopy,
): Promise<{ notes: number; truncated: boolean }> {
  const { rows } = await session.query<{ notes: number; truncated: boolean }>(
    applyNotes(copying, integer(String(NOTES_AT_ONCE))),
  );
  return rows[0] ?? { notes: 0, truncated: false };
}

/** Starts over after a TRUNCATE, because the copied rows no longer exist in the table. */
async function restartCopy(context: StepContext, copying: ColumnCopy): Promise<Progress> {
  const progress = nothingOf(await readOid(context, copying));
  await inTransaction(context, async () => {
    await context.session.query(sql`TRUNCATE ${copyTable(copying)}`);
    await context.save({ ...progress });
  });
  return progress;
}

/** Processes notes until the change itself can process the rest. */
async function followToTheEnd(context: StepContext, copying: ColumnCopy, pace: CopyPace): Promise<void> {
  const { progress, session } = context;
  progress({ done: 1, phase: 'applying concurrent writes' });
  await catchUp(context, copying, pace);
  const count = await countCompleteCopy(context, copying);
  await session.query(sql`COMMENT ON TABLE ${copyTable(copying)} IS ${literal(String(count))}`);
  // Writes during a long count are processed here instead of under the lock of the change.
  await catchUp(context, copying, pace);
  await requireNothingLost(context, copying);
}

interface ComparedCopy {
  count: number;
  copied: number;
  present: number;
  truncated: boolean;
}

/**
 * Returns the number of rows of the copy.
 * @throws PreparationRefused if the copy lacks rows of the table, whose column is dropped later, or has others
 */
async function countCompleteCopy({ session }: StepContext, copying: ColumnCopy): Promise<number> {
  const { rows } = await session.query<ComparedCopy>(compareCopy(copying));
  const { count, copied, present, truncated } = rows[0] as ComparedCopy;
  if (copied === present || truncated) return count;
  const reason = `the copy has ${copied} rows, but ${copying.table} has ${present}, not counting rows that are being written`;
  throw new PreparationRefused([
    { code: 'DATABASE_REFUSED', message: `The service stopped copying: ${reason}. Try again.`, details: { reason } },
  ]);
}

/** Processes notes until few are left. */
async function catchUp(context: StepContext, copying: ColumnCopy, pace: CopyPace): Promise<void> {
  const { signal, session } = context;
  const pursuit = new CatchUpCounter();
  for (let isNear = false; !isNear;) {
    signal.throwIfAborted();
    await waitForStandbys(session, context, pace);
    const { notes, truncated } = await followOnce(context, copying);
    if (truncated) {
      await restartCopy(context, copying);
      throw new Error('the table was truncated while its values were copied; the copy starts again');
    }
    isNear = pursuit.isNear(notes);
    if (pursuit.isTimeToLook()) await checkPace(context, copying, pursuit);
  }
}

/** @throws PreparationRefused if the copy cannot catch up */
async function checkPace(context: StepContext, copying: ColumnCopy, pursuit: CatchUpCounter): Promise<void> {
  const left = await countNotesLeft(context, copying);
  context.progress({ phase: `applying concurrent writes: ${left.toLocaleString('en')} rows remaining` });
  if (pursuit.isHopeless(left)) throw createTooFastError(copying, left);
}

async function countNotesLeft({ session }: StepContext, copying: ColumnCopy): Promise<number> {
  const { rows } = await session.query<{ left: string }>(sql`SELECT count(*) AS left FROM ${notedTable(copying)}`);
  return Number(rows[0]?.left ?? 0);
}

function createTooFastError({ table }: ColumnCopy, left: number): PreparationRefused {
  const reason = `rows of ${table} are written faster than the service can copy their values: ${left.toLocaleString('en')} rows remain`;
  return new PreparationRefused([
    { code: 'DATABASE_REFUSED', message: `The service stopped copying: ${reason}.`, details: { reason } },
  ]);
}

/** Rejects the preparation if a trigger could not record a row, because its value cannot be kept. */
async function requireNothingLost({ session }: StepContext, copying: ColumnCopy): Promise<void> {
  const { rows } = await session.query<{ reason: string }>(sql`SELECT reason FROM ${lostTable(copying)} LIMIT 1`);
  const [lost] = rows;
  if (lost === undefined) return;
  const message = `A write to ${copying.table} could not be tracked while its values were copied: ${lost.reason}`;
  throw new PreparationRefused([{ code: 'DATABASE_REFUSED', message, details: { reason: lost.reason } }]);
}

export async function inTransaction<T>({ session }: StepContext, work: () => Promise<T>): Promise<T> {
  await session.query('BEGIN');
  try {
    const result = await work();
    await session.query('COMMIT');
    return result;
  } catch (error) {
    await session.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
