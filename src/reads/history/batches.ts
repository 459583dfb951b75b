/** Accepted commands: who, when, why, and what each came to in one line. */
import type { Queryable } from '../../postgres/pool.js';
import type { Cause, EventType } from '../../schema/model/events.js';
import { type EventFilter, conditionOf } from './filter.js';
import { own } from '../../postgres/own-tables.js';
import { type TypeCount, summarise } from './summary.js';

export interface Batch extends Cause {
  batch: string;
  occurred_at: string;
  first_position: number;
  last_position: number;
  /** How many events it came to. */
  events: number;
  /** One line: `created collection articles`. */
  summary: string;
}

type Row = Omit<Batch, 'occurred_at' | 'events' | 'summary'> & { occurred_at: Date };

/**
 * Batches with at least one event that fits the filter, newest first. The events of a batch stand side by side, so each
 * step goes from the first event of one batch to the last one before it that fits.
 */
export async function readBatches(db: Queryable, filter: EventFilter, limit: number): Promise<Batch[]> {
  const values: unknown[] = [limit];
  const { before, ...rest } = filter;
  const condition = conditionOf(rest, values);
  values.push(before ?? Number.MAX_SAFE_INTEGER);
  const step = (bound: string): string => `
    SELECT e.batch,
           (SELECT min(b.position) FROM ${own.events} b WHERE b.batch = e.batch) AS first_position,
           (SELECT max(b.position) FROM ${own.events} b WHERE b.batch = e.batch) AS last_position
      FROM ${own.events} e WHERE e.position < ${bound} AND ${condition}
     ORDER BY e.position DESC LIMIT 1`;
  const { rows } = await db.query<Row>(
    `WITH RECURSIVE found AS (
       SELECT 1 AS number, s.* FROM (${step(`$${values.length}::bigint`)}) s
       UNION ALL
       SELECT f.number + 1, s.* FROM found f CROSS JOIN LATERAL (${step('f.first_position')}) s WHERE f.number < $1
     )
     SELECT f.batch, e.occurred_at, e.actor, e.command, e.reason, e.request_id, e.ip, e.user_agent,
            f.first_position, f.last_position
       FROM found f JOIN ${own.events} e ON e.position = f.last_position
      ORDER BY f.number`,
    values,
  );
  const summaries = await readSummaries(db, rows);
  return rows.map((row) => ({
    ...row,
    occurred_at: row.occurred_at.toISOString(),
    events: row.last_position - row.first_position + 1,
    summary: summaries.get(row.batch) ?? '',
  }));
}

async function readSummaries(db: Queryable, batches: readonly Row[]): Promise<Map<string, string>> {
  const { rows } = await db.query<TypeCount & { batch: string; type: EventType }>(
    `SELECT batch, type, count(*)::int AS count, min(collection) AS collection, min(field) AS field
       FROM ${own.events} WHERE batch = ANY ($1) GROUP BY batch, type`,
    [batches.map((row) => row.batch)],
  );
  const counts = new Map<string, TypeCount[]>();
  for (const row of rows) counts.set(row.batch, [...(counts.get(row.batch) ?? []), row]);
  return new Map([...counts].map(([batch, each]) => [batch, summarise(each)]));
}
