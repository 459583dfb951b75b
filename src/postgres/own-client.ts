/** A connection for one question. */
import type pg from 'pg';
import { ServiceClient, type ServiceClientConfig } from './client.js';

/** Where to connect to: a pool, or the configuration of one client. */
export interface Target {
  options: pg.ClientConfig;
}

/**
 * Runs `work` on a connection of its own, made like those of the pool: for questions about connections that may be dead.
 * Connecting may take `milliseconds`, and each query too.
 */
export async function withOwnClient<T>(
  { options }: Target,
  milliseconds: number,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const limits = { connectionTimeoutMillis: milliseconds, query_timeout: milliseconds };
  const client = new ServiceClient({ ...(options as ServiceClientConfig), ...limits });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    // Not waited for: it may take as long as the work did.
    client.end().catch(() => undefined);
  }
}
