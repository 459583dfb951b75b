/** What has to be known of a table before values of it are copied: asked while nobody else can change it. */
import type pg from 'pg';
import { type Sql, integer, join, literal, qualified, sql } from '../ddl/sql.js';

export interface ValuesFacts {
  /** The account may read it. */
  readable: boolean;
  /** A table that inherits from it: its rows are rows of this one too, and have no key of this one's. */
  heir: string | null;
  /** The names that it has. */
  columns: string[];
  /** Exact up to the number that was asked for; at most one more. */
  rows: number;
}

type Found = Omit<ValuesFacts, 'rows'> & { name: string };

const TABLES = `
SELECT c.relname::text AS name, pg_catalog.has_table_privilege(c.oid, 'SELECT') AS readable,
  (SELECT min(i.inhrelid::regclass::text) FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid) AS heir,
  ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = $1 AND c.relname = ANY ($2) AND c.relkind = 'r'`;

export interface Asked {
  schema: string;
  tables: readonly string[];
  /** Where counting ends. */
  most: number;
}

/** By name; one that was dropped by hand is missing. Call it with the tables locked. */
export async function readValuesFacts(
  client: pg.ClientBase,
  { schema, tables, most }: Asked,
): Promise<ReadonlyMap<string, ValuesFacts>> {
  const { rows: found } = await client.query<Found>(TABLES, [schema, tables]);
  const counted = found.filter(({ readable, heir }) => readable && heir === null);
  const counts = new Map<string, number>();
  if (counted.length > 0) {
    const questions = counted.map(({ name }) => countOf(qualified(schema, name), name, most));
    const { rows } = await client.query<{ name: string; rows: number }>(join(questions, sql` UNION ALL `));
    for (const { name, rows: count } of rows) counts.set(name, count);
  }
  return new Map(found.map(({ name, ...facts }) => [name, { ...facts, rows: counts.get(name) ?? 0 }]));
}

/** A table that is too large is read no further than it has to be. */
const countOf = (table: Sql, name: string, most: number): Sql =>
  sql`SELECT ${literal(name)} AS name, count(*)::int AS rows FROM (SELECT FROM ${table} LIMIT ${integer(String(most + 1))}) AS counted`;
