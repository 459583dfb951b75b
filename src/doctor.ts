/** What `dps doctor` finds, from inside the service: the answer of GET /server/doctor. */
import type pg from 'pg';
import { type Examined, examine } from './cli/doctor/index.js';
import { openProjectionTools } from './cli/projections.js';
import type { Config } from './config.js';
import { shareNext } from './kernel/share-next.js';
import { sqlState } from './postgres/errors.js';
import type { Logger } from './postgres/logger.js';
import { type ConnectionOptions, directly, withSessions } from './postgres/pool.js';
import { readServerState } from './postgres/server-role.js';

type Surroundings = Config & ConnectionOptions & { pool: pg.Pool; logger: Logger };

/** It reads the whole log: who asks while an examination runs waits for the next, with all others who do. */
export function createDoctor(options: Surroundings): () => Promise<Examined[]> {
  const { logger } = options;
  const { connectionString } = directly(options);
  // An address or a path of this machine is for the service's own log.
  const explain = (error: unknown, check: string): string => {
    logger.error('a check of the doctor could not be made', { check, error: String(error) });
    return sqlState(error) === undefined ? "the service's log says why" : (error as Error).message;
  };
  return shareNext(() =>
    withSessions(options.pool, { ...options, max: 1 }, async (pool) => {
      const tools = await openProjectionTools({ config: options, pool, connectionString });
      try {
        const server = await readServerState(pool);
        return await examine({
          config: options,
          addresses: options,
          pool,
          tools,
          server,
          now: () => Date.now(),
          explain,
        });
      } finally {
        await tools.close();
      }
    }),
  );
}
