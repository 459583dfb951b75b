/** The list of the trash, against what the log says became of it and what the catalog holds. */
import type pg from 'pg';
import { own, trashSchemaNameSql } from '../../postgres/own-tables.js';
import { COPY } from '../ddl/kept/values.js';
import type { Difference } from './difference.js';

interface Row {
  position: number;
  collection: string;
  field: string | null;
  kept_until: string;
  /** Whether its table is there. */
  there: boolean;
  /** The event that took it out of the trash. */
  ended: number | null;
  /** Whether the log has such a deletion. */
  deleted: boolean;
}

const ENTRIES = `
SELECT t.position::float8 AS position, t.collection, t.field, t.kept_until::text AS kept_until,
  EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
           WHERE n.nspname = ${trashSchemaNameSql('t.position')}
             AND c.relname = CASE t.kind WHEN 'field' THEN '${COPY}' ELSE t.collection END) AS there,
  (SELECT max(e.position)::float8 FROM ${own.events} e
    WHERE e.subject ->> 'kind' = 'trash' AND e.subject ->> 'id' = t.position::text) AS ended,
  EXISTS (SELECT FROM ${own.events} e WHERE e.position = t.position AND e.collection = t.collection
             AND e.field IS NOT DISTINCT FROM t.field AND e.data ? 'kept_until') AS deleted
  FROM ${own.trash} t ORDER BY t.position`;

/**
 * What is in the list and can't come back, or shouldn't be in it. What a log that was replayed says was kept isn't in the
 * list of where it was replayed, and that is right.
 */
export async function verifyTrash(client: pg.ClientBase): Promise<Difference[]> {
  const { rows } = await client.query<Row>(ENTRIES);
  return rows.flatMap((row): Difference[] => {
    const { position, collection, field, kept_until, there, ended, deleted } = row;
    const isListed = deleted && ended === null;
    if (isListed && there) return [];
    const place = {
      where: 'trash' as const,
      collection,
      ...(field !== null && { field }),
      member: `position ${position}`,
    };
    if (isListed) return [{ ...place, expected: `kept until ${kept_until}`, found: null }];
    const expected = ended === null ? null : `gone by position ${ended}`;
    return [{ ...place, expected, found: `listed until ${kept_until}` }];
  });
}
