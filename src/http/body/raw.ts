/** The bytes of a request's body, no more of them than are allowed. */
import type { IncomingMessage } from 'node:http';
import { refused, type Refused } from '../errors.js';

/** The client hung up while it was sending: nobody is there to be answered. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

export function hasBody(req: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = req.headers;
  return encoding !== undefined || (length !== undefined && length !== '0');
}

/** The whole body. Rejects with CONTENT_TOO_LARGE as soon as it is known to be longer than `limit` bytes. */
export function readRaw(req: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLarge(limit));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;

    const settle = (act: () => void): void => {
      req.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
      // A socket may still fail once its request is dealt with; unheard, that would end the process.
      req.on('error', () => undefined);
      act();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) settle(() => reject(tooLarge(limit)));
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, size)));
    const onGone = (): void => settle(() => reject(new ClientGone('the client hung up')));

    req.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
  });
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
