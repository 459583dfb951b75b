/**
 * Stores the preparation steps of change requests, outside the log. Only the holder of a request's lock writes them.
 */
import type { Json } from '../../kernel/json.js';
import type { Parameterised } from '../../postgres/exchange.js';
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import type { PreparationStep, StepProgress } from '../online/types.js';

/** A stored step. */
export interface KeptStep {
  number: number;
  step: PreparationStep;
  checkpoint: Json;
  progress: StepProgress | null;
  started_at: Date | null;
  /** Duration by the database's clock; null while the step is not done. */
  milliseconds: number | null;
}

/** Replaces the planned steps. A step that is planned again keeps its progress. */
export function keepSteps(request: string, steps: readonly PreparationStep[]): Parameterised[] {
  return [
    {
      text: `WITH planned AS (
               SELECT number::integer AS number, step FROM pg_catalog.jsonb_array_elements($2::jsonb) WITH ORDINALITY AS s (step, number)
             ), before AS (SELECT * FROM ${own.preparations} WHERE request = $1),
             gone AS (DELETE FROM ${own.preparations} WHERE request = $1 AND number > $3)
             INSERT INTO ${own.preparations} (request, number, step, checkpoint, started_at, milliseconds)
             SELECT $1, p.number, p.step, b.checkpoint, b.started_at, b.milliseconds
               FROM planned p LEFT JOIN before b ON b.step ->> 'key'::text = p.step ->> 'key'::text
             ON CONFLICT (request, number) DO UPDATE SET step = excluded.step, checkpoint = excluded.checkpoint,
               progress = NULL, started_at = excluded.started_at, milliseconds = excluded.milliseconds`,
      values: [request, JSON.stringify(steps), steps.length],
    },
  ];
}

/** In execution order. Empty if nothing is prepared for the request. */
export async function readSteps(db: Queryable, request: string): Promise<KeptStep[]> {
  const text = `SELECT number, step, checkpoint, progress, started_at, milliseconds
                  FROM ${own.preparations} WHERE request = $1 ORDER BY number`;
  const { rows } = await db.query<KeptStep>(text, [request]);
  return rows;
}

/** Stores the progress shown for the current step, or for the last one while the change waits to be applied. */
export async function keepProgress(
  db: Queryable,
  { request, number }: { request: string; number: number },
  progress: StepProgress,
): Promise<void> {
  const text = `UPDATE ${own.preparations} SET progress = $3 WHERE request = $1 AND number = $2`;
  await db.query(text, [request, number, JSON.stringify(progress)]);
}

/** A step that was begun before keeps its start time, so the duration covers all attempts. */
export async function beginStep(db: Queryable, request: string, number: number): Promise<void> {
  const text = `UPDATE ${own.preparations} SET started_at = coalesce(started_at, now()) WHERE request = $1 AND number = $2`;
  await db.query(text, [request, number]);
}

/** @returns the duration in milliseconds; undefined if the step no longer exists */
export async function endStep(db: Queryable, request: string, number: number): Promise<number | undefined> {
  const text = `UPDATE ${own.preparations} SET progress = NULL,
                  milliseconds = pg_catalog.round(extract(epoch FROM clock_timestamp() - started_at) * 1000::numeric)
                 WHERE request = $1 AND number = $2 RETURNING milliseconds::float8`;
  const { rows } = await db.query<{ milliseconds: number }>(text, [request, number]);
  return rows[0]?.milliseconds;
}

/**
 * Marks all steps as not done. Each runs again from its checkpoint as far as needed.
 * @returns how often the request was reopened
 */
export async function reopenSteps(db: Queryable, request: string): Promise<number> {
  const text = `UPDATE ${own.preparations} SET progress = NULL, started_at = NULL, milliseconds = NULL, lost = lost + 1
                 WHERE request = $1 RETURNING lost`;
  const { rows } = await db.query<{ lost: number }>(text, [request]);
  return Math.max(0, ...rows.map(({ lost }) => lost));
}

/** @returns false if the request is no longer being prepared */
export async function keepCheckpoint(
  db: Queryable,
  { request, number }: { request: string; number: number },
  checkpoint: Json,
): Promise<boolean> {
  const text = `UPDATE ${own.preparations} p SET checkpoint = $3 WHERE request = $1 AND number = $2
                 AND EXISTS (SELECT FROM ${own.changes} c WHERE c.id = $1 AND c.state IN ('preparing', 'prepared'))`;
  const { rowCount } = await db.query(text, [request, number, JSON.stringify(checkpoint)]);
  return rowCount === 1;
}

/** Call it when the database contains nothing of the preparation any more. */
export async function forgetSteps(db: Queryable, request: string): Promise<void> {
  await db.query(`DELETE FROM ${own.preparations} WHERE request = $1`, [request]);
}
