/** The projections for operators: status, verification and rebuild. */
import type pg from 'pg';
import { headPosition } from '../../log/read.js';
import type { Logger } from '../../postgres/logger.js';
import { type ConnectionOptions, withClient } from '../../postgres/pool.js';
import type { Point } from '../../log/fold.js';
import type { State } from '../../schema/model/state.js';
import type { IndexProjection } from '../indexes/index.js';
import { type Verification, verify } from '../verify/index.js';
import { INDEX_PROJECTION } from '../verify/pending-indexes.js';
import { PROJECTION_NAMES, type ProjectionName, type ProjectionStatus, listProjections } from './list.js';
import { CHANGES_PROJECTION, type RebuiltChanges, rebuildChanges } from '../change-requests/rebuild.js';
import { type RebuiltTrash, TRASH_PROJECTION, rebuildTrash } from '../trash/rebuild.js';
import type { LogLock } from '../../log/log-lock.js';
import { type Progress, type RebuiltMetadata, rebuildMetadataRows } from '../metadata/rebuild.js';
import { type RebuiltTables, rebuildTables } from './rebuild-tables.js';
import { shareNext } from '../../kernel/share-next.js';
import { unlimited } from '../../postgres/unlimited.js';
import { ProblemError } from '../../kernel/problem.js';

export { PROJECTION_NAMES, type ProjectionName, type ProjectionStatus } from './list.js';

export interface Projections {
  list(): Promise<{ head: number; projections: ListedProjection[] }>;
  /** Compares the fold, the metadata rows and the catalog at one point in time. */
  verify(): Promise<Verified>;
  /**
   * Rebuilds a projection, or resumes a stopped one.
   * @returns the result, ready for display
   * @throws ProblemError IN_USE, DATABASE_REFUSED, LOCK_TIMEOUT
   */
  rebuild(name: ProjectionName, onProgress?: Progress): Promise<Rebuilt>;
}

interface ListedProjection extends ProjectionStatus {
  /** A rebuild that runs in this process, or null. */
  rebuilding: Rebuilding | null;
}

interface Rebuilding {
  /** ISO 8601. */
  since: string;
  /** From 0 to 1; null if unknown. */
  done: number | null;
}

export interface Verified extends Verification {
  position: number;
}

export type Rebuilt = { name: ProjectionName; position: number } & Partial<
  Omit<RebuiltMetadata, 'position'> &
    Omit<RebuiltTables, 'position'> &
    Omit<RebuiltChanges, 'position'> &
    Omit<RebuiltTrash, 'position'> & { lag: number }
>;

export interface ProjectionsOptions {
  pool: pg.Pool;
  connection: ConnectionOptions;
  database: string;
  store: { atHead(head: number): Promise<State> };
  pipeline: LogLock;
  indexes: Pick<IndexProjection, 'retry'>;
  lockTimeout: number;
  logger: Logger;
}

/** Valid names are `PROJECTION_NAMES` in lower case. */
export function isProjectionName(name: string): name is ProjectionName {
  return PROJECTION_NAMES.some((known) => known === name);
}

/** `list` shows a rebuild only in the process that runs it. Concurrent calls of `verify` share one comparison. */
export function createProjections(options: ProjectionsOptions): Projections {
  const rebuilders: Record<ProjectionName, (onProgress: Progress) => Promise<Omit<Rebuilt, 'name'>>> = {
    metadata: async (onProgress) => ({
      ...(await rebuildMetadataRows({ ...options, onProgress })),
    }),
    [TRASH_PROJECTION]: async () => ({ ...(await rebuildTrash(options.pool, options.pipeline)) }),
    [CHANGES_PROJECTION]: async () => ({ ...(await rebuildChanges(options.pool, options.pipeline)) }),
    tables: () => rebuildTables(options.pipeline, options.connection.schema),
    [INDEX_PROJECTION]: () => retryIndexes(options),
  };
  const running = new Map<ProjectionName, Rebuilding>();
  const rebuild = async (name: ProjectionName, onProgress?: Progress): Promise<Rebuilt> => {
    const rebuilding: Rebuilding = { since: new Date().toISOString(), done: null };
    // A second rebuild is rejected and must not replace the one that is shown.
    if (!running.has(name)) running.set(name, rebuilding);
    try {
      const told: Progress = (done, total) => {
        rebuilding.done = total === 0 ? 1 : done / total;
        onProgress?.(done, total);
      };
      return { name, ...(await rebuilders[name](told)) };
    } finally {
      if (running.get(name) === rebuilding) running.delete(name);
    }
  };
  return {
    async list() {
      const { head, projections } = await listProjections(options.pool);
      return {
        head,
        projections: projections.map((each) => ({ ...each, rebuilding: running.get(each.name) ?? null })),
      };
    },
    // One at a time: each uses a connection of the pool and may need another one to catch up.
    verify: shareNext(async () => (await verifyBeside(options)) ?? verifyUnderLock(options)),
    rebuild,
  };
}

/**
 * Does not block writes. Rows and log come from one snapshot, but PostgreSQL prints catalog definitions from current
 * data. A difference may therefore come from a concurrent change.
 * @returns null if a comparison under the lock is needed
 */
async function verifyBeside({ pool, store, connection, lockTimeout }: ProjectionsOptions): Promise<Verified | null> {
  return withClient(pool, async (client) => {
    // The connection is idle while the log is folded, for as long as that takes.
    await client.query(`BEGIN ISOLATION LEVEL REPEATABLE READ; ${unlimited('transaction')}`);
    // PostgreSQL locks a table to print its definitions, so a manual ALTER TABLE must not block this forever.
    await client.query(`SELECT pg_catalog.set_config('lock_timeout', $1, true)`, [String(lockTimeout)]);
    try {
      const position = await headPosition(client);
      const state = await store.atHead(position);
      if (state.position !== position) return null;
      const { ok, differences } = await verify(client, state, connection.schema);
      return ok ? { ok, differences, position } : null;
    } finally {
      await client.query('ROLLBACK');
    }
  });
}

/** Compares while no event can be added. */
async function verifyUnderLock({ pipeline, connection }: ProjectionsOptions): Promise<Verified> {
  const look = async (client: pg.ClientBase, { state, head }: Point) => ({
    ...(await verify(client, state, connection.schema)),
    position: head.position,
  });
  return pipeline.underLock(look, { readOnly: true });
}

/** The builder continues where it stopped. */
async function retryIndexes({ pool, indexes }: ProjectionsOptions): Promise<Omit<Rebuilt, 'name'>> {
  await indexes.retry();
  const { projections } = await listProjections(pool);
  const status = projections.find(({ name }) => name === INDEX_PROJECTION) as ProjectionStatus;
  const { position, lag, last_error: error } = status;
  if (error !== null) {
    const { collection, field, sqlstate, message, next } = error;
    throw new ProblemError({
      code: 'DATABASE_REFUSED',
      message: `PostgreSQL refused the index of event ${error.position} again: ${message}`,
      collection,
      ...(field !== null && { field }),
      details: { position: error.position, sqlstate, next },
    });
  }
  return { position, lag };
}
