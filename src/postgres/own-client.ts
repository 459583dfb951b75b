/** A connection for one question. */
import type pg from 'pg';
import { ServiceClient, type ServiceClientConfig } from './client.js';
import type { Host } from './hosts/address.js';

/** Where to connect to: a pool, or the configuration of one client. */
export interface Target {
  options: pg.ClientConfig;
  /** The server to ask, where the address leads to several: process ids are a server's own. */
  at?: Host;
}

/**
 * Runs `work` on a connection of its own, made like those of the pool: for questions about connections that may be dead.
 * Where those lead through a pooler it doesn't: all of the pooler's may be taken. Connecting may take `milliseconds`, and
 * each query too.
 */
export async function withOwnClient<T>(
  { options, at }: Target,
  milliseconds: number,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const limits = { connectionTimeoutMillis: milliseconds, query_timeout: milliseconds };
  const config = options as ServiceClientConfig;
  // A pooler's place says nothing of the server's.
  const where = config.direct ?? { ...config, at };
  const client = new ServiceClient({ ...where, ...limits });
  try {
    await client.connect();
    return await work(client);
  } finally {
    // Not waited for: it may take as long as the work did.
    client.end().catch(() => undefined);
  }
}
