/** Checkpoints on their way: rows of service_checkpoints, which all processes share. */
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import type { LogEnd } from './durable-position.js';
import type { Delivery } from './targets.js';

export interface Every {
  /** So many events since the last one; … */
  events: number;
  /** … or so many milliseconds, if there is a new event at all. */
  time: number;
}

/** Delivered and kept, for standbys to answer with. */
const MAX_KEPT = 1_000;

/** Signed and not delivered: more would say nothing that the newest doesn't say. */
const MAX_WAITING = 100;

/** Whether there is an event that no checkpoint speaks for, and somebody who takes checkpoints. */
export async function isNews(db: Queryable, target: string): Promise<boolean> {
  const { rows } = await db.query<{ news: boolean }>(
    `SELECT (SELECT count(*) FROM ${own.checkpoints}
              WHERE target = $1 AND published_at IS NULL AND refused_at IS NULL) < ${MAX_WAITING} AND EXISTS (
              SELECT FROM ${own.events} e WHERE NOT EXISTS (
                SELECT FROM ${own.checkpoints} c WHERE c.target = $1 AND c.position = e.position AND c.hash = e.hash)
              AND e.position = (SELECT pg_catalog.max(position) FROM ${own.events})) AS news`,
    [target],
  );
  return rows[0]?.news === true;
}

export interface Due {
  target: string;
  end: Pick<LogEnd, 'origin' | 'position'>;
  every: Every;
}

/** By the clock of the database, which all processes share. One that was set back says that it is time. */
export async function isDue(db: Queryable, { target, end, every }: Due): Promise<boolean> {
  const { rows } = await db.query<{ position: number; age: number }>(
    `SELECT position, extract(epoch FROM now() - signed_at)::float8 * 1000::float8 AS age FROM ${own.checkpoints}
      WHERE target = $1 AND origin = $2 ORDER BY position DESC LIMIT 1`,
    [target, end.origin],
  );
  const [last] = rows;
  if (last === undefined) return true;
  const events = end.position - last.position;
  const isOld = last.age >= every.time || last.age < 0;
  return events > 0 && (events >= every.events || isOld);
}

/**
 * Writes down what is to be delivered. What is there already stays as it is, so that all processes deliver the same
 * bytes.
 */
export async function insert(
  db: Queryable,
  target: string,
  { origin, position, hash, note }: LogEnd & Delivery,
): Promise<void> {
  await db.query(
    `INSERT INTO ${own.checkpoints} (target, origin, position, hash, note) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT DO NOTHING`,
    [target, origin, position, hash, note],
  );
}

export interface Claimed extends Delivery {
  id: string;
}

/**
 * A process that hasn't delivered in a minute is taken for dead; a claim of the future, made before the clock was set
 * back, is not waited for. The minute ahead is for one that was made between this statement's begin and its look.
 */
const CLAIM = `
UPDATE ${own.checkpoints} SET claimed_at = now() WHERE id = (
  SELECT id FROM ${own.checkpoints}
   WHERE target = $1 AND published_at IS NULL AND refused_at IS NULL
     AND (claimed_at IS NULL OR claimed_at NOT BETWEEN now() - interval '1 minute' AND now() + interval '1 minute')
   ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id::text, origin, position, note`;

/** The oldest that is not delivered and that no other process is delivering now. */
export async function claim(db: Queryable, target: string): Promise<Claimed | undefined> {
  const { rows } = await db.query<Claimed>(CLAIM, [target]);
  return rows[0];
}

/** It was not delivered: for the next try, or for good where it was refused. */
export async function release(db: Queryable, id: string, why: { message: string; refused: boolean }): Promise<void> {
  await db.query(
    `UPDATE ${own.checkpoints} SET claimed_at = NULL, last_error = $2, refused_at = CASE WHEN $3 THEN now() END WHERE id = $1`,
    [id, why.message, why.refused],
  );
}

/** It was delivered; the oldest of those are forgotten. */
export async function markPublished(db: Queryable, id: string, target: string): Promise<void> {
  await db.query(
    `UPDATE ${own.checkpoints} SET claimed_at = NULL, last_error = NULL, published_at = now() WHERE id = $1`,
    [id],
  );
  await db.query(
    `DELETE FROM ${own.checkpoints} WHERE target = $1 AND published_at IS NOT NULL AND id < (
       SELECT pg_catalog.min(id) FROM (SELECT id FROM ${own.checkpoints} WHERE target = $1 AND published_at IS NOT NULL
                             ORDER BY id DESC LIMIT ${MAX_KEPT}) newest)`,
    [target],
  );
}
