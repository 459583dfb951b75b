/** Publishes signed checkpoints, and starts everything that a process needs for them. */
import type { KeyObject } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from '../../postgres/logger.js';
import { isStandby } from '../../postgres/server.js';
import { type CheckpointOptions, type Checkpoints, createCheckpoints, type LogEnd } from './sign.js';
import { type Keys, createKeys } from './keys.js';
import { createTarget, RefusedError, type Target, type Delivery } from './targets.js';
import { computePause } from '../../kernel/time.js';
import { ProblemError } from '../../kernel/problem.js';
import { advisoryKey } from '../../postgres/locked-session.js';
import { withClient, type Queryable } from '../../postgres/pool.js';
import { own } from '../../postgres/own-tables.js';

/* Manages checkpoints that wait for delivery. They are rows of service_checkpoints, which all processes share. */

interface CheckpointInterval {
  /** Number of events since the last checkpoint that triggers the next one. */
  events: number;
  /** Milliseconds after which a single new event triggers the next one. */
  time: number;
}

/** Maximum number of delivered checkpoints to keep. Standbys return them. */
const MAX_KEPT = 1_000;

/** Maximum number of undelivered checkpoints. The newest one covers all events, so more would be useless. */
const MAX_WAITING = 100;

/** True if no checkpoint covers the newest event, and fewer than the maximum wait for their delivery. */
export async function isNewPosition(db: Queryable, target: string): Promise<boolean> {
  const { rows } = await db.query<{ news: boolean }>(
    `SELECT (SELECT count(*) FROM ${own.checkpoints}
              WHERE target = $1 AND published_at IS NULL AND refused_at IS NULL) < ${MAX_WAITING} AND EXISTS (
              SELECT FROM ${own.events} e WHERE NOT EXISTS (
                SELECT FROM ${own.checkpoints} c WHERE c.target = $1 AND c.position = e.position AND c.hash = e.hash)
              AND e.position = (SELECT pg_catalog.max(position) FROM ${own.events})) AS news`,
    [target],
  );
  return rows[0]?.news === true;
}

interface DueCheckpoint {
  target: string;
  end: Pick<LogEnd, 'origin' | 'position'>;
  every: CheckpointInterval;
}

/**
 * True if a checkpoint is due. Uses the clock of the database, which all processes share. If that clock was set back, a
 * checkpoint is due.
 */
export async function isDue(db: Queryable, { target, end, every }: DueCheckpoint): Promise<boolean> {
  const { rows } = await db.query<{ position: number; age: number }>(
    `SELECT position, extract(epoch FROM now() - signed_at)::float8 * 1000::float8 AS age FROM ${own.checkpoints}
      WHERE target = $1 AND origin = $2 ORDER BY position DESC LIMIT 1`,
    [target, end.origin],
  );
  const [last] = rows;
  if (last === undefined) return true;
  const events = end.position - last.position;
  const isOld = last.age >= every.time || last.age < 0;
  return events > 0 && (events >= every.events || isOld);
}

/** Records a checkpoint for delivery. An existing row is not replaced, so that all processes deliver the same bytes. */
export async function insert(
  db: Queryable,
  target: string,
  { origin, position, hash, note }: LogEnd & Delivery,
): Promise<void> {
  await db.query(
    `INSERT INTO ${own.checkpoints} (target, origin, position, hash, note) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT DO NOTHING`,
    [target, origin, position, hash, note],
  );
}

interface ClaimedDelivery extends Delivery {
  id: string;
}

/**
 * A process that has not delivered within a minute counts as dead. A claim in the future was made before the clock was
 * set back and is ignored. One extra minute allows for a claim made after this statement began.
 */
const CLAIM = `
UPDATE ${own.checkpoints} SET claimed_at = now() WHERE id = (
  SELECT id FROM ${own.checkpoints}
   WHERE target = $1 AND published_at IS NULL AND refused_at IS NULL
     AND (claimed_at IS NULL OR claimed_at NOT BETWEEN now() - interval '1 minute' AND now() + interval '1 minute')
   ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id::text, origin, position, note`;

