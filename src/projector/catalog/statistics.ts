/* Reads statistics objects of tables. */
import type pg from 'pg';
import { objectKey } from '../../schema/model/objects.js';
import { quotedName } from '../../schema/sql-text/quoted-name.js';
import type { CatalogObject } from '../ddl/catalog-object.js';
import { OBJECT_CATALOGS } from '../ddl/object-catalogs.js';
import { type Sql, sql } from '../ddl/sql.js';
import { commentIn, extensionOfTable, usesOnTable } from './triggers.js';

const { from, where, id, printed } = OBJECT_CATALOGS.pg_statistic_ext;

const NAME = sql`pg_catalog.format('%I.%I', n.nspname, s.stxname)`;

/** SQL for the statements that no snapshot contains. Before PostgreSQL 17, -1 stands for the default target. */
const RESTORING = sql`
  SELECT pg_catalog.format('ALTER STATISTICS %s SET STATISTICS %s', ${NAME}, s.stxstattarget) WHERE s.stxstattarget >= 0
  UNION ALL SELECT pg_catalog.format('ALTER STATISTICS %s OWNER TO %I', ${NAME}, pg_catalog.pg_get_userbyid(s.stxowner))
   WHERE pg_catalog.pg_get_userbyid(s.stxowner) <> current_user`;

/** Selects statistics objects. $1 is the managed schema, $2 the names or null for all. */
const STATISTICS: Sql = sql`
SELECT ${id}::text AS id, ${printed} AS query, ${commentIn('pg_statistic_ext', sql`s.oid`)} AS comment,
  (SELECT coalesce(pg_catalog.array_agg(r.text), '{}') FROM (${RESTORING}) r (text)) AS restoring,
  ${usesOnTable('pg_statistic_ext', sql`s.oid`, sql`s.stxrelid`)} AS uses, ${extensionOfTable('pg_statistic_ext', sql`s.oid`)} AS extension
FROM ${from}
WHERE n.nspname = $1 AND ${where} AND ($2::text[] IS NULL OR ${id} = ANY ($2::text[]))
ORDER BY s.stxname COLLATE "C"`;

type Row = Pick<CatalogObject, 'id' | 'query' | 'comment' | 'restoring' | 'uses' | 'extension'>;

/** Returns the statistics objects, keyed by `objectKey`. @param names limits the result; all of the schema if absent */
export async function readStatistics(
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  names?: readonly string[],
): Promise<[string, CatalogObject][]> {
  const { rows } = await client.query<Row>(STATISTICS, [schema, names ?? null]);
  return rows.map((row) => {
    const object = { kind: 'statistics' as const, indexes: null, enabled: null, populated: true, ...row };
    return [objectKey(object), { ...object, definition: `CREATE STATISTICS ${quotedName(row.id)} ${row.query}` }];
  });
}
