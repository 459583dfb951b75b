/** Notices changes by other processes. A primary sends notifications. A standby is polled. */
import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pgListen, { type Subscriber } from 'pg-listen';
import { computePause } from './kernel/time.js';
import { SQLSTATE } from './postgres/errors.js';
import { hostsOf } from './postgres/hosts/choose-host.js';
import { logChannel } from './postgres/locked-session.js';
import type { Logger } from './postgres/logger.js';
import { type ConnectionOptions, connectionConfig } from './postgres/pool.js';
import type { ServerRole } from './postgres/server.js';
import type { Freshness } from './reads/freshness.js';
import type { Store } from './reads/state-store.js';
import type { Shutdown } from './shutdown.js';

interface FollowOptions {
  /** Address that accepts a session for LISTEN. */
  connection: ConnectionOptions;
  role: ServerRole;
  freshness: Pick<Freshness, 'check'>;
  store: Pick<Store, 'atHead'>;
  logger: Logger;
  shutdown: Shutdown;
}

interface LogFollower {
  /** True while notifications of other processes reach this one. */
  listening(): boolean;
}

/**
 * Reads check the end of the log in any case. Following the log lets them find the state up to date, and wakes
 * projections and streams.
 */
export function followLog({ connection, role, freshness, store, logger, shutdown }: FollowOptions): LogFollower {
  let listener: Listener | undefined;
  const reportFailure = (error: unknown): void => {
    // When the service stops, running reads find their connections closed, which is not a failure.
    if (!shutdown.begun()) logger.warn('could not follow the log', { error });
  };
  const checkLog = async (): Promise<number> => {
    const { head } = await freshness.check();
    await store.atHead(head);
    return head;
  };
  const listen = (): void => {
    listener = createListener({
      ...connection,
      logger,
      onHead: (position) => void store.atHead(position).catch(reportFailure),
      onConnect: () => void checkLog().catch(reportFailure),
    });
    listener.start();
  };
  role.subscribe((standby) => {
    void listener?.close().catch(reportFailure);
    listener = undefined;
    if (!standby && !shutdown.begun()) listen();
  });
  if (!role.current().standby) listen();
  const listening = (): boolean => listener?.connected() === true;
  // Errors are ignored here, because the reader of the log already reports them once. Polling would repeat them.
  const polling = startPolling({ needed: () => !listening(), look: checkLog, onError: () => undefined });
  shutdown.add('listener', async () => {
    polling.stop();
    await listener?.close();
  });
  return { listening };
}

/* Follows the log by polling its head, because a standby does not support LISTEN. */

interface PollingOptions {
  /** Called before each poll. While it returns false, the longest pause applies. */
  needed: () => boolean;
  /** Reads new events. @returns the head */
  look: () => Promise<number>;
  onError: (error: unknown) => void;
}

export interface Polling {
  stop(): void;
}

/**
 * The pause after new events, and the longest pause, in milliseconds. Without new events, each pause is twice as long
 * as the previous one.
 */
const PAUSES = { news: 25, quiet: 1_000 };

