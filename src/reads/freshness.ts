/* Reads the head of the log just before a read is answered. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { shareNext } from '../kernel/memoize.js';
import { NotInTimeError, limitTime } from '../kernel/time.js';
import { environmentProblem, isConnectionLoss, isRecoveryConflict, unavailableProblem } from '../postgres/errors.js';
import { CHECK_COLUMNS, type HeadCheck } from '../log/divergence.js';
import { GENESIS_HASH, type LogHead } from '../log/head.js';
import type { Logger } from '../postgres/logger.js';
import { ServiceClient } from '../postgres/client.js';
import { type ConnectionOptions, connectionConfig } from '../postgres/pool.js';
import { own } from '../postgres/own-tables.js';
import { ROLE_COLUMNS, type RoleRow, type ServerRole, type ServerState } from '../postgres/server.js';
import { ProblemError, type Problem } from '../kernel/problem.js';

export interface FreshState extends ServerState {
  head: number;
  hash: string;
  /** Increases with every change to users, tokens and sessions. */
  authEpoch: number;
}

export interface Freshness {
  /**
   * Returns the head as committed at some time after the call. Concurrent calls share one query.
   * @throws ProblemError UNAVAILABLE while the database cannot be reached
   */
  check(): Promise<FreshState>;
  close(): Promise<void>;
}

export interface FreshnessOptions extends ConnectionOptions {
  logger: Logger;
  /** Compares each head check with the events that this process has folded. */
  watch?: {
    seen(): LogHead;
    /** @throws LostConnectionError from a server whose log must not be used */
    admit(check: HeadCheck): void;
    /** `check` awaits this before it returns. */
    examine(check: HeadCheck, known: LogHead): Promise<void>;
  };
  /** Is informed of the server that answered each check. */
  role?: Pick<ServerRole, 'observe'>;
  /** Milliseconds without an answer after which the connection counts as dead. */
  timeout?: number;
}

const QUERY = {
  name: 'freshness',
  text: `SELECT h.position, h.hash, a.epoch, ${CHECK_COLUMNS}, ${ROLE_COLUMNS}
           FROM ${own.authEpoch} a LEFT JOIN LATERAL (
             SELECT position, hash FROM ${own.events} ORDER BY position DESC LIMIT 1) h ON true`,
  rowMode: 'array' as const,
};

type Row = [
  number | null,
  string | null,
  number,
  HeadCheck['forgotten'],
  HeadCheck['pending'],
  number,
  HeadCheck['timeline'],
  boolean,
  RoleRow['replay'],
];

/** Milliseconds without an answer after which a connection counts as dead, unless `timeout` is set. */
const TIMEOUT = 5_000;

/** A caller waits at most this many timeouts, because the replacement of a dead connection may be dead too. */
const PATIENCE = 1.5;

/**
 * Uses its own connection, so that reads never wait for writes or long exports. The query is also parsed and
 * planned only once.
 */
export function createFreshness(options: FreshnessOptions): Freshness {
  let current: pg.Client | undefined;
  let closed = false;
  /** The last error. Every read repeats the query, so an error that persists is logged only once. */
  let failed: string | undefined;

  const drop = (client: pg.Client): void => {
    if (current === client) current = undefined;
    client.end().catch(() => undefined);
  };

  const connect = async (): Promise<pg.Client> => {
    const timeout = options.timeout ?? TIMEOUT;
    const config = connectionConfig({ connectTimeout: timeout, ...options });
    const client = new ServiceClient({ ...config, query_timeout: timeout });
    client.on('error', (error) => {
      if (current === client) options.logger.warn('the connection for reads was lost', { error: error.message });
      drop(client);
    });
    await client.connect();
    if (closed) drop(client);
    return client;
  };

  const readOn = async (client: pg.Client): Promise<FreshState> => {
    try {
      const seen = options.watch?.seen();
      const { rows } = await client.query<Row>(QUERY);
      const [position, hash, authEpoch, forgotten, pending, acknowledged, timeline, standby, replay] = rows[0] as Row;
      const head = { position: position ?? 0, hash: hash ?? GENESIS_HASH };
      const check = { head, forgotten, pending, acknowledged, timeline };
      options.watch?.admit(check);
      const state = options.role?.observe({ standby, replay }) ?? { standby, lag: 0 };
      if (seen !== undefined) await options.watch?.examine(check, seen);
      failed = undefined;
      return { head: head.position, hash: head.hash, authEpoch, ...state };
    } catch (error) {
      drop(client);
      throw error;
    }
  };

  const warnOnce = (error: unknown): void => {
    const { message } = error as Error;
    if (message !== failed) options.logger.warn('the database cannot be read', { error: message });
    failed = message;
  };

  const ask = async (): Promise<FreshState> => {
    if (closed) throw new ProblemError(unavailableProblem('The service is stopping.'));
    try {
      const kept = current;
      if (kept !== undefined) {
        // A restart of the server breaks the connection. The query is then repeated on a new one.
        const answer = await readOn(kept).catch(nullIfTransient);
        if (answer !== null) return answer;
      }
      current = await connect();
      return await readOn(current);
    } catch (error) {
      if (error instanceof ProblemError) throw error;
      // HTTP clients do not see the message. The log must contain it to show which privilege or table is missing.
      warnOnce(error);
      throw new ProblemError(environmentProblem(error) ?? unavailableProblem('The database cannot be read.'), error);
    }
  };

  const shared = shareNext(ask);
  const patience = PATIENCE * (options.timeout ?? TIMEOUT);
  return {
    check: () => limitTime(shared(), patience).catch(rejectUnanswered),
    close: async () => {
      closed = true;
      await current?.end();
    },
  };
}

