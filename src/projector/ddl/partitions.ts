/**
 * Lists the partitions of a table without locking them. pg_partition_tree() would wait for concurrent changes of a
 * partition.
 */
import { type Sql, sql } from './sql.js';

/**
 * The oids of the table and of its partitions at all levels.
 * @param table an alias for pg_class
 */
export const partsOf = (table: Sql): Sql => sql`
WITH RECURSIVE part (oid, kind) AS (
  SELECT ${table}.oid, ${table}.relkind
  UNION ALL
  SELECT r.oid, r.relkind FROM part JOIN pg_catalog.pg_inherits i ON i.inhparent = part.oid AND part.kind = 'p'
    JOIN pg_catalog.pg_class r ON r.oid = i.inhrelid)
SELECT oid FROM part`;
