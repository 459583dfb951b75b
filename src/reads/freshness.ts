/** How far the log has come, asked just before a read is answered. */
import { shareNext } from '../kernel/share-next.js';
import type pg from 'pg';
import { NotInTimeError, inTime } from '../kernel/in-time.js';
import { environmentProblem, isConnectionLoss, isRecoveryConflict, unavailable } from '../postgres/errors.js';
import { CHECK_COLUMNS, type HeadCheck } from '../log/divergence.js';
import { GENESIS_HASH, type LogHead } from '../log/head.js';
import type { Logger } from '../postgres/logger.js';
import { ServiceClient } from '../postgres/client.js';
import { type ConnectionOptions, connectionConfig } from '../postgres/pool.js';
import { own } from '../postgres/own-tables.js';
import { ROLE_COLUMNS, type RoleRow, type ServerRole, type ServerState } from '../postgres/server-role.js';
import { ProblemError } from '../kernel/problem.js';

export interface Fresh extends ServerState {
  /** Position of the newest committed event. */
  head: number;
  /** Its hash. */
  hash: string;
  /** Moves with every change of users, tokens and sessions. */
  authEpoch: number;
}

export interface Freshness {
  /**
   * What was committed at a moment after the call. Any number of concurrent calls share a question to the database.
   * @throws ProblemError UNAVAILABLE while the database can't be reached
   */
  check(): Promise<Fresh>;
  close(): Promise<void>;
}

export interface FreshnessOptions extends ConnectionOptions {
  logger: Logger;
  /** What this process has folded, and what to do about a log that doesn't hold it. */
  watch?: {
    seen(): LogHead;
    /** @throws LostConnectionError from a server that is not to be believed */
    admit(check: HeadCheck): void;
    /** Awaited before the check is answered. */
    examine(check: HeadCheck, seen: LogHead): Promise<void>;
  };
  /** Told of the server that each check meets. */
  role?: Pick<ServerRole, 'observe'>;
  /** Milliseconds after which a question that isn't answered means that the connection is dead. */
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

/** Milliseconds, where nothing else is said. */
const TIMEOUT = 5_000;

/** A caller waits this many times as long at most: the connection may be dead, and then so may the one in its place. */
const PATIENCE = 1.5;

/**
 * A connection of its own, so that a read never waits for one that a write or a long export has taken, and so that the
 * question is parsed and planned once.
 */
export function createFreshness(options: FreshnessOptions): Freshness {
  let current: pg.Client | undefined;
  let closed = false;
  /** Why the last question failed: told once, as it is asked with every read. */
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

  const askOn = async (client: pg.Client): Promise<Fresh> => {
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

  const tellOnce = (error: unknown): void => {
    const { message } = error as Error;
    if (message !== failed) options.logger.warn('the database can not be read', { error: message });
    failed = message;
  };

  const ask = async (): Promise<Fresh> => {
    if (closed) throw new ProblemError(unavailable('The service is stopping.'));
    try {
      const kept = current;
      if (kept !== undefined) {
        // A server that was restarted since the last question is no reason to refuse this one.
        const answer = await askOn(kept).catch(nullIfPassing);
        if (answer !== null) return answer;
      }
      current = await connect();
      return await askOn(current);
    } catch (error) {
      if (error instanceof ProblemError) throw error;
      // What it says isn't told over HTTP, and without it nobody finds out which right or table is missing.
      tellOnce(error);
      throw new ProblemError(environmentProblem(error) ?? unavailable('The database can not be read.'), error);
    }
  };

  const shared = shareNext(ask);
  const patience = PATIENCE * (options.timeout ?? TIMEOUT);
  return {
    check: () => inTime(shared(), patience).catch(unanswered),
    close: async () => {
      closed = true;
      await current?.end();
    },
  };
}

function unanswered(error: unknown): never {
  if (!(error instanceof NotInTimeError)) throw error;
  throw new ProblemError(unavailable('The database does not answer; nothing was written. Try again later.'), error);
}

function nullIfPassing(error: unknown): null {
  if (isConnectionLoss(error) || isRecoveryConflict(error)) return null;
  throw error;
}
