import type pg from 'pg';
import type { Config } from '../../config.js';
import { readHeadPosition, type EventRecord } from '../../log/read.js';
import { READERS } from '../../features/readers.js';
import { createPipeline } from '../../pipeline/index.js';
import { type IndexProjection, createIndexProjection } from '../../projector/indexes/index.js';
import { type Projections, createProjections } from '../../features/projections/index.js';
import { type Store, createStore } from '../../reads/state-store.js';
import { readRelease } from '../../release.js';
import { type Invocation, type ExitCode, isSet } from '../command.js';
import { withDatabase, silentLogger } from './database.js';
import { type ReplayOptions, type Replayed, replay, openTarget } from '../../projector/replay.js';
import { countDifferences, describeDifference } from '../../doctor/differences.js';
import { json } from '../output.js';

export interface ProjectionTools {
  pool: pg.Pool;
  projections: Projections;
  /** Folds the log. Required for everything except `list` and rebuilding the metadata rows. */
  load(): Promise<void>;
  close(): Promise<void>;
}

/** Runs `work` and then closes everything. */
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

/**
 * Opens the tools. The caller must close them and the pool. Stored folds are ignored, because verification must not
 * depend on them.
 */
export async function openProjectionTools({
  config,
  pool,
  connectionString,
}: ProjectionConnections): Promise<ProjectionTools> {
  const { rows } = await pool.query<{ database: string }>('SELECT current_database() AS database');
  const database = rows[0]?.database ?? '';
  const store = createStore({ pool, logger: silentLogger });
  const location = { database, schema: config.schema, schemas: config.schemas };
  const connection = { ...config, connectionString };
  const options = { ...config, pool, connection, ...location, logger: silentLogger };
  const pipeline = createPipeline({ ...options, location, release: readRelease(), store, readers: READERS });
  const indexes = builder(options, store);
  const projections = createProjections({ ...options, store, pipeline, indexes });
  return { pool, projections, load: () => loadWhole(store), close: () => indexes.stop() };
}

interface ProjectionConnections {
  config: Config;
  pool: pg.Pool;
  connectionString: string;
}

/** @throws UnreadableEventError if the log cannot be read to its end */
async function loadWhole(store: Store): Promise<void> {
  await store.load();
  const unreadable = store.unreadable();
  if (unreadable !== undefined) throw unreadable;
}

type Building = Omit<Parameters<typeof createIndexProjection>[0], 'currentState'>;

function builder(options: Building, store: Store): IndexProjection {
  return createIndexProjection({
    ...options,
    currentState: async () => store.atHead(await readHeadPosition(options.pool)),
  });
}

/* Replays a log into an empty database and reports the result. */

interface ReplayInto extends Pick<ReplayOptions, 'tables' | 'documents' | 'onReplayed' | 'onTables' | 'fill'> {
  connectionString: string;
  schema: string;
  /** All managed schemas. If absent, only the default schema is managed. */
  schemas?: readonly string[] | undefined;
  serviceSchema: string;
  /** The role of OBJECTS_OWNER. Absent or null if there is none. */
  objectsOwner?: string | null;
  pages: AsyncIterable<EventRecord[]>;
}

/** @throws OperatorError if the target is not empty, the chain is broken, or PostgreSQL rejects a statement */
export async function replayInto({
  connectionString,
  schema,
  schemas,
  serviceSchema,
  objectsOwner,
  ...options
}: ReplayInto): Promise<Replayed> {
  const location = { connectionString, schema, schemas, serviceSchema, objectsOwner };
  const target = await openTarget({ ...location, logger: silentLogger });
  try {
    return await replay({ ...options, target });
  } finally {
    await target.close();
  }
}

/** Prints the result. Exit code 1 if it differs from the log, or if the log is damaged. */
export function showReplay({ values, terminal }: Invocation, replayed: Replayed): ExitCode {
  const { head, collections, statements, verification, damaged } = replayed;
  const { differences } = verification;
  const ok = verification.ok && damaged === null;
  if (isSet(values, 'json')) {
    terminal.print(
      json({ ok, position: head.position, hash: head.hash, collections, statements, differences, damaged }),
    );
  } else {
    terminal.print(
      [
        `${head.position} events, ${collections} collections, ${statements} statements; head ${head.hash}.`,
        verification.ok
          ? 'Verified: fold, metadata rows and catalog match.'
          : `${countDifferences(differences)}:\n${differences.map(describeDifference).join('\n')}`,
        ...(damaged === null ? [] : [`The log is damaged at position ${damaged.position}: ${damaged.reason}.`]),
      ].join('\n'),
    );
  }
  return ok ? 0 : 1;
}
