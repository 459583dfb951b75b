/* Reads and decodes the body of a request up to a limit. */
import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { createTimeSlice } from '../../kernel/event-loop.js';
import { AbandonedError, type Job, scheduler, startWait, createCounts } from '../../kernel/scheduler.js';
import { refused, RejectedError } from '../errors.js';

/* Content codings of request bodies (RFC 9110, 8.4). */

/** Number of bytes that a decoder outputs at once. */
const CHUNK = { chunkSize: 64 * 1024 };

const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', () => createGunzip(CHUNK)],
  ['x-gzip', () => createGunzip(CHUNK)],
  ['deflate', () => createInflate(CHUNK)],
  ['br', () => createBrotliDecompress(CHUNK)],
]);

const TAKEN = ['gzip', 'deflate', 'br', 'identity'];

/**
 * Returns a function that creates the decoder of the body. Null if the body is not encoded. Throws `RejectedError` for
 * unknown and multiple codings.
 */
export function decoderOf(req: IncomingMessage): (() => Transform) | null {
  const coding = req.headers['content-encoding']?.trim().toLowerCase() ?? '';
  const decoder = coding === 'identity' || coding === '' ? null : DECODERS.get(coding);
  if (decoder !== undefined) return decoder;
  const message = `The content encoding ${JSON.stringify(coding)} is not supported. Use one of ${TAKEN.join(', ')}.`;
  throw new RejectedError(
    [{ code: 'UNSUPPORTED_MEDIA_TYPE', message, details: { content_encoding: coding } }],
    ['Accept-Encoding', TAKEN.join(', ')],
  );
}

/** Thrown if the client disconnected while sending, so that no response can reach it. */
export class ClientGone extends AbandonedError {
  override readonly name = 'ClientGone';
}

/** The minimum speed of a body. Time during which the service paused it does not count. */
interface BodyPace {
  /** Maximum number of milliseconds for which a client may send nothing. */
  stallMs: number;
  /** Milliseconds that every body gets. Afterwards, `bytesPerSecond` bytes must have arrived for each second. */
  freeMs: number;
  bytesPerSecond: number;
  /** Maximum number of milliseconds for any body. */
  mostMs: number;
}

const PACE: BodyPace = { stallMs: 20_000, freeMs: 20_000, bytesPerSecond: 32 * 1024, mostMs: 300_000 };

/** True if the headers announce a body. A chunked body counts even if it is empty. */
export function hasBody(req: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = req.headers;
  return encoding !== undefined || (length !== undefined && length !== '0');
}

export interface Reading {
  /** Maximum size in bytes, both as sent and decoded. */
  limit: number;
  share: Share;
  disconnected: AbortSignal;
  pace?: BodyPace;
}

/**
 * Reads the whole decoded body. Rejects with CONTENT_TOO_LARGE as soon as the sent or decoded size exceeds `limit`,
 * with REQUEST_TIMEOUT if the body is too slow, and with OVERLOADED if there is no room.
 */
export async function readRaw(req: IncomingMessage, { pace = PACE, ...reading }: Reading): Promise<Buffer> {
  if (Number(req.headers['content-length']) > reading.limit) throw tooLarge(reading.limit);
  const decoder = decoderOf(req)?.() ?? null;
  const { chunks, size } = await receive(req, { decoder, pace, ...reading });
  return gather(chunks, size);
}

interface Receiving extends Reading {
  decoder: Transform | null;
  pace: BodyPace;
}

function receive(
  req: IncomingMessage,
  { decoder, limit, share, disconnected, pace }: Receiving,
): Promise<{ chunks: Buffer[]; size: number }> {
  const source: Readable = decoder ?? req;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let [size, sent] = [0, 0];
    const clock = createPaceClock(pace, (error) => fail(error));

    const settle = (act: () => void): void => {
      clock.stop();
      req.off('data', onSent).off('close', onDisconnect);
      source.off('data', onData).off('end', onEnd);
      // The error listener remains. A socket may still fail after its request, and an unhandled error would end the
      // process.
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
        await share.untilFree(disconnected);
        isWaiting = false;
        clock.resume();
        source.resume();
      } catch (error) {
        fail(error as Error);
      }
    };
    const onEnd = (): void => settle(() => resolve({ chunks, size }));
    const onUndecodable = (error: Error): void => fail(decodingRefusal(req, error));
    const onDisconnect = (): void => {
      // A complete body may still wait for decoding or room, and must not fail.
      if (!req.complete || decoder === null) fail(new ClientGone('the client disconnected'));
    };

    req.on('data', onSent).on('close', onDisconnect).on('error', onDisconnect);
    source.on('data', onData).on('end', onEnd);
    decoder?.on('error', onUndecodable);
    if (decoder !== null) req.pipe(decoder);
  });
}

