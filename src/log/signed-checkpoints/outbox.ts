/** Checkpoints that wait for delivery: rows of service_checkpoints, which all processes share. */
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import type { LogEnd } from './durable-position.js';
import type { Delivery } from './targets.js';

export interface Every {
  /** Events since the last checkpoint that trigger the next one. */
  events: number;
  /** Milliseconds after which one new event suffices. */
  time: number;
}

/** Delivered checkpoints that are kept, so that standbys can return them. */
const MAX_KEPT = 1_000;

/** Undelivered checkpoints. More would add nothing to the newest one. */
const MAX_WAITING = 100;

/** True if there is an event that no checkpoint covers, and a target. */
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

/** Uses the clock of the database, which all processes share. After the clock was set back, a checkpoint is due. */
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

/** Records a checkpoint for delivery. An existing row stays, so that all processes deliver the same bytes. */
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
 * A process that has not delivered within a minute counts as dead. A claim in the future, made before the clock was set
 * back, is ignored. The extra minute allows for a claim made after this statement began.
 */
const CLAIM = `
UPDATE ${own.checkpoints} SET claimed_at = now() WHERE id = (
  SELECT id FROM ${own.checkpoints}
   WHERE target = $1 AND published_at IS NULL AND refused_at IS NULL
     AND (claimed_at IS NULL OR claimed_at NOT BETWEEN now() - interval '1 minute' AND now() + interval '1 minute')
   ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id::text, origin, position, note`;

/** Claims the oldest undelivered checkpoint that no other process is delivering. */
export async function claim(db: Queryable, target: string): Promise<Claimed | undefined> {
  const { rows } = await db.query<Claimed>(CLAIM, [target]);
  return rows[0];
}

/** Records a failed delivery, to be retried, or final if the target rejected it. */
export async function release(db: Queryable, id: string, why: { message: string; refused: boolean }): Promise<void> {
  await db.query(
    `UPDATE ${own.checkpoints} SET claimed_at = NULL, last_error = $2, refused_at = CASE WHEN $3 THEN now() END WHERE id = $1`,
    [id, why.message, why.refused],
  );
}

/** Records a delivery and deletes the oldest delivered checkpoints. */
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
