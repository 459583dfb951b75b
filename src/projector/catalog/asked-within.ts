/** Runs optional queries with a short time limit. An answer without counts or sizes is better than a late one. */
import type pg from 'pg';
import type { Queryable } from '../../postgres/pool.js';
import { type Sql, literal, sql } from '../ddl/sql.js';

/** Milliseconds for all queries of one kind together. */
export const TIME_TO_COUNT = 1_500;

/**
 * @param limit in milliseconds
 * @returns the first row, or null if the query timed out or was cancelled
 */
export async function askedWithin<Row extends pg.QueryResultRow>(
  db: Queryable,
  question: Sql,
  limit: number,
): Promise<Row | null> {
  if (limit < 1) return null;
  const time = literal(String(Math.ceil(limit)));
  // Both statements are in one message: the limits end with its implicit transaction and need no reset after a
  // failure.
  const script = sql`SELECT pg_catalog.set_config('statement_timeout', ${time}, true), pg_catalog.set_config('lock_timeout', ${time}, true);
    ${question}`;
  try {
    const results = (await db.query(script)) as unknown as pg.QueryResult<Row>[];
    return results.at(-1)?.rows[0] ?? null;
  } catch {
    return null;
  }
}
