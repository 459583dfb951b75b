/** Questions whose answer is worth a moment and no more: an answer without counts or sizes is better than one that comes late. */
import type pg from 'pg';
import type { Queryable } from '../../postgres/pool.js';
import { type Sql, literal, sql } from '../ddl/sql.js';

/** Milliseconds for all questions of a kind together. */
export const TIME_TO_COUNT = 1_500;

/** @param limit milliseconds @returns the first row; null: not known in time, or somebody was quicker */
export async function askedWithin<Row extends pg.QueryResultRow>(
  db: Queryable,
  question: Sql,
  limit: number,
): Promise<Row | null> {
  if (limit < 1) return null;
  const time = literal(String(Math.ceil(limit)));
  // Both in one message: the limits are over with it, and nothing has to be taken back when it fails.
  const script = sql`SELECT pg_catalog.set_config('statement_timeout', ${time}, true), pg_catalog.set_config('lock_timeout', ${time}, true);
    ${question}`;
  try {
    const results = (await db.query(script)) as unknown as pg.QueryResult<Row>[];
    return results.at(-1)?.rows[0] ?? null;
  } catch {
    return null;
  }
}
