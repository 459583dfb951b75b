/** Catalog queries that build one result and can share a round trip with others. */
import type pg from 'pg';
import { type Parameterised, sendReads } from '../../postgres/exchange.js';
import type { Sql } from '../ddl/sql.js';

export interface Reading<T> {
  queries: readonly (Parameterised & { text: Sql })[];
  /** `rows` returns the results of the queries in order. */
  make(rows: NextRows): Promise<T>;
}

type NextRows = <Row extends unknown[]>() => Promise<Row[]>;

type Promises<T extends readonly unknown[]> = { [K in keyof T]: Promise<T[K]> };

/** Sends all queries in one round trip. Each result is built while PostgreSQL runs the next query. */
export function readTogether<T extends readonly unknown[]>(
  client: pg.ClientBase,
  ...readings: { [K in keyof T]: Reading<T[K]> }
): Promises<T> {
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
  }) as Promises<T>;
}
