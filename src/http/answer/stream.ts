/** Answers that are written as they come: never more in memory than the client is ready to take. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds that a client may take nothing before it is given up. */
const STALL = 60_000;

/** The client has gone, or takes nothing any more. */
class StreamEnded extends Error {
  override readonly name = 'StreamEnded';
}

/**
 * Writes `chunk`, and waits until there is room for another.
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
  /** Aborted when the client has gone. */
  signal: AbortSignal;
  /** Milliseconds. */
  stall?: number;
}

/** Calls `act` when the answer was sent, or its client has left. */
export function whenClosed(res: ServerResponse, act: () => void): void {
  if (res.destroyed) act();
  else res.once('close', act);
}

/** How fast a client has to take an answer, whose bytes are held until then. */
export interface SendPace {
  /** Milliseconds that every answer has; beyond them, one second for each so many bytes. */
  freeMs: number;
  bytesPerSecond: number;
}

const SEND_PACE: SendPace = { freeMs: 20_000, bytesPerSecond: 32 * 1024 };

/** Closes the connection of an answer that has ended, where its client does not take so many bytes in time. */
export function closeIfSlow(
  res: ServerResponse,
  bytes: number,
  { freeMs, bytesPerSecond }: SendPace = SEND_PACE,
): void {
  // Nearly every answer is in the hands of the system by now.
  if (res.writableFinished || res.destroyed) return;
  const timer = setTimeout(() => res.destroy(), freeMs + (bytes / bytesPerSecond) * 1000).unref();
  res.once('close', () => clearTimeout(timer));
}

/** Aborted when the connection of an answer is closed. */
export function goneSignal(res: ServerResponse): AbortSignal {
  const gone = new AbortController();
  whenClosed(res, () => gone.abort());
  return gone.signal;
}
