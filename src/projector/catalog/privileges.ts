/* Reads the privileges of roles on tables and views. */
import type pg from 'pg';
import { type Privilege, objectKey } from '../../schema/model/objects.js';
import { sortPrivileges } from '../../schema/model/privileges.js';
import type { CatalogObject } from '../ddl/catalog-object.js';
import { OBJECT_CATALOGS } from '../ddl/object-catalogs.js';
import { type Sql, ownSchemaOid, sql } from '../ddl/sql.js';
import { extensionOfTable } from './triggers.js';

const { from, where, id, printed } = OBJECT_CATALOGS.privileges;

/** Selects privileges. $1 is the managed schema, $2 the ids or null for all. */
const PRIVILEGES: Sql = sql`
SELECT f.* FROM (
SELECT ${id} AS id, ${printed} AS query,
  pg_catalog.json_build_array(pg_catalog.json_build_object('catalog', 'pg_class',
    'schema', CASE WHEN n.oid = ${ownSchemaOid} THEN '' ELSE n.nspname::text END, 'name', c.relname::text, 'column', NULL, 'isRowType', true)) AS uses,
  ${extensionOfTable('pg_class', sql`c.oid`)} AS extension
FROM ${from}
WHERE n.nspname = $1 AND ${where} AND ($2::text[] IS NULL OR ${id} = ANY ($2::text[]))) f
ORDER BY f.id COLLATE "C"`;

/** Returns the privileges, keyed by `objectKey`. @param ids limits the result; those of the whole schema if absent */
export async function readPrivileges(
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  ids?: readonly string[],
): Promise<[string, CatalogObject][]> {
  const { rows } = await client.query<Pick<CatalogObject, 'id' | 'query' | 'uses' | 'extension'>>(PRIVILEGES, [
    schema,
    ids ?? null,
  ]);
  return rows.map((row) => {
    const kind = 'privileges' as const;
    const definition = sortPrivileges(JSON.parse(row.query) as Privilege[]);
    const rest = { comment: null, indexes: null, enabled: null, populated: true, restoring: [] };
    return [objectKey({ kind, id: row.id }), { ...row, ...rest, kind, definition }];
  });
}
