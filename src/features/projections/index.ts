/* The projections for operators: status, verification and rebuild. */
import type pg from 'pg';
import { readHeadPosition } from '../../log/read.js';
import type { Logger } from '../../postgres/logger.js';
import { type ConnectionOptions, withClient, type Queryable } from '../../postgres/pool.js';
import type { Point, LogLock } from '../../log/fold.js';
import { type State, schemasOf } from '../../schema/model/state.js';
import type { IndexProjection } from '../../projector/indexes/index.js';
import { type Verification, verify, type Difference, verifyCatalog } from '../../projector/verify/index.js';
import { INDEX_PROJECTION } from '../../projector/verify/pending-indexes.js';
import { findOtherOwners } from '../../projector/verify/properties.js';
import { CHANGES_PROJECTION, type RebuiltChanges, rebuildChanges } from '../change-requests/rows.js';
import { type RebuiltTrash, TRASH_PROJECTION, rebuildTrash } from '../trash/rows.js';
import { type Progress, type RebuiltMetadata, rebuildMetadataRows } from '../../projector/metadata/rebuild.js';
import { PROJECTION_NAMES, type ProjectionName } from '../../projector/replay.js';
import { shareNext } from '../../kernel/memoize.js';
import { unlimited } from '../../postgres/limits.js';
import { ProblemError } from '../../kernel/problem.js';
import { type Sql, sql, own } from '../../projector/ddl/sql.js';
import { readObjects } from '../../projector/catalog/managed-objects.js';
import { verifyCatalogObjects } from '../../projector/verify/objects.js';
import { repairDrift } from '../drift/repair.js';

/* The progress of each projection, its failure, and how to resolve it. */

/** Explain how an operator can resume a stopped projection. */

interface StoppedIndex {
  collection: string;
  field: string | null;
  sqlstate: string | null;
}

/** Maps a SQLSTATE or its class to the action that helps. */
const REMEDIES: Readonly<Record<string, string>> = {
  '42501': 'Grant the database role of the service the privilege to create indexes there (it must own the table)',
  '42704': 'PostgreSQL does not support such an index for this column type. Remove the index',
  '54000': 'A value is too large for such an index. Shorten it, or remove the index',
  '57014': 'The build was canceled. Check statement_timeout on the server',
  '55P03': 'Another session holds a lock on the table. Wait until it ends',
  '40P01': 'A deadlock canceled the build. Try again',
  '53': 'The server is out of disk space, memory or connections. Free up resources',
  '58': 'The operating system of the server reported an error. See the PostgreSQL log',
  XX: 'PostgreSQL reported an internal error. See its log',
};

/** Returns sentences that describe the remedy and how to resume. */
export function nextStep(projection: string, { collection, field, sqlstate }: StoppedIndex): string {
  const remedy = remedyOf(sqlstate) ?? 'Fix the problem that the message names';
  const giveUp =
    field === null ? '' : ` To remove the index, set schema.is_indexed of ${collection}.${field} to false.`;
  return (
    `${remedy}. Then retry with "dps rebuild ${projection}" or POST /projections/${projection}/rebuild. ` +
    `The service also retries automatically, with increasing delays.${giveUp}`
  );
}

function remedyOf(sqlstate: string | null): string | undefined {
  if (sqlstate === null) return undefined;
  for (const key of [sqlstate, sqlstate.slice(0, 2)]) if (Object.hasOwn(REMEDIES, key)) return REMEDIES[key];
  return undefined;
}

/**
 * A `transactional` projection is written in the transaction of its events. An `after-commit` projection follows later
 * from its own checkpoint.
 */
type ProjectionKind = 'transactional' | 'after-commit';

export interface ProjectionStatus {
  name: ProjectionName;
  kind: ProjectionKind;
  /** All events up to and including this position are projected. */
  position: number;
  /** The number of events that are not projected yet. */
  lag: number;
  /** `failed`: stopped before an event until an operator acts or a retry succeeds. */
  status: 'running' | 'failed';
  last_error: ProjectionError | null;
  /** ISO 8601; null before its first event. */
  updated_at: string | null;
}

interface ProjectionError {
  /** The event at which the projection stopped. */
  position: number;
  /** Null if the event is not in the log. */
  event: { type: string; occurred_at: string; actor: string | null } | null;
  collection: string;
  field: string | null;
  sqlstate: string | null;
  /** The reason from PostgreSQL. */
  message: string;
  /** The number of attempts. */
  attempts: number;
  /** Describes the next step for the operator. */
  next: string;
}

