/** Facts from the catalog and the statistics about the tables of a change. */
import type { Queryable } from '../../postgres/pool.js';
import { sql } from '../ddl/sql.js';
import { partsOf } from '../ddl/partitions.js';

export interface TableFacts {
  name: string;
  kind: 'table' | 'partitioned';
  /** Size of the heap with its partitions; null without statistics. */
  bytes: number | null;
  /** PostgreSQL's estimate; null without statistics. */
  rows: number | null;
  /** Age of the statistics in seconds; null if the table was never analyzed. */
  age: number | null;
  uses: number | null;
  /** Rows arrive through logical replication. */
  subscribed: boolean;
  /** It is a partition or takes part in inheritance: statements on other tables add and remove its rows. */
  related: boolean;
  /** Row security policies also apply to its owner. */
  policed: boolean;
}

/**
 * Reading exact file sizes needs a lock that waits for ACCESS EXCLUSIVE; statistics do not. Partitions come from
 * pg_inherits, because pg_partition_tree locks them.
 */
const FACTS = sql`
SELECT c.relname::text AS name, CASE c.relkind WHEN 'p' THEN 'partitioned' ELSE 'table' END AS kind, p.bytes, p.rows, p.age, p.uses,
  EXISTS (SELECT FROM pg_catalog.pg_subscription_rel s WHERE s.srrelid = c.oid) AS subscribed,
  EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent)) AS related, c.relforcerowsecurity AS policed
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace,
LATERAL (
  SELECT pg_catalog.sum(CASE WHEN $3 THEN pg_catalog.pg_relation_size(r.oid)
      WHEN r.reltuples >= 0::real THEN r.relpages::bigint * pg_catalog.current_setting('block_size')::bigint END)::float8 AS bytes,
    pg_catalog.sum(coalesce(nullif(r.reltuples, (-1)::real), nullif(pg_catalog.pg_stat_get_live_tuples(r.oid), 0::bigint)))::float8 AS rows,
    extract(epoch FROM now() - pg_catalog.min(greatest(pg_catalog.pg_stat_get_last_analyze_time(r.oid),
      pg_catalog.pg_stat_get_last_autoanalyze_time(r.oid))))::float8 AS age,
    pg_catalog.sum(pg_catalog.pg_stat_get_numscans(r.oid) + pg_catalog.pg_stat_get_tuples_inserted(r.oid)
      + pg_catalog.pg_stat_get_tuples_updated(r.oid) + pg_catalog.pg_stat_get_tuples_deleted(r.oid)
      + (SELECT coalesce(pg_catalog.sum(pg_catalog.pg_stat_get_numscans(i.indexrelid)), 0)::bigint
           FROM pg_catalog.pg_index i WHERE i.indrelid = r.oid))::float8 AS uses
  FROM (${partsOf(sql`c`)}) AS t (oid)
  JOIN pg_catalog.pg_class r ON r.oid = t.oid AND r.relkind = 'r'
) p
WHERE n.nspname = $1 AND c.relname = ANY ($2::text[]) AND c.relkind IN ('r', 'p')`;

export interface Asked {
  schema: string;
  tables: readonly string[];
  /** True if the sizes are exact instead of estimated. */
  exact: boolean;
}

/** Keyed by name. Missing tables are left out. */
export async function readTableFacts(
  client: Queryable,
  { schema, tables, exact }: Asked,
): Promise<ReadonlyMap<string, TableFacts>> {
  if (tables.length === 0) return new Map();
  const { rows } = await client.query<TableFacts>(FACTS, [schema, tables, exact]);
  return new Map(rows.map((row) => [row.name, row]));
}
