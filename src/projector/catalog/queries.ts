/* Catalog queries that share one round trip. */
import type pg from 'pg';
import { type Parameterised, sendReads } from '../../postgres/exchange.js';
import { type Sql, sql } from '../ddl/sql.js';

/*
 * Catalog queries, each for all tables of a schema. $1 is the schema, $2 the table names or null for all. Rows come
 * as arrays: for 200,000 columns, building objects with twenty members takes longer than the query.
 */

/** Selects ordinary and partitioned tables. Excludes views, foreign tables and temporary tables of other sessions. */
export const TABLES = sql`
WITH RECURSIVE requested AS (
  SELECT c.oid, c.relname, c.relkind, c.relispartition, c.relpartbound
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND ($2::text[] IS NULL OR c.relname = ANY ($2::text[]))
)`;

/** Catalog queries that build one result. */
export interface Reading<T> {
  queries: readonly (Parameterised & { text: Sql })[];
  /** `rows` returns the results of the queries in order. */
  make(rows: NextRows): Promise<T>;
}

type NextRows = <Row extends unknown[]>() => Promise<Row[]>;

type PromisesOf<T extends readonly unknown[]> = { [K in keyof T]: Promise<T[K]> };

/** Sends all queries in one round trip. Each result is built while PostgreSQL runs the next query. */
export function readTogether<T extends readonly unknown[]>(
  client: pg.ClientBase,
  ...readings: { [K in keyof T]: Reading<T[K]> }
): PromisesOf<T> {
  const all: readonly Reading<unknown>[] = readings;
  const left = sendReads(
    client,
    all.flatMap(({ queries }) => queries),
  ).values();
  return all.map(({ queries, make }) => {
    const own = queries.map(() => left.next().value).values();
    const made = make(async <Row extends unknown[]>() => (await own.next().value) as Row[]);
    // The caller may still be awaiting another promise, so this one has no handler yet.
    made.catch(() => undefined);
    return made;
  }) as PromisesOf<T>;
}