const KINDS: Record<ProjectionName, ProjectionKind> = {
  tables: 'transactional',
  metadata: 'transactional',
  [TRASH_PROJECTION]: 'transactional',
  [CHANGES_PROJECTION]: 'transactional',
  [INDEX_PROJECTION]: 'after-commit',
};

interface Row {
  name: string;
  position: number;
  status: string;
  last_error: Omit<ProjectionError, 'event' | 'next'> | null;
  updated_at: Date;
  type: string | null;
  occurred_at: Date | null;
  actor: string | null;
}

const QUERY: Sql = sql`
SELECT p.name, p.position, p.status, p.last_error, p.updated_at, e.type, e.occurred_at, e.actor ->> 'name'::text AS actor
FROM ${own.projections} p
LEFT JOIN LATERAL (SELECT type, occurred_at, actor FROM ${own.events} f
                    WHERE f.position = (p.last_error ->> 'position'::text)::bigint OFFSET 0) e ON true`;

/** Returns all projections, including those without events. `head` was read at the same time or shortly before. */
export async function listProjections(db: Queryable): Promise<{ head: number; projections: ProjectionStatus[] }> {
  // The head is read first, so that no checkpoint is behind the reported position.
  const [head, { rows }] = [await readHeadPosition(db), await db.query<Row>(QUERY)];
  const rowByName = new Map(rows.map((row) => [row.name, row]));
  return { head, projections: PROJECTION_NAMES.map((name) => toStatus(name, rowByName.get(name), head)) };
}

function toStatus(name: ProjectionName, row: Row | undefined, head: number): ProjectionStatus {
  const position = row?.position ?? 0;
  const failed = row?.status === 'failed';
  return {
    name,
    kind: KINDS[name],
    position,
    lag: Math.max(0, head - position),
    status: failed ? 'failed' : 'running',
    last_error: row !== undefined && failed ? toError(name, row) : null,
    updated_at: row?.updated_at.toISOString() ?? null,
  };
}

function toError(name: ProjectionName, row: Row): ProjectionError | null {
  if (row.last_error === null) return null;
  const { type, occurred_at, actor } = row;
  const event = type === null || occurred_at === null ? null : { type, occurred_at: occurred_at.toISOString(), actor };
  const { position, collection, field, sqlstate, message, attempts } = row.last_error;
  const next = nextStep(name, row.last_error);
  return { position, event, collection, field, sqlstate, message, attempts, next };
}

/* Repairs the tables to match the log. Creates missing objects and alters those that differ, but drops nothing. */

interface RebuiltTables {
  position: number;
  made: string[];
  /** The statements that did not run, with reasons: they would drop something, or PostgreSQL rejects them. */
  left: { statement: string; reason: string }[];
  /** The remaining differences. */
  differences: Difference[];
}

/** Runs in one transaction while no event can be added. */
export async function rebuildTables(lock: LogLock, schema: string, objects?: boolean): Promise<RebuiltTables> {
  return lock.underLock(
    async (client, { state, head }) => {
      const { made, left } = await repairDrift({ client, state, schema, objects, allowDrop: false });
      const beside =
        objects === true
          ? await verifyCatalogObjects(
              client,
              state,
              await readObjects(client, { schema, schemas: schemasOf(state, schema) }),
            )
          : [];
      return {
        position: head.position,
        made: made.map(({ summary }) => summary),
        left: left.map(({ summary, reason }) => ({ statement: summary, reason })),
        differences: [
          ...(await verifyCatalog(client, state, schema)),
          ...beside,
          ...(await findOtherOwners(client, state, { schema, objects: objects === true })),
        ],
      };
    },
    { altersTables: true },
  );
}

export interface Projections {
  list(): Promise<{ head: number; projections: ListedProjection[] }>;
  /** Compares the fold, the metadata rows and the catalog at one point in time. */
  verify(): Promise<Verified>;
  /**
   * Rebuilds a projection, or resumes a stopped one.
   * @returns the result, ready for display
   * @throws ProblemError IN_USE, DATABASE_REFUSED, LOCK_TIMEOUT
   */
  rebuild(name: ProjectionName, onProgress?: Progress): Promise<RebuildResult>;
}

interface ListedProjection extends ProjectionStatus {
  /** The rebuild that runs in this process, or null. */
  rebuilding: Rebuilding | null;
}

interface Rebuilding {
  /** ISO 8601. */
  since: string;
  /** The completed share of the rebuild, from 0 to 1. Null if unknown. */
  done: number | null;
}

export interface Verified extends Verification {
  position: number;
}

export type RebuildResult = { name: ProjectionName; position: number } & Partial<
  Omit<RebuiltMetadata, 'position'> &
    Omit<RebuiltTables, 'position'> &
    Omit<RebuiltChanges, 'position'> &
    Omit<RebuiltTrash, 'position'> & { lag: number }
