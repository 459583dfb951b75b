/* Writes responses incrementally and never buffers more than the client is ready to read. */
import type { ServerResponse, IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventText } from '../../log/read.js';
import type { LogWatch } from '../../log/watch.js';
import type { Tail } from '../../reads/history/tail.js';
import type { Answer } from './answer.js';
import { drain } from '../body/limited-bytes.js';

/** Milliseconds without progress after which the connection is closed. */
const STALL = 60_000;

/** Thrown if the client disconnected or stopped reading. */
class StreamEnded extends Error {
  override readonly name = 'StreamEnded';
}

/**
 * Writes `chunk` and waits until the buffer has room.
 * @throws StreamEnded
 */
export async function write(
  res: ServerResponse,
  chunk: string,
  { stall = STALL, signal }: WriteOptions,
): Promise<void> {
  if (res.destroyed || signal.aborted) throw new StreamEnded('the client disconnected');
  if (res.write(chunk)) return;
  const ready = new AbortController();
  const waiting = AbortSignal.any([signal, ready.signal]);
  const onDrain = (): void => ready.abort();
  res.once('drain', onDrain);
  await sleep(stall, undefined, { signal: waiting }).catch(() => undefined);
  res.off('drain', onDrain);
  if (signal.aborted) throw new StreamEnded('the client disconnected');
  if (!ready.signal.aborted) throw new StreamEnded('the client does not read the response');
}

interface WriteOptions {
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  /** Milliseconds without progress after which the write fails. */
  stall?: number;
}

/** Calls `act` when the response was sent or the client disconnected. */
export function onClose(res: ServerResponse, act: () => void): void {
  if (res.destroyed) act();
  else res.once('close', act);
}

/** The minimum speed at which a client must read a buffered response. */
export interface SendPace {
  /** Milliseconds that every response gets, plus one second per this number of bytes. */
  freeMs: number;
  bytesPerSecond: number;
}

const SEND_PACE: SendPace = { freeMs: 20_000, bytesPerSecond: 32 * 1024 };

/** Closes the connection of a finished response if the client reads it too slowly. */
export function closeIfSlow(
  res: ServerResponse,
  bytes: number,
  { freeMs, bytesPerSecond }: SendPace = SEND_PACE,
): void {
  // The operating system has already accepted nearly all responses.
  if (res.writableFinished || res.destroyed) return;
  const timer = setTimeout(() => res.destroy(), freeMs + (bytes / bytesPerSecond) * 1000).unref();
  res.once('close', () => clearTimeout(timer));
}

/** Returns a signal that is aborted when the connection is closed. */
export function disconnectSignal(res: ServerResponse): AbortSignal {
  const disconnected = new AbortController();
  onClose(res, () => disconnected.abort());
  return disconnected.signal;
}

/* Streams new events of the log as server-sent events. */

interface EventStreamOptions {
  tail: Tail;
  /** Returns the text to send for an event, or null to skip the event. If absent, every event is sent. */
  shown?: (event: EventText) => string | null;
  /** The last position that the client has received. */
  after: number;
  /** Checks if the client may still read. Called before events are sent and with every heartbeat. */
  allowed: () => Promise<boolean>;
  /** Reports a diverged log. */
  watch?: Pick<LogWatch, 'subscribe'>;
  /** Milliseconds between heartbeats. */
  heartbeat?: number;
  /** Milliseconds without progress after which the connection is closed. After reconnecting, the client can resume. */
  stall?: number;
}

const HEARTBEAT = 15_000;

/** Milliseconds after which a client reconnects. */
const RETRY = 2_000;

/**
 * Writes events until the client disconnects, loses permission, or the tail is closed. If the log diverges, the client
 * receives `diverged`, and the stream ends, so that a client never mixes two histories.
 */
export async function writeEventStream(res: ServerResponse, options: EventStreamOptions): Promise<void> {
  const { tail, after, allowed, heartbeat = HEARTBEAT, shown = ({ text }) => text } = options;
  const ended = new AbortController();
  const signal = AbortSignal.any([disconnectSignal(res), ended.signal]);
  const writeOptions = { signal, ...(options.stall !== undefined && { stall: options.stall }) };

  const sendHeartbeat = async (): Promise<void> => {
    if (!(await allowed().catch(() => true))) ended.abort();
    // A client that lags behind receives events but no heartbeats.
    else if (!res.writableNeedDrain && !res.destroyed) res.write(': heartbeat\n\n');
  };
  const unsubscribe = options.watch?.subscribe(({ seen, found, fork, noticed_at }) => {
    if (!res.destroyed)
      res.write(`event: diverged\ndata: ${JSON.stringify({ seen, found, fork: fork ?? null, noticed_at })}\n\n`);
    ended.abort();
  });
  const timer = setInterval(() => void sendHeartbeat(), heartbeat);
  try {
    await write(res, `retry: ${RETRY}\n\n`, writeOptions);
    for await (const events of tail.follow(after, signal)) {
      // If the check fails, the stream ends. The client can reconnect and resume from its last event.
      if (!(await allowed().catch(() => false))) break;
      await write(
        res,
        events.map((event, index) => frame(event, shown(event), index === events.length - 1)).join(''),
        writeOptions,
      );
    }
  } finally {
    clearInterval(timer);
    unsubscribe?.();
  }
}

/**
 * Formats an event as a frame. JSON text contains no line break. A frame without data is not an event, but updates the
 * position from which the client resumes.
 */
function frame({ position, hash }: EventText, shown: string | null, isLast: boolean): string {
  if (shown !== null) return `id: ${position}-${hash}\ndata: ${shown}\n\n`;
  return isLast ? `id: ${position}-${hash}\n\n` : '';
}

/* Only this module writes responses. */

/** Writes `answer`. Does nothing if the client has disconnected, and closes the connection if it reads too slowly. */
export function respond(req: IncomingMessage, res: ServerResponse, requestId: string, answer: Answer): void {
  const headers = [...answer.headers, 'X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff'];
  if (answer.position !== undefined) headers.push('X-Log-Position', String(answer.position));
  res.writeHead(answer.status, withVary(headers, res.getHeader('Vary')));
  if (answer.stream !== undefined && req.method !== 'HEAD') return stream(res, answer.stream);
  if (answer.body === null) res.end();
  else {
    end(res, answer.body);
    closeIfSlow(res, answer.body.length);
  }
  drain(req);
}

function end(res: ServerResponse, body: NonNullable<Answer['body']>): void {
  if (typeof body === 'string' || Buffer.isBuffer(body)) return void res.end(body);
  // One system call sends all parts.
  res.cork();
  for (const part of body.parts) res.write(part);
  res.end();
}

/** Adds to the Vary header of cross-origin handling, which `writeHead` would replace. */
function withVary(headers: string[], existing: ReturnType<ServerResponse['getHeader']>): string[] {
  if (existing === undefined) return headers;
  const at = headers.findIndex((header, index) => index % 2 === 0 && header.toLowerCase() === 'vary');
  if (at === -1) return headers;
  return headers.with(at + 1, `${headers[at + 1]}, ${String(existing)}`);
}

/**
 * Writes the body incrementally. If that fails, the connection is closed, because the client would take a normal end as
 * a complete body.
 */
function stream(res: ServerResponse, write: NonNullable<Answer['stream']>): void {
  res.flushHeaders();
  write(res).then(
    () => res.end(),
    () => res.destroy(),
  );
}
