/* Reads functions, procedures and aggregates with everything that restores them after they were dropped. */
import type pg from 'pg';
import { KINDS, kindInCatalog, objectKey } from '../../schema/model/objects.js';
import { quotedName } from '../../schema/sql-text/quoted-name.js';
import type { CatalogObject } from '../ddl/catalog-object.js';
import { IS_OWN_ROUTINE } from '../ddl/privilege-sql.js';
import { ROUTINE_ID, ROUTINE_TAIL, ROUTINE_WORD as WORD } from '../ddl/routine-sql.js';
import { type Sql, ownSchemaOid, sql } from '../ddl/sql.js';

const NAME = sql`pg_catalog.format('%I.%I(%s)', n.nspname, p.proname, pg_catalog.oidvectortypes(p.proargtypes))`;

const grantee = (role: Sql): Sql =>
  sql`CASE ${role} WHEN 0::oid THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(${role})::text) END`;

/**
 * Selects roles that default privileges grant access to new routines. A recreated routine would get grants that the
 * dropped routine did not have.
 */
const DEFAULTS = sql`
  SELECT DISTINCT x.grantee FROM pg_catalog.pg_default_acl d, pg_catalog.aclexplode(d.defaclacl) x
   WHERE d.defaclobjtype = 'f' AND d.defaclrole = (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = current_user)
     AND d.defaclnamespace IN (0::oid, p.pronamespace) AND x.grantee <> p.proowner`;

/**
 * True if privileges must be restored. Without privileges of its own and without default privileges, a recreated
 * routine has the same privileges as before.
 */
const HAS_PRIVILEGES = sql`(p.proacl IS NOT NULL OR EXISTS (${DEFAULTS}))`;

const RESTORING = sql`
  SELECT 0 AS rank, pg_catalog.format('REVOKE ALL ON %s %s FROM %s', ${WORD}, ${NAME}, ${grantee(sql`g.grantee`)}) AS text
    FROM (SELECT 0::oid AS grantee UNION ${DEFAULTS}) g WHERE ${HAS_PRIVILEGES}
  UNION ALL SELECT 1, pg_catalog.format('GRANT %s ON %s %s TO %s%s', x.privilege_type, ${WORD}, ${NAME}, ${grantee(sql`x.grantee`)},
           CASE WHEN x.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
    FROM pg_catalog.aclexplode(coalesce(p.proacl, pg_catalog.acldefault('f'::"char", p.proowner))) x
   WHERE x.grantee <> p.proowner AND ${HAS_PRIVILEGES}
  UNION ALL SELECT 4, pg_catalog.format('ALTER %s %s OWNER TO %I', ${WORD}, ${NAME}, pg_catalog.pg_get_userbyid(p.proowner))
   WHERE pg_catalog.pg_get_userbyid(p.proowner) <> current_user`;

/**
 * Selects what a routine uses: columns in bodies that PostgreSQL has parsed (BEGIN ATOMIC), row types, and called
 * routines. PostgreSQL records no dependency on the transition type of an aggregate.
 */
