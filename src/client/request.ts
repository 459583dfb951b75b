/* Sends the request of an operation, and repeats it where that is safe. */
import { OPERATIONS, type Operations } from './api.js';
import { ConnectionError, ServiceError } from './errors.js';

export type OperationName = keyof Operations;

export interface ClientOptions {
  /** The address of the service: `https://schema.example.com`. It may contain a path. */
  url: string;
  /** An API token or an access token. A function is called for each attempt. */
  token?: string | undefined | (() => string | undefined | Promise<string | undefined>);
  /** Maximum number of times that a request is repeated. Default: 3. With 0, the client creates no Idempotency-Key. */
  retries?: number;
  /** Replaces the global `fetch`, for example to use a proxy or other time limits. */
  fetch?: typeof fetch;
}

type QueryValue = string | number | boolean | null | undefined | readonly (string | number)[];

/** The content of a request, without types of the operation. */
export interface RequestContent {
  params?: Readonly<Record<string, string | number>>;
  query?: Readonly<Record<string, QueryValue>>;
  headers?: Readonly<Record<string, string | undefined>>;
  /** A body that is sent as JSON. */
  body?: unknown;
  /** A body that is sent unchanged, instead of `body`. */
  file?: { content: string | Blob | ArrayBuffer; type: string };
  signal?: AbortSignal | undefined;
}

/** Milliseconds before the first repetition. The pause doubles before each further one. */
const FIRST_WAIT = 250;
/** Maximum pause in milliseconds, including for `Retry-After`. */
const LONGEST_WAIT = 30_000;

/** Statuses with which a proxy reports that it received no response. */
const FROM_PROXY: ReadonlySet<number> = new Set([502, 504]);

/**
 * Returns the response of an operation if it is not an error.
 * @throws ServiceError, ConnectionError, or the reason of an aborted signal
 */
export async function sendOperation(
  options: ClientOptions,
  operation: OperationName,
  sent: RequestContent,
): Promise<Response> {
  const { retries = 3 } = options;
  const { repeat } = OPERATIONS[operation];
  const headers = { ...sent.headers };
  if (repeat === 'key' && retries > 0) headers['Idempotency-Key'] ??= randomKey();
  for (let repeated = 0; ; repeated++) {
    const tried = await attempt(options, operation, { ...sent, headers });
    if (!(tried instanceof Error)) return tried;
    const waitMs = waitAfter(tried, FIRST_WAIT * 2 ** repeated * (0.5 + Math.random()));
    if (repeat === 'no' || repeated >= retries || waitMs === undefined) throw tried;
    await pause(waitMs, sent.signal);
  }
}

/** Returns the milliseconds to wait before a repetition. Undefined if a repetition cannot help. */
function waitAfter(error: ServiceError | ConnectionError, waitMs: number): number | undefined {
  if (error instanceof ConnectionError || FROM_PROXY.has(error.status)) return waitMs;
  const { status, headers } = error;
  const seconds = headers.get('retry-after');
  if ((status !== 503 && status !== 429) || seconds === null || !/^\d+$/.test(seconds)) return undefined;
  return Number(seconds) * 1_000 > LONGEST_WAIT ? undefined : Number(seconds) * 1_000 + waitMs;
}

/** @throws the reason of an aborted signal, and errors of the arguments */
async function attempt(
  options: ClientOptions,
  operation: OperationName,
  sent: RequestContent,
): Promise<Response | ServiceError | ConnectionError> {
  const { method, answers } = OPERATIONS[operation];
  const { signal } = sent;
  const url = addressOf(options.url, operation, sent);
  const headers = await createHeaders(options, sent);
  const body = sent.file?.content ?? (sent.body === undefined ? null : JSON.stringify(sent.body));
  const send = options.fetch ?? fetch;
  try {
    const answer = await send(url, { method, headers, body, redirect: 'manual', ...(signal && { signal }) });
    if (answer.ok || (answers as readonly number[]).includes(answer.status)) return answer;
    return new ServiceError(answer, await answer.text());
  } catch (cause) {
    signal?.throwIfAborted();
    return new ConnectionError(`The service at ${new URL(url).origin} does not respond.`, cause);
  }
}

/** Creates the error for a response whose body ended early. */
export const createInterruptedError = (cause: unknown): ConnectionError =>
  new ConnectionError('The connection to the service was lost before its response ended.', cause);

async function createHeaders({ token }: ClientOptions, { headers = {}, body, file }: RequestContent): Promise<Headers> {
  const found = typeof token === 'function' ? await token() : token;
  const all = new Headers();
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) all.set(name, asBytes(value));
  if (found) all.set('Authorization', `Bearer ${found}`);
  if (file !== undefined) all.set('Content-Type', file.type);
  else if (body !== undefined) all.set('Content-Type', 'application/json');
  return all;
}

/** Encodes text as UTF-8 for a header. Headers are bytes, so the bytes are passed as latin1. */
const asBytes = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');

const addressOf = (base: string, operation: OperationName, sent: RequestContent): string =>
  new URL(pathOf(operation, sent).slice(1), base.endsWith('/') ? base : `${base}/`).href;

/** Returns the path of an operation with its query. A parameter that is undefined or false is omitted. */
export function pathOf(operation: OperationName, { params = {}, query = {} }: RequestContent): string {
  const path = OPERATIONS[operation].path.replaceAll(/:(\w+)/g, (_, name: string) => segmentOf(name, params[name]));
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const text = textOf(value);
    if (text !== null) parameters.set(name, text);
  }
  return parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
}

function segmentOf(name: string, value: string | number | undefined): string {
  const text = encodeURIComponent(value ?? '');
  // An address without this segment, or with one that URLs resolve, would be the address of another resource.
  if (text === '' || text === '.' || text === '..')
    throw new TypeError(`The parameter "${name}" must not be "${text}".`);
  return text;
}

/** Returns the text of a value. Null if the parameter is omitted. */
function textOf(value: QueryValue): string | null {
  if (typeof value === 'object' && value !== null) return value.map(listItem).join(',');
  return value === undefined || value === null || value === false ? null : String(value);
}

/** Returns an item of a list. It is quoted if the list could not contain it otherwise. */
function listItem(item: string | number): string {
  const text = String(item);
  return /[",]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** `crypto.randomUUID` does not exist on pages without TLS. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** @throws the reason of an aborted signal */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
