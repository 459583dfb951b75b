/**
 * Delivers events to webhooks. The log is the outbox: each webhook has the position up to which events were delivered,
 * so commits need not write or wait for webhooks. Every process of the service can deliver. A lease in the row of a
 * webhook ensures that only one process does. A lease needs no session, so it works with a connection pooler, and it
 * expires if the process dies.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { createSemaphore } from '../../kernel/semaphore.js';
import { createEarliestTimer, computePause } from '../../kernel/time.js';
import { selectEventTexts } from '../../log/read.js';
import { originAt } from '../../log/signed-checkpoints/sign.js';
import type { Logger } from '../../postgres/logger.js';
import { type Format, type Message, eventMessage, signedHeaders } from './message.js';
import {
  type Claimed,
  LEASE,
  claimDue,
  copiedWebhooks,
  hasEnabledWebhooks,
  nextMatches,
  recordDelivery,
  recordFailure,
  releaseLeases,
  renewLeases,
  readWaitUntilNextDue,
} from './rows.js';
import type { Sender, Sent } from './send.js';

export interface Deliverer {
  /** Signals that the log may have new events. It is cheap, so call it after every commit. */
  wake(): void;
  /** Waits briefly for running deliveries, and then interrupts them. Another process continues. */
  stop(): Promise<void>;
  /** The number of deliveries of this process since its start. */
  counts(): Readonly<Record<'delivered' | 'failed', number>>;
}

interface DelivererOptions {
  pool: pg.Pool;
  sender: Sender;
  /** Disables a webhook and records an event about it. */
  disable(id: string, because: 'gone' | 'failing' | 'copied'): Promise<void>;
  logger: Logger;
  /** True while the database is read-only. */
  readOnly: () => boolean;
  /** The pauses in milliseconds. */
  pauses?: Partial<Pauses>;
}

interface Pauses extends SeriesPauses {
  /** The longest pause between two checks, because a notification may be lost. */
  look: number;
  /** Pause after the first failure of a webhook. The pause doubles with each further failure. */
  retry: number;
  /** The longest pause after a failure. */
  maximum: number;
}

const PAUSES: Pauses = {
  quiet: 50,
  busy: 5_000,
  between: 500,
  slow: 30_000,
  look: 30_000,
  retry: 1_000,
  maximum: 600_000,
};

/**
 * Maximum number of webhooks for which one process uses the database at the same time. Webhooks that wait for their
 * receivers do not count, so that slow receivers do not delay other webhooks.
 */
const AT_ONCE = 10;

/** Number of days with failures after which a webhook is disabled. */
const PATIENCE = 3;

/** Milliseconds between two renewals of leases. */
const RENEW = LEASE / 4;

/** Number of milliseconds before the end of a lease at which this process stops delivering. */
const MARGIN = LEASE / 5;

/** Milliseconds that `stop` waits for running deliveries. */
const FAREWELL = 2_000;

interface Running {
  abort: AbortController;
  ended: Promise<void>;
}

/** A webhook whose progress could not be stored. The receiver may have accepted the message. */
interface Interrupted {
  count: number;
  /** Earliest time of the next delivery by this process (`performance.now`). */
  until: number;
}

/**
 * Creates a deliverer, which is idle until the first `wake`. It never throws, because failures are logged and retried.
 */
