/* Expressions for queries about the privileges `granted` of one role on a table `c`, and the namespace `n` of the table. */
import { PUBLIC } from '../../schema/model/objects.js';
import { type Sql, literal, sql } from './sql.js';
import { idOnTable } from './trigger-sql.js';

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

/** Lists of privileges as JSON, one for each role: `[{"name": "UPDATE", "columns": ["name"]}]`. */
export const PRIVILEGES_FROM: Sql = sql`pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN LATERAL (
      SELECT e.grantee, CASE e.grantee WHEN 0::oid THEN ${literal(PUBLIC)} ELSE pg_catalog.pg_get_userbyid(e.grantee)::text END AS role,
             pg_catalog.json_agg(e.element ORDER BY e.privilege_type COLLATE "C", e.of_columns, e.is_grantable)::text AS list
        FROM (SELECT g.grantee, g.privilege_type, g."column" IS NOT NULL AS of_columns, g.is_grantable,
                     pg_catalog.json_strip_nulls(pg_catalog.json_build_object('name', g.privilege_type,
                       'columns', pg_catalog.json_agg(g."column" ORDER BY g."column") FILTER (WHERE g."column" IS NOT NULL),
                       'grantable', CASE WHEN g.is_grantable THEN true END)) AS element
                FROM (${GRANTS}) g GROUP BY 1, 2, 3, 4) e
       GROUP BY e.grantee) granted`;

/** SQL condition: the privileges are those of another role than the owner and than the account of the service. */
export const IS_PRIVILEGES: Sql = sql`(c.relkind IN ('r', 'p', 'v', 'm') AND granted.grantee <> c.relowner
    AND pg_catalog.pg_get_userbyid(granted.grantee) <> current_user)`;

export const PRIVILEGES_ID: Sql = idOnTable(sql`granted.role`);
