/* Indexes that are still to be built after their commit. */
import type pg from 'pg';
import { memberKey } from '../../schema/model/state.js';
import { sql, own } from '../ddl/sql.js';
import type { Queryable } from '../../postgres/pool.js';

/* Resolves the current name of an event's field, which may have been renamed since then. */

/** A field with its name at a position. */
export interface PositionedTarget {
  collection: string;
  field: string;
  position: number;
}

interface RenameRow {
  position: number;
  collection: string;
  field: string | null;
  to: string;
}

const RENAMES = sql`
SELECT position, collection, field, data ->> 'to'::text AS "to" FROM ${own.events}
 WHERE type IN ('collection.renamed', 'field.renamed') AND position > $1 AND position <= $2 ORDER BY position`;

/** Returns the renames between two positions, in order. */
export async function readRenames(db: Queryable, after: number, upTo: number): Promise<readonly RenameRow[]> {
  return (await db.query<RenameRow>(RENAMES, [after, upTo])).rows;
}

/** Applies the renames after the target's event. */
export function renameTarget(
  target: PositionedTarget,
  renames: readonly RenameRow[],
): Omit<PositionedTarget, 'position'> {
  let { collection, field } = target;
  for (const rename of renames) {
    if (Number(rename.position) <= target.position || rename.collection !== collection) continue;
    if (rename.field === null) collection = rename.to;
    else if (rename.field === field) field = rename.to;
  }
  return { collection, field };
}

/** The name of the index builder's row in service_projections. */
export const INDEX_PROJECTION = 'indexes';

const UNFINISHED = sql`
SELECT e.position, e.collection, coalesce(e.field, '') AS field
FROM ${own.events} e
WHERE e.position > coalesce((SELECT p.position FROM ${own.projections} p WHERE p.name = $1), 0)
  AND e.data @> '{"concurrent_indexes": true}' ORDER BY e.position`;

/**
 * Returns a function that checks whether an index is pending. It is pending if an event requested it and the builder has
 * not processed that event.
 */
export async function readPendingIndexes(
  client: pg.ClientBase,
): Promise<(collection: string, field: string) => boolean> {
  const { rows } = await client.query<PositionedTarget>(UNFINISHED, [INDEX_PROJECTION]);
  const [first] = rows;
  if (first === undefined) return () => false;
  const renames = await readRenames(client, Number(first.position), Number.MAX_SAFE_INTEGER);
  const fields = new Set<string>();
  for (const row of rows) {
    const { collection, field } = renameTarget({ ...row, position: Number(row.position) }, renames);
    fields.add(memberKey(collection, field));
  }
  return (collection, field) => fields.has(memberKey(collection, field)) || fields.has(memberKey(collection, ''));
}
