/** Where the field of an event is now: what an index was asked for may have another name since. */
import type { Queryable } from '../../postgres/pool.js';
import { sql, own } from '../ddl/sql.js';

/** A field as the event at a position names it. */
export interface PlacedTarget {
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

/** Renames after a position and up to another one, in order. */
export async function renamesWithin(db: Queryable, after: number, upTo: number): Promise<readonly RenameRow[]> {
  return (await db.query<RenameRow>(RENAMES, [after, upTo])).rows;
}

/** The names that a target has after the renames; those before its event say nothing of it. */
export function renamedTarget(target: PlacedTarget, renames: readonly RenameRow[]): Omit<PlacedTarget, 'position'> {
  let { collection, field } = target;
  for (const rename of renames) {
    if (Number(rename.position) <= target.position || rename.collection !== collection) continue;
    if (rename.field === null) collection = rename.to;
    else if (rename.field === field) field = rename.to;
  }
  return { collection, field };
}
