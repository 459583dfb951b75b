/**
 * Giving up connections that have gone silent. A socket can stay open for ever when the other end is gone, so whatever
 * waits for an answer would wait as long. Without a byte for a while, the server is asked over another connection what it
 * does: a statement that works for hours, or waits for a lock, is not silent.
 */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type Backend, IS_BACKEND } from './backend.js';
import { isPooled } from './client.js';
import { LostConnectionError, sqlState } from './errors.js';
import type { Logger } from './logger.js';
import { type Target, withOwnClient } from './own-client.js';

/** Milliseconds without a byte in either direction after which the server is asked. */
const SILENCE = 5_000;

/** The same where the caller has no time left. */
const SHORT_SILENCE = 500;

/** Milliseconds before a deadline: what is silent then can still be told before it is over. */
const TO_FIND_OUT = 1_000;

/** Milliseconds between two looks at what has come and gone. */
const TICK = 250;

/** Milliseconds that connecting may take for the question, and the question: usually, and where no time is left. */
const LOOK = 3_000;
const SHORT_LOOK = 500;

/** Milliseconds in which an answer that is on its way arrives. */
const ON_ITS_WAY = 500;

/** Behind a pooler that hides which process works for us, a statement that takes so many milliseconds is given up. */
const HIDDEN = 60_000;

interface Watching {
  /** Where the server can be asked. */
  target: Target;
  logger: Logger;
  /** What the connections to one server know of each other. */
  suspicion: Suspicion;
}

interface Suspicion {
  /** When a connection was last found silent (`performance.now`): a network that swallowed one has swallowed others. */
  since: number;
}

/** Of the transaction on a connection, for as long as it runs. */
export interface Watched {
  /** What runs it: behind a pooler, it isn't the process that the driver knows. */
  backend?: Backend | undefined;
  /** When its caller's time to wait is over (`performance.now`). */
  deadline?: number | undefined;
}

type Connected = pg.PoolClient & { readyForQuery: boolean; processID?: number };

const watched = new WeakMap<pg.ClientBase, Watch>();

/** Watches all connections that a pool makes. */
export function watchPool(pool: pg.Pool, logger: Logger): void {
  const watching = { target: pool, logger, suspicion: { since: -Infinity } };
  pool.on('connect', (client) => watchClient(client, watching));
}

/** Watches a connection of its own. */
export function watchOwnClient(client: pg.Client, options: pg.ClientConfig, logger: Logger): void {
  watchClient(client, { target: { options }, logger, suspicion: { since: -Infinity } });
}

/** Tells the watch of a connection what is known of its transaction; nothing, when that has ended. */
export function tellWatch(client: pg.ClientBase, what: Watched): void {
  watched.get(client)?.tell(what);
}

function watchClient(client: pg.ClientBase, watching: Watching): void {
  const watch = new Watch(client as Connected, watching);
  watched.set(client, watch);
  const timer = setInterval(() => watch.tick(), TICK).unref();
  client.once('end', () => clearInterval(timer));
}

class Watch {
  readonly #client: Connected;
  readonly #watching: Watching;
  #told: Watched = {};
  #looking = false;
  #progress: string;
  /** When that changed, or nothing was waited for. */
  #at = performance.now();
  /** When the last byte came or went. */
  #heard = performance.now();
  /** When what is under way began. */
  #began = performance.now();

  constructor(client: Connected, watching: Watching) {
    this.#client = client;
    this.#watching = watching;
    this.#progress = progressOf(client);
  }

  tell(what: Watched): void {
    this.#told = what;
  }

