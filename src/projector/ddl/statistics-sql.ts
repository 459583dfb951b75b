/* Expressions for queries about a statistics object `s` of pg_statistic_ext, its table `c` and their namespace `n`. */
import { type Sql, sql } from './sql.js';

/** Statistics objects whose table is in the same namespace. */
export const STATISTICS_FROM: Sql = sql`pg_catalog.pg_statistic_ext s JOIN pg_catalog.pg_class c ON c.oid = s.stxrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = s.stxnamespace AND n.oid = c.relnamespace`;

/** SQL for the kinds in parentheses. Null for all kinds, and for one expression, which has no kinds. */
const KIND_NAMES = sql`(SELECT '(' || pg_catalog.string_agg(k.name, ', ' ORDER BY k.name) || ')'
    FROM (VALUES ('d'::"char", 'ndistinct'), ('f'::"char", 'dependencies'), ('m'::"char", 'mcv')) k (letter, name)
   WHERE k.letter = ANY (s.stxkind) HAVING count(*) < 3)`;

/**
 * SQL for the definition after the name, from the parts of pg_get_statisticsobjdef. That function writes the schema of
 * the table only if it is not in search_path.
 */
export const STATISTICS_TAIL: Sql = sql`pg_catalog.concat_ws(' ', ${KIND_NAMES}, 'ON', pg_catalog.pg_get_statisticsobjdef_columns(s.oid),
    'FROM', pg_catalog.quote_ident(c.relname))`;
