/* Reads the privileges of roles on tables and views. */
import type pg from 'pg';
import { type Privilege, objectKey, objectNameParts } from '../../schema/model/objects.js';
import { sortPrivileges } from '../../schema/model/privileges.js';
import type { CatalogObject } from '../ddl/catalog-object.js';
import { OBJECT_CATALOGS } from '../ddl/object-catalogs.js';
import { type Sql, ownSchemaOid, sql } from '../ddl/sql.js';
import { extensionOfTable } from './triggers.js';

const { from, where, id, printed } = OBJECT_CATALOGS.privileges;

/** Selects privileges. $1 is the managed schema, $2 the tables or null for all, $3 the ids or null for all. */
const PRIVILEGES: Sql = sql`
SELECT f.* FROM (
SELECT ${id} AS id, ${printed} AS query,
  pg_catalog.json_build_array(pg_catalog.json_build_object('catalog', 'pg_class',
    'schema', CASE WHEN n.oid = ${ownSchemaOid} THEN '' ELSE n.nspname::text END, 'name', c.relname::text, 'column', NULL, 'isRowType', true)) AS uses,
  ${extensionOfTable('pg_class', sql`c.oid`)} AS extension
FROM ${from}
WHERE n.nspname = $1 AND ${where}
  AND ($2::name[] IS NULL OR c.relname = ANY ($2::name[])) AND ($3::text[] IS NULL OR ${id} = ANY ($3::text[]))) f
ORDER BY f.id COLLATE "C"`;

/** Returns the privileges, keyed by `objectKey`. @param ids limits the result; those of the whole schema if absent */
export async function readPrivileges(
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  ids?: readonly string[],
): Promise<[string, CatalogObject][]> {
  const tables = ids?.map((each) => objectNameParts({ kind: 'privileges', id: each }).table);
  return select(client, [schema, tables ?? null, ids ?? null]);
}

/** @param tables the tables and views */
export const readPrivilegesOn = (
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  tables: readonly string[],
): Promise<[string, CatalogObject][]> => select(client, [schema, tables, null]);

async function select(client: Pick<pg.ClientBase, 'query'>, values: unknown[]): Promise<[string, CatalogObject][]> {
  const { rows } = await client.query<Pick<CatalogObject, 'id' | 'query' | 'uses' | 'extension'>>(PRIVILEGES, values);
  return rows.map((row) => {
    const kind = 'privileges' as const;
    const definition = sortPrivileges(JSON.parse(row.query) as Privilege[]);
    const rest = { comment: null, indexes: null, enabled: null, populated: true, restoring: [] };
    return [objectKey({ kind, id: row.id }), { ...row, ...rest, kind, definition }];
  });
}
