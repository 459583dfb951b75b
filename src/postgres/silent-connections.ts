/**
 * Detects dead connections. A socket can stay open forever after the other end has disappeared. After a silence, a
 * query on another connection shows what the server process is doing. A long statement or a lock wait is thus not
 * mistaken for a dead connection.
 */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type Backend, IS_BACKEND, isPooled, type Target, withOwnClient } from './client.js';
import { LostConnectionError, sqlState } from './errors.js';
import type { Logger } from './logger.js';

/** Milliseconds without traffic in either direction before the server is queried. */
const SILENCE = 5_000;

/** Used instead of `SILENCE` if the caller has no time left. */
const SHORT_SILENCE = 500;

/** Milliseconds before a deadline at which a silent connection is checked, so that the result arrives in time. */
const TO_FIND_OUT = 1_000;

/** Milliseconds between two checks of the traffic. */
const TICK = 250;

/** Milliseconds for connecting and for the query. The shorter limit applies if the caller has no time left. */
const LOOK = 3_000;
const SHORT_LOOK = 500;

/** Milliseconds to wait for a response that may be in transit. */
const ON_ITS_WAY = 500;

/** Milliseconds after which the service abandons a statement behind a pooler that hides the server process. */
const HIDDEN = 60_000;

interface WatchContext {
  /** The server to query over another connection. */
  target: Target;
  logger: Logger;
  /** Remembers when a connection to this server was last silent. All connections to the server share it. */
  suspicion: SilenceSuspicion;
}

interface SilenceSuspicion {
  /**
   * When a connection was last found silent (`performance.now`). A network failure usually affects several connections.
   */
  since: number;
}

/** The running transaction of a connection. */
export interface WatchedTransaction {
  /** The server process. Behind a pooler, it differs from the one that the driver knows. */
  backend?: Backend | undefined;
  /** When the caller gives up waiting (`performance.now`). */
  deadline?: number | undefined;
}

type ConnectedClient = pg.PoolClient & { readyForQuery: boolean; processID?: number };

const watched = new WeakMap<pg.ClientBase, Watch>();

/** Watches all connections of a pool. */
export function watchPool(pool: pg.Pool, logger: Logger): void {
  const watching = { target: pool, logger, suspicion: { since: -Infinity } };
  pool.on('connect', (client) => watchClient(client, watching));
}

/** Watches a single connection. */
export function watchOwnClient(client: pg.Client, options: pg.ClientConfig, logger: Logger): void {
  watchClient(client, { target: { options }, logger, suspicion: { since: -Infinity } });
}

/** Passes the current transaction to the watch of a connection. Pass an empty object after its end. */
export function attachWatch(client: pg.ClientBase, what: WatchedTransaction): void {
  watched.get(client)?.setWatched(what);
}

function watchClient(client: pg.ClientBase, watching: WatchContext): void {
  const watch = new Watch(client as ConnectedClient, watching);
  watched.set(client, watch);
  const timer = setInterval(() => watch.tick(), TICK).unref();
  client.once('end', () => clearInterval(timer));
}

class Watch {
  readonly #client: ConnectedClient;
  readonly #watching: WatchContext;
  #watched: WatchedTransaction = {};
  #looking = false;
  #progress: string;
  /** Time of the last change, or of the last idle check. */
  #at = performance.now();
  /** Time of the last traffic. */
  #heard = performance.now();
  /** Start of the running statement. */
  #began = performance.now();

  constructor(client: ConnectedClient, watching: WatchContext) {
    this.#client = client;
    this.#watching = watching;
    this.#progress = progressOf(client);
  }

  setWatched(what: WatchedTransaction): void {
    this.#watched = what;
  }

