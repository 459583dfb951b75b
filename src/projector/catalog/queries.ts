/**
 * Catalog queries, each for all tables of a schema. $1 is the schema, $2 the table names or null for all. Rows come
 * as arrays: for 200,000 columns, building objects with twenty members takes longer than the query.
 */
import { type Sql, ownSchemaOid, sql } from '../ddl/sql.js';

/** Ordinary and partitioned tables. Excludes views, foreign tables and temporary tables of other sessions. */
export const TABLES = sql`
WITH RECURSIVE requested AS (
  SELECT c.oid, c.relname, c.relkind, c.relispartition, c.relpartbound
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND ($2::text[] IS NULL OR c.relname = ANY ($2::text[]))
)`;

export const TABLES_QUERY: Sql = sql`${TABLES}
SELECT w.oid, w.relname::text, w.relkind::text,
  (SELECT d.description FROM pg_catalog.pg_description d
    WHERE d.objoid = w.oid AND d.classoid = 'pg_catalog.pg_class'::regclass::oid AND d.objsubid = 0),
  w.relispartition,
  CASE WHEN w.relkind = 'p' THEN pg_catalog.pg_get_partkeydef(w.oid) END,
  CASE WHEN w.relispartition THEN pg_catalog.pg_get_expr(w.relpartbound, w.oid) END,
  (SELECT pg_catalog.json_agg(pg_catalog.json_build_object('schema', pn.nspname, 'table', p.relname) ORDER BY i.inhseqno)
     FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class p ON p.oid = i.inhparent
     JOIN pg_catalog.pg_namespace pn ON pn.oid = p.relnamespace WHERE i.inhrelid = w.oid),
  (SELECT x.extname::text FROM pg_catalog.pg_depend e JOIN pg_catalog.pg_extension x ON x.oid = e.refobjid
    WHERE e.classid = 'pg_catalog.pg_class'::regclass::oid AND e.objid = w.oid AND e.deptype = 'e')
FROM requested w
ORDER BY w.relname COLLATE "C"`;

export const COLUMNS_QUERY: Sql = sql`${TABLES}, owned AS (
  SELECT DISTINCT ON (d.refobjid, d.refobjsubid) d.refobjid, d.refobjsubid, n.nspname::text AS schema, s.relname::text AS name
  FROM pg_catalog.pg_depend d
  JOIN pg_catalog.pg_class s ON s.oid = d.objid AND s.relkind = 'S'
  JOIN pg_catalog.pg_namespace n ON n.oid = s.relnamespace
  WHERE d.classid = 'pg_catalog.pg_class'::regclass::oid AND d.refclassid = 'pg_catalog.pg_class'::regclass::oid
    AND d.deptype IN ('a', 'i') AND d.refobjsubid > 0
  -- That of the identity, if there are more.
  ORDER BY d.refobjid, d.refobjsubid, d.deptype DESC, s.relname
)
SELECT a.attrelid, a.attnum, a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attndims,
  t.typtype::text, t.typnamespace = 'pg_catalog'::regnamespace::oid, a.attnotnull,
  -- From PostgreSQL 17 on, a partition shows the identity of its partitioned table, and a table with one cannot be attached.
  CASE WHEN w.relispartition AND pg_catalog.current_setting('server_version_num')::int >= 170000 THEN '' ELSE a.attidentity::text END,
  a.attgenerated::text,
  CASE WHEN ad.oid IS NOT NULL THEN pg_catalog.pg_get_expr(ad.adbin, ad.adrelid) END,
  CASE WHEN a.attcollation <> t.typcollation THEN a.attcollation::regcollation::text END,
  -- Not joined: until the catalog is analysed, PostgreSQL would search all comments for each column.
  (SELECT d.description FROM pg_catalog.pg_description d
    WHERE d.objoid = a.attrelid AND d.classoid = 'pg_catalog.pg_class'::regclass::oid AND d.objsubid = a.attnum),
  o.schema, o.name, a.attinhcount > 0, nn.conname::text,
  nullif(pg_catalog.concat_ws(' ', CASE WHEN nn.connoinherit THEN 'NO INHERIT' END, CASE WHEN NOT nn.convalidated THEN 'NOT VALID' END), '')
FROM requested w
JOIN pg_catalog.pg_attribute a ON a.attrelid = w.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_catalog.pg_attrdef ad ON ad.adrelid = a.attrelid AND ad.adnum = a.attnum AND a.atthasdef
-- From PostgreSQL 18 on, NOT NULL has a name.
LEFT JOIN pg_catalog.pg_constraint nn ON nn.conrelid = a.attrelid AND nn.contype = 'n' AND nn.conkey OPERATOR(pg_catalog.=) ARRAY[a.attnum]
LEFT JOIN owned o ON o.refobjid = a.attrelid AND o.refobjsubid = a.attnum
ORDER BY a.attrelid, a.attnum`;

