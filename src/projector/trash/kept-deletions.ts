/**
 * What the log says is in the trash: deletions that kept something, and that nothing has ended since. Where a database was
 * made from its log nothing of it is there.
 */
import type { Queryable } from '../../postgres/pool.js';
import { own } from '../../postgres/own-tables.js';
import { isThere, shownTime } from './expressions.js';
import type { TrashEntry } from './list.js';

/** All but what only a fold knows, and what only the catalog has. */
export interface KeptDeletion extends Omit<TrashEntry, 'identity' | 'rows' | 'bytes'> {
  /** Whether what it kept is there. */
  there: boolean;
  /** Whether its time is over, by the database's clock. */
  expired: boolean;
}

/** Whether an event kept something: in these words an index has it. */
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

/** All, in order. */
export async function allKeptDeletions(db: Queryable): Promise<KeptDeletion[]> {
  return (await db.query<KeptDeletion>(`${QUESTION} ORDER BY e.position`)).rows;
}

/** Those of the positions, in order. */
export async function keptDeletions(db: Queryable, positions: readonly number[]): Promise<KeptDeletion[]> {
  if (positions.length === 0) return [];
  const asked = `${QUESTION} AND e.position = ANY ($1::bigint[]) ORDER BY e.position`;
  return (await db.query<KeptDeletion>(asked, [positions])).rows;
}