/** The first poll starts immediately. */
export function startPolling({ needed, look, onError }: PollingOptions): Polling {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let pause = PAUSES.news;
  let last = -1;

  const later = (): void => {
    if (stopped) return;
    timer = setTimeout(() => void next(), pause);
    timer.unref();
  };

  const next = async (): Promise<void> => {
    pause = Math.min(PAUSES.quiet, pause * 2);
    if (needed()) {
      try {
        const head = await look();
        if (head !== last) pause = PAUSES.news;
        last = head;
      } catch (error) {
        pause = PAUSES.quiet;
        if (!stopped) onError(error);
      }
    }
    later();
  };

  later();
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/*
 * Listens for new events. A notification is only a hint that shortens the wait. Only the log itself is reliable.
 *
 * pg-listen connects, listens and parses. This file reconnects with a new subscriber each time, because the
 * reconnecting of pg-listen has three defects. It gives up if a connection breaks while it is subscribing again. It
 * does not stop when it is closed. It does not notice a half-open socket.
 */

export interface Listener {
  /** Connects in the background, and retries until the listener is closed. */
  start(): void;
  /** True while notifications arrive. */
  connected(): boolean;
  /** Closes the connection, or stops the attempts to connect. */
  close(): Promise<void>;
}

export interface ListenerOptions extends ConnectionOptions {
  logger: Logger;
  /** Called after any process has committed a new head. Notifications can be late, repeated or missing. */
  onHead: (position: number) => void;
  /** Called after every connect. Notifications sent while there was no connection are lost, so the log must be read. */
  onConnect: () => void;
  /** Milliseconds between two heartbeats, and the timeout of each in milliseconds. */
  heartbeat?: { every: number; timeout: number };
  /** Returns the milliseconds to wait before attempt n to connect. The first attempt is 1. */
  backoff?: (attempt: number) => number;
}

const HEARTBEAT = { every: 10_000, timeout: 5_000 };

const PAUSE = { retry: 100, maximum: 10_000 };

/** Milliseconds to wait for the connection to close cleanly. */
const FAREWELL = 500;

/** Connects only after `start`. It never gives up: it logs each failure and tries again. */
export function createListener(options: ListenerOptions): Listener {
  const closing = new AbortController();
  const backoff = options.backoff ?? ((attempt) => computePause(attempt, PAUSE));
  let connected = false;
  let running: Promise<void> | undefined;

  const run = async (): Promise<void> => {
    for (let attempt = 1; !closing.signal.aborted; attempt += 1) {
      const ended = await listenOnce(options, closing.signal, () => {
        attempt = 1;
        connected = true;
        options.onConnect();
      });
      connected = false;
      if (closing.signal.aborted) return;
      const milliseconds = backoff(attempt);
      options.logger.warn('not listening for notifications', { reason: ended, attempt, retry_in: milliseconds });
      await sleep(milliseconds, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };

  return {
    start: () => {
      running ??= run();
    },
    connected: () => connected,
    close: async () => {
      closing.abort();
      await running;
    },
  };
}

/**
 * Runs one connection until it ends.
 * @returns the reason why it ended
 */
async function listenOnce(options: ListenerOptions, closing: AbortSignal, onConnect: () => void): Promise<string> {
  const { onHead, heartbeat = HEARTBEAT } = options;
  const address = await chooseAddress(options);
  if (typeof address !== 'string') return address.message;
  const sockets = new Set<net.Socket>();
  const lifetime = new AbortController();
  const events = logChannel(options.schema);
  // Only this listener uses this channel. Its notifications take the same route as those of new events.
  const pulse = `service_pulse_${randomUUID().replaceAll('-', '')}`;
  const subscriber: Subscriber = pgListen.default(trackedConfig({ ...options, connectionString: address }, sockets), {
    // Anyone with access to the database can send any payload, so it is not parsed as JSON.
    parse: (payload) => payload,
    paranoidChecking: false,
    // Prevents pg-listen from reconnecting. It then reports a lost connection as an `error`.
    retryLimit: 1,
  });
  const ended = endOf(subscriber, { closing, lifetime: lifetime.signal });
  subscriber.notifications.on(events, (payload: unknown) => {
    const position = Number(payload);
    if (Number.isSafeInteger(position) && position > 0) onHead(position);
  });
  try {
    return await Promise.race([ended, listenUntilClosed()]);
  } catch (error) {
    return explainFailure(error as Error);
  } finally {
    lifetime.abort();
    // A dead server does not respond when the connection is closed.
    const farewell = new AbortController();
    const patience = sleep(closing.aborted ? FAREWELL : 0, undefined, { signal: farewell.signal });
    await Promise.race([subscriber.close(), patience]).catch(() => undefined);
    patience.catch(() => undefined);
    farewell.abort();
    for (const socket of sockets) socket.destroy();
  }

  async function listenUntilClosed(): Promise<never> {
    await subscriber.connect();
    await subscriber.listenTo(events);
    await subscriber.listenTo(pulse);
    onConnect();
    for (;;) {
      await sleep(heartbeat.every, undefined, { signal: lifetime.signal });
      if ((await chooseAddress(options)) !== address) throw new Error('the connection now reaches a different server');
      await sendHeartbeat(subscriber, pulse, heartbeat.timeout);
    }
  }
}

/**
 * Describes why listening failed. After a failover, the process may connect to a former primary that does not know yet
 * that it is a standby.
 */
const explainFailure = (error: Error & { code?: unknown }): string =>
  error.code === SQLSTATE.read_only_sql_transaction
    ? 'the server accepts no writes, and sends no notifications'
    : error.message;

/** Settles when the connection is lost or the listener is closed. */
function endOf(
  subscriber: Subscriber,
  { closing, lifetime }: { closing: AbortSignal; lifetime: AbortSignal },
): Promise<string> {
  return new Promise((resolve) => {
    subscriber.events.on('error', (error) => resolve(error.message));
    if (closing.aborted) resolve('closed');
    else closing.addEventListener('abort', () => resolve('closed'), { once: true, signal: lifetime });
  });
}

/** Sends a notification to its own channel and waits for it. */
async function sendHeartbeat(subscriber: Subscriber, pulse: string, timeout: number): Promise<void> {
  const waiting = new AbortController();
  const heard = new Promise<void>((resolve) => subscriber.notifications.once(pulse, () => resolve()));
  const timedOut = sleep(timeout, undefined, { signal: waiting.signal }).then(() => {
    throw new Error(`no heartbeat within ${timeout} ms`);
  });
  timedOut.catch(() => undefined);
  try {
    await Promise.race([Promise.all([subscriber.notify(pulse, 'beat'), heard]), timedOut]);
  } finally {
    waiting.abort();
  }
}

/** Chooses one of several hosts, because pg-listen passes plain options of the driver to its clients. */
async function chooseAddress({ connectionString }: ConnectionOptions): Promise<string | Error> {
  const hosts = hostsOf(connectionString);
  if (hosts === null) return connectionString;
  return hosts.choose(0).then(
    (host) => hosts.of(host),
    (error: unknown) => error as Error,
  );
}

/**
 * Tracks the sockets that pg-listen opens but does not expose. A dead connection ends only when its socket is
 * destroyed.
 */
function trackedConfig(options: ListenerOptions, sockets: Set<net.Socket>): ReturnType<typeof connectionConfig> {
  return {
    ...connectionConfig({ applicationName: 'data-platform-service listener', ...options }),
    stream: () => {
      const socket = new net.Socket();
      sockets.add(socket);
      return socket;
    },
  };
}
