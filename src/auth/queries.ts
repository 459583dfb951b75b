/** Small helpers for queries. */
import type { Pool, PoolClient } from 'pg';
import { withClient } from '../postgres/pool.js';

/** Commits what `work` did. When it throws, the connection is closed and all of it is rolled back. */
export function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return withClient(pool, async (client) => {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  });
}

/** The row of a query that always has one. */
export function onlyRow<T>({ rows }: { rows: T[] }): T {
  const [row] = rows;
  if (row === undefined) throw new Error('the query gave no row');
  return row;
}
