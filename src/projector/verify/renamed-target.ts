/** Resolves the current name of an event's field, which may have been renamed since. */
import type { Queryable } from '../../postgres/pool.js';
import { sql, own } from '../ddl/sql.js';

/** A field with its name at a position. */
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

/** The renames between two positions, in order. */
export async function renamesWithin(db: Queryable, after: number, upTo: number): Promise<readonly RenameRow[]> {
  return (await db.query<RenameRow>(RENAMES, [after, upTo])).rows;
}

/** Applies the renames after the target's event. */
export function renamedTarget(target: PlacedTarget, renames: readonly RenameRow[]): Omit<PlacedTarget, 'position'> {
  let { collection, field } = target;
  for (const rename of renames) {
    if (Number(rename.position) <= target.position || rename.collection !== collection) continue;
    if (rename.field === null) collection = rename.to;
    else if (rename.field === field) field = rename.to;
  }
  return { collection, field };
}
