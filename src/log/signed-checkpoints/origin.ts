/** Which log a database holds: the event that began it, as `originOf` says. */
import type { LogPlace } from '../../schema/model/events.js';
import { own } from '../../postgres/own-tables.js';
import type { Parameterised } from '../../postgres/exchange.js';
import type { Queryable } from '../../postgres/pool.js';
import { originOf } from './checkpoint.js';

/** A row with position and hash of the event that began the log as it is at `position`; none where it is empty. */
export const beginningAt = (position: string): string => `(
  (SELECT a.position, a.hash FROM ${own.events} a
    WHERE a.subject ->> 'kind'::text = 'log' AND a.type = 'log.acknowledged' AND a.position <= ${position}
    ORDER BY a.position DESC LIMIT 1)
  UNION ALL SELECT f.position, f.hash FROM ${own.events} f WHERE f.position = 1 AND ${position} >= 1
  ORDER BY position DESC LIMIT 1)`;

/** Null where the log has no event up to there. */
export async function originAt(db: Queryable, position: number): Promise<string | null> {
  const { rows } = await db.query<{ hash: string }>(`SELECT b.hash FROM ${beginningAt('$1::bigint')} b`, [position]);
  return rows[0] === undefined ? null : originOf(rows[0].hash);
}

const KEY = 'log_beginning';

/**
 * A row with position and hash of the event that began the log when a checkpoint was last signed, or the log
 * acknowledged: a log that was replaced as a whole doesn't tell any more.
 */
export const KEPT_BEGINNING = `
  SELECT (k.value ->> 'position'::text)::bigint AS position, k.value ->> 'hash'::text AS hash
    FROM ${own.settings} k WHERE k.key = '${KEY}'`;

/** Changes nothing where the log has no such event. */
export const keepBeginning = ({ position, hash }: LogPlace): Parameterised => ({
  text: `INSERT INTO ${own.settings} (key, value)
         SELECT '${KEY}', pg_catalog.jsonb_build_object('position', e.position, 'hash', e.hash)
           FROM ${own.events} e WHERE e.position = $1 AND e.hash = $2
         ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
  values: [position, hash],
});

/** Under which origin checkpoints of this log were signed so far, or would have been: it may be gone from the log. */
export async function originBefore(db: Queryable, position: number): Promise<string | null> {
  const { rows } = await db.query<{ hash: string }>(KEPT_BEGINNING);
  return rows[0] === undefined ? originAt(db, position) : originOf(rows[0].hash);
}
