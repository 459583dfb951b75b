/** Runs the checks of `dps doctor` and GET /server/doctor. */
import type pg from 'pg';
import type { Config } from './config.js';
import { type Examined, examine } from './doctor/index.js';
import { shareNext } from './kernel/share-next.js';
import { sqlState } from './postgres/errors.js';
import type { Logger } from './postgres/logger.js';
import { type ConnectionOptions, withSessions } from './postgres/pool.js';
import { readServerState } from './postgres/server-role.js';
import type { Projections } from './projector/projections/index.js';
import { createStore } from './reads/state-store.js';

type Surroundings = Config & ConnectionOptions & { pool: pg.Pool; logger: Logger; projections: Projections };

/** An examination reads the whole log. Requests that arrive during one share the next. */
export function createDoctor(options: Surroundings): () => Promise<Examined[]> {
  const { logger, projections } = options;
  // Addresses and paths of this machine appear in the service's own log only.
  const explain = (error: unknown, check: string): string => {
    logger.error('a check of the doctor could not be made', { check, error: String(error) });
    return sqlState(error) === undefined ? "the service's log says why" : (error as Error).message;
  };
  return shareNext(() =>
    withSessions(options.pool, { ...options, max: 1 }, async (pool) => {
      const server = await readServerState(pool);
      const tools = { projections, load: () => foldAll(pool, logger) };
      return examine({ config: options, addresses: options, pool, tools, server, now: () => Date.now(), explain });
    }),
  );
}

/** Folds from the first event, because the check must not rely on stored folds. @throws UnreadableEventError */
async function foldAll(pool: pg.Pool, logger: Logger): Promise<void> {
  const store = createStore({ pool, logger });
  await store.load();
  const unreadable = store.unreadable();
  if (unreadable !== undefined) throw unreadable;
}
