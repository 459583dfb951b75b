/** The projections of the service's database, for commands that work on it directly: whether the service runs or not. */
import type pg from 'pg';
import { readEvents } from '../log/read.js';
import { createPipeline } from '../pipeline/index.js';
import { readDatabase } from '../postgres/database.js';
import { type IndexProjection, createIndexProjection } from '../projector/indexes.js';
import { type Projections, createProjections } from '../projector/projections/index.js';
import { type Store, createStore } from '../reads/store.js';
import { readRelease } from '../release.js';
import type { Invocation } from './command.js';
import { withDatabase } from './database.js';
import { silentLogger } from './silent-logger.js';

export interface Bench {
  pool: pg.Pool;
  projections: Projections;
  /** Folds the log; for everything but `list` and the rebuild of the metadata rows. */
  load(): Promise<void>;
}

export function withProjections<T>(invocation: Invocation, work: (bench: Bench) => Promise<T>): Promise<T> {
  const config = invocation.config();
  return withDatabase(config, async (pool, connectionString) => {
    const { database } = await readDatabase(pool);
    const store = createStore({ pool, logger: silentLogger });
    const place = { database, schema: config.schema };
    const connection = { connectionString, schema: config.schema };
    const options = { ...config, pool, connection, ...place, logger: silentLogger };
    const pipeline = createPipeline({ ...options, place, release: readRelease(), store });
    const indexes = builder(options, store);
    try {
      const projections = createProjections({ ...options, store, pipeline, indexes });
      return await work({ pool, projections, load: () => store.load() });
    } finally {
      await indexes.stop();
    }
  });
}

type Building = Omit<Parameters<typeof createIndexProjection>[0], 'readEventsAfter' | 'currentState'>;

function builder(options: Building, store: Store): IndexProjection {
  const head = async (): Promise<number> => {
    const { rows } = await options.pool.query<{ position: number }>(
      'SELECT coalesce(max(position), 0)::bigint AS position FROM service_events',
    );
    return rows[0]?.position ?? 0;
  };
  return createIndexProjection({
    ...options,
    readEventsAfter: (position) => readEvents(options.pool, { after: position }),
    currentState: async () => store.atHead(await head()),
  });
}
