/**
 * Publishes checkpoints: every so many events or minutes one is signed and written down, then delivered. Of several
 * processes one does each step; where two do, after a clock was set or a process was taken for dead, they deliver the
 * same bytes. Writers never wait for any of it.
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
  /** There may be something new in the log. Cheap; call it after every commit. */
  wake(): void;
  /** Ends what is under way. */
  stop(): Promise<void>;
  status(): PublisherStatus;
}

export interface PublisherStatus {
  /** The newest position that this process has published; 0: none. */
  position: number;
  /** Deliveries that failed, since the start. */
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
  /** Between a wake and the look at the log: a burst of commits is one look. */
  gather: number;
  /** Between two looks where nothing wakes it: what another process began and didn't end is ended. */
  look: number;
  /** After the first failure; doubled with each further one. */
  retry: number;
  maximum: number;
}

const PAUSES: Pauses = { gather: 100, look: 30_000, retry: 1_000, maximum: 300_000 };

/**
 * Looks by itself from the beginning on, and when it is woken. What fails is logged and tried again, and never thrown.
 */
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

  /** A failure is waited out, whatever wakes it; and a wake that comes while others are gathered puts nothing off. */
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

  // What was left undelivered when the last process stopped.
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

/** Signs a checkpoint of the end of the log and writes it down, if it is time for one. @returns whether it was */
async function writeDown(options: PublisherOptions): Promise<boolean> {
  const { pool, place, checkpoints, target, every } = options;
  // Where nobody takes them, the newest is made when somebody does.
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
