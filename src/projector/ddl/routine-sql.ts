/* Expressions for queries about a function or procedure `p` of pg_proc and its namespace `n`. */
import { sql } from './sql.js';

/** SQL for the id of a routine `p`, like `routineId` of src/schema/model/objects.ts. */
export const ROUTINE_ID = sql`CASE WHEN p.proname::text ~ '^[a-z_][a-z0-9_]*$'::text THEN p.proname::text
    ELSE '"' || pg_catalog.replace(p.proname::text, '"', '""') || '"' END || '(' || pg_catalog.oidvectortypes(p.proargtypes) || ')'`;

export const ROUTINE_WORD = sql`CASE p.prokind WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END`;

/** SQL for the server's definition of a routine `p` of the namespace `n`, from its arguments on. */
export const ROUTINE_TAIL = sql`pg_catalog.rtrim(pg_catalog.substr(pg_catalog.pg_get_functiondef(p.oid),
    pg_catalog.length(pg_catalog.format('CREATE OR REPLACE %s %I.%I', ${ROUTINE_WORD}, n.nspname, p.proname)) + 1), E' \n')`;