/**
 * Constraint types p, u, f, c, x. NOT NULL (n, from PostgreSQL 18) is read with the columns; constraint triggers (t)
 * are ignored.
 */
export const CONSTRAINTS_QUERY: Sql = sql`${TABLES}
SELECT c.conrelid, c.conname::text, c.contype::text, c.conkey, pg_catalog.pg_get_constraintdef(c.oid),
  c.convalidated, c.condeferrable, c.condeferred, c.coninhcount > 0, c.conindid,
  CASE WHEN r.relnamespace <> coalesce(${ownSchemaOid}, 0) THEN rn.nspname::text END, r.relname::text,
  (SELECT pg_catalog.json_agg(ra.attname ORDER BY k.at)
     FROM pg_catalog.unnest(c.confkey) WITH ORDINALITY AS k(attnum, at)
     JOIN pg_catalog.pg_attribute ra ON ra.attrelid = c.confrelid AND ra.attnum = k.attnum),
  c.confupdtype::text, c.confdeltype::text, c.confmatchtype::text
FROM requested w
JOIN pg_catalog.pg_constraint c ON c.conrelid = w.oid AND c.contype IN ('p', 'u', 'f', 'c', 'x')
  -- A foreign key to a partitioned table has one more row for each partition of it.
  AND NOT (c.contype = 'f' AND EXISTS (SELECT FROM pg_catalog.pg_constraint p WHERE p.oid = c.conparentid AND p.conrelid = c.conrelid))
LEFT JOIN pg_catalog.pg_class r ON r.oid = c.confrelid AND c.contype = 'f'
LEFT JOIN pg_catalog.pg_namespace rn ON rn.oid = r.relnamespace
ORDER BY c.conname COLLATE "C"`;

export const INDEXES_QUERY: Sql = sql`${TABLES}
SELECT i.indrelid, i.indexrelid, c.relname::text, am.amname::text, i.indkey::int2[], i.indnkeyatts, i.indisunique,
  i.indisprimary, i.indisvalid AND i.indisready AND i.indislive,
  CASE WHEN i.indpred IS NOT NULL THEN pg_catalog.pg_get_expr(i.indpred, i.indrelid) END,
  i.indexprs IS NOT NULL, d.definition, c.relispartition,
  pg_catalog.substr(d.definition, pg_catalog.length(pg_catalog.format('CREATE %sINDEX %I ON %s%I.%I ',
    CASE WHEN i.indisunique THEN 'UNIQUE ' ELSE '' END, c.relname, CASE WHEN c.relkind = 'I' THEN 'ONLY ' ELSE '' END,
    $1::text, w.relname)) + 1) AS tail,
  (SELECT pg_catalog.format('USING btree (%I)', a.attname) FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = w.oid AND a.attnum = i.indkey[0] AND i.indnkeyatts = 1)
FROM requested w
JOIN pg_catalog.pg_index i ON i.indrelid = w.oid
JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
JOIN pg_catalog.pg_am am ON am.oid = c.relam
-- OFFSET: once for each index, not where it is used.
CROSS JOIN LATERAL (SELECT pg_catalog.pg_get_indexdef(i.indexrelid) AS definition OFFSET 0) d
ORDER BY c.relname COLLATE "C"`;
