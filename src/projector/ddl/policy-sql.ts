/* Expressions for queries about a row `policy` of pg_policy, and about row security of a table `c`. */
import { type Sql, sql } from './sql.js';
import { idOnTable } from './trigger-sql.js';

/** SQL for the id of a policy on the table `c`. */
export const POLICY_ID: Sql = idOnTable(sql`policy.polname`);

const ROLES = sql`(SELECT pg_catalog.string_agg(pg_catalog.quote_ident(r.rolname), ', ' ORDER BY r.rolname COLLATE "C")
    FROM pg_catalog.pg_roles r WHERE r.oid = ANY (policy.polroles))`;

/** SQL for the definition of a policy after the table: `FOR SELECT TO a USING (…)`. Defaults are left out. */
export const POLICY_TAIL: Sql = sql`pg_catalog.concat_ws(' ',
    CASE WHEN NOT policy.polpermissive THEN 'AS RESTRICTIVE' END,
    CASE policy.polcmd WHEN 'r' THEN 'FOR SELECT' WHEN 'a' THEN 'FOR INSERT' WHEN 'w' THEN 'FOR UPDATE' WHEN 'd' THEN 'FOR DELETE' END,
    'TO ' || ${ROLES},
    'USING (' || pg_catalog.pg_get_expr(policy.polqual, policy.polrelid) || ')',
    'WITH CHECK (' || pg_catalog.pg_get_expr(policy.polwithcheck, policy.polrelid) || ')')`;

/** SQL condition: a switch of the table is on. */
export const HAS_ROW_SECURITY: Sql = sql`(c.relkind IN ('r', 'p') AND (c.relrowsecurity OR c.relforcerowsecurity))`;

/** SQL for the definition of row security after the table. */
export const ROW_SECURITY_TAIL: Sql = sql`pg_catalog.concat_ws(', ',
    CASE WHEN c.relrowsecurity THEN 'ENABLE ROW LEVEL SECURITY' END,
    CASE WHEN c.relforcerowsecurity THEN 'FORCE ROW LEVEL SECURITY' END)`;
