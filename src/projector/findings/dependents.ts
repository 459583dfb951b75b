/** Finds unmanaged objects that depend on a table or a column: views, rules, policies, functions. */
import type { Queryable } from '../../postgres/pool.js';
import type { Dependent } from '../../schema/findings/index.js';
import { sql } from '../ddl/sql.js';

/** A view depends through its rule. Functions only depend if PostgreSQL has parsed their body (BEGIN ATOMIC). */
const DEPENDENTS = sql`
SELECT DISTINCT c.relname::text AS table, a.attname::text AS column,
  CASE WHEN v.oid IS NOT NULL THEN CASE v.relkind WHEN 'm' THEN 'materialized view' WHEN 'v' THEN 'view' ELSE 'rule' END
    WHEN f.oid IS NOT NULL THEN 'function' ELSE 'policy' END AS kind,
  coalesce(CASE WHEN v.relkind IN ('v', 'm') THEN v.oid::regclass::text ELSE r.rulename::text END,
    f.oid::regprocedure::text, p.polname::text) AS name
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1
JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_class'::regclass::oid AND d.refobjid = c.oid
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid AND d.refobjsubid > 0
LEFT JOIN pg_catalog.pg_rewrite r ON d.classid = 'pg_catalog.pg_rewrite'::regclass::oid AND r.oid = d.objid
LEFT JOIN pg_catalog.pg_class v ON v.oid = r.ev_class
LEFT JOIN pg_catalog.pg_proc f ON d.classid = 'pg_catalog.pg_proc'::regclass::oid AND f.oid = d.objid
LEFT JOIN pg_catalog.pg_policy p ON d.classid = 'pg_catalog.pg_policy'::regclass::oid AND p.oid = d.objid AND d.refobjsubid > 0
WHERE c.relname = ANY ($2::text[]) AND c.relkind IN ('r', 'p')
  AND (v.oid IS NOT NULL AND v.oid <> c.oid OR f.oid IS NOT NULL OR p.oid IS NOT NULL)
ORDER BY 1, 2, 3, 4 LIMIT 1000`;

/** At most 1000, ordered by table. */
export async function readDependents(db: Queryable, schema: string, tables: readonly string[]): Promise<Dependent[]> {
  const { rows } = await db.query<Dependent>(DEPENDENTS, [schema, tables]);
  return rows;
}
