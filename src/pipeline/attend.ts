/**
 * Looking after a transaction from its begin to its end. The server is told that this process is alive, because it ends
 * a transaction that nobody attends to; and a connection that has gone silent is given up, because a socket can stay open
 * for ever when nobody answers any more.
 */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { LostConnectionError, sqlState } from '../postgres/errors.js';
import type { Logger } from '../postgres/logger.js';
import { withOwnClient } from '../postgres/pool.js';

/** Milliseconds between two signs of life, while there is nothing else to say. */
const SIGN_OF_LIFE = 1_500;

/** Milliseconds without a byte in either direction after which the server is asked, over another connection, what it does. */
export const SILENCE = 5_000;

/** Milliseconds between two looks at what has come and gone. */
const TICK = 500;

/** Milliseconds that the question may take. */
const LOOK = 3_000;

/** Milliseconds in which an answer that is on its way arrives. */
const ON_ITS_WAY = 500;

export interface Attendance {
  /** The transaction has begun, in this process of the server: behind a pooler, it isn't the one that the driver knows. */
  began(backend: number): void;
  end(): void;
}

/** One transaction: what it runs on, and how long it may wait. */
export interface Try {
  client: pg.PoolClient;
  attendance: Attendance;
  /** Milliseconds to wait for the log's lock. */
  lockWait: number;
  /** Milliseconds to wait for each lock on a table. */
  tableWait: number;
}

interface Attending {
  pool: pg.Pool;
  logger: Logger;
  /** Milliseconds that the begin may take: it waits for the log's lock. */
  patience: number;
}

type Connected = pg.PoolClient & { readyForQuery: boolean; processID?: number };

/** To be ended with the transaction. */
export function attend(client: pg.ClientBase, attending: Attending): Attendance {
  const connected = client as Connected;
  const ended = new AbortController();
  const started = performance.now();
  let backend: number | undefined;

  const signOfLife = setInterval(() => {
    // pg's own word for having nothing under way. An empty query is answered in a failed transaction as well.
    if (backend !== undefined && connected.readyForQuery) connected.query('').catch(() => undefined);
  }, SIGN_OF_LIFE);

  const watch = async (): Promise<void> => {
    let last = { progress: progressOf(connected), at: performance.now() };
    while (!ended.signal.aborted) {
      await sleep(TICK, undefined, { signal: ended.signal });
      const [progress, now] = [progressOf(connected), performance.now()];
      if (progress === last.progress && now - last.at < SILENCE) continue;
      if (progress === last.progress && (await isSilent())) return giveUp();
      last = { progress, at: performance.now() };
    }
  };

  const isSilent = async (): Promise<boolean> => {
    const doing = await doingOf(attending.pool, backend ?? connected.processID);
    // Before the begin was answered a pooler's number may have been asked about: that nobody has it says nothing.
    if (backend === undefined && doing === 'gone') return performance.now() - started > attending.patience + SILENCE;
    if (doing === 'working') return false;
    const before = progressOf(connected);
    await sleep(ON_ITS_WAY, undefined, { signal: ended.signal });
    return progressOf(connected) === before;
  };

  const giveUp = (): void => {
    attending.logger.warn('a connection to the database has gone silent and is given up', { backend });
    connected.connection.stream.destroy(new LostConnectionError('the connection has gone silent'));
    if (backend !== undefined) void endBackend(attending.pool, backend);
  };

  watch().catch(() => undefined);
  return {
    began: (pid) => (backend = pid),
    end: () => {
      clearInterval(signOfLife);
      ended.abort();
    },
  };
}

/** Changes with every byte that comes in, and with every byte that the other side takes. */
function progressOf({ connection: { stream } }: Connected): string {
  const { bytesRead, bytesWritten, writableLength } = stream as Socket;
  return `${bytesRead} ${bytesWritten} ${writableLength}`;
}

/** `cut off`: the database can't be asked either. */
type Doing = 'working' | 'waiting for us' | 'gone' | 'cut off';

const DOING = `
  SELECT state = 'active' AND wait_event_type IS DISTINCT FROM 'Client' AS working
    FROM pg_catalog.pg_stat_activity WHERE pid = $1`;

/** What a backend does. Not asked through the pool: its other connections may be as silent, or all be taken. */
async function doingOf(pool: pg.Pool, backend: number | undefined): Promise<Doing> {
  try {
    const { rows } = await withOwnClient(pool, LOOK, (client) =>
      client.query<{ working: boolean }>(DOING, [backend ?? null]),
    );
    if (rows[0] === undefined) return 'gone';
    return rows[0].working ? 'working' : 'waiting for us';
  } catch (error) {
    // A server that answers, if only that it has no connection left, has not gone.
    return sqlState(error) === undefined ? 'cut off' : 'working';
  }
}

/** Ends a backend of ours that waits for somebody who doesn't listen any more; it would keep its locks. */
async function endBackend(pool: pg.Pool, backend: number): Promise<void> {
  await withOwnClient(pool, LOOK, (client) =>
    client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity
        WHERE pid = $1 AND usename = current_user AND datname = current_database()
          AND (state <> 'active' OR wait_event_type = 'Client')`,
      [backend],
    ),
  ).catch(() => undefined);
}
