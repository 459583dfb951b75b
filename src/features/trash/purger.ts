/**
 * Purges trash entries on request or after their retention period. The trash is read in the transaction of the command.
 */
import { createEarliestTimer } from '../../kernel/time.js';
import type pg from 'pg';
import { type Problem, ProblemError } from '../../kernel/problem.js';
import {
  columnsLost,
  keptColumns,
  keptDeletions,
  type TrashEntry,
  findExpired,
  findInTrash,
  notInTrash,
  readWaitUntilNextExpiry,
} from './rows.js';
import type { Queryable } from '../../postgres/pool.js';
import type { Point } from '../../log/fold.js';
import { quoteName } from '../../kernel/text.js';
import type { PurgeTrash } from '../../schema/operations/trash.js';
import type { Pipeline, PipelineOptions, Reader } from '../../pipeline/types.js';
import { MAY_CREATE_SCHEMAS } from '../../projector/catalog/deletion-facts.js';
import type { Logger } from '../../postgres/logger.js';
import type { Cause } from '../../schema/model/events.js';

/** Returns the state after the event at a position, with at least these collections. */
type ReadCollections = (names: readonly string[], position: number) => Promise<Point>;

/** Creates the command of a purge. The columns of the kept object are read from the log before the log is locked. */
export async function createPurgeCommand(
  { pool, collectionsAt }: { pool: Queryable; collectionsAt: ReadCollections },
  { position, expired }: Pick<PurgeTrash, 'position' | 'expired'>,
): Promise<PurgeTrash> {
  const [kept] = await keptDeletions(pool, [position]);
  if (kept === undefined) return { position, expired, columns: [] };
  const { state } = await collectionsAt([kept.collection], position - 1);
  const node = state.collections.get(kept.collection);
  return { position, expired, columns: node === undefined ? [] : keptColumns(kept, node).map(({ name }) => name) };
}

/**
 * Reads the entry to purge. If another process has purged an expired entry, nothing is left to do.
 * @throws ProblemError NOT_FOUND if a user requested the purge of an entry that does not exist
 */
export const readPurge: Reader<PurgeTrash> = async (client, command) => {
  const { position } = command;
  const entry = await findInTrash(client, position);
  if (entry === undefined && !command.expired) throw new ProblemError(await notInTrash(client, position));
  const problem = entry === undefined ? null : await findDisagreement(client, entry, command);
  if (problem !== null) throw new ProblemError(problem);
  return { ...command, entry };
};

/**
 * Checks an entry against the log before the purge, because a purge is final, and the list and the tables of the trash
 * may have been altered by hand. If the entry must be expired, the retention period in the log must be over.
 * @returns why the entry must not be purged. Null if the log agrees.
 */
async function findDisagreement(
  client: pg.ClientBase,
  entry: TrashEntry,
  command: PurgeTrash,
): Promise<Problem | null> {
  const { position, collection } = entry;
  const why = await reasonToKeep(client, entry, command);
  if (why === null) return null;
  return { code: 'IN_USE', message: `The deleted object at position ${position} was not purged: ${why}.`, collection };
}

async function reasonToKeep(
  client: pg.ClientBase,
  entry: TrashEntry,
  { expired, columns }: PurgeTrash,
): Promise<string | null> {
  const { position, kind, collection, field } = entry;
  const [kept] = await keptDeletions(client, [position]);
  if (kept?.kind !== kind || kept.collection !== collection || kept.field !== field)
    return 'the list of the trash does not match the log (GET /projections/verify)';
  if (expired && !kept.expired) return `the trash keeps it until ${kept.kept_until}`;
  const lost = await columnsLost(client, entry, columns);
  return lost.length === 0 ? null : replaced(entry, lost);
}

/**
 * Explains that the kept table lacks columns, for example because another table has taken its place. Only a person can
 * decide whether that table may be dropped.
 */
const replaced = ({ field }: TrashEntry, lost: readonly string[]): string =>
  field === null
    ? `the table in the trash has no column ${lost.map(quoteName).join(', ')}, so someone changed or replaced it. ` +
      'If it is not needed, drop it with SQL, then purge the entry'
    : 'someone changed or replaced the table that keeps its values. If it is not needed, drop it with SQL, then purge the entry';

/**
 * Purges expired trash entries by the database's clock. Every process does this. The log lock and the list of the trash
 * ensure that each entry is purged once.
 */

