/** The bytes of a request's body, decoded, no more of them than are allowed. */
import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createTimeSlice } from '../../kernel/event-loop.js';
import { refused, Refused } from '../errors.js';
import { decoderOf } from './content-coding.js';

/** The client hung up while it was sending: no answer can reach it. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** Milliseconds that a client may send nothing before it is given up. */
const STALL = 20_000;

/** As its headers say: one that comes in chunks counts, empty or not. */
export function hasBody(req: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = req.headers;
  return encoding !== undefined || (length !== undefined && length !== '0');
}

/** How many bytes a body of at most `limit` bytes may come to, once it is decoded. Throws `Refused` when it is longer. */
export function expectedLength(req: IncomingMessage, limit: number): number {
  const length = Number(req.headers['content-length']);
  if (length > limit) throw tooLarge(limit);
  const isKnown = Number.isSafeInteger(length) && decoderOf(req) === null;
  return isKnown ? Math.min(length, limit) : limit;
}

/**
 * The whole body, decoded. Rejects with CONTENT_TOO_LARGE as soon as it is known to be longer than `limit` bytes, sent or
 * decoded, and with REQUEST_TIMEOUT when nothing comes for `stall` milliseconds.
 */
export async function readRaw(req: IncomingMessage, limit: number, stall = STALL): Promise<Buffer> {
  if (Number(req.headers['content-length']) > limit) throw tooLarge(limit);
  const decoder = decoderOf(req)?.() ?? null;
  const { chunks, size } = await receive(req, { decoder, limit, stall });
  return gather(chunks, size);
}

interface Receiving {
  decoder: Transform | null;
  limit: number;
  stall: number;
}

function receive(
  req: IncomingMessage,
  { decoder, limit, stall }: Receiving,
): Promise<{ chunks: Buffer[]; size: number }> {
  const source: Readable = decoder ?? req;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let [size, sent] = [0, 0];

    const settle = (act: () => void): void => {
      clearTimeout(timer);
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
      timer.refresh();
      if (sent > limit) fail(tooLarge(limit));
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) fail(tooLarge(limit));
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(() => resolve({ chunks, size }));
    const onUndecodable = (error: Error): void => fail(undecodable(req, error));
    const onGone = (): void => {
      // Once all of it has come, the decoder may still be at work.
      if (!req.complete || decoder === null) fail(new ClientGone('the client hung up'));
    };
    const timer = setTimeout(() => fail(tooSlow(stall)), stall);

    req.on('data', onSent).on('close', onGone).on('error', onGone);
    source.on('data', onData).on('end', onEnd);
    decoder?.on('error', onUndecodable);
    if (decoder !== null) req.pipe(decoder);
  });
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

function tooSlow(stall: number): Refused {
  const message = `Nothing came of the body for ${Math.round(stall / 1000)} seconds.`;
  return new Refused([{ code: 'REQUEST_TIMEOUT', message }], ['Connection', 'close']);
}

function undecodable(req: IncomingMessage, { message }: Error): Refused {
  const coding = String(req.headers['content-encoding']);
  return refused('INVALID_PAYLOAD', `The body is not what its Content-Encoding ${coding} says: ${message}.`);
}