/** Calls `tooSlow` once a body is too slow. */
function createPaceClock({ stallMs, freeMs, bytesPerSecond, mostMs }: BodyPace, fail: (error: Error) => void) {
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

/** Joins the chunks in steps, because `Buffer.concat` of 32 MiB takes a tenth of a second in fresh memory. */
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

/**
 * Limits for reading and discarding the rest of a body after an early response, so that the client sees the response.
 */
const DRAIN = { bytes: 64 * 1024 * 1024, milliseconds: 10_000 } as const;

/**
 * Lets a client finish sending within limits. If the connection was closed earlier, it would be reset, and the response
 * would be lost. Beyond the limits, the connection is closed.
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

function tooLarge(limit: number): RejectedError {
  return refused('CONTENT_TOO_LARGE', `The body exceeds the limit of ${limit} bytes.`, {
    details: { limit },
  });
}

const stalled = (stallMs: number): RejectedError =>
  timedOut(`No body data has arrived for ${Math.round(stallMs / 1000)} seconds.`);

const tooSlow = (bytesPerSecond: number): RejectedError =>
  timedOut(
    `The body arrives too slowly. Send at least ${bytesPerSecond} bytes per second, and all of it within 5 minutes.`,
  );

const timedOut = (message: string): RejectedError =>
  new RejectedError([{ code: 'REQUEST_TIMEOUT', message }], ['Connection', 'close']);

function decodingRefusal(req: IncomingMessage, { message }: Error): RejectedError {
  const coding = String(req.headers['content-encoding']);
  return refused('INVALID_PAYLOAD', `The body cannot be decoded with its Content-Encoding ${coding}: ${message}.`);
}

/* Limits the memory of request bodies, in total and per caller. */

interface RoomLimits {
  bytes: number;
  bytesPerCaller: number;
  /** Milliseconds that a request waits for capacity. */
  patienceMs: number;
}

/** The room that one body uses. */
interface Share {
  /** Reserves room for bytes that have arrived. If it returns false, stop reading until `untilFree` resolves. */
  take(bytes: number): boolean;
  /** Resolves when there is room again. @throws OverloadedError if that takes too long, AbandonedError */
  untilFree(disconnected: AbortSignal): Promise<void>;
  /** Releases the whole room. Repeated calls have no effect. */
  release(): void;
}

/** The request that sends a body. */
type Sender = Pick<Job, 'caller' | 'waitedMs'>;

export interface Room {
  open(sender: Sender): Share;
  /** The number of reserved bytes. */
  taken(): number;
}

interface HeldBody {
  sender: Sender;
  caller: string;
  bytes: number;
  resume: () => void;
  leave: () => void;
}

/**
 * Creates a room. Only received bytes count, and not a declared length. If the room is full, the body that has waited
 * longest may still arrive completely, one per caller and one in total. Otherwise, partly received bodies would wait
 * for each other.
 */
export function createRoom({ bytes: limit, bytesPerCaller, patienceMs }: RoomLimits): Room {
  const counts = createCounts();
  const waiting = new Set<HeldBody>();
  const firstOf = new Map<string, HeldBody>();
  let first: HeldBody | undefined;

  const fitsCaller = (held: HeldBody): boolean =>
    counts.of(held.caller) < bytesPerCaller || firstOf.get(held.caller) === held;
  const fits = (held: HeldBody): boolean => fitsCaller(held) && (counts.total() < limit || first === held);

  const admit = (): void => {
    for (const held of waiting) {
      if (!fitsCaller(held) && !firstOf.has(held.caller)) firstOf.set(held.caller, held);
      if (fitsCaller(held) && !fits(held)) first ??= held;
      if (fits(held)) held.resume();
    }
  };

  const release = (held: HeldBody): void => {
    counts.add(held.caller, -held.bytes);
    held.bytes = 0;
    // A body that was released while waiting must not be admitted later.
    if (waiting.has(held)) held.leave();
    if (firstOf.get(held.caller) === held) firstOf.delete(held.caller);
    if (first === held) first = undefined;
    admit();
  };

  const untilFree = (held: HeldBody, disconnected: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        endWait();
        disconnected.removeEventListener('abort', leave);
        waiting.delete(held);
        act();
      };
      const leave = (): void => settle(() => reject(new AbandonedError('the client disconnected')));
      const endWait = startWait(held.sender, patienceMs, () => settle(() => reject(scheduler.refuse())));
      held.resume = () => settle(resolve);
      held.leave = leave;
      disconnected.addEventListener('abort', leave);
      waiting.add(held);
      if (disconnected.aborted) leave();
      else admit();
    });

  return {
    open(sender) {
      const { caller } = sender;
      const held: HeldBody = { sender, caller, bytes: 0, resume: () => undefined, leave: () => undefined };
      return {
        take(bytes) {
          held.bytes += bytes;
          counts.add(caller, bytes);
          return fits(held);
        },
        untilFree: (disconnected) => untilFree(held, disconnected),
        release: () => release(held),
      };
    },
    taken: counts.total,
  };
}

/** Creates a share of `small` that moves to `large` when the body exceeds `longest` bytes. */
export function createGrowingShare(sender: Sender, { small, large, longest }: GrowingRoom): Share {
  let share = small.open(sender);
  let size = 0;
  return {
    take(bytes) {
      const wasSmall = size <= longest;
      size += bytes;
      if (!wasSmall || size <= longest) return share.take(bytes);
      share.release();
      share = large.open(sender);
      return share.take(size);
    },
    untilFree: (disconnected) => share.untilFree(disconnected),
    release: () => share.release(),
  };
}

interface GrowingRoom {
  small: Room;
  large: Room;
  /** The maximum size of a small body in bytes. */
  longest: number;
}