>;

interface ProjectionsOptions {
  pool: pg.Pool;
  connection: ConnectionOptions;
  database: string;
  store: { atHead(head: number): Promise<State> };
  pipeline: LogLock;
  indexes: Pick<IndexProjection, 'retry'>;
  lockTimeout: number;
  logger: Logger;
  /** True if the instance manages objects other than tables. */
  objects?: boolean | undefined;
}

/** Valid names are `PROJECTION_NAMES` in lower case. */
export function isProjectionName(name: string): name is ProjectionName {
  return PROJECTION_NAMES.some((projection) => projection === name);
}

/** `list` shows a rebuild only in the process that runs it. Concurrent calls of `verify` share one comparison. */
export function createProjections(options: ProjectionsOptions): Projections {
  const rebuilders: Record<ProjectionName, (onProgress: Progress) => Promise<Omit<RebuildResult, 'name'>>> = {
    metadata: async (onProgress) => ({
      ...(await rebuildMetadataRows({ ...options, onProgress })),
    }),
    [TRASH_PROJECTION]: async () => ({ ...(await rebuildTrash(options.pool, options.pipeline)) }),
    [CHANGES_PROJECTION]: async () => ({ ...(await rebuildChanges(options.pool, options.pipeline)) }),
    tables: () => rebuildTables(options.pipeline, options.connection.schema, options.objects),
    [INDEX_PROJECTION]: () => retryIndexes(options),
  };
  const running = new Map<ProjectionName, Rebuilding>();
  const rebuild = async (name: ProjectionName, onProgress?: Progress): Promise<RebuildResult> => {
    const rebuilding: Rebuilding = { since: new Date().toISOString(), done: null };
    // A second rebuild is rejected and must not replace the one that is shown.
    if (!running.has(name)) running.set(name, rebuilding);
    try {
      const progress: Progress = (done, total) => {
        rebuilding.done = total === 0 ? 1 : done / total;
        onProgress?.(done, total);
      };
      return { name, ...(await rebuilders[name](progress)) };
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
    // One comparison runs at a time, because each uses a connection of the pool and may need another one to catch up.
    verify: shareNext(async () => (await verifyBeside(options)) ?? verifyUnderLock(options)),
    rebuild,
  };
}

/**
 * Compares without blocking writes. Rows and log come from one snapshot, but PostgreSQL prints catalog definitions from
 * current data. A difference may therefore come from a concurrent change.
 * @returns null if a comparison under the lock is needed
 */
async function verifyBeside({
  pool,
  store,
  connection,
  lockTimeout,
  objects = false,
}: ProjectionsOptions): Promise<Verified | null> {
  return withClient(pool, async (client) => {
    // The transaction is idle while the log is folded, so it must not have a time limit.
    await client.query(`BEGIN ISOLATION LEVEL REPEATABLE READ; ${unlimited('transaction')}`);
    // PostgreSQL locks a table to print its definitions. Without a limit, a manual ALTER TABLE could block this
    // forever.
    await client.query(`SELECT pg_catalog.set_config('lock_timeout', $1, true)`, [String(lockTimeout)]);
    try {
      const position = await readHeadPosition(client);
      const state = await store.atHead(position);
      if (state.position !== position) return null;
      const { ok, differences } = await verify(client, state, connection.schema, { objects });
      return ok ? { ok, differences, position } : null;
    } finally {
      await client.query('ROLLBACK');
    }
  });
}

/** Compares under the log's lock, so that no event can be added. */
async function verifyUnderLock({ pipeline, connection, objects = false }: ProjectionsOptions): Promise<Verified> {
  const look = async (client: pg.ClientBase, { state, head }: Point) => ({
    ...(await verify(client, state, connection.schema, { objects })),
    position: head.position,
  });
  return pipeline.underLock(look, { readOnly: true });
}

/** Retries failed indexes. The builder continues where it stopped. */
async function retryIndexes({ pool, indexes }: ProjectionsOptions): Promise<Omit<RebuildResult, 'name'>> {
  await indexes.retry();
  const { projections } = await listProjections(pool);
  const status = projections.find(({ name }) => name === INDEX_PROJECTION) as ProjectionStatus;
  const { position, lag, last_error: error } = status;
  if (error !== null) {
    const { collection, field, sqlstate, message, next } = error;
    throw new ProblemError({
      code: 'DATABASE_REFUSED',
      message: `PostgreSQL rejected the index of event ${error.position} again: ${message}`,
      collection,
      ...(field !== null && { field }),
      details: { position: error.position, sqlstate, next },
    });
  }
  return { position, lag };
}
