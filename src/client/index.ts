/**
 * A typed client of the service for Node.js 20 and browsers. It uses `fetch`, and has no dependencies.
 *
 * The types are generated from the routes of the service; `src/client` imports nothing else of it.
 */
import { OPERATIONS, type Operations, type Schemas, type StreamMessage } from './api.js';
import { ConnectionError } from './errors.js';
import {
  type ClientOptions,
  type OperationName,
  type RequestContent,
  sendOperation,
  createInterruptedError,
  pause,
} from './request.js';

export type { ErrorCode, Operations, Schemas, StreamMessage } from './api.js';
export { ConnectionError, ServiceError, type ServiceProblem } from './errors.js';
export type { ClientOptions, OperationName } from './request.js';

/** Makes the member optional if its type has no required member. */
type Part<Name extends string, T> = [T] extends [never]
  ? { [name in Name]?: never }
  : undefined extends T
    ? { [name in Name]?: T }
    : object extends T
      ? { [name in Name]?: T }
      : { [name in Name]: T };

type Content<O extends Operations[OperationName]> = Part<'body', O['body']> &
  ([O['body']] extends [never] ? object : { file?: never });

/** The arguments of an operation: the parameters in its path, its query, its headers and its body. */
export type Arguments<K extends OperationName> = Part<'params', Operations[K]['params']> &
  Part<'query', Operations[K]['query']> &
  Part<'headers', Operations[K]['headers']> & {
    /** Aborts the request, or ends its stream. */
    signal?: AbortSignal | undefined;
  } & (Content<Operations[K]> | ([Operations[K]['body']] extends [never] ? never : { body?: never; file: SentFile }));

/** A document that is sent unchanged: JSON, or YAML (`application/yaml`) if the operation accepts it. */
interface SentFile {
  content: string | Blob | ArrayBuffer;
  type: string;
}

type OperationQuery<A> = A extends { query: infer Q } ? Q : object;
/** `always` for a literal `true`, `maybe` for a boolean, otherwise `never`. */
type RequestedFlag<Q, Name extends string> = Name extends keyof Q
  ? [Q[Name]] extends [true]
    ? 'always'
    : true extends Q[Name]
      ? 'maybe'
      : 'never'
  : 'never';
type PlanMode<Q> = RequestedFlag<Q, 'dry_run'> | RequestedFlag<Q, 'explain'>;

/** The response: a plan if the arguments request a dry run, a change request if they request an online change. */
export type Answer<K extends OperationName, A = object> =
  | ('always' extends PlanMode<OperationQuery<A>> ? never : Operations[K]['answer'])
  | (PlanMode<OperationQuery<A>> extends 'never' ? never : Operations[K]['planned'])
  | (RequestedFlag<OperationQuery<A>, 'online'> extends 'never' ? never : Operations[K]['online']);

type Method<K extends OperationName> =
  object extends Arguments<K>
    ? <const A extends Arguments<K>>(args?: A) => Promise<Answer<K, A>>
    : <const A extends Arguments<K>>(args: A) => Promise<Answer<K, A>>;

/** A method for each operation of the OpenAPI document. */
type Client = { readonly [K in OperationName]: Method<K> } & {
  /** The response of an operation as `fetch` returns it, for bodies that must not be parsed. Errors are thrown. */
  readonly raw: <K extends OperationName>(operation: K, ...args: OperationArguments<K>) => Promise<Response>;
};

type OperationArguments<K extends OperationName> =
  object extends Arguments<K> ? [args?: Arguments<K>] : [args: Arguments<K>];

/**
 * A client of one service. Its methods throw `ServiceError` and `ConnectionError`.
 *
 * It repeats requests after a lost connection, and after 502, 503, 504 and 429 where the service sends `Retry-After`. Reads
 * are repeated as they are, and changes with an `Idempotency-Key`, so that they take effect once. Other requests are
 * not repeated.
 */
export function createClient(options: ClientOptions): Client {
  const call = async (operation: OperationName, sent: RequestContent = {}): Promise<unknown> => {
    const response = await sendOperation(options, operation, sent);
    const body = await bodyOf(response, { options, operation, sent });
    return { status: response.status, headers: response.headers, body };
  };
  const methods = (Object.keys(OPERATIONS) as OperationName[]).map((operation) => [
    operation,
    (sent?: RequestContent) => call(operation, sent),
  ]);
  const raw = (operation: OperationName, sent: RequestContent = {}) => sendOperation(options, operation, sent);
  return { ...(Object.fromEntries(methods) as Client), raw: raw as Client['raw'] };
}

/* Reads streams: server-sent events, and JSON by lines. */

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

/** Parses a frame. The service writes the data of an event on one line. */
function frameOf({ event = 'message', id = '', data }: Record<string, string>): Frame | null {
  if (data !== undefined) return { id, shown: { event, id, data: JSON.parse(data) as unknown } as StreamMessage };
  return id === '' ? null : { id, shown: null };
}

/** Returns the body of a response, parsed according to its content type. */
async function bodyOf(response: Response, following: StreamSource): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream')) return messagesOf(response, following);
  if (type.startsWith('application/x-ndjson')) return readValues<Schemas['Event']>(response);
  const text = await response.text().catch((cause: unknown) => {
    throw createInterruptedError(cause);
  });
  if (text === '') return undefined;
  return /^application\/json\b/.test(type) ? JSON.parse(text) : text;
}
