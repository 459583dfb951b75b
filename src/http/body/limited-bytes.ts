/** The bytes of a request's body, decoded, no more of them than are allowed. */
import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createTimeSlice } from '../../kernel/event-loop.js';
import { AbandonedError } from '../../kernel/scheduler.js';
import { refused, Refused } from '../errors.js';
import { decoderOf } from './content-coding.js';
import type { Share } from './room.js';

/** The client hung up while it was sending: no answer can reach it. */
export class ClientGone extends AbandonedError {
  override readonly name = 'ClientGone';
}

/** How fast a body has to come. Time that it was kept from coming does not count. */
export interface Pace {
  /** Milliseconds that a client may send nothing. */
  stallMs: number;
  /** Milliseconds that every body has; beyond them, so many bytes must have come for each second. */
  freeMs: number;
  bytesPerSecond: number;
  /** Milliseconds that any body has. */
  mostMs: number;
}

const PACE: Pace = { stallMs: 20_000, freeMs: 20_000, bytesPerSecond: 32 * 1024, mostMs: 300_000 };

/** As its headers say: one that comes in chunks counts, empty or not. */
export function hasBody(req: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = req.headers;
  return encoding !== undefined || (length !== undefined && length !== '0');
}

export interface Reading {
  /** Bytes, sent or decoded. */
  limit: number;
  share: Share;
  gone: AbortSignal;
  pace?: Pace;
}

/**
 * The whole body, decoded. Rejects with CONTENT_TOO_LARGE as soon as it is known to be longer than `limit` bytes, sent or
 * decoded, with REQUEST_TIMEOUT when it comes too slowly, and with OVERLOADED when there is no room for it.
 */
export async function readRaw(req: IncomingMessage, { pace = PACE, ...reading }: Reading): Promise<Buffer> {
  if (Number(req.headers['content-length']) > reading.limit) throw tooLarge(reading.limit);
  const decoder = decoderOf(req)?.() ?? null;
  const { chunks, size } = await receive(req, { decoder, pace, ...reading });
  return gather(chunks, size);
}

interface Receiving extends Reading {
  decoder: Transform | null;
  pace: Pace;
}

function receive(
  req: IncomingMessage,
  { decoder, limit, share, gone, pace }: Receiving,
): Promise<{ chunks: Buffer[]; size: number }> {
  const source: Readable = decoder ?? req;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let [size, sent] = [0, 0];
    const clock = createPaceClock(pace, (error) => fail(error));

    const settle = (act: () => void): void => {
      clock.stop();
      req.off('data', onSent).off('close', onGone);
      source.off('data', onData).off('end', onEnd);
      // Whoever listens to errors goes on: a socket may still fail once its request is dealt with, and unheard, that
      // would end the process.
      if (decoder !== null) req.unpipe(decoder);
      decoder?.destroy();
      act();
    };
    const fail = (error: Error): void => settle(() => reject(error));
    const onSent = (chunk: Buffer): void => {
      sent += chunk.length;
      clock.came(chunk.length);
      if (sent > limit) fail(tooLarge(limit));
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) return fail(tooLarge(limit));
      chunks.push(chunk);
      if (!share.take(chunk.length) && !isWaiting) void waitForRoom();
    };
    let isWaiting = false;
    const waitForRoom = async (): Promise<void> => {
      isWaiting = true;
      source.pause();
      clock.pause();
      try {
        await share.untilFree(gone);
        isWaiting = false;
        clock.resume();
        source.resume();
      } catch (error) {
        fail(error as Error);
      }
    };
    const onEnd = (): void => settle(() => resolve({ chunks, size }));
    const onUndecodable = (error: Error): void => fail(undecodable(req, error));
    const onGone = (): void => {
      // Once all of it has come, it may still wait to be decoded, or for room.
      if (!req.complete || decoder === null) fail(new ClientGone('the client hung up'));
    };

    req.on('data', onSent).on('close', onGone).on('error', onGone);
    source.on('data', onData).on('end', onEnd);
    decoder?.on('error', onUndecodable);
    if (decoder !== null) req.pipe(decoder);
  });
}

/** Calls `tooSlow` once a body has come too slowly. */
function createPaceClock({ stallMs, freeMs, bytesPerSecond, mostMs }: Pace, fail: (error: Error) => void) {
  let started = performance.now();
  let last = started;
  let bytes = 0;
  let paused: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  const atLeast = (): number => started + Math.min(mostMs, freeMs + (bytes / bytesPerSecond) * 1000);
  const look = (): void => {
    const now = performance.now();
    const end = Math.min(last + stallMs, atLeast());
    if (now < end) timer = setTimeout(look, Math.ceil(end - now));
    else fail(now >= last + stallMs ? stalled(stallMs) : tooSlow(bytesPerSecond));
  };
  look();
  return {
    came(count: number): void {
      bytes += count;
      last = performance.now();
    },
    pause(): void {
      clearTimeout(timer);
      paused = performance.now();
    },
    resume(): void {
      const now = performance.now();
      started += now - (paused ?? now);
      last = now;
      look();
    },
    stop: () => clearTimeout(timer),
  };
}

/** `Buffer.concat`, which of 32 MiB takes a tenth of a second where the memory is new. */
async function gather(chunks: readonly Buffer[], size: number): Promise<Buffer> {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const whole = Buffer.allocUnsafe(size);
  const slice = createTimeSlice();
  let at = 0;
  for (const chunk of chunks) {
    if (slice.isOver()) await slice.yield();
    at += chunk.copy(whole, at);
  }
  return whole;
}

/** What is read and thrown away after an early answer, so that the client gets to see it. */
const DRAIN = { bytes: 64 * 1024 * 1024, milliseconds: 10_000 } as const;

/**
 * Lets a client that still sends finish, within bounds: closing the connection under it would reset it, and the answer
 * would be lost. Beyond the bounds the connection is closed.
 */
export function drain(req: IncomingMessage): void {
  if (req.complete || req.destroyed) return;
  let left: number = DRAIN.bytes;
  const timer = setTimeout(() => req.destroy(), DRAIN.milliseconds).unref();
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) req.destroy();
  });
  req.on('error', () => undefined);
  req.on('close', () => clearTimeout(timer));
  req.resume();
}

function tooLarge(limit: number): Refused {
  return refused('CONTENT_TOO_LARGE', `The body is larger than the ${limit} bytes that are taken here.`, {
    details: { limit },
  });
}

const stalled = (stallMs: number): Refused =>
  timedOut(`Nothing came of the body for ${Math.round(stallMs / 1000)} seconds.`);

const tooSlow = (bytesPerSecond: number): Refused =>
  timedOut(
    `The body comes too slowly: send at least ${bytesPerSecond} bytes a second, and all of it within 5 minutes.`,
  );

const timedOut = (message: string): Refused =>
  new Refused([{ code: 'REQUEST_TIMEOUT', message }], ['Connection', 'close']);

function undecodable(req: IncomingMessage, { message }: Error): Refused {
  const coding = String(req.headers['content-encoding']);
  return refused('INVALID_PAYLOAD', `The body is not what its Content-Encoding ${coding} says: ${message}.`);
}
