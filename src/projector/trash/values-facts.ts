/** Facts about a table before its values are copied, read while no other session can change it. */
import type pg from 'pg';
import { type Sql, integer, join, literal, qualified, sql, trash, trashSchemaName } from '../ddl/sql.js';

export interface ValuesFacts {
  /** The account may read it. */
  readable: boolean;
  /** A table that inherits from it. Its rows also belong to this table but not to this primary key. */
  heir: string | null;
  /** Its column names. */
  columns: string[];
  /** Exact up to the requested limit; at most one more. */
  rows: number;
}

/** The location of a table before the batch: the managed schema, or the trash if the batch restores it. */
export interface Place {
  name: string;
  /** The position of the deletion that moved it to the trash. */
  position?: number | undefined;
}

export interface Asked {
  schema: string;
  places: readonly Place[];
  /** The counting limit. */
  most: number;
}

type Found = Omit<ValuesFacts, 'rows'> & { place: number };

const tablesAt = (places: Sql): Sql => sql`
SELECT w.place, pg_catalog.has_table_privilege(c.oid, 'SELECT') AS readable,
  (SELECT pg_catalog.min(i.inhrelid::regclass::text) FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid) AS heir,
  ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
  FROM (VALUES ${places}) AS w (place, schema, name) JOIN pg_catalog.pg_namespace n ON n.nspname = w.schema
  JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = w.name AND c.relkind = 'r'`;

/** Keyed by index. Tables that someone dropped by hand are missing. Call it with the tables locked. */
export async function readValuesFacts(
  client: pg.ClientBase,
  { schema, places, most }: Asked,
): Promise<ReadonlyMap<number, ValuesFacts>> {
  if (places.length === 0) return new Map();
  const values = places.map(({ name, position }, index) => {
    const at = position === undefined ? literal(schema) : trashSchemaName(integer(String(position)));
    return sql`(${integer(String(index))}, ${at}::text, ${literal(name)})`;
  });
  const { rows: found } = await client.query<Found>(tablesAt(join(values, sql`, `)));
  const counts = new Map<number, number>();
  const counted = found.flatMap(({ place, readable, heir }) => {
    const at = places[place];
    return readable && heir === null && at !== undefined ? [countOf(schema, at, { place, most })] : [];
  });
  if (counted.length > 0) {
    const { rows } = await client.query<{ place: number; rows: number }>(join(counted, sql` UNION ALL `));
    for (const { place, rows: count } of rows) counts.set(place, count);
  }
  return new Map(found.map(({ place, ...facts }) => [place, { ...facts, rows: counts.get(place) ?? 0 }]));
}

/** Stops reading a table once the limit is exceeded. */
function countOf(schema: string, { name, position }: Place, { place, most }: { place: number; most: number }): Sql {
  const table = position === undefined ? qualified(schema, name) : qualified(trash(position), name);
  const rows = sql`SELECT FROM ${table} LIMIT ${integer(String(most + 1))}`;
  return sql`SELECT ${integer(String(place))} AS place, count(*)::int AS rows FROM (${rows}) AS counted`;
}