  tick(): void {
    if (this.#looking) return;
    const now = performance.now();
    const progress = progressOf(this.#client);
    // What has come and waits to be read isn't the other side's silence: a COPY whose reader is slow.
    if (progress !== this.#progress || hasUnread(this.#client)) this.#heard = this.#at = now;
    this.#progress = progress;
    // pg's own word for having nothing under way.
    if (this.#client.readyForQuery) {
      this.#at = this.#began = now;
      this.#probeIfSuspect();
    } else if (now - this.#at >= this.#patience(now)) void this.#look();
  }

  #patience(now: number): number {
    const left = (this.#told.deadline ?? Infinity) - TO_FIND_OUT - now;
    return Math.min(SILENCE, Math.max(SHORT_SILENCE, left));
  }

  /** Before a caller takes a connection that is as silent as another one was. */
  #probeIfSuspect(): void {
    if (this.#heard > this.#watching.suspicion.since) return;
    const before = progressOf(this.#client);
    this.#looking = true;
    this.#client.query('').catch(() => undefined);
    setTimeout(() => {
      this.#looking = false;
      // What was sent is counted before it is answered.
      if (readBy(before) === readBy(progressOf(this.#client))) this.#giveUp(undefined);
    }, 2 * ON_ITS_WAY).unref();
  }

  async #look(): Promise<void> {
    this.#looking = true;
    try {
      const before = progressOf(this.#client);
      const doing = await this.#doing();
      if (doing.kind === 'working' || (doing.kind === 'hidden' && !this.#isLate())) return;
      await sleep(ON_ITS_WAY);
      if (progressOf(this.#client) === before && !this.#client.readyForQuery) this.#giveUp(doing.backend);
    } finally {
      this.#looking = false;
      this.#at = performance.now();
    }
  }

  /** What is under way has no process that could be asked about. */
  #isLate(): boolean {
    const now = performance.now();
    const { deadline } = this.#told;
    return deadline === undefined ? now - this.#began > HIDDEN : now > deadline + SHORT_SILENCE;
  }

  /** Not asked through the pool: its other connections may be as silent, or all be taken. */
  async #doing(): Promise<Doing> {
    const { deadline = Infinity } = this.#told;
    const limit = deadline - performance.now() < LOOK + TO_FIND_OUT ? SHORT_LOOK : LOOK;
    return doingOf(this.#sameServer(), limit, this.#told.backend ?? ownBackend(this.#client));
  }

  #sameServer(): Target {
    const { host, port } = this.#client as unknown as pg.Client;
    return { options: this.#watching.target.options, at: { name: host, port } };
  }

  #giveUp(backend: Backend | undefined): void {
    const { logger, suspicion } = this.#watching;
    logger.warn('a connection to the database has gone silent and is given up', { backend: backend?.pid });
    suspicion.since = Math.max(suspicion.since, performance.now());
    this.#client.connection.stream.destroy(new LostConnectionError('the connection has gone silent'));
    if (backend !== undefined) void endBackend(this.#sameServer(), backend);
  }
}

/** Changes with every byte that comes in, and with every byte that the other side takes. */
function progressOf({ connection: { stream } }: Connected): string {
  const { bytesRead, bytesWritten, writableLength } = stream as Socket;
  return `${bytesRead} ${bytesWritten} ${writableLength}`;
}

const hasUnread = ({ connection: { stream } }: Connected): boolean => (stream as Socket).readableLength > 0;

const readBy = (progress: string): string | undefined => progress.split(' ', 1)[0];

interface Doing {
  /** `cut off`: the database can't be asked either. `hidden`: behind a pooler, the process isn't known. */
  kind: 'working' | 'waiting for us' | 'gone' | 'cut off' | 'hidden';
  /** What works for us, where it is known. */
  backend?: Backend | undefined;
}

/**
 * Without track_activities the state is `disabled`; what it waits for is told all the same. A COPY that waits for our rows
 * is at work: it is our turn.
 */
const DOING = `
  SELECT a.pid IS NOT NULL AS present,
         a.state NOT LIKE 'idle%' AND (a.wait_event_type IS DISTINCT FROM 'Client'
           OR a.wait_event = 'ClientRead' AND a.query ~* '^\\s*COPY\\s') AS working
    FROM (SELECT) one LEFT JOIN pg_catalog.pg_stat_activity a ON ${IS_BACKEND}`;

/** The process that the driver knows. A pooler makes that number up. */
function ownBackend(client: Connected): Backend | undefined {
  return isPooled(client) || client.processID === undefined ? undefined : { pid: client.processID, since: null };
}

/** @param limit milliseconds @param backend undefined: a pooler hides it */
async function doingOf(target: Target, limit: number, backend: Backend | undefined): Promise<Doing> {
  try {
    return await withOwnClient(target, limit, async (client) => {
      const values = [backend?.pid ?? 0, backend?.since ?? null];
      const { rows } = await client.query<{ present: boolean; working: boolean | null }>(DOING, values);
      const [row] = rows;
      if (backend === undefined) return { kind: 'hidden' };
      if (row?.present !== true) return { kind: 'gone' };
      return { kind: row.working === true ? 'working' : 'waiting for us', backend };
    });
  } catch (error) {
    // A server that answers, if only that it has no connection left, has not gone.
    return { kind: sqlState(error) === undefined ? 'cut off' : 'working' };
  }
}

/** Ends a process of ours that waits for a client that doesn't listen any more; it would keep its locks. */
async function endBackend(target: Target, { pid, since }: Backend): Promise<void> {
  await withOwnClient(target, LOOK, (client) =>
    client.query(
      `SELECT pg_catalog.pg_terminate_backend(a.pid) FROM pg_catalog.pg_stat_activity a
        WHERE ${IS_BACKEND} AND a.usename = current_user AND a.datname = current_database()
          AND (a.state LIKE 'idle%' OR a.wait_event_type = 'Client')`,
      [pid, since],
    ),
  ).catch(() => undefined);
}
