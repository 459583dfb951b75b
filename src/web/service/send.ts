/* Sends one request without session or retry. */
import type { Problem } from './types.js';
import type { ReaderMessage } from './json.worker.js';
import { jsonTokens } from '../../kernel/canonical.js';

/** Thrown if the service rejected the request. The message is that of the service. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly status: number;
  readonly problems: readonly Problem[];
  /** Identifies the request in the service's log. */
  readonly requestId: string | null;

  constructor(status: number, problems: readonly Problem[], requestId: string | null) {
    super(problems.map(({ message }) => message).join(' '));
    this.status = status;
    this.problems = problems;
    this.requestId = requestId;
  }

  /** The code of the first problem: `NOT_FOUND`. */
  get code(): string | undefined {
    return this.problems[0]?.extensions.code;
  }

  /** The message for a member of the body or its descendants. */
  at(path: string): string | undefined {
    return this.problems.find(({ extensions }) => extensions.path === path)?.message;
  }
}

/** Thrown if there was no response. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';

  constructor(cause: unknown) {
    super('The service does not respond. Check that it is running and that you are online.', { cause });
  }
}

/** True if a retry may help. */
export function isPassing(error: unknown): boolean {
  return error instanceof UnreachableError || (error instanceof RefusedError && error.status === 503);
}

/* Serializes request bodies in slices, so that the page stays responsive for changes of 10,000 collections. */

/** Maximum number of milliseconds per slice. */
const SLICE = 12;
/** Number of characters that are passed to the browser at once. */
const PIECE = 256 * 1024;

/**
 * @returns short text directly, otherwise a Blob
 * @throws the reason of an aborted `signal`
 */
async function jsonBody(value: unknown, signal?: AbortSignal): Promise<string | Blob> {
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

export interface SendOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers?: Readonly<Record<string, string>>;
  /** A value that is sent as a JSON body. */
  json?: unknown;
  /** A raw body of this type. */
  file?: { content: Blob | string; type: string };
  signal?: AbortSignal;
}

/**
 * Returns the parsed response.
 * @throws RefusedError for an error of the service, UnreachableError without a response
 */
export async function send<T>(path: string, sending: SendOptions = {}): Promise<T> {
  const answer = await answerTo(path, sending);
  return readAnswer<T>(answer);
}

/**
 * Returns the parsed body of a response.
 * @throws UnreachableError if the connection breaks
 */
export async function readAnswer<T>(answer: Response): Promise<T> {
  return (await jsonAnswer(answer).catch((cause: unknown) => {
    throw cause instanceof SyntaxError ? cause : unreachable(cause);
  })) as T;
}

/** The response if it is not an error. */
export async function answerTo(path: string, sending: SendOptions): Promise<Response> {
  const { method = 'GET', headers, json, signal } = sending;
  const file =
    sending.file ?? (json === undefined ? null : { content: await jsonBody(json, signal), type: 'application/json' });
  const body = file?.content ?? null;
  const type: Record<string, string> = file === null ? {} : { 'Content-Type': file.type };
  const init: RequestInit = { method, headers: { ...headers, ...type }, body };
  if (signal !== undefined) init.signal = signal;
  const answer = await fetch(path, init).catch((cause: unknown) => {
    throw unreachable(cause);
  });
  if (answer.ok) return answer;
  throw new RefusedError(answer.status, await readProblems(answer), answer.headers.get('x-request-id'));
}

function unreachable(cause: unknown): unknown {
  return cause instanceof DOMException && cause.name === 'AbortError' ? cause : new UnreachableError(cause);
}

/** Reads the problems of an error response. A proxy may respond with its own format. */
async function readProblems(answer: Response): Promise<Problem[]> {
  const body: unknown = await jsonAnswer(answer).catch(() => null);
  const errors = (body as { errors?: Problem[] } | null)?.errors;
  if (Array.isArray(errors) && errors.length > 0) return errors;
  return [
    { message: `The service responded with ${answer.status} ${answer.statusText}.`, extensions: { code: 'INTERNAL' } },
  ];
}
