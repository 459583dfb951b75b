/*
 * Expressions for queries about the privileges `granted` of one role on a table or a function, and the namespace `n` of
 * the table or function.
 */
import { EXECUTE, PUBLIC } from '../../schema/model/objects.js';
import { ROUTINE_ID } from './routine-sql.js';
import { type Sql, literal, sql } from './sql.js';
import { idOnTable, quoteUnlessPlain } from './trigger-sql.js';

/**
 * The privileges that the owner of `c` has granted, on the table and on columns. Without an access control list, the
 * owner has all privileges, and nobody else has any.
 */
const GRANTS: Sql = sql`
    SELECT x.grantee, x.privilege_type, NULL::name AS "column", x.is_grantable
      FROM pg_catalog.aclexplode(c.relacl) x WHERE x.grantor = c.relowner
    UNION ALL SELECT x.grantee, x.privilege_type, a.attname, x.is_grantable
      FROM pg_catalog.pg_attribute a CROSS JOIN LATERAL pg_catalog.aclexplode(a.attacl) x
     WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND x.grantor = c.relowner`;

const ON_TABLES: Sql = sql`
  SELECT 'pg_catalog.pg_class'::regclass::oid AS catalog, c.oid, c.relnamespace AS namespace, c.relname AS name,
         NULL::text AS routine, c.relowner AS owner, g.grantee, g.role, g.list, ${idOnTable(sql`g.role`)} AS id
    FROM pg_catalog.pg_class c CROSS JOIN LATERAL (
      SELECT e.grantee, CASE e.grantee WHEN 0::oid THEN ${literal(PUBLIC)} ELSE pg_catalog.pg_get_userbyid(e.grantee)::text END AS role,
             pg_catalog.json_agg(e.element ORDER BY e.privilege_type COLLATE "C", e.of_columns, e.is_grantable)::text AS list
        FROM (SELECT g.grantee, g.privilege_type, g."column" IS NOT NULL AS of_columns, g.is_grantable,
                     pg_catalog.json_strip_nulls(pg_catalog.json_build_object('name', g.privilege_type,
                       'columns', pg_catalog.json_agg(g."column" ORDER BY g."column") FILTER (WHERE g."column" IS NOT NULL),
                       'grantable', CASE WHEN g.is_grantable THEN true END)) AS element
                FROM (${GRANTS}) g GROUP BY 1, 2, 3, 4) e
       GROUP BY e.grantee) g
   WHERE c.relkind IN ('r', 'p', 'v', 'm')`;

/** SQL for the id of the privileges of a role on a routine `p`, like `idOnRoutine` of src/schema/model/objects.ts. */
export const idOnRoutine = (role: Sql): Sql => sql`(${quoteUnlessPlain(role)} || ' on ' || ${ROUTINE_ID})`;

/** SQL condition: PostgreSQL did not create the routine `p` itself, for a range type. */
export const IS_OWN_ROUTINE: Sql = sql`NOT EXISTS (SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_catalog.pg_proc'::regclass::oid AND d.objid = p.oid AND d.deptype = 'i')`;

/**
 * Without an access control list, PUBLIC has EXECUTE. Only the opposite is an object. It has an empty list, and does not
 * exist while any role grants EXECUTE to PUBLIC.
 */
const ON_ROUTINES: Sql = sql`
  SELECT 'pg_catalog.pg_proc'::regclass::oid, p.oid, p.pronamespace, p.proname, ${ROUTINE_ID}, p.proowner, g.grantee, g.role, g.list, ${idOnRoutine(sql`g.role`)}
    FROM pg_catalog.pg_proc p CROSS JOIN LATERAL (
      SELECT x.grantee, pg_catalog.pg_get_userbyid(x.grantee)::text AS role,
             pg_catalog.json_build_array(pg_catalog.json_strip_nulls(pg_catalog.json_build_object('name', ${literal(EXECUTE)},
               'grantable', CASE WHEN x.is_grantable THEN true END)))::text AS list
        FROM pg_catalog.aclexplode(p.proacl) x WHERE x.grantor = p.proowner AND x.grantee <> 0::oid
      UNION ALL SELECT 0::oid, ${literal(PUBLIC)}, '[]'
       WHERE NOT EXISTS (SELECT FROM pg_catalog.aclexplode(p.proacl) x WHERE x.grantee = 0::oid)) g
   WHERE p.proacl IS NOT NULL AND ${IS_OWN_ROUTINE}`;

/** Lists of privileges as JSON, one for each role: `[{"name": "UPDATE", "columns": ["name"]}]`. */
export const PRIVILEGES_FROM: Sql = sql`(${ON_TABLES} UNION ALL ${ON_ROUTINES}) granted
    JOIN pg_catalog.pg_namespace n ON n.oid = granted.namespace`;

/** SQL condition: the privileges are those of another role than the owner and than the account of the service. */
export const IS_PRIVILEGES: Sql = sql`(granted.grantee <> granted.owner
    AND pg_catalog.pg_get_userbyid(granted.grantee) <> current_user)`;

export const PRIVILEGES_ID: Sql = sql`granted.id`;