/** Claims the oldest undelivered checkpoint that no other process is delivering. */
export async function claim(db: Queryable, target: string): Promise<ClaimedDelivery | undefined> {
  const { rows } = await db.query<ClaimedDelivery>(CLAIM, [target]);
  return rows[0];
}

/** Records a failed delivery. It is retried, unless the target rejected the checkpoint for good. */
export async function release(db: Queryable, id: string, why: { message: string; refused: boolean }): Promise<void> {
  await db.query(
    `UPDATE ${own.checkpoints} SET claimed_at = NULL, last_error = $2, refused_at = CASE WHEN $3 THEN now() END WHERE id = $1`,
    [id, why.message, why.refused],
  );
}

/** Records a delivery and deletes the oldest delivered checkpoints. */
export async function markPublished(db: Queryable, id: string, target: string): Promise<void> {
  await db.query(
    `UPDATE ${own.checkpoints} SET claimed_at = NULL, last_error = NULL, published_at = now() WHERE id = $1`,
    [id],
  );
  await db.query(
    `DELETE FROM ${own.checkpoints} WHERE target = $1 AND published_at IS NOT NULL AND id < (
       SELECT pg_catalog.min(id) FROM (SELECT id FROM ${own.checkpoints} WHERE target = $1 AND published_at IS NOT NULL
                             ORDER BY id DESC LIMIT ${MAX_KEPT}) newest)`,
    [target],
  );
}

/*
 * Publishes checkpoints. After a number of events or minutes, it signs and records one, then delivers it. Only one
 * process does each step. After a clock change, or if a slow process counts as dead, two may do it and deliver the same
 * bytes. Writers never wait for the publisher.
 */

interface Publisher {
  /** Call this after every commit. It is cheap. */
  wake(): void;
  /** Stops the publisher and waits for running work. */
  stop(): Promise<void>;
  status(): PublisherStatus;
}

interface PublisherStatus {
  /** The newest position that this process published. 0 if there is none. */
  position: number;
  /** Failed deliveries since the start. */
  failures: number;
}

interface PublisherOptions {
  pool: pg.Pool;
  location: { database: string; schema: string };
  checkpoints: Pick<Checkpoints, 'signable' | 'signEnd'>;
  target: Target;
  every: CheckpointInterval;
  logger: Logger;
  /** Pauses of the publisher, in milliseconds. */
  pauses?: Partial<Pauses>;
}

interface Pauses {
  /** Pause between a wake and the check of the log. A burst of commits then causes one check. */
  gather: number;
  /** Pause between two checks without a wake. These checks finish work that another process did not. */
  look: number;
  /** Pause after the first failure. Each further failure doubles it. */
  retry: number;
  maximum: number;
}

const PAUSES: Pauses = { gather: 100, look: 30_000, retry: 1_000, maximum: 300_000 };

