/** One transaction on one client of the pool. */
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
