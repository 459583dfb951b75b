/** Marks a database whose restore has not finished, because its data is incomplete. */
import { OperatorError } from '../kernel/operator-error.js';
import { own } from './own-tables.js';
import type { Queryable } from './pool.js';

const KEY = 'restoring';

/** Sets the mark, or updates its time. */
export async function markRestoring(db: Queryable): Promise<void> {
  await db.query(
    `INSERT INTO ${own.settings} (key, value) VALUES ($1, pg_catalog.jsonb_build_object('since', now()))
     ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    [KEY],
  );
}

/** Does nothing if there is no mark. */
export async function unmarkRestoring(db: Queryable): Promise<void> {
  await db.query(`DELETE FROM ${own.settings} WHERE key = $1`, [KEY]);
}

/** True if a restore has begun and not finished, including an aborted one. */
export async function isRestoring(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query(`SELECT FROM ${own.settings} WHERE key = $1`, [KEY]);
  return rowCount === 1;
}

/** @throws OperatorError if the restore of the database has not finished */
export async function refuseRestoring(db: Queryable): Promise<void> {
  if (!(await isRestoring(db))) return;
  throw new OperatorError(
    'This database is being restored, or its restore was broken off: wait for it to end, or drop the database and restore into a new one.',
  );
}
