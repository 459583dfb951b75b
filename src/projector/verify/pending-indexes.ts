/** Indexes that are still to be built after their commit. */
import { memberKey } from '../../schema/model/state.js';
import type pg from 'pg';
import { sql, own } from '../ddl/sql.js';
import { type PlacedTarget, renamedTarget, renamesWithin } from './renamed-target.js';

/** The row of the index builder in service_projections. */
export const INDEX_PROJECTION = 'indexes';

const UNFINISHED = sql`
SELECT e.position, e.collection, coalesce(e.field, '') AS field
FROM ${own.events} e
WHERE e.position > coalesce((SELECT p.position FROM ${own.projections} p WHERE p.name = $1), 0)
  AND e.data @> '{"concurrent_indexes": true}' ORDER BY e.position`;

/** Returns a check for pending indexes: an event requested one that the builder has not processed. */
export async function pendingIndexes(client: pg.ClientBase): Promise<(collection: string, field: string) => boolean> {
  const { rows } = await client.query<PlacedTarget>(UNFINISHED, [INDEX_PROJECTION]);
  const [first] = rows;
  if (first === undefined) return () => false;
  const renames = await renamesWithin(client, Number(first.position), Number.MAX_SAFE_INTEGER);
  const fields = new Set<string>();
  for (const row of rows) {
    const { collection, field } = renamedTarget({ ...row, position: Number(row.position) }, renames);
    fields.add(memberKey(collection, field));
  }
  return (collection, field) => fields.has(memberKey(collection, field)) || fields.has(memberKey(collection, ''));
}
