/**
 * Purges what has been in the trash for long enough, by the database's clock. Every process does this; the log's lock and
 * the list of the trash see to it that each entry is purged once.
 */
import type pg from 'pg';
import { MAY_CREATE_SCHEMAS } from '../projector/trash/facts.js';
import { untilNextExpiry } from '../projector/trash/list.js';
import type { Logger } from '../postgres/logger.js';
import type { Cause } from '../schema/model/events.js';
import { purgingExpired } from './prepare/purge.js';
import type { Pipeline, PipelineOptions } from './types.js';

export interface Purger {
  /** Waits for the end of a purge under way. */
  stop(): Promise<void>;
}

export interface PurgerOptions extends Pick<PipelineOptions, 'keep'> {
  pool: pg.Pool;
  pipeline: Pick<Pipeline, 'execute'>;
  logger: Logger;
  /** The database takes no changes now. */
  readOnly: () => boolean;
  /** What tells that something may have come to the trash, or that the database takes changes again. */
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

/** Milliseconds: between a wake and the look; the longest without one, for clocks that are set; after a failure. */
const PAUSES = { gather: 1_000, longest: 60_000, failure: 30_000 };

/** Milliseconds that what could not be purged is left alone. */
const LEFT_ALONE = 3_600_000;

/**
 * Begins at once, and runs until it is stopped. What can't be purged is logged, and left alone for an hour where
 * something needs it.
 */
export function createPurger(options: PurgerOptions): Purger {
  const { pool, logger, readOnly } = options;
  /** Until when (`performance.now`), by position. */
  const failed = new Map<number, number>();
  let timer: NodeJS.Timeout | undefined;
  /** When the timer fires (`performance.now`). */
  let due = Infinity;
  let running: Promise<void> | undefined;
  let stopped = false;
  let warned = false;

  const later = (milliseconds: number): void => {
    const at = performance.now() + milliseconds;
    if (stopped || at >= due) return;
    clearTimeout(timer);
    due = at;
    timer = setTimeout(start, milliseconds);
    timer.unref();
  };

  const start = (): void => {
    due = Infinity;
    if (stopped || running !== undefined || readOnly()) return;
    running = run().finally(() => {
      running = undefined;
    });
  };

  const run = async (): Promise<void> => {
    try {
      if (!warned) await warnWhereNothingIsKept(options);
      warned = true;
      // Looked for before the pipeline is asked: most of the time there is nothing, and no reason to take the log's lock.
      let wait = await untilNext();
      while (!stopped && wait <= 0 && (await purgeOne())) wait = await untilNext();
      later(Math.min(PAUSES.longest, Math.max(PAUSES.gather, wait)));
    } catch (error) {
      if (stopped) return;
      logger.warn('the trash could not be looked through', { error });
      later(PAUSES.failure);
    }
  };

  const untilNext = async (): Promise<number> => {
    for (const [position, until] of failed) if (until <= performance.now()) failed.delete(position);
    return (await untilNextExpiry(pool, [...failed.keys()])) ?? Infinity;
  };

  /** @returns whether there may be more */
  const purgeOne = async (): Promise<boolean> => {
    let position: number | undefined;
    const look = purgingExpired([...failed.keys()], (found) => (position = found));
    const outcome = await options.pipeline.execute('purge-trash', look, { cause: BY_ITSELF });
    if (outcome.kind === 'done') return outcome.events.length > 0;
    const problem = outcome.kind === 'refused' ? outcome.problems[0] : undefined;
    // The moment was wrong, or what is in the trash is needed by something that was made of it by hand.
    if (position === undefined || problem?.code !== 'IN_USE') throw new Error(problem?.message ?? outcome.kind);
    failed.set(position, performance.now() + LEFT_ALONE);
    logger.warn('what is in the trash can not be purged', { position, reason: problem.message });
    return true;
  };

  later(0);
  for (const each of options.news) each.subscribe(() => later(PAUSES.gather));
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

async function warnWhereNothingIsKept({ pool, keep, logger }: PurgerOptions): Promise<void> {
  if (keep.deleted === 0) return;
  const { rows } = await pool.query<{ creates: boolean }>(`SELECT ${MAY_CREATE_SCHEMAS} AS creates`);
  if (rows[0]?.creates === true) return;
  logger.warn('nothing that is deleted is kept', {
    reason: "the service's account may not create schemas in this database",
    next: 'GRANT CREATE ON DATABASE … TO the account of DATABASE_URL, or set KEEP_DELETED=0',
  });
}
