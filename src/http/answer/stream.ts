/** Writes responses incrementally and never buffers more than the client is ready to read. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds without progress until the connection is closed. */
const STALL = 60_000;

/** The client disconnected or stopped reading. */
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
  if (res.destroyed || signal.aborted) throw new StreamEnded('the client has gone');
  if (res.write(chunk)) return;
  const ready = new AbortController();
  const waiting = AbortSignal.any([signal, ready.signal]);
  const onDrain = (): void => ready.abort();
  res.once('drain', onDrain);
  await sleep(stall, undefined, { signal: waiting }).catch(() => undefined);
  res.off('drain', onDrain);
  if (signal.aborted) throw new StreamEnded('the client has gone');
  if (!ready.signal.aborted) throw new StreamEnded('the client takes nothing');
}

export interface WriteOptions {
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  /** In milliseconds. */
  stall?: number;
}

/** Calls `act` when the response was sent or the client disconnected. */
export function whenClosed(res: ServerResponse, act: () => void): void {
  if (res.destroyed) act();
  else res.once('close', act);
}

/** The minimum speed at which a client must read a buffered response. */
export interface SendPace {
  /** Milliseconds granted to every response, plus one second per this number of bytes. */
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
  // The system has already accepted nearly every response.
  if (res.writableFinished || res.destroyed) return;
  const timer = setTimeout(() => res.destroy(), freeMs + (bytes / bytesPerSecond) * 1000).unref();
  res.once('close', () => clearTimeout(timer));
}

/** Aborted when the connection is closed. */
export function goneSignal(res: ServerResponse): AbortSignal {
  const gone = new AbortController();
  whenClosed(res, () => gone.abort());
  return gone.signal;
}