const USES = sql`
  SELECT 'pg_class' AS catalog, un.oid AS place, un.nspname, uc.relname::text AS name, ua.attname AS "column", false AS "isRowType"
    FROM pg_catalog.pg_depend d
    JOIN pg_catalog.pg_class uc ON uc.oid = d.refobjid JOIN pg_catalog.pg_namespace un ON un.oid = uc.relnamespace
    LEFT JOIN pg_catalog.pg_attribute ua ON ua.attrelid = d.refobjid AND ua.attnum = d.refobjsubid AND d.refobjsubid > 0
   WHERE d.classid = 'pg_catalog.pg_proc'::regclass::oid AND d.objid = p.oid AND d.refclassid = 'pg_catalog.pg_class'::regclass::oid
  UNION SELECT 'pg_class', un.oid, un.nspname, uc.relname::text, NULL, true
    FROM (SELECT d.refobjid FROM pg_catalog.pg_depend d
           WHERE d.classid = 'pg_catalog.pg_proc'::regclass::oid AND d.objid = p.oid AND d.refclassid = 'pg_catalog.pg_type'::regclass::oid
          UNION SELECT s.type FROM pg_catalog.pg_aggregate g, LATERAL (VALUES (g.aggtranstype), (g.aggmtranstype)) AS s (type)
           WHERE g.aggfnoid = p.oid) d
    JOIN pg_catalog.pg_type t ON t.oid = d.refobjid
    LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem AND e.typarray = t.oid
    JOIN pg_catalog.pg_class uc ON uc.oid = coalesce(nullif(t.typrelid, 0::oid), e.typrelid) AND uc.relkind <> 'c'
    JOIN pg_catalog.pg_namespace un ON un.oid = uc.relnamespace
  UNION SELECT 'pg_proc', un.oid, un.nspname, u.id, NULL, false
    FROM pg_catalog.pg_depend d
    JOIN LATERAL (SELECT p.pronamespace, ${ROUTINE_ID} AS id FROM pg_catalog.pg_proc p WHERE p.oid = d.refobjid) u ON true
    JOIN pg_catalog.pg_namespace un ON un.oid = u.pronamespace
   WHERE d.classid = 'pg_catalog.pg_proc'::regclass::oid AND d.objid = p.oid AND d.refclassid = 'pg_catalog.pg_proc'::regclass::oid`;

/**
 * Selects functions, procedures and aggregates. $1 is the managed schema, $2 the ids or null for all. The functions of
 * range types are left out.
 */
const ROUTINES: Sql = sql`
SELECT r.* FROM (
SELECT ${ROUTINE_ID} AS id, p.proname::text AS name, p.prokind::text AS letter, ${ROUTINE_TAIL} AS query,
  (SELECT d.description FROM pg_catalog.pg_description d
    WHERE d.objoid = p.oid AND d.classoid = 'pg_catalog.pg_proc'::regclass::oid AND d.objsubid = 0) AS comment,
  (SELECT coalesce(pg_catalog.array_agg(r.text ORDER BY r.rank, r.text), '{}') FROM (${RESTORING}) AS r (rank, text)) AS restoring,
  (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('catalog', u.catalog,
      'schema', CASE WHEN u.place = ${ownSchemaOid} THEN '' ELSE u.nspname::text END, 'name', u.name, 'column', u."column", 'isRowType', u."isRowType")), '[]')
     FROM (${USES}) u) AS uses,
  (SELECT x.extname::text FROM pg_catalog.pg_depend e JOIN pg_catalog.pg_extension x ON x.oid = e.refobjid
    WHERE e.classid = 'pg_catalog.pg_proc'::regclass::oid AND e.objid = p.oid AND e.deptype = 'e') AS extension
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace AND n.nspname = $1
WHERE ($2::text[] IS NULL OR ${ROUTINE_ID} = ANY ($2::text[]))
  AND ${IS_OWN_ROUTINE}) r
ORDER BY r.id COLLATE "C"`;

type Row = Pick<CatalogObject, 'id' | 'query' | 'comment' | 'restoring' | 'uses' | 'extension'> & {
  name: string;
  letter: string;
};

/** Returns the routines, keyed by `objectKey`. @param ids limits the result; all routines of the schema if absent */
export async function readRoutines(
  client: Pick<pg.ClientBase, 'query'>,
  schema: string,
  ids?: readonly string[],
): Promise<[string, CatalogObject][]> {
  const { rows } = await client.query<Row>(ROUTINES, [schema, ids ?? null]);
  return rows.map(({ name, letter, ...row }) => {
    const kind = kindInCatalog('pg_proc', letter);
    const definition = `CREATE ${KINDS[kind].sqlWords} ${quotedName(name)}${row.query}`;
    return [
      objectKey({ kind, id: row.id }),
      { ...row, kind, definition, indexes: null, enabled: null, populated: true },
    ];
  });
}
