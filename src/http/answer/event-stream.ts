/** Streams new events of the log as server-sent events. */
import type { ServerResponse } from 'node:http';
import type { EventText } from '../../log/event-text.js';
import type { LogWatch } from '../../log/watch.js';
import type { Tail } from '../../reads/history/tail.js';
import { goneSignal, write } from './stream.js';

export interface EventStreamOptions {
  tail: Tail;
  /** Returns the text to send for an event, or null to skip it. If absent, every event is sent. */
  shown?: (event: EventText) => string | null;
  /** The client has all events up to this position. */
  after: number;
  /** Checks whether the client may still read. Called before events are sent and with every heartbeat. */
  allowed: () => Promise<boolean>;
  /** Reports a diverged log. */
  watch?: Pick<LogWatch, 'subscribe'>;
  /** Milliseconds between heartbeats. */
  heartbeat?: number;
  /** Milliseconds without progress until the connection is closed. The client can resume after it reconnects. */
  stall?: number;
}

const HEARTBEAT = 15_000;

/** Milliseconds after which a client reconnects. */
const RETRY = 2_000;

/**
 * Writes until the client disconnects, loses permission, or the tail is closed. If the log diverges, the client
 * receives `diverged` and the stream ends, so that two histories are never mixed.
 */
export async function writeEventStream(res: ServerResponse, options: EventStreamOptions): Promise<void> {
  const { tail, after, allowed, heartbeat = HEARTBEAT, shown = ({ text }) => text } = options;
  const ended = new AbortController();
  const signal = AbortSignal.any([goneSignal(res), ended.signal]);
  const how = { signal, ...(options.stall !== undefined && { stall: options.stall }) };

  const beat = async (): Promise<void> => {
    if (!(await allowed().catch(() => true))) ended.abort();
    // A client that lags behind receives only events, no heartbeats.
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

/**
 * JSON text contains no line break. A frame without data is no event but updates the position from which the client
 * resumes.
 */
function frame({ position, hash }: EventText, shown: string | null, isLast: boolean): string {
  if (shown !== null) return `id: ${position}-${hash}\ndata: ${shown}\n\n`;
  return isLast ? `id: ${position}-${hash}\n\n` : '';
}
