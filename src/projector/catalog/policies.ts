/* Reads policies, row security and options of tables. */
import type pg from 'pg';
import { objectKey } from '../../schema/model/objects.js';
import { quotedName } from '../../schema/sql-text/quoted-name.js';
import type { CatalogObject } from '../ddl/catalog-object.js';
import { HAS_ROW_SECURITY, POLICY_ID, POLICY_TAIL, ROW_SECURITY_TAIL } from '../ddl/policy-sql.js';
import { type Sql, sql } from '../ddl/sql.js';
import { HAS_TABLE_OPTIONS, TABLE_OPTIONS_TAIL } from '../ddl/table-options.js';
import { commentIn, extensionOfTable, usesOnTable } from './triggers.js';

/** Selects policies. $1 is the managed schema, $2 the ids or null for all. */
const POLICIES: Sql = sql`
SELECT r.* FROM (
SELECT ${POLICY_ID} AS id, policy.polname::text AS name, c.relname::text AS "table", ${POLICY_TAIL} AS tail,
  ${commentIn('pg_policy', sql`policy.oid`)} AS comment, ${usesOnTable('pg_policy', sql`policy.oid`, sql`policy.polrelid`)} AS uses,
  ${extensionOfTable('pg_policy', sql`policy.oid`)} AS extension
FROM pg_catalog.pg_policy policy
JOIN pg_catalog.pg_class c ON c.oid = policy.polrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
WHERE $2::text[] IS NULL OR ${POLICY_ID} = ANY ($2::text[])) r
ORDER BY r.id COLLATE "C"`;

/** Selects tables with a property. $1 is the managed schema, $2 the names or null for all. */
const tablesWith = (condition: Sql, tail: Sql): Sql => sql`
SELECT c.relname::text AS id, ${tail} AS tail,
  pg_catalog.json_build_array(pg_catalog.json_build_object('catalog', 'pg_class', 'schema', n.nspname::text, 'name', c.relname::text, 'column', NULL, 'isRowType', true)) AS uses,
  ${extensionOfTable('pg_class', sql`c.oid`)} AS extension
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
WHERE ${condition} AND ($2::text[] IS NULL OR c.relname = ANY ($2::text[]))
ORDER BY c.relname COLLATE "C"`;

type Row = Pick<CatalogObject, 'id' | 'uses' | 'extension'> & { tail: string };

/** The members that these objects do not have. */
const NOTHING = { indexes: null, enabled: null, populated: true, restoring: [] };

/** Returns the policies, keyed by `objectKey`. @param ids limits the result; all policies of the schema if absent */
export async function readPolicies(
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  ids?: readonly string[],
): Promise<[string, CatalogObject][]> {
  const { rows } = await client.query<Row & { name: string; table: string; comment: string | null }>(POLICIES, [
    schema,
    ids ?? null,
  ]);
  return rows.map(({ name, table, tail, ...row }) => {
    const kind = 'policy' as const;
    const definition = `CREATE POLICY ${quotedName(name)} ON ${quotedName(table)} ${tail}`.trimEnd();
    return [objectKey({ kind, id: row.id }), { ...NOTHING, ...row, kind, query: tail, definition }];
  });
}

/**
 * Returns a function that reads objects of which a table has at most one, keyed by `objectKey`. Its last argument limits the
 * result to tables with these names.
 */
const readerOfTables =
  (kind: 'row_security' | 'table_options', query: Sql) =>
  async (
    client: Pick<pg.ClientBase, 'query'>,
    schema: string,
    tables?: readonly string[],
  ): Promise<[string, CatalogObject][]> => {
    const { rows } = await client.query<Row>(query, [schema, tables ?? null]);
    return rows.map(({ tail, ...row }) => {
      const definition = `ALTER TABLE ${quotedName(row.id)} ${tail}`;
      return [objectKey({ kind, id: row.id }), { ...NOTHING, ...row, comment: null, kind, query: tail, definition }];
    });
  };

export const readRowSecurity = readerOfTables('row_security', tablesWith(HAS_ROW_SECURITY, ROW_SECURITY_TAIL));
export const readTableOptions = readerOfTables('table_options', tablesWith(HAS_TABLE_OPTIONS, TABLE_OPTIONS_TAIL));