export interface Purger {
  /** Waits for the end of a running purge. */
  stop(): Promise<void>;
}

export interface PurgerOptions extends Pick<PipelineOptions, 'keep'> {
  pool: pg.Pool;
  pipeline: Pick<Pipeline, 'apply'>;
  collectionsAt: ReadCollections;
  logger: Logger;
  /** True while the database is read-only. */
  readOnly: () => boolean;
  /** Signals after which the trash may have new entries, or after which the database accepts changes again. */
  news: readonly { subscribe(listener: () => void): unknown }[];
}

const BY_ITSELF: Cause = {
  actor: { id: 'service', name: 'Data Platform Service' },
  command: 'purge-trash',
  reason: 'KEEP_DELETED',
  request_id: null,
  ip: null,
  user_agent: null,
};

/**
 * Milliseconds. `gather` is between a wake and the check. `longest` limits all pauses, because clocks may be set.
 * `failure` follows a failure.
 */
const PAUSES = { gather: 1_000, longest: 60_000, failure: 30_000 };

/** Milliseconds before a purge that the database rejected is retried. */
const LEFT_ALONE = 3_600_000;

/**
 * Creates a purger, which runs until it is stopped. Failed purges are logged. An entry that the database rejects is
 * retried after an hour, and does not block other entries.
 */
export function createPurger(options: PurgerOptions): Purger {
  const { pool, logger, readOnly } = options;
  /** Time of the next attempt (`performance.now`), by the position of the entry. */
  const failed = new Map<number, number>();
  const timer = createEarliestTimer(() => start());
  let running: Promise<void> | undefined;
  let stopped = false;
  let warned = false;

  const start = (): void => {
    if (stopped || running !== undefined || readOnly()) return;
    running = run().finally(() => {
      running = undefined;
    });
  };

  const run = async (): Promise<void> => {
    try {
      if (!warned) await warnWhereNothingIsKept(options);
      warned = true;
      // The trash is checked before the log is locked, because usually nothing is due.
      let wait = await untilNext();
      while (!stopped && wait <= 0 && (await purgeOne())) wait = await untilNext();
      timer.set(Math.min(PAUSES.longest, Math.max(PAUSES.gather, wait)));
    } catch (error) {
      if (stopped) return;
      logger.warn('the trash could not be read', { error });
      timer.set(PAUSES.failure);
    }
  };

  const untilNext = async (): Promise<number> => {
    for (const [position, until] of failed) if (until <= performance.now()) failed.delete(position);
    return (await readWaitUntilNextExpiry(pool, [...failed.keys()])) ?? Infinity;
  };

  /** @returns true if more entries may be due */
  const purgeOne = async (): Promise<boolean> => {
    const [entry] = await findExpired(pool, [...failed.keys()]);
    if (entry === undefined) return false;
    const { position } = entry;
    const command = await createPurgeCommand(options, { position, expired: true });
    const outcome = await options.pipeline.apply('purge-trash', command, { cause: BY_ITSELF });
    if (outcome.kind === 'done') return true;
    const problem = outcome.kind === 'refused' ? outcome.problems[0] : undefined;
    if (problem === undefined || isAboutAll(problem)) throw new Error(problem?.message ?? outcome.kind);
    failed.set(position, performance.now() + LEFT_ALONE);
    logger.warn('deleted data cannot be purged', { position, reason: problem.message });
    return true;
  };

  timer.set(0);
  for (const each of options.news) each.subscribe(() => timer.set(PAUSES.gather));
  return {
    async stop() {
      stopped = true;
      timer.stop();
      await running;
    },
  };
}

/** True for a condition that would prevent every purge. */
const isAboutAll = ({ code }: Problem): boolean =>
  code === 'LOCK_TIMEOUT' || code === 'UNAVAILABLE' || code === 'READ_ONLY' || code.startsWith('LOG_');

async function warnWhereNothingIsKept({ pool, keep, logger }: PurgerOptions): Promise<void> {
  if (keep.deleted === 0) return;
  const { rows } = await pool.query<{ creates: boolean }>(`SELECT ${MAY_CREATE_SCHEMAS} AS creates`);
  if (rows[0]?.creates === true) return;
  logger.warn('deleted objects are not kept in the trash', {
    reason: 'the database role of the service cannot create schemas in this database',
    next: 'GRANT CREATE ON DATABASE … TO the role of DATABASE_URL, or set KEEP_DELETED=0',
  });
}
