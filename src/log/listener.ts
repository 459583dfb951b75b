/**
 * Hears of new events. A notification is only ever a hint that shortens the wait: the log alone is certain.
 *
 * pg-listen connects, listens and parses. Losing and regaining the connection is done here, with a new subscriber each
 * time: its own reconnecting gives up for good when a connection breaks while it listens again, does not stop when it
 * is closed, and does not notice a socket that is half open.
 */
import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pgListen, { type Subscriber } from 'pg-listen';
import { growingPause } from '../kernel/growing-pause.js';
import { logChannel } from '../postgres/advisory.js';
import { SQLSTATE } from '../postgres/errors.js';
import { hostsOf } from '../postgres/hosts/choose-host.js';
import type { Logger } from '../postgres/logger.js';
import { type ConnectionOptions, connectionConfig } from '../postgres/pool.js';

export interface Listener {
  /** Begins to connect, and goes on until it is closed. */
  start(): void;
  /** Whether notifications reach us now. */
  connected(): boolean;
  /** Ends the connection, or the attempts at one. */
  close(): Promise<void>;
}

export interface ListenerOptions extends ConnectionOptions {
  logger: Logger;
  /** A new head was committed, by this process or another. Hints can be late, repeated, or missing. */
  onHead: (position: number) => void;
  /** After every connect: what was announced in between was missed, so the log must be read. */
  onConnect: () => void;
  /** Milliseconds between heartbeats, and how long one may take. */
  heartbeat?: { every: number; timeout: number };
  /** Milliseconds before attempt n (from 1) to connect again. */
  backoff?: (attempt: number) => number;
}

const HEARTBEAT = { every: 10_000, timeout: 5_000 };

const PAUSE = { retry: 100, maximum: 10_000 };

/** Milliseconds a server has to end the connection in good order. */
const FAREWELL = 500;

/** Connects to nothing before `start`. It never gives up: what fails is logged and tried again. */
export function createListener(options: ListenerOptions): Listener {
  const closing = new AbortController();
  const backoff = options.backoff ?? ((attempt) => growingPause(attempt, PAUSE));
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
 * One connection from its beginning to its end.
 * @returns why it ended
 */
async function listenOnce(options: ListenerOptions, closing: AbortSignal, onConnect: () => void): Promise<string> {
  const { onHead, heartbeat = HEARTBEAT } = options;
  const address = await chosenAddress(options);
  if (typeof address !== 'string') return address.message;
  const sockets = new Set<net.Socket>();
  const lifetime = new AbortController();
  const events = logChannel(options.schema);
  // Our own: what is said there comes back to us over the same way that news would take.
  const pulse = `service_pulse_${randomUUID().replaceAll('-', '')}`;
  const subscriber: Subscriber = pgListen.default(trackedConfig({ ...options, connectionString: address }, sockets), {
    // Anybody who can reach the database may send anything.
    parse: (payload) => payload,
    paranoidChecking: false,
    // No attempt of its own to connect again: the loss comes here as an `error`.
    retryLimit: 1,
  });
  const ended = endOf(subscriber, { closing, lifetime: lifetime.signal });
  subscriber.notifications.on(events, (payload: unknown) => {
    const position = Number(payload);
    if (Number.isSafeInteger(position) && position > 0) onHead(position);
  });
  try {
    return await Promise.race([ended, live()]);
  } catch (error) {
    return whyNot(error as Error);
  } finally {
    lifetime.abort();
    // A dead peer answers no goodbye.
    const farewell = new AbortController();
    const patience = sleep(closing.aborted ? FAREWELL : 0, undefined, { signal: farewell.signal });
    await Promise.race([subscriber.close(), patience]).catch(() => undefined);
    patience.catch(() => undefined);
    farewell.abort();
    for (const socket of sockets) socket.destroy();
  }

  async function live(): Promise<never> {
    await subscriber.connect();
    await subscriber.listenTo(events);
    await subscriber.listenTo(pulse);
    onConnect();
    for (;;) {
      await sleep(heartbeat.every, undefined, { signal: lifetime.signal });
      if ((await chosenAddress(options)) !== address) throw new Error('another server was chosen');
      await beat(subscriber, pulse, heartbeat.timeout);
    }
  }
}

/** A standby that was a primary is met before it is known to be one. */
const whyNot = (error: Error & { code?: unknown }): string =>
  error.code === SQLSTATE.read_only_sql_transaction ? 'the server takes no writes, and announces none' : error.message;

/** Settles when the connection is lost, or when the listener is closed. */
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

/** Says something to itself, and waits to hear it. */
async function beat(subscriber: Subscriber, pulse: string, timeout: number): Promise<void> {
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

/** Of several hosts the one that is chosen: pg-listen makes clients of the driver's own kind. */
async function chosenAddress({ connectionString }: ConnectionOptions): Promise<string | Error> {
  const hosts = hostsOf(connectionString);
  if (hosts === null) return connectionString;
  return hosts.choose(0).then(
    (host) => hosts.of(host),
    (error: unknown) => error as Error,
  );
}

/** The sockets of a subscriber are at hand nowhere else, and only without its socket is a dead connection gone. */
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
