/** Server-sent events: the log as it grows. */
import type { ServerResponse } from 'node:http';
import type { EventText } from '../../log/event-text.js';
import type { LogWatch } from '../../log/watch.js';
import type { Tail } from '../../reads/history/tail.js';
import { goneSignal, write } from './stream.js';

export interface EventStreamOptions {
  tail: Tail;
  /** What of an event is sent; null: it is passed over. Absent: all of every event. */
  shown?: (event: EventText) => string | null;
  /** The client has everything up to this position. */
  after: number;
  /** Returns whether the client may still listen. Called before events are sent and with every heartbeat. */
  allowed: () => Promise<boolean>;
  /** Tells of a log that is not the one that was seen. */
  watch?: Pick<LogWatch, 'subscribe'>;
  /** Milliseconds between heartbeats. */
  heartbeat?: number;
  /** Milliseconds that a client may take nothing before it is given up; what it misses it gets when it comes back. */
  stall?: number;
}

const HEARTBEAT = 15_000;

/** Milliseconds after which a client connects again. */
const RETRY = 2_000;

/**
 * Writes until the client goes, or may not listen any more, or the tail is closed. Where the log becomes another one, the
 * client is told (`diverged`), and the stream ends: two histories are never mixed.
 */
export async function writeEventStream(res: ServerResponse, options: EventStreamOptions): Promise<void> {
  const { tail, after, allowed, heartbeat = HEARTBEAT, shown = ({ text }) => text } = options;
  const ended = new AbortController();
  const signal = AbortSignal.any([goneSignal(res), ended.signal]);
  const how = { signal, ...(options.stall !== undefined && { stall: options.stall }) };

  const beat = async (): Promise<void> => {
    if (!(await allowed().catch(() => true))) ended.abort();
    // A client that is behind gets what is there, not heartbeats on top.
    else if (!res.writableNeedDrain && !res.destroyed) res.write(': heartbeat\n\n');
  };
  const unsubscribe = options.watch?.subscribe(({ seen, found, fork, noticed_at }) => {
    if (!res.destroyed)
      res.write(`event: diverged\ndata: ${JSON.stringify({ seen, found, fork: fork ?? null, noticed_at })}\n\n`);
    ended.abort();
  });
  const timer = setInterval(() => void beat(), heartbeat);
  try {
    await write(res, `retry: ${RETRY}\n\n`, how);
    for await (const events of tail.follow(after, signal)) {
      // If the check fails, the client reconnects and resumes from its last event.
      if (!(await allowed().catch(() => false))) break;
      await write(
        res,
        events.map((event, index) => frame(event, shown(event), index === events.length - 1)).join(''),
        how,
      );
    }
  } finally {
    clearInterval(timer);
    unsubscribe?.();
  }
}

/** JSON text holds no line break. Without data it is no event: the client goes on from there when it comes again. */
function frame({ position, hash }: EventText, shown: string | null, isLast: boolean): string {
  if (shown !== null) return `id: ${position}-${hash}\ndata: ${shown}\n\n`;
  return isLast ? `id: ${position}-${hash}\n\n` : '';
}