export function createDeliverer(options: DelivererOptions): Deliverer {
  const { pool, sender, logger, readOnly } = options;
  const pauses = { ...PAUSES, ...options.pauses };
  const owner = randomUUID();
  const running = new Map<string, Running>();
  const interrupted = new Map<string, Interrupted>();
  const turns = createSemaphore(AT_ONCE);
  const timer = createEarliestTimer(() => start());
  const counts = { delivered: 0, failed: 0 };
  let looking: Promise<void> | undefined;
  let lookedAt: number | undefined;
  let again = false;
  let stopped = false;
  const series = createSeries(pauses);
  /**
   * End of the leases of this process (`performance.now`), counted from before the statement that created or renewed
   * them.
   */
  let leasedUntil = 0;
  let renewal: NodeJS.Timeout | undefined;

  const start = (): void => {
    if (stopped || readOnly()) return;
    if (looking !== undefined) {
      again = true;
      return;
    }
    looking = look()
      .catch((error: unknown) => logger.warn('webhooks could not be read', { error }))
      .finally(() => {
        looking = undefined;
        timer.set(again ? 0 : pauses.look);
        again = false;
      });
  };

  /** Waits for the end of a series of commits, for a limited time. */
  const waitForQuiet = async (since?: number, previous?: number): Promise<void> => {
    for (;;) {
      const wait = series.computeWait(performance.now(), since, previous);
      if (wait <= 0 || stopped) return;
      await sleep(wait);
    }
  };

  const look = async (): Promise<void> => {
    await waitForQuiet(undefined, lookedAt);
    lookedAt = performance.now();
    if (!(await hasEnabledWebhooks(pool))) return;
    for (const { id, name } of await copiedWebhooks(pool)) {
      logger.warn('a webhook is disabled, because its database was copied', { webhook: id, name });
      await options.disable(id, 'copied');
    }
    const before = performance.now();
    const { claimed, more } = await claimDue(pool, { owner, busy: listBusy(), limit: AT_ONCE });
    // If deliveries are running, the earlier end stays, because this statement did not renew their leases.
    if (claimed.length > 0 && running.size === 0) leasedUntil = before + LEASE;
    for (const each of claimed) begin(each);
    if (more) timer.set(0);
    const wait = await readWaitUntilNextDue(pool, owner, listBusy());
    if (wait !== undefined) timer.set(Math.max(pauses.quiet, wait));
    const now = performance.now();
    for (const { until } of interrupted.values()) if (until > now) timer.set(until - now);
  };

  /** Webhooks that this process delivers to, or that it must not claim yet. */
  const listBusy = (): string[] => {
    const now = performance.now();
    const waiting = [...interrupted].filter(([, { until }]) => until > now);
    return [...running.keys(), ...waiting.map(([id]) => id)];
  };

  const begin = (webhook: Claimed): void => {
    const run: Running = { abort: new AbortController(), ended: Promise.resolve() };
    running.set(webhook.id, run);
    renewal ??= setInterval(() => void renew(), RENEW).unref();
    run.ended = deliverAll(webhook, run.abort.signal)
      .catch(async (error: unknown) => {
        if (!run.abort.signal.aborted) noteInterruption(webhook, error);
        await releaseLeases(pool, owner, webhook.id).catch(() => undefined);
      })
      .finally(() => {
        running.delete(webhook.id);
        if (running.size === 0) {
          clearInterval(renewal);
          renewal = undefined;
        }
        timer.set(0);
      });
  };

  /**
   * Pauses a webhook whose progress could not be stored. Otherwise, the receiver would get the same message again and
   * again while the database accepts no writes.
   */
  const noteInterruption = ({ id, name }: Claimed, error: unknown): void => {
    const count = (interrupted.get(id)?.count ?? 0) + 1;
    const pause = computePause(count, { ...pauses, maximum: pauses.look });
    interrupted.set(id, { count, until: performance.now() + pause });
    logger.warn('a webhook was interrupted', { webhook: id, name, attempts: count, retry_in: pause, error });
  };

  const renew = async (): Promise<void> => {
    const before = performance.now();
    if (before > leasedUntil - MARGIN) interrupt('its lease could not be renewed');
    await renewLeases(pool, owner).then(
      () => void (leasedUntil = before + LEASE),
      (error: unknown) => logger.debug('the leases of webhooks could not be renewed', { error }),
    );
  };

  const interrupt = (why: string): void => {
    for (const { abort } of running.values()) abort.abort(new Error(why));
  };

  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    const { release } = await turns.acquire();
    try {
      return await work();
    } finally {
      release();
    }
  };

  /** Delivers events in order, until the end of the log, a failure, or a change to the webhook. */
  const deliverAll = async (webhook: Claimed, signal: AbortSignal): Promise<void> => {
    let after = webhook.position;
    const since = performance.now();
    let previous: number | undefined;
    for (;;) {
      const { positions, upTo, isEnd } = await inTurn(() => nextMatches(pool, webhook.id, after));
      // If no event matches the filter, the next claim advances the webhook over these events.
      const [first] = positions;
      if (first === undefined) return releaseLeases(pool, owner, webhook.id);
      const origin = (await inTurn(() => originAt(pool, first))) ?? '';
      for (const [index, position] of positions.entries()) {
        const isLast = index === positions.length - 1;
        const end = { next: isLast ? upTo : position, isLast: isLast && isEnd };
        await waitForQuiet(since, previous);
        if (!(await deliver({ webhook, origin, signal }, position, end))) return releaseLeases(pool, owner, webhook.id);
        previous = performance.now();
      }
      if (isEnd) return;
      after = upTo;
    }
  };

  /**
   * Undefined if the log was truncated before the position. The text of an event may be much larger than its message.
   */
  const readMessage = async (format: Format, position: number, origin: string): Promise<Message | undefined> => {
    const at = { where: 'e.position = $1', values: [position], order: 'asc', limit: 1 } as const;
    const [event] = await selectEventTexts(pool, at);
    return event && eventMessage(format, event.text, origin);
  };

  /** @returns false if later events must wait */
  const deliver = async (
    { webhook, origin, signal }: { webhook: Claimed; origin: string; signal: AbortSignal },
    position: number,
    end: { next: number; isLast: boolean },
  ): Promise<boolean> => {
    const holder = { ...webhook, owner };
    const message = await inTurn(() => readMessage(webhook.format, position, origin));
    if (message === undefined || stopped) return false;
    const attemptedAt = new Date();
    if (performance.now() > leasedUntil - MARGIN) return false;
    const headers = signedHeaders(message, webhook.secrets, attemptedAt);
    const sent = await sender.send({ url: webhook.url, headers, body: message.body, signal });
    const attempt = { message, attemptedAt, ...sent };
    if (sent.error === null) {
      counts.delivered += 1;
      const isMoved = await inTurn(() => recordDelivery(pool, holder, attempt, end));
      interrupted.delete(webhook.id);
      return isMoved;
    }
    if (signal.aborted) return false;
    counts.failed += 1;
    await fail(webhook, attempt);
    webhook.failures += 1;
    return false;
  };

  const fail = async (webhook: Claimed, attempt: Sent & Parameters<typeof recordFailure>[2]): Promise<void> => {
    const { id, name, failures } = webhook;
    const pause = Math.max(computePause(failures + 1, pauses), attempt.retryAfter ?? 0);
    const days = await inTurn(() => recordFailure(pool, { ...webhook, owner }, attempt, pause));
    if (days === null) return;
    const { error: reason, status } = attempt;
    const level = failures === 0 ? 'warn' : 'debug';
    logger[level]('a webhook failed', { webhook: id, name, reason, attempts: failures + 1, retry_in: pause });
    const because = status === 410 ? 'gone' : days >= PATIENCE ? 'failing' : undefined;
    if (because === undefined) return;
    logger.error('a webhook is disabled', { webhook: id, name, reason, next: `dps webhooks enable ${id}` });
    await options.disable(id, because);
  };

  return {
    wake: () => {
      if (stopped || readOnly()) return;
      series.noteCommit(performance.now());
      timer.set(pauses.quiet);
    },
    async stop() {
      stopped = true;
      timer.stop();
      await looking;
      const ended = Promise.all([...running.values()].map((run) => run.ended));
      const patience = setTimeout(() => interrupt('this process is stopping'), FAREWELL);
      await ended;
      clearTimeout(patience);
      clearInterval(renewal);
      await releaseLeases(pool, owner, null).catch(() => undefined);
    },
    counts: () => counts,
  };
}

