/* Reads streams: server-sent events, and JSON by lines. */
import type { Schemas, StreamMessage } from './api.js';
import { ConnectionError } from './errors.js';
import {
  type ClientOptions,
  type OperationName,
  type RequestContent,
  createInterruptedError,
  pause,
  sendOperation,
} from './request.js';

/**
 * Yields the lines of a response.
 * @throws ConnectionError if the connection breaks
 */
async function* readLines(response: Response): AsyncGenerator<string, void, void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw createInterruptedError(cause);
      });
      const lines = (rest + decoder.decode(value, { stream: !done })).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
      if (done) break;
    }
    if (rest !== '') yield rest;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** Yields the JSON value of each line. */
async function* readValues<T>(response: Response): AsyncGenerator<T, void, void> {
  for await (const line of readLines(response)) yield JSON.parse(line) as T;
}

interface StreamSource {
  options: ClientOptions;
  operation: OperationName;
  sent: RequestContent;
}

/**
 * Yields the events of a stream. After a lost connection, the client reconnects and continues after the last event, so
 * that no event is missing or repeated.
 * @throws ServiceError, for example after the token was revoked, or ConnectionError if the client cannot reconnect
 */
async function* messagesOf(response: Response, following: StreamSource): AsyncGenerator<StreamMessage, void, void> {
  const { options, sent } = following;
  const { retries = 3 } = options;
  // The stream begins after this position.
  const progress: Progress = { lastId: response.headers.get('x-log-position'), isNew: false };
  let current = response;
  for (let left = retries; ; left--) {
    const lost = yield* readMessages(current, progress);
    sent.signal?.throwIfAborted();
    if (progress.isNew) left = retries;
    if (left <= 0) throw lost;
    progress.isNew = false;
    await pause(RECONNECT_MS, sent.signal);
    current = await reconnect(following, progress.lastId);
  }
}

interface Progress {
  lastId: string | null;
  /** True if an event has arrived since the last connection was established. */
  isNew: boolean;
}

/** @returns the error of the lost connection. A stream never ends, so an end also counts as a lost connection. */
async function* readMessages(
  response: Response,
  progress: Progress,
): AsyncGenerator<StreamMessage, ConnectionError, void> {
  try {
    for await (const { id, shown } of readFrames(response)) {
      progress.isNew = true;
      if (id !== '') progress.lastId = id;
      if (shown !== null) yield shown;
    }
    return createInterruptedError(undefined);
  } catch (error) {
    if (error instanceof ConnectionError) return error;
    throw error;
  }
}

function reconnect({ options, operation, sent }: StreamSource, lastId: string | null): Promise<Response> {
  const headers = { ...sent.headers, ...(lastId !== null && { 'Last-Event-ID': lastId }) };
  return sendOperation(options, operation, { ...sent, headers });
}

interface Frame {
  id: string;
  /** The message. Null for an id alone, which advances the position past events that the stream does not show. */
  shown: StreamMessage | null;
}

/** Milliseconds before the client reconnects. */
const RECONNECT_MS = 500;

async function* readFrames(response: Response): AsyncGenerator<Frame, void, void> {
  let fields: Record<string, string> = {};
  for await (const line of readLines(response)) {
    if (line !== '') {
      const [, name = '', value = ''] = /^(\w*): ?(.*)$/s.exec(line) ?? [];
      fields[name] = value;
      continue;
    }
    const frame = frameOf(fields);
    if (frame !== null) yield frame;
    fields = {};
  }
}

/** Parses a frame. The service writes the data of an event in one line. */
function frameOf({ event = 'message', id = '', data }: Record<string, string>): Frame | null {
  if (data !== undefined) return { id, shown: { event, id, data: JSON.parse(data) as unknown } as StreamMessage };
  return id === '' ? null : { id, shown: null };
}

/** Returns the body of a response, parsed according to its content type. */
export async function bodyOf(response: Response, following: StreamSource): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream')) return messagesOf(response, following);
  if (type.startsWith('application/x-ndjson')) return readValues<Schemas['Event']>(response);
  const text = await response.text().catch((cause: unknown) => {
    throw createInterruptedError(cause);
  });
  if (text === '') return undefined;
  return /^application\/json\b/.test(type) ? JSON.parse(text) : text;
}
