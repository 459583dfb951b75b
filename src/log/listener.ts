/**
 * Listens for new events. A notification is only a hint that shortens the wait. Only the log itself is reliable.
 *
 * pg-listen connects, listens and parses. This file reconnects with a new subscriber each time, because the
 * reconnecting of pg-listen has three defects. It gives up if a connection breaks while it is subscribing again. It
 * does not stop when it is closed. It does not notice a half-open socket.
 */
import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pgListen, { type Subscriber } from 'pg-listen';
import { computePause } from '../kernel/time.js';
import { logChannel } from '../postgres/locked-session.js';
import { SQLSTATE } from '../postgres/errors.js';
import { hostsOf } from '../postgres/hosts/choose-host.js';
import type { Logger } from '../postgres/logger.js';
import { type ConnectionOptions, connectionConfig } from '../postgres/pool.js';

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
