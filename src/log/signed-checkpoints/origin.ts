/** Identifies the log of a database by the event that began it, see `originOf`. */
import type { LogPlace } from '../../schema/model/events.js';
import { own } from '../../postgres/own-tables.js';
import type { Parameterised } from '../../postgres/exchange.js';
import type { Queryable } from '../../postgres/pool.js';
import { originOf } from './checkpoint.js';

/** A row with position and hash of the event that began the log as of `position`. No row for an empty log. */
export const beginningAt = (position: string): string => `(
  (SELECT a.position, a.hash FROM ${own.events} a
    WHERE a.subject ->> 'kind'::text = 'log' AND a.type = 'log.acknowledged' AND a.position <= ${position}
    ORDER BY a.position DESC LIMIT 1)
  UNION ALL SELECT f.position, f.hash FROM ${own.events} f WHERE f.position = 1 AND ${position} >= 1
  ORDER BY position DESC LIMIT 1)`;

/** Null if the log has no event up to the position. */
export async function originAt(db: Queryable, position: number): Promise<string | null> {
  const { rows } = await db.query<{ hash: string }>(`SELECT b.hash FROM ${beginningAt('$1::bigint')} b`, [position]);
  return rows[0] === undefined ? null : originOf(rows[0].hash);
}

const KEY = 'log_beginning';

/**
 * A row with position and hash of the event that began the log at the last signature or acknowledgement. A log that was
 * replaced as a whole no longer contains it.
 */
export const KEPT_BEGINNING = `
  SELECT (k.value ->> 'position'::text)::bigint AS position, k.value ->> 'hash'::text AS hash
    FROM ${own.settings} k WHERE k.key = '${KEY}'`;

/** Changes nothing if the log has no such event. */
export const keepBeginning = ({ position, hash }: LogPlace): Parameterised => ({
  text: `INSERT INTO ${own.settings} (key, value)
         SELECT '${KEY}', pg_catalog.jsonb_build_object('position', e.position, 'hash', e.hash)
           FROM ${own.events} e WHERE e.position = $1 AND e.hash = $2
         ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
  values: [position, hash],
});

/** Returns the origin of checkpoints signed so far. The log may no longer contain the event. */
export async function originBefore(db: Queryable, position: number): Promise<string | null> {
  const { rows } = await db.query<{ hash: string }>(KEPT_BEGINNING);
  return rows[0] === undefined ? originAt(db, position) : originOf(rows[0].hash);
}