/* Decides how long deliveries wait during a series of changes, so that they do not slow it down. */

/** Milliseconds. */
interface SeriesPauses {
  /** Pause after the last commit before a delivery. */
  quiet: number;
  /** The longest wait for such a pause before the first delivery of a series. */
  busy: number;
  /** The longest wait for such a pause between two deliveries of a webhook. */
  between: number;
  /** How long a webhook delivers slowly. Afterwards it delivers its remaining events without waiting. */
  slow: number;
}

/** All times are of one monotonic clock, in milliseconds. */
interface Series {
  noteCommit(now: number): void;
  /**
   * Returns the milliseconds that the next delivery still waits. Zero or less if it need not wait.
   * @param since when the webhook began to deliver its events. Absent before it begins
   * @param previous when the previous delivery ended. Absent before the first one
   */
  computeWait(now: number, since?: number, previous?: number): number;
}

export function createSeries({ quiet, busy, between, slow }: SeriesPauses): Series {
  let first = -Infinity;
  let last = -Infinity;
  return {
    noteCommit(now) {
      if (now - last > quiet) first = now;
      last = now;
    },
    computeWait(now, since = Infinity, previous = -Infinity) {
      const longest = Math.max(first + busy, previous + between);
      // A series may never end, and a change just after each pause begins a new one. A webhook with many events would
      // then never catch up.
      return Math.min(last + quiet, longest, since + slow) - now;
    },
  };
}
