/** Decides when scheduled requests are due. Only this file asks for the time, from the database's clock. */
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import type { ChangeRequest } from '../../schema/change-requests/model.js';

const AT = `(request -> 'schedule'::text ->> 'at'::text)::timestamptz`;

/** A condition on a row of change requests. */
export const IS_DUE = `state = 'scheduled' AND ${AT} <= clock_timestamp()`;

/** Checks whether the request is scheduled and its time has come. */
export async function isDue(db: Queryable, { schedule }: Pick<ChangeRequest, 'schedule'>): Promise<boolean> {
  return schedule !== null && (await untilTime(db, schedule.at)) <= 0;
}

/**
 * Milliseconds; negative if the time has passed.
 * @param at ISO 8601
 */
export async function untilTime(db: Queryable, at: string): Promise<number> {
  const { rows } = await db.query<{ wait: number }>(
    'SELECT (extract(epoch FROM $1::timestamptz - clock_timestamp()) * 1000::numeric)::float8 AS wait',
    [at],
  );
  return rows[0]?.wait ?? Infinity;
}

/** Milliseconds until the next request becomes due, ignoring those that already are. Null if there is none. */
export async function untilNextDue(db: Queryable): Promise<number | null> {
  const { rows } = await db.query<{ wait: number | null }>(
    `SELECT (extract(epoch FROM pg_catalog.min(${AT}) - clock_timestamp()) * 1000::numeric)::float8 AS wait
       FROM ${own.changes} WHERE state = 'scheduled' AND ${AT} > clock_timestamp()`,
  );
  return rows[0]?.wait ?? null;
}
