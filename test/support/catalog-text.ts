/**
 * PostgreSQL's definition of a schema as sorted lines. Independent of the product's own reader, so that both cannot
 * share a mistake.
 */
import pg from 'pg';

const LINES = `
SELECT 'table ' || c.relname || ' ' || c.relkind::text || coalesce(' partition by ' || pg_get_partkeydef(c.oid), '')
    || coalesce(' partition of ' || (SELECT i.inhparent::regclass FROM pg_inherits i WHERE i.inhrelid = c.oid AND c.relispartition)
                || ' ' || pg_get_expr(c.relpartbound, c.oid), '')
    || coalesce(' comment ' || obj_description(c.oid, 'pg_class'), '') AS line
  FROM pg_class c WHERE c.relnamespace = ($1::text)::regnamespace AND c.relkind IN ('r', 'p')
UNION ALL
SELECT 'column ' || c.relname || '.' || a.attname || ' #' || row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum) || ' '
    || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
    || coalesce(' identity ' || nullif(a.attidentity::text, ''), '') || coalesce(' generated ' || nullif(a.attgenerated::text, ''), '')
    || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
    || CASE WHEN a.attcollation <> t.typcollation THEN ' collate ' || a.attcollation::regcollation ELSE '' END
    || coalesce(' sequence ' || pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname), '')
    || coalesce(' comment ' || col_description(c.oid, a.attnum), '')
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE n.oid = ($1::text)::regnamespace AND c.relkind IN ('r', 'p')
UNION ALL
SELECT 'constraint ' || o.conname || ' on ' || c.relname || ' ' || pg_get_constraintdef(o.oid)
    || CASE WHEN o.coninhcount > 0 THEN ' inherited' ELSE '' END
  FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid
  WHERE o.connamespace = ($1::text)::regnamespace AND o.contype <> 't'
UNION ALL
SELECT 'index ' || i.relname || ' ' || pg_get_indexdef(i.oid) || CASE WHEN x.indisvalid THEN '' ELSE ' invalid' END
    || coalesce(' attached to ' || (SELECT h.inhparent::regclass FROM pg_inherits h WHERE h.inhrelid = i.oid), '')
  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
  WHERE i.relnamespace = ($1::text)::regnamespace AND c.relkind IN ('r', 'p')
UNION ALL
SELECT 'sequence ' || s.sequencename || ' ' || s.data_type || ' ' || s.start_value || ' ' || s.min_value || ' ' || s.max_value || ' '
    || s.increment_by || ' ' || s.cycle || ' ' || s.cache_size
  FROM pg_sequences s WHERE s.schemaname::text = $1
UNION ALL
SELECT 'enum ' || t.typname || ' ' || (SELECT string_agg(quote_literal(e.enumlabel), ',' ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = t.oid)
  FROM pg_type t WHERE t.typnamespace = ($1::text)::regnamespace AND t.typtype = 'e'
UNION ALL
SELECT 'domain ' || t.typname || ' ' || format_type(t.typbasetype, t.typtypmod) || ' ' || t.typnotnull || coalesce(' default ' || t.typdefault, '')
    || coalesce((SELECT string_agg(' ' || o.conname || ' ' || pg_get_constraintdef(o.oid), '' ORDER BY o.conname)
                   FROM pg_constraint o WHERE o.contypid = t.oid AND o.contype = 'c'), '')
  FROM pg_type t WHERE t.typnamespace = ($1::text)::regnamespace AND t.typtype = 'd'
UNION ALL
SELECT 'collation ' || c.collname || ' ' || (to_jsonb(c) - '{oid,collname,collowner,collnamespace,collversion,collencoding}'::text[])
  FROM pg_collation c WHERE c.collnamespace = ($1::text)::regnamespace
UNION ALL
SELECT 'extension ' || extname FROM pg_extension`;

/** @param schema of the tables, without the service's own */
export async function catalogText(client: Pick<pg.ClientBase, 'query'>, schema = 'public'): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(LINES, [schema]);
  return rows.map(({ line }) => line).sort();
}

/** The lines of the schema `public` on its own connection, except those of unmanaged tables. */
export async function managedCatalog(connectionString: string, unmanaged: RegExp): Promise<string[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await catalogText(client, 'public')).filter((line) => !unmanaged.test(line));
  } finally {
    await client.end();
  }
}
