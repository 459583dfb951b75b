/** A connection for a single query. */
import type pg from 'pg';
import { ServiceClient, type ServiceClientConfig } from './client.js';
import type { Host } from './hosts/address.js';

/** A pool, or the configuration of one client. */
export interface Target {
  options: pg.ClientConfig;
  /** The server to ask, if the address names several. Process ids are only valid on their server. */
  at?: Host;
}

/**
 * Runs `work` on a separate connection like those of the pool, to ask about connections that may be dead. It bypasses a
 * pooler, whose connections may all be in use. Connecting may take `milliseconds`, and so may each query.
 */
export async function withOwnClient<T>(
  { options, at }: Target,
  milliseconds: number,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const limits = { connectionTimeoutMillis: milliseconds, query_timeout: milliseconds };
  const config = options as ServiceClientConfig;
  // Behind a pooler the host of the connection is not the server.
  const where = config.direct ?? { ...config, at };
  const client = new ServiceClient({ ...where, ...limits });
  try {
    await client.connect();
    return await work(client);
  } finally {
    // Not awaited, because closing may take as long as the work.
    client.end().catch(() => undefined);
  }
}
