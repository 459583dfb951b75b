/** Reads the policy from the log. The newest event contains the whole policy, so no copy exists that could differ. */
import { own } from '../postgres/own-tables.js';
import type { Queryable } from '../postgres/pool.js';
import { readEvent } from '../schema/fold/upcasting.js';
import { DEFAULT_POLICY, POLICY_SUBJECT, type Policy, foldPolicy } from '../schema/policy/index.js';
import { EVENT_COLUMNS, type EventRow, toEventRecord } from './read.js';

/** The policy and the position of the event that set it. Position 0 if no event did. */
export interface PolicyAt {
  policy: Policy;
  position: number;
  /** ISO 8601. Null if no event set a policy. */
  updated_at: string | null;
}

/** Selects the newest policy event up to a position from an index. */
const query = (upTo: string): string => `SELECT ${EVENT_COLUMNS} FROM ${own.events}
 WHERE subject ->> 'kind'::text = '${POLICY_SUBJECT.kind}' AND subject ->> 'id'::text = '${POLICY_SUBJECT.id}' AND type = 'policy.updated'${upTo}
 ORDER BY position DESC LIMIT 1`;

/** Callers that enforce the policy run this under the log lock. */
export const POLICY_QUERY = query('');

/** Parses the row of the query. @throws UnreadableEventError */
export function toPolicy([row]: readonly EventRow[]): PolicyAt {
  if (row === undefined) return { policy: DEFAULT_POLICY, position: 0, updated_at: null };
  const event = readEvent(toEventRecord(row));
  return { policy: foldPolicy([event]), position: row.position, updated_at: row.occurred_at.toISOString() };
}

/** @param upTo a position. Defaults to the head. */
export async function readPolicy(db: Queryable, upTo?: number): Promise<PolicyAt> {
  const { rows } =
    upTo === undefined
      ? await db.query<EventRow>(POLICY_QUERY)
      : await db.query<EventRow>(query(' AND position <= $1'), [upTo]);
  return toPolicy(rows);
}
