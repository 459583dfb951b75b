/* Sends one request of the client without session or retry. */
import { type Answer, type Arguments, ConnectionError, type OperationName, ServiceError } from '../../client/index.js';
import { type RequestContent, createInterruptedError, sendOperation } from '../../client/request.js';
import type { ReaderMessage } from './json.worker.js';
import { jsonTokens } from '../../kernel/canonical.js';

export { ConnectionError, ServiceError };

/** True if a retry may help. */
export function isPassing(error: unknown): boolean {
  return error instanceof ConnectionError || (error instanceof ServiceError && error.status === 503);
}

/* Serializes request bodies in slices, so that the page stays responsive for changes to 10,000 collections. */

/** Maximum number of milliseconds per slice. */
const SLICE = 12;
/** Number of characters that are passed to the browser at once. */
const PIECE = 256 * 1024;

/**
 * @returns short text directly, otherwise a Blob
 * @throws the reason of an aborted `signal`
 */
async function jsonBody(value: unknown, signal: AbortSignal | undefined): Promise<string | Blob> {
  const pieces: Blob[] = [];
  let text = '';
  let began = performance.now();
  for (const token of jsonTokens(value)) {
    text += token;
    if (text.length >= PIECE) {
      pieces.push(new Blob([text]));
      text = '';
    }
    if (performance.now() - began < SLICE) continue;
    await nextTask();
    signal?.throwIfAborted();
    began = performance.now();
  }
  return pieces.length === 0 ? text : new Blob([...pieces, text]);
}

/** Resolves in a task after input and rendering. A timer would wait at least 4 ms, but a message does not. */
const nextTask = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });

/* Parses JSON responses. Large ones are parsed in a worker and arrive in pieces. */

/** Number of bytes that are parsed at once, in about ten milliseconds. */
const LARGE = 1024 * 1024;

/**
 * @returns undefined for an empty response
 * @throws errors of reading the response, SyntaxError
 */
async function jsonAnswer(answer: Response): Promise<unknown> {
  const bytes = await answer.arrayBuffer();
  if (bytes.byteLength === 0) return undefined;
  return bytes.byteLength < LARGE ? JSON.parse(new TextDecoder().decode(bytes)) : readBeside(bytes);
}

function readBeside(bytes: ArrayBuffer): Promise<unknown> {
  const worker = new Worker(new URL('./json.worker.ts', import.meta.url), { type: 'module' });
  const pieces: { path: readonly string[]; elements: readonly unknown[] }[] = [];
  const reading = new Promise<unknown>((resolve, reject) => {
    worker.onerror = ({ message }) => reject(new Error(`The response could not be read. ${message}`));
    worker.onmessage = ({ data }: MessageEvent<ReaderMessage>) => {
      if (data.kind === 'failed') reject(new SyntaxError(data.message));
      else if (data.kind === 'piece') {
        pieces.push(data);
        worker.postMessage('more');
      } else {
        for (const { path, elements } of pieces) arrayAt(data.value, path).push(...elements);
        resolve(data.value);
      }
    };
    worker.postMessage(bytes, [bytes]);
  });
  return reading.finally(() => worker.terminate());
}

const arrayAt = (value: unknown, path: readonly string[]): unknown[] =>
  path.reduce((inner, step) => (inner as Record<string, unknown>)[step], value) as unknown[];

/** The body of the response to an operation with these arguments. */
export type Body<K extends OperationName, A = object> = Answer<K, A>['body'];

/**
 * Returns the response of an operation.
 * @throws ServiceError, ConnectionError, or the reason of an aborted signal
 */
export async function fetchAnswer(
  operation: OperationName,
  { body, query = {}, ...sent }: RequestContent,
  token?: string,
): Promise<Response> {
  const file =
    body === undefined ? sent.file : { content: await jsonBody(body, sent.signal), type: 'application/json' };
  return sendOperation({ url: location.origin, token, retries: 0 }, operation, {
    ...sent,
    query: Object.fromEntries(Object.entries(query).filter(([, value]) => !isEmpty(value))),
    ...(file && { file }),
  });
}

/** An empty parameter is omitted, such as that of a filter without input. */
const isEmpty = (value: unknown): boolean => value === '' || (Array.isArray(value) && value.length === 0);

/** Returns the parsed body of the response of an operation, without a session. */
export async function send<K extends OperationName, const A extends Arguments<K>>(
  operation: K,
  sent: A,
  token?: string,
): Promise<Body<K, A>> {
  return readAnswer(await fetchAnswer(operation, sent as RequestContent, token));
}

/**
 * Returns the parsed body of a response.
 * @throws ConnectionError if the connection breaks
 */
export async function readAnswer<T>(answer: Response): Promise<T> {
  return (await jsonAnswer(answer).catch((cause: unknown) => {
    const isOther = cause instanceof SyntaxError || (cause instanceof DOMException && cause.name === 'AbortError');
    throw isOther ? cause : createInterruptedError(cause);
  })) as T;
}
