/**
 * Finds functions whose body mentions a name. PostgreSQL stores such bodies as text and resolves names only at run
 * time.
 */
import type { Queryable } from '../../postgres/pool.js';
import { sql } from '../ddl/sql.js';
import type { Warning } from '../../kernel/warning.js';

export interface NamingFunction {
  /** Qualified: `public.on_article`. */
  name: string;
  mentions: string;
}

/**
 * A BEGIN ATOMIC body follows renames and has no text. The match ignores case, because unquoted names are folded.
 * Searching the whole text first is faster than one regular expression per pair.
 */
const QUERY = sql`
SELECT pg_catalog.format('%I.%I', n.nspname, p.proname) AS name, w.name AS mentions
  FROM pg_catalog.pg_proc p
  JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
  JOIN pg_catalog.pg_language l ON l.oid = p.prolang AND l.lanname NOT IN ('c', 'internal')
  JOIN pg_catalog.unnest($1::text[]) AS w (name)
    ON pg_catalog.strpos(pg_catalog.lower(p.prosrc), pg_catalog.lower(w.name)) > 0
   AND p.prosrc ~* ('(^|[^[:alnum:]_$])' || pg_catalog.regexp_replace(w.name, '([^[:alnum:]_])', '\\\\\\1', 'g') || '($|[^[:alnum:]_$])')
 WHERE n.nspname !~ '^(pg_|information_schema$)'::text
   AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.objid = p.oid
                    AND d.classid = 'pg_catalog.pg_proc'::regclass::oid AND d.deptype = 'e')
 ORDER BY 1, 2 LIMIT 50`;

/** Returns at most 50 functions. Functions of extensions are excluded. */
export async function functionsNaming(db: Queryable, names: readonly string[]): Promise<NamingFunction[]> {
  if (names.length === 0) return [];
  const { rows } = await db.query<NamingFunction>(QUERY, [names]);
  return rows;
}

/** Warnings for a caller who renames an object. */
export const functionWarnings = (functions: readonly NamingFunction[]): Warning[] =>
  functions.map(({ name, mentions }) => ({
    code: 'NAME_STILL_USED',
    message: `the body of the function ${name} mentions ${JSON.stringify(mentions)}; look whether it is meant, and change it`,
  }));
