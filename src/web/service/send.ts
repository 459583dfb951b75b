/** Sends one request without session or retry. */
import { RefusedError, UnreachableError } from './errors.js';
import { jsonAnswer } from './json-answer.js';
import { jsonBody } from './json-body.js';
import type { Problem } from './types.js';

export interface Sending {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers?: Readonly<Record<string, string>>;
  /** Sent as a JSON body. */
  json?: unknown;
  /** A raw body of this type. */
  file?: { content: Blob | string; type: string };
  signal?: AbortSignal;
}

/**
 * The parsed response.
 * @throws RefusedError for an error of the service, UnreachableError without a response
 */
export async function send<T>(path: string, sending: Sending = {}): Promise<T> {
  const answer = await answerTo(path, sending);
  return readAnswer<T>(answer);
}

/**
 * The body of a response.
 * @throws UnreachableError if the connection breaks
 */
export async function readAnswer<T>(answer: Response): Promise<T> {
  return (await jsonAnswer(answer).catch((cause: unknown) => {
    throw cause instanceof SyntaxError ? cause : unreachable(cause);
  })) as T;
}

/** The response if it is not an error. */
export async function answerTo(path: string, sending: Sending): Promise<Response> {
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
  throw new RefusedError(answer.status, await problemsOf(answer), answer.headers.get('x-request-id'));
}

function unreachable(cause: unknown): unknown {
  return cause instanceof DOMException && cause.name === 'AbortError' ? cause : new UnreachableError(cause);
}

/** A proxy may respond with its own error format. */
async function problemsOf(answer: Response): Promise<Problem[]> {
  const body: unknown = await jsonAnswer(answer).catch(() => null);
  const errors = (body as { errors?: Problem[] } | null)?.errors;
  if (Array.isArray(errors) && errors.length > 0) return errors;
  return [
    { message: `The service responded with ${answer.status} ${answer.statusText}.`, extensions: { code: 'INTERNAL' } },
  ];
}