/** Checks at the start and after each wake. Failures are logged and retried, never thrown. */
function createPublisher(options: PublisherOptions): Publisher {
  const { pool, target, logger, every } = options;
  const pauses = { ...PAUSES, look: Math.min(PAUSES.look, every.time), ...options.pauses };
  const stopping = new AbortController();
  const status: PublisherStatus = { position: 0, failures: 0 };
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let woken = false;
  let gathering = false;
  let attempts = 0;
  let lastMessage: string | undefined;

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

  /** Schedules a check. A wake neither shortens the pause after a failure nor extends a running pause. */
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
      lastMessage = undefined;
      later(pauses.look);
    } catch (error) {
      if (stopping.signal.aborted) return;
      attempts += 1;
      const retry_in = computePause(attempts, pauses);
      report(error as Error, retry_in);
      later(retry_in);
    }
  };

  const report = (error: Error, retry_in: number): void => {
    status.failures += 1;
    const reason = error instanceof ProblemError ? error.problem.message : error.message;
    const level = lastMessage === reason ? 'debug' : 'warn';
    lastMessage = reason;
    logger[level]('checkpoints cannot be published', { target: target.name, reason, attempts, retry_in });
  };

  const deliverAll = async (): Promise<void> => {
    for (;;) {
      const claimed = await claim(pool, target.name);
      if (claimed === undefined || stopping.signal.aborted) return;
      await deliver(claimed);
    }
  };

  const deliver = async (claimed: ClaimedDelivery): Promise<void> => {
    try {
      await target.deliver(claimed, stopping.signal);
    } catch (error) {
      const refused = error instanceof RefusedError;
      const message = (error as Error).message;
      await release(pool, claimed.id, { message, refused });
      if (!refused) throw error;
      status.failures += 1;
      logger.error('the target rejected a checkpoint', {
        target: target.name,
        position: claimed.position,
        reason: message,
        next: 'compare the two: another log may publish there, or this log was rewritten (dps verify --checkpoint)',
      });
      return;
    }
    await markPublished(pool, claimed.id, target.name);
    status.position = Math.max(status.position, claimed.position);
    logger.info('checkpoint published', { target: target.name, position: claimed.position });
  };

  // Delivers what a previous process did not deliver.
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

/** Signs and records a checkpoint of the end of the log if one is due. @returns true if it recorded one */
async function writeDown(options: PublisherOptions): Promise<boolean> {
  const { pool, location, checkpoints, target, every } = options;
  if (!(await isNewPosition(pool, target.name))) return false;
  const end = await checkpoints.signable();
  if (end === undefined || !(await isDue(pool, { target: target.name, end, every }))) return false;
  const note = await checkpoints.signEnd(end);
  await withClient(pool, async (client) => {
    await client.query('BEGIN');
    await client.query('SELECT pg_catalog.pg_advisory_xact_lock($1)', [advisoryKey(location, 'checkpoints')]);
    if (await isDue(client, { target: target.name, end, every })) await insert(client, target.name, { ...end, note });
    await client.query('COMMIT');
  });
  return true;
}

interface CheckpointSettings {
  /** A folder or an http(s) URL. With null, nothing is published. */
  to: string | null;
  every: CheckpointInterval;
  /**
   * Number of standbys that must have flushed the signed events. Null requires one standby if the server has or expects
   * any.
   */
  standbys: number | null;
}

export interface CheckpointService extends Pick<Checkpoints, 'sign'>, Pick<Keys, 'list' | 'rotate'> {}

export interface Started {
  service: CheckpointService;
  publisher: Publisher;
}

export interface StartOptions extends Pick<CheckpointOptions, 'seen' | 'examine' | 'pending' | 'readOnly'> {
  pool: pg.Pool;
  location: { database: string; schema: string };
  settings: CheckpointSettings;
  /** The key in CHECKPOINT_KEY_FILE. */
  fileKey: KeyObject | null;
  logger: Logger;
}

/**
 * Starts the publisher of checkpoints. Without a target (`to`) it does nothing, and clients can still request signed
 * checkpoints.
 */
export function startCheckpoints(options: StartOptions): Started {
  const { settings } = options;
  const keys = createKeys(options);
  const checkpoints = createCheckpoints({ ...options, keys, standbys: settings.standbys });
  const service = {
    sign: checkpoints.sign,
    list: async () => {
      // Creates the key early, because clients may ask for keys before the first signature.
      if (!options.readOnly() && !(await isStandby(options.pool))) await keys.signer();
      return keys.list();
    },
    rotate: keys.rotate,
  };
  if (settings.to === null) return { service, publisher: NOWHERE };
  const target = createTarget(settings.to);
  return { service, publisher: createPublisher({ ...options, checkpoints, target, every: settings.every }) };
}

const NOWHERE: Publisher = {
  wake: () => undefined,
  stop: () => Promise.resolve(),
  status: () => ({ position: 0, failures: 0 }),
};
