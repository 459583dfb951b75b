/**
 * Processes the log from the checkpoint to the head: skips events without indexes and reconciles the others in order.
 */
import { headPosition, EVENT_COLUMNS, type EventRow, toEventRecord } from '../../log/read.js';
import type { Queryable } from '../../postgres/pool.js';
import { REFUSE_OLDER_RELEASE } from '../../postgres/release-guard.js';
import type { Logger } from '../../postgres/logger.js';
import { advanceCheckpoint, loadCheckpoint } from './checkpoint.js';
import type { LockedSession } from '../../postgres/locked-session.js';
import { type Reconciling, reconcileIndex } from './build-concurrently.js';
import { type IndexTarget, indexTargets } from './targets.js';
import type { StoredEvent } from '../../schema/model/events.js';
import { own } from '../../postgres/own-tables.js';
import { readEvent } from '../../schema/fold/upcasting.js';

const PAGE = 1_000;

const QUERY = `SELECT ${EVENT_COLUMNS} FROM ${own.events}
 WHERE position > $1 AND position <= $2 AND (type = 'field.updated' OR data @> '{"concurrent_indexes": true}')
 ORDER BY position LIMIT ${PAGE}`;

/** Events between two positions that may concern an index, in order. */
async function* readIndexEvents(
  db: Queryable,
  { after, upTo }: { after: number; upTo: number },
): AsyncGenerator<StoredEvent, void, undefined> {
  for (let from: number | undefined = after; from !== undefined;) {
    const { rows }: { rows: EventRow[] } = await db.query<EventRow>(QUERY, [from, upTo]);
    for (const row of rows) yield readEvent(toEventRecord(row));
    from = rows.length < PAGE ? undefined : rows.at(-1)?.position;
  }
}

export interface CatchingUp extends Omit<Reconciling, 'client'> {
  pool: Queryable;
  /** Null if another process is building. */
  openSession: () => Promise<LockedSession | null>;
  logger: Logger;
  stopping: () => boolean;
}

export type CaughtUp = 'done' | 'stopped' | 'busy elsewhere';

/** PostgreSQL rejected an index; `cause` has the reason. */
export class IndexBuildError extends Error {
  override readonly name = 'IndexBuildError';
  readonly position: number;
  readonly target: IndexTarget;

  constructor(position: number, target: IndexTarget, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.position = position;
    this.target = target;
  }
}

/** Stores the checkpoint during long stretches without an index, so that a restart does not read them again. */
const NOTED_EVERY = 10_000;

/** @throws IndexBuildError after storing all earlier progress; the checkpoint stays before the failed event */
export async function catchUp(work: CatchingUp): Promise<CaughtUp> {
  await work.pool.query(REFUSE_OLDER_RELEASE.text);
  let noted = await loadCheckpoint(work.pool);
  let reached = noted;
  const note = async (): Promise<boolean> => {
    const isOurs = await advanceCheckpoint(work.pool, noted, reached);
    noted = reached;
    return isOurs;
  };
  const head = await headPosition(work.pool);
  for await (const event of readIndexEvents(work.pool, { after: noted, upTo: head })) {
    if (work.stopping()) return 'stopped';
    if (indexTargets(event).length > 0) {
      // Another process has the lock and continued.
      if (!(await note())) return 'busy elsewhere';
      return inSession(work);
    }
    reached = event.position;
    if (reached - noted >= NOTED_EVERY && !(await note())) return 'busy elsewhere';
  }
  reached = Math.max(noted, head);
  return (await note()) ? 'done' : 'busy elsewhere';
}

/** Under the lock no other process moves the checkpoint, so it is read again and then only advances. */
async function inSession(work: CatchingUp): Promise<CaughtUp> {
  const session = await work.openSession();
  if (session === null) return 'busy elsewhere';
  try {
    let noted = await loadCheckpoint(work.pool);
    const head = await headPosition(work.pool);
    for await (const event of readIndexEvents(work.pool, { after: noted, upTo: head })) {
      if (work.stopping()) return 'stopped';
      const targets = indexTargets(event);
      if (targets.length > 0) await session.client.query(REFUSE_OLDER_RELEASE.text);
      for (const target of targets) await reconcile(work, session, { position: event.position, target });
      if (targets.length === 0) continue;
      await advanceCheckpoint(work.pool, noted, event.position);
      noted = event.position;
    }
    await advanceCheckpoint(work.pool, noted, Math.max(noted, head));
    return 'done';
  } finally {
    await session.close();
  }
}

async function reconcile(
  work: CatchingUp,
  { client }: LockedSession,
  { position, target }: { position: number; target: IndexTarget },
): Promise<void> {
  const started = performance.now();
  try {
    const reconciled = await reconcileIndex({ ...work, client }, { ...target, position });
    const milliseconds = Math.round(performance.now() - started);
    if (reconciled !== 'as it should be')
      work.logger.info(`index ${reconciled}`, { ...target, position, milliseconds });
  } catch (error) {
    throw new IndexBuildError(position, target, error);
  }
}
