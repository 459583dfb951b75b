/**
 * Publishes checkpoints: after a number of events or minutes it signs and records one, then delivers it. Only one
 * process does each step. If two do, after a clock change or a presumed death, they deliver the same bytes. Writers
 * never wait for the publisher.
 */
import type pg from 'pg';
import { growingPause } from '../../kernel/growing-pause.js';
import { ProblemError } from '../../kernel/problem.js';
import { advisoryKey } from '../../postgres/advisory.js';
import type { Logger } from '../../postgres/logger.js';
import { withClient } from '../../postgres/pool.js';
import type { Checkpoints } from './index.js';
import { type Claimed, type Every, claim, insert, isDue, isNews, markPublished, release } from './outbox.js';
import { RefusedError, type Target } from './targets.js';

export interface Publisher {
  /** Signals that the log may have new events. Cheap, call it after every commit. */
  wake(): void;
  /** Ends running work. */
  stop(): Promise<void>;
  status(): PublisherStatus;
}

export interface PublisherStatus {
  /** The newest position that this process published. 0 if there is none. */
  position: number;
  /** Failed deliveries since the start. */
  failures: number;
}

export interface PublisherOptions {
  pool: pg.Pool;
  place: { database: string; schema: string };
  checkpoints: Pick<Checkpoints, 'signable' | 'signEnd'>;
  target: Target;
  every: Every;
  logger: Logger;
  /** Milliseconds. */
  pauses?: Partial<Pauses>;
}

interface Pauses {
  /** Between a wake and the check of the log, so that a burst of commits causes one check. */
  gather: number;
  /** Between two checks without a wake. They finish the work that another process left. */
  look: number;
  /** After the first failure. Each further failure doubles it. */
  retry: number;
  maximum: number;
}

const PAUSES: Pauses = { gather: 100, look: 30_000, retry: 1_000, maximum: 300_000 };

/** Checks from the start on, and after each wake. Failures are logged and retried, never thrown. */
export function createPublisher(options: PublisherOptions): Publisher {
  const { pool, target, logger, every } = options;
  const pauses = { ...PAUSES, look: Math.min(PAUSES.look, every.time), ...options.pauses };
  const stopping = new AbortController();
  const status: PublisherStatus = { position: 0, failures: 0 };
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let woken = false;
  let gathering = false;
  let attempts = 0;
  let said: string | undefined;

  const later = (milliseconds: number): void => {
    if (stopping.signal.aborted) return;
    clearTimeout(timer);
    timer = setTimeout(start, milliseconds);
    timer.unref();
  };

  const start = (): void => {
    if (running !== undefined || stopping.signal.aborted) return;
    woken = gathering = false;
    running = run().finally(() => {
      running = undefined;
      if (woken) soon();
    });
  };

  /** A wake does not shorten the pause after a failure. A wake during a pause postpones nothing. */
  const soon = (): void => {
    if (attempts > 0 || gathering) return;
    gathering = true;
    later(pauses.gather);
  };

  const run = async (): Promise<void> => {
    try {
      await deliverAll();
      if (await writeDown(options)) await deliverAll();
      if (attempts > 0) logger.info('checkpoints are published again', { target: target.name, attempts });
      attempts = 0;
      said = undefined;
      later(pauses.look);
    } catch (error) {
      if (stopping.signal.aborted) return;
      attempts += 1;
      const retry_in = growingPause(attempts, pauses);
      report(error as Error, retry_in);
      later(retry_in);
    }
  };

  const report = (error: Error, retry_in: number): void => {
    status.failures += 1;
    const reason = error instanceof ProblemError ? error.problem.message : error.message;
    const level = said === reason ? 'debug' : 'warn';
    said = reason;
    logger[level]('checkpoints can not be published now', { target: target.name, reason, attempts, retry_in });
  };

  const deliverAll = async (): Promise<void> => {
    for (;;) {
      const claimed = await claim(pool, target.name);
      if (claimed === undefined || stopping.signal.aborted) return;
      await deliver(claimed);
    }
  };

  const deliver = async (claimed: Claimed): Promise<void> => {
    try {
      await target.deliver(claimed, stopping.signal);
    } catch (error) {
      const refused = error instanceof RefusedError;
      const message = (error as Error).message;
      await release(pool, claimed.id, { message, refused });
      if (!refused) throw error;
      status.failures += 1;
      logger.error('a checkpoint was refused where it should go', {
        target: target.name,
        position: claimed.position,
        reason: message,
        next: 'compare the two: another log may publish there, or this one was rewritten (dps verify --checkpoint)',
      });
      return;
    }
    await markPublished(pool, claimed.id, target.name);
    status.position = Math.max(status.position, claimed.position);
    logger.info('checkpoint published', { target: target.name, position: claimed.position });
  };

  // Delivers what the previous process left undelivered.
  soon();
  return {
    wake: () => {
      if (running !== undefined) woken = true;
      else soon();
    },
    stop: async () => {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
    status: () => status,
  };
}

/** Signs and records a checkpoint of the end of the log, if one is due. @returns true if it did */
async function writeDown(options: PublisherOptions): Promise<boolean> {
  const { pool, place, checkpoints, target, every } = options;
  // Without a target, the newest checkpoint is created once there is one.
  if (!(await isNews(pool, target.name))) return false;
  const end = await checkpoints.signable();
  if (end === undefined || !(await isDue(pool, { target: target.name, end, every }))) return false;
  const note = await checkpoints.signEnd(end);
  await withClient(pool, async (client) => {
    await client.query('BEGIN');
    await client.query('SELECT pg_catalog.pg_advisory_xact_lock($1)', [advisoryKey(place, 'checkpoints')]);
    if (await isDue(client, { target: target.name, end, every })) await insert(client, target.name, { ...end, note });
    await client.query('COMMIT');
  });
  return true;
}
