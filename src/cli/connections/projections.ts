import type pg from 'pg';
import type { Config } from '../../config.js';
import { headPosition } from '../../log/read.js';
import { createPipeline } from '../../pipeline/index.js';
import { type IndexProjection, createIndexProjection } from '../../projector/indexes/index.js';
import { type Projections, createProjections } from '../../projector/projections/index.js';
import { type Store, createStore } from '../../reads/state-store.js';
import { readRelease } from '../../release.js';
import type { Invocation } from '../command.js';
import { withDatabase } from './database.js';
import { silentLogger } from './silent-logger.js';

export interface ProjectionTools {
  pool: pg.Pool;
  projections: Projections;
  /** Folds the log. Needed for everything but `list` and rebuilding the metadata rows. */
  load(): Promise<void>;
  close(): Promise<void>;
}

/** Waits for `work` and then closes everything. */
export function withProjections<T>(invocation: Invocation, work: (tools: ProjectionTools) => Promise<T>): Promise<T> {
  const config = invocation.config();
  return withDatabase(config, async (pool, connectionString) => {
    const tools = await openProjectionTools({ config, pool, connectionString });
    try {
      return await work(tools);
    } finally {
      await tools.close();
    }
  });
}

/** The caller closes it and the pool. Ignores stored folds, because verification must not depend on them. */
export async function openProjectionTools({ config, pool, connectionString }: Surroundings): Promise<ProjectionTools> {
  const { rows } = await pool.query<{ database: string }>('SELECT current_database() AS database');
  const database = rows[0]?.database ?? '';
  const store = createStore({ pool, logger: silentLogger });
  const place = { database, schema: config.schema };
  const connection = { ...config, connectionString };
  const options = { ...config, pool, connection, ...place, logger: silentLogger };
  const pipeline = createPipeline({ ...options, place, release: readRelease(), store });
  const indexes = builder(options, store);
  const projections = createProjections({ ...options, store, pipeline, indexes });
  return { pool, projections, load: () => loadWhole(store), close: () => indexes.stop() };
}

interface Surroundings {
  config: Config;
  pool: pg.Pool;
  connectionString: string;
}

/** @throws UnreadableEventError if it cannot be read to the end */
async function loadWhole(store: Store): Promise<void> {
  await store.load();
  const unreadable = store.unreadable();
  if (unreadable !== undefined) throw unreadable;
}

type Building = Omit<Parameters<typeof createIndexProjection>[0], 'currentState'>;

function builder(options: Building, store: Store): IndexProjection {
  return createIndexProjection({
    ...options,
    currentState: async () => store.atHead(await headPosition(options.pool)),
  });
}
