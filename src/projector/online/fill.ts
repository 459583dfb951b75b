/* Fills the rows in which a column is null, in batches while the table is in use. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isObject } from '../../kernel/json.js';
import { isLocked } from '../../postgres/errors.js';
import { PREVENTED, lacksValue, updateRows } from '../ddl/backfill.js';
import { type Sql, ident, integer, join, literal, sql } from '../ddl/sql.js';
import type { FilledColumn } from '../ddl/step.js';
import { type CopyPace, firstSize, inTransaction, nextSize, restAfter, waitForStandbys } from './run-copy.js';
import { type EngineStep, filledBy, preparedTable } from './steps.js';
import { PreparationRefused, type StepContext } from './types.js';

/** The checkpoint of a fill. It is stored with each batch, and another process can continue from it. */
interface Progress {
  /** The key of the last visited row; null before the first. */
  after: string[] | null;
  /** The number of visited rows. */
  visited: number;
  done: boolean;
}

interface FillOptions {
  pace: CopyPace;
  /** PostgreSQL's estimate of the rows of the table; null if unknown. */
  total: number | null;
  /** Milliseconds that a batch waits for locked rows. */
  lockWait: number;
}

/** Milliseconds until a batch is repeated because a session has locked one of its rows. */
const RETRY = 500;

/**
 * A batch that encounters a locked row gives up soon and releases its own rows. A session that waits for them is therefore
 * never chosen as the victim of a deadlock.
 */
export async function fillRows(
  context: StepContext,
  { prepared }: EngineStep,
  { pace, total, lockWait }: FillOptions,
): Promise<void> {
  const { session, signal, checkpoint } = context;
  const filling = { table: preparedTable(prepared, context.schema), filled: filledBy(prepared), lockWait };
  let progress: Progress = isObject(checkpoint)
    ? (checkpoint as unknown as Progress)
    : { after: null, visited: 0, done: false };
  let size = firstSize;
  // PostgreSQL then raises an error instead of hiding rows by row security.
  await session.query('SET row_security = off');
  try {
    while (!progress.done) {
      await waitForStandbys(session, context, pace);
      const started = performance.now();
      const next = await fillBatch(context, filling, { progress, size });
      if (next === null) {
        size = Math.max(1, Math.floor(size / 2));
        context.progress({ phase: 'waiting for locked rows' });
        await sleep(RETRY, undefined, { signal });
        continue;
      }
      progress = next;
      const batch = { rows: size, milliseconds: performance.now() - started };
      context.progress({ done: total ? Math.min(1, progress.visited / total) : null, phase: 'filling rows' });
      size = nextSize(batch);
      await sleep(restAfter(batch, pace), undefined, { signal });
    }
  } finally {
    await session.query('RESET row_security').catch(() => undefined);
  }
}

interface Filling {
  table: Sql;
  filled: FilledColumn;
  lockWait: number;
}

interface VisitedBatch {
  rows: number;
  last: string[] | null;
  /** The number of rows without a value when the statement began. */
  due: number;
  /** The number of rows that it gave a value. */
  done: number;
}

/**
 * @returns null if the batch must be repeated, because a session has locked or changed one of its rows
 * @throws PreparationRefused if a trigger of the table prevented a row from being filled
 */
async function fillBatch(
  context: StepContext,
  { table, filled, lockWait }: Filling,
  { progress, size }: { progress: Progress; size: number },
): Promise<Progress | null> {
  const { session } = context;
  const batch = batchSql(table, filled, { after: progress.after, rows: integer(String(size)) });
  try {
    return await inTransaction(context, async () => {
      await session.query(sql`SET LOCAL lock_timeout = ${integer(String(Math.ceil(lockWait)))}`);
      const { rows } = await session.query<VisitedBatch>(batch);
      const { rows: count, last, due, done } = rows[0] as VisitedBatch;
      if (done < due && size > 1) return null;
      if (done < due) throw createPreventedError(filled);
      const next = { after: last ?? progress.after, visited: progress.visited + count, done: count < size };
      await context.save({ ...next });
      return next;
    });
  } catch (error) {
    if (isLocked(error)) return null;
    throw error;
  }
}

function createPreventedError({ column }: FilledColumn): PreparationRefused {
  const message = `PostgreSQL failed to fill column ${JSON.stringify(column)}: ${PREVENTED}. Change or disable the trigger, then try again.`;
  return new PreparationRefused([{ code: 'DATABASE_REFUSED', message, details: { reason: PREVENTED } }]);
}

/** Returns SQL that visits rows after a key, in key order, and fills them. Its result is a `VisitedBatch`. */
function batchSql(
  table: Sql,
  filled: FilledColumn,
  { after, rows }: { after: readonly string[] | null; rows: Sql },
): Sql {
  const list = (each: (name: Sql, index: Sql) => Sql): Sql =>
    join(
      filled.key.map((name, index) => each(ident(name), ident(`k${index}`))),
      sql`, `,
    );
  const names = list((name) => sql`t.${name}`);
  const isRow = join(
    filled.key.map((name, index) => sql`t.${ident(name)} = b.${ident(`k${index}`)}`),
    sql` AND `,
  );
  const from = after === null ? sql`` : sql` WHERE (${names}) > (${join(after.map(literal), sql`, `)})`;
  const last = list((_, key) => sql`${key}::text`);
  const backwards = list((_, key) => sql`${key} DESC`);
  return sql`WITH batch AS MATERIALIZED (
      SELECT ${list((name, key) => sql`t.${name} AS ${key}`)}, ${lacksValue(filled)} AS lacks
        FROM ${table} t${from} ORDER BY ${names} LIMIT ${rows}),
    filled AS (${updateRows(table, filled, sql` FROM batch b WHERE ${isRow} AND`)}
      RETURNING t.${ident(filled.column)} IS DISTINCT FROM NULL AS has_value)
    SELECT (SELECT count(*)::int FROM batch) AS rows, (SELECT ARRAY[${last}] FROM batch ORDER BY ${backwards} LIMIT 1) AS last,
      (SELECT count(*)::int FROM batch WHERE lacks) AS due, (SELECT count(*)::int FROM filled WHERE has_value) AS done`;
}
