/* Reads the privileges of roles on tables, views, functions, sequences, types and schemas, and default privileges. */
import type pg from 'pg';
import { objectsOwnerOf } from '../../postgres/client.js';
import { type ObjectName, isAlwaysThere, objectKey } from '../../schema/model/objects.js';
import type { Privilege } from '../../schema/model/object-document.js';
import { nameOfTarget, objectNameParts } from '../../schema/model/object-ids.js';
import { sortPrivileges } from '../../schema/model/privileges.js';
import type { CatalogObject } from '../ddl/catalog-object.js';
import { OBJECT_CATALOGS } from '../ddl/object-catalogs.js';
import { type Sql, ownSchemaOid, sql } from '../ddl/sql.js';

const { from, where, id, printed, relation } = OBJECT_CATALOGS.privileges;

/**
 * Selects privileges. $1 is the managed schema, $2 the names of tables, functions, sequences, types and schemas or null for
 * all, $3 the ids or null for all.
 */
const PRIVILEGES: Sql = sql`
SELECT f.* FROM (
SELECT ${id} AS id, ${printed} AS query, granted.initial AS "isInitial",
  CASE WHEN granted.used IN ('pg_namespace', 'pg_default_acl') THEN '[]'::json ELSE pg_catalog.json_build_array(pg_catalog.json_build_object('catalog', granted.used,
    'schema', CASE WHEN n.oid = ${ownSchemaOid} THEN '' ELSE n.nspname::text END, 'name', coalesce(granted.routine, granted.name::text),
    'column', NULL, 'isRowType', granted.used = 'pg_class')) END AS uses,
  (SELECT x.extname::text FROM pg_catalog.pg_depend e JOIN pg_catalog.pg_extension x ON x.oid = e.refobjid
    WHERE e.deptype = 'e' AND e.classid = granted.catalog AND e.objid = granted.oid LIMIT 1) AS extension
FROM ${from}
WHERE n.nspname = $1 AND ${where}
  AND ($2::name[] IS NULL OR ${relation} = ANY ($2::name[])) AND ($3::text[] IS NULL OR ${id} = ANY ($3::text[]))) f
ORDER BY f.id COLLATE "C"`;

/** Returns the privileges, keyed by `objectKey`. @param ids limits the result; those of the whole schema if absent */
export async function readPrivileges(
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  ids?: readonly string[],
): Promise<[string, CatalogObject][]> {
  const names = ids?.map((each) => nameOfTarget({ kind: 'privileges', id: each }));
  return select(client, [schema, names ?? null, ids ?? null]);
}

/** @param names the names of tables, views, functions, sequences, types and schemas */
export const readPrivilegesOn = (
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  names: readonly string[],
): Promise<[string, CatalogObject][]> => select(client, [schema, names, null]);

async function select(client: Pick<pg.ClientBase, 'query'>, values: unknown[]): Promise<[string, CatalogObject][]> {
  const { rows } = await client.query<Pick<CatalogObject, 'id' | 'query' | 'uses' | 'extension' | 'isInitial'>>(
    PRIVILEGES,
    values,
  );
  const owner = objectsOwnerOf(client);
  return rows.flatMap((row): [string, CatalogObject][] => {
    const kind = 'privileges' as const;
    if (isOfOwner({ kind, id: row.id }, owner)) return [];
    const definition = sortPrivileges(JSON.parse(row.query) as Privilege[]);
    const rest = { comment: null, indexes: null, enabled: null, populated: true, restoring: [] };
    return [[objectKey({ kind, id: row.id }), { ...row, ...rest, kind, definition }]];
  });
}

/**
 * True for the privileges that the role of OBJECTS_OWNER needs on a schema, which are part of the installation, and for its
 * default privileges. It becomes the owner of the objects.
 */
function isOfOwner(privileges: ObjectName, owner: string | undefined): boolean {
  const { name, target } = objectNameParts(privileges);
  return target !== null && isAlwaysThere(target) && name === owner;
}
