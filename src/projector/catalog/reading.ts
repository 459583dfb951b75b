/** Queries of the catalog that make one thing, and are sent together with those of others. */
import type pg from 'pg';
import { type Parameterised, sendReads } from '../../postgres/exchange.js';
import type { Sql } from '../ddl/sql.js';

export interface Reading<T> {
  queries: readonly (Parameterised & { text: Sql })[];
  /** `rows` answers those of the next query, in their order. */
  make(rows: NextRows): Promise<T>;
}

type NextRows = <Row extends unknown[]>() => Promise<Row[]>;

type Promises<T extends readonly unknown[]> = { [K in keyof T]: Promise<T[K]> };

/** One round trip. Each is made while PostgreSQL goes on with the next. */
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
    // While the caller awaits another one, this one has no handler.
    made.catch(() => undefined);
    return made;
  }) as Promises<T>;
}