  tick(): void {
    if (this.#looking) return;
    const now = performance.now();
    const progress = progressOf(this.#client);
    // Received data that nobody has read yet is not silence, because the reader of a COPY may be slow.
    if (progress !== this.#progress || hasUnread(this.#client)) this.#heard = this.#at = now;
    this.#progress = progress;
    // pg sets this flag while no query runs on the connection.
    if (this.#client.readyForQuery) {
      this.#at = this.#began = now;
      this.#probeIfSuspect();
    } else if (now - this.#at >= this.#patience(now)) void this.#look();
  }

  #patience(now: number): number {
    const left = (this.#watched.deadline ?? Infinity) - TO_FIND_OUT - now;
    return Math.min(SILENCE, Math.max(SHORT_SILENCE, left));
  }

  /**
   * Sends an empty query before a connection is used that has had no traffic since another connection was found silent.
   */
  #probeIfSuspect(): void {
    if (this.#heard > this.#watching.suspicion.since) return;
    const before = progressOf(this.#client);
    this.#looking = true;
    this.#client.query('').catch(() => undefined);
    setTimeout(() => {
      this.#looking = false;
      // Outgoing data counts as traffic only when the other side has accepted it.
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

  /** True if the running statement takes too long and the service cannot find its server process. */
  #isLate(): boolean {
    const now = performance.now();
    const { deadline } = this.#watched;
    return deadline === undefined ? now - this.#began > HIDDEN : now > deadline + SHORT_SILENCE;
  }

  /**
   * Queries what the server process is doing. It does not use the pool, because its other connections may be dead or in
   * use.
   */
  async #doing(): Promise<BackendActivity> {
    const { deadline = Infinity } = this.#watched;
    const limit = deadline - performance.now() < LOOK + TO_FIND_OUT ? SHORT_LOOK : LOOK;
    return readActivity(this.#sameServer(), limit, this.#watched.backend ?? ownBackend(this.#client));
  }

  #sameServer(): Target {
    const { host, port } = this.#client as unknown as pg.Client;
    return { options: this.#watching.target.options, at: { name: host, port } };
  }

  #giveUp(backend: Backend | undefined): void {
    const { logger, suspicion } = this.#watching;
    logger.warn('closing a database connection that has gone silent', { backend: backend?.pid });
    suspicion.since = Math.max(suspicion.since, performance.now());
    this.#client.connection.stream.destroy(new LostConnectionError('the connection has gone silent'));
    if (backend !== undefined) void endBackend(this.#sameServer(), backend);
  }
}

/** Changes with all incoming data, and with all outgoing data that the other side accepts. */
function progressOf({ connection: { stream } }: ConnectedClient): string {
  const { bytesRead, bytesWritten, writableLength } = stream as Socket;
  return `${bytesRead} ${bytesWritten} ${writableLength}`;
}

const hasUnread = ({ connection: { stream } }: ConnectedClient): boolean => (stream as Socket).readableLength > 0;

const readBy = (progress: string): string | undefined => progress.split(' ', 1)[0];

interface BackendActivity {
  /** `cut off`: the database cannot be reached either. `hidden`: the process is unknown behind a pooler. */
  kind: 'working' | 'waiting for us' | 'gone' | 'cut off' | 'hidden';
  /** The server process, if known. */
  backend?: Backend | undefined;
}

/**
 * Selects what a server process is doing. Without track_activities the state is `disabled`, but the wait event is still
 * shown. A COPY that waits for our rows counts as working.
 */
const DOING = `
  SELECT a.pid IS NOT NULL AS present,
         a.state NOT LIKE 'idle%' AND (a.wait_event_type IS DISTINCT FROM 'Client'
           OR a.wait_event = 'ClientRead' AND a.query ~* '^\\s*COPY\\s') AS working
    FROM (SELECT) one LEFT JOIN pg_catalog.pg_stat_activity a ON ${IS_BACKEND}`;

/** Returns the process that the driver knows. Behind a pooler, its id is made up. */
function ownBackend(client: ConnectedClient): Backend | undefined {
  return isPooled(client) || client.processID === undefined ? undefined : { pid: client.processID, since: null };
}

/** @param limit milliseconds @param backend undefined if a pooler hides it */
async function readActivity(target: Target, limit: number, backend: Backend | undefined): Promise<BackendActivity> {
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
    // A server that answers, even with an error about connection limits, is alive.
    return { kind: sqlState(error) === undefined ? 'cut off' : 'working' };
  }
}

/** Terminates a server process of ours that waits for a lost client, because it would keep its locks. */
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