function rejectUnanswered(error: unknown): never {
  if (!(error instanceof NotInTimeError)) throw error;
  throw new ProblemError(
    unavailableProblem('The database does not respond. Nothing was changed. Try again later.'),
    error,
  );
}

function nullIfTransient(error: unknown): null {
  if (isConnectionLoss(error) || isRecoveryConflict(error)) return null;
  throw error;
}

/* Waits until the log reaches a position, so that a client can read its own writes from a standby. */

export interface Positions {
  /**
   * Resolves when the log has reached `position`.
   * @param who `isKnown`: the token of the caller is known. Other callers have fewer slots and do not learn the head of
   * the log.
   * @throws ProblemError UNAVAILABLE if that takes too long, or if too many requests wait already
   */
  reach(position: number, who: WaitingCaller): Promise<FreshState>;
}

interface WaitingCaller {
  isKnown: boolean;
  /** True if the client no longer waits for the position. Another request can then use its slot. */
  abandoned?: () => boolean;
}

interface PositionsOptions extends Pick<Freshness, 'check'> {
  /** Milliseconds that a request waits for its position. */
  timeout: number;
}

/** Maximum number of waiting requests per process. Requests for a position that never exists must not accumulate. */
const MOST = 10_000;

/**
 * How many of these requests may have an unknown token. The standby may not have replayed the token yet, but anyone can
 * send such a request.
 */
const MOST_STRANGERS = 500;

/** The first and the longest pause between two checks, in milliseconds. */
const PAUSES = { first: 2, longest: 50 };

interface PositionWaiter extends WaitingCaller {
  position: number;
  deadline: number;
  resolve: (fresh: FreshState) => void;
  reject: (error: ProblemError) => void;
}

const ADVICE = 'Try again later, or ask the primary.';

const TOO_MANY = unavailableProblem(`Too many requests already wait for a position of the log here. ${ADVICE}`);

/** Creates the waits. All waiting requests share the checks. */
export function createPositions({ check, timeout }: PositionsOptions): Positions {
  const waiting = new Set<PositionWaiter>();
  let strangers = 0;
  let pause = PAUSES.first;
  let running = false;

  const checkWaiting = async (): Promise<void> => {
    const outcome = await check().catch((error: unknown) => error as Error);
    const now = performance.now();
    for (const each of waiting) {
      const isThere = 'head' in outcome && outcome.head >= each.position;
      if (!isThere && now < each.deadline && each.abandoned?.() !== true) continue;
      waiting.delete(each);
      if (!each.isKnown) strangers -= 1;
      if (isThere) each.resolve(outcome);
      else each.reject('head' in outcome ? createTooFarError(each, outcome.head) : (outcome as ProblemError));
    }
  };

  const run = async (): Promise<void> => {
    running = true;
    while (waiting.size > 0) {
      await sleep(pause);
      pause = Math.min(PAUSES.longest, pause * 1.5);
      await checkWaiting();
    }
    running = false;
  };

  const createTooFarError = (
    { position, isKnown }: Pick<PositionWaiter, 'position' | 'isKnown'>,
    head: number,
  ): ProblemError => {
    const where = isKnown ? `: here it ends at ${head}` : '';
    const message = `The log did not reach position ${position} within ${timeout} ms${where}. ${ADVICE}`;
    const details = { position, ...(isKnown && { head }) };
    return new ProblemError({ ...unavailableProblem(message), details } satisfies Problem);
  };

  return {
    async reach(position, who) {
      const fresh = await check();
      if (fresh.head >= position) return fresh;
      if (waiting.size >= MOST || (!who.isKnown && strangers >= MOST_STRANGERS)) throw new ProblemError(TOO_MANY);
      if (!who.isKnown) strangers += 1;
      return new Promise((resolve, reject) => {
        waiting.add({ ...who, position, deadline: performance.now() + timeout, resolve, reject });
        pause = PAUSES.first;
        if (!running) void run();
      });
    },
  };
}
