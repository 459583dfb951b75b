/** Indexes whose building after the commit is still to come. */
import { memberKey } from '../../schema/model/state.js';
import type pg from 'pg';
import { sql, own } from '../ddl/sql.js';

/** The row of service_projections that the builder of indexes keeps. */
export const INDEX_PROJECTION = 'indexes';

const UNFINISHED = sql`
SELECT DISTINCT e.collection, e.field
FROM ${own.events} e
WHERE e.position > coalesce((SELECT p.position FROM ${own.projections} p WHERE p.name = $1), 0)
  AND e.data @> '{"concurrent_indexes": true}'`;

/** Tells whether the index of a field is awaited: an event asked for it that the builder hasn't dealt with. */
export async function pendingIndexes(client: pg.ClientBase): Promise<(collection: string, field: string) => boolean> {
  const { rows } = await client.query<{ collection: string; field: string | null }>(UNFINISHED, [INDEX_PROJECTION]);
  const fields = new Set(rows.map(({ collection, field }) => memberKey(collection, field ?? '')));
  return (collection, field) => fields.has(memberKey(collection, field)) || fields.has(memberKey(collection, ''));
}
