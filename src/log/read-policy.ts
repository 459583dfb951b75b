/** The policy, from the log itself: its newest event says all of it. Nothing is kept beside the log that could be another. */
import { own } from '../postgres/own-tables.js';
import type { Queryable } from '../postgres/pool.js';
import { readEvent } from '../schema/fold/upcasting.js';
import { DEFAULT_POLICY, POLICY_SUBJECT, type Policy, foldPolicy } from '../schema/policy/index.js';
import { EVENT_COLUMNS, type EventRow, toEventRecord } from './read.js';

/** The policy, and the event that set it; position 0: nobody has. */
export interface PolicyAt {
  policy: Policy;
  position: number;
  /** ISO 8601; null: nobody has set one. */
  updated_at: string | null;
}

/** Its newest event up to a position. Answered from an index. */
const query = (upTo: string): string => `SELECT ${EVENT_COLUMNS} FROM ${own.events}
 WHERE subject ->> 'kind'::text = '${POLICY_SUBJECT.kind}' AND subject ->> 'id'::text = '${POLICY_SUBJECT.id}' AND type = 'policy.updated'${upTo}
 ORDER BY position DESC LIMIT 1`;

/** Whoever decides by it asks under the log's lock. */
export const POLICY_QUERY = query('');

/** What the query found. @throws UnreadableEventError */
export function toPolicy([row]: readonly EventRow[]): PolicyAt {
  if (row === undefined) return { policy: DEFAULT_POLICY, position: 0, updated_at: null };
  const event = readEvent(toEventRecord(row));
  return { policy: foldPolicy([event]), position: row.position, updated_at: row.occurred_at.toISOString() };
}

/** @param upTo the position of the moment; absent: now */
export async function readPolicy(db: Queryable, upTo?: number): Promise<PolicyAt> {
  const { rows } =
    upTo === undefined
      ? await db.query<EventRow>(POLICY_QUERY)
      : await db.query<EventRow>(query(' AND position <= $1'), [upTo]);
  return toPolicy(rows);
}
