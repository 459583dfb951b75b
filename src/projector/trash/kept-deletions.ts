/**
 * The trash according to the log: deletions that kept something and have not ended since. A database that was created
 * from its log contains none of it.
 */
import type { Queryable } from '../../postgres/pool.js';
import { own } from '../../postgres/own-tables.js';
import { isThere, shownTime } from './expressions.js';
import type { TrashEntry } from './list.js';

/** Without the members that only a fold or the catalog provides. */
export interface KeptDeletion extends Omit<TrashEntry, 'identity' | 'rows' | 'bytes'> {
  /** True if the kept object exists. */
  there: boolean;
  /** True if it has expired by the database's clock. */
  expired: boolean;
}

/** Checks whether an event kept something. An index has this exact condition. */
const KEEPS = `e.type IN ('collection.deleted', 'field.deleted') AND e.data ? 'kept_until'::text`;

/** Neither restored nor purged. */
const IS_OPEN = `NOT EXISTS (SELECT FROM ${own.events} r
  WHERE r.subject ->> 'kind'::text = 'trash' AND r.subject ->> 'id'::text = e.position::text AND r.position > e.position)`;

const QUESTION = `
SELECT e.position::float8 AS position, CASE WHEN e.field IS NULL THEN 'collection' ELSE 'field' END AS kind,
       e.collection, e.field, e.batch, ${shownTime('e.occurred_at')} AS deleted_at,
       ${shownTime("(e.data ->> 'kept_until'::text)::timestamptz")} AS kept_until, e.actor AS deleted_by,
       coalesce(e.data -> 'publications'::text, '[]') AS publications, coalesce(e.data -> 'foreign_keys'::text, '[]') AS foreign_keys,
       ${isThere('e')} AS there, (e.data ->> 'kept_until'::text)::timestamptz <= clock_timestamp() AS expired
  FROM ${own.events} e WHERE ${KEEPS} AND ${IS_OPEN}`;

export async function allKeptDeletions(db: Queryable): Promise<KeptDeletion[]> {
  return (await db.query<KeptDeletion>(`${QUESTION} ORDER BY e.position`)).rows;
}

/** The deletions at these positions, in order. */
export async function keptDeletions(db: Queryable, positions: readonly number[]): Promise<KeptDeletion[]> {
  if (positions.length === 0) return [];
  const asked = `${QUESTION} AND e.position = ANY ($1::bigint[]) ORDER BY e.position`;
  return (await db.query<KeptDeletion>(asked, [positions])).rows;
}
