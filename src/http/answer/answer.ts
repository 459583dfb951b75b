/* The response of a route as a value. Only `respond` writes it. */
import type { ServerResponse } from 'node:http';
import { errorBody, headersOf, type EdgeProblem, RejectedError, statusOf, refused } from '../errors.js';
import { bytes, inChunks, type SharedBytes, type Texts } from '../../kernel/bytes.js';
import { runYielding } from '../../kernel/event-loop.js';
import { jsonTokens } from '../../kernel/canonical.js';
import type { Resumable } from '../../kernel/resumable.js';
import { createLogUnreadableProblem } from '../../pipeline/diverged.js';
import { AbandonedError, OverloadedError } from '../../kernel/scheduler.js';
import { environmentProblem, overloadedProblem } from '../../postgres/errors.js';
import type { Logger } from '../../postgres/logger.js';
import { UnreadableEventError } from '../../schema/fold/upcasting.js';
import { ProblemError } from '../../kernel/problem.js';
import { JSON_LIMITS, JsonFault, scanJson } from '../body/json.js';

export interface Answer {
  status: number;
  /** Header names and values, alternating. */
  headers: readonly string[];
  body: Buffer | SharedBytes | string | null;
  /** The schema position that the response reflects. */
  position?: number;
  /**
   * Writes the body incrementally. Used instead of `body`. The response ends when the promise resolves, and the
   * connection is closed when it rejects.
   */
  stream?: (res: ServerResponse) => Promise<void>;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** The header of responses that must not be cached. Only responses of `representation` are worth caching. */
const NOT_STORED = ['Cache-Control', 'no-store'] as const;

/** Creates a response with a small value. It is written immediately and not cached (`no-store`). */
export function jsonAnswer(status: number, value: unknown, headers: readonly string[] = []): Answer {
  return textAnswer(status, JSON.stringify(value), ['Content-Type', JSON_TYPE, ...headers]);
}

export function textAnswer(status: number, text: string, headers: readonly string[]): Answer {
  const length = String(Buffer.byteLength(text));
  return { status, headers: [...headers, 'Content-Length', length, ...NOT_STORED], body: text };
}

/** @param bytes JSON text */
export function jsonBytesAnswer(status: number, bytes: Buffer): Answer {
  const content = ['Content-Type', JSON_TYPE, 'Content-Length', String(bytes.length)];
  return { status, headers: [...content, ...NOT_STORED], body: bytes };
}

/** Creates a response whose body is written incrementally. */
export function streamAnswer(
  type: string,
  stream: NonNullable<Answer['stream']>,
  headers: readonly string[] = [],
): Answer {
  return { status: 200, headers: ['Content-Type', type, ...headers, ...NOT_STORED], body: null, stream };
}

/** Creates a 302 response. */
export function redirectAnswer(location: string, headers: readonly string[]): Answer {
  return { status: 302, headers: ['Location', location, ...headers, ...NOT_STORED], body: null };
}

/**
 * Creates a 204 response.
 * @param position the schema position that the response reflects, if any
 */
export function noContent(position?: number): Answer {
  return { status: 204, headers: NOT_STORED, body: null, ...(position !== undefined && { position }) };
}

/** Creates an error response. `headers` replace the headers that belong to the code of the problem. */
export function refusalAnswer(problems: readonly EdgeProblem[], headers: readonly string[] = []): Answer {
  return jsonAnswer(statusOf(problems), errorBody(problems), headers.length > 0 ? headers : headersOf(problems));
}

export function unwrap<T>(result: { ok: true; value: T } | { ok: false; problems: EdgeProblem[] }): T {
  if (result.ok) return result.value;
  throw new RejectedError(result.problems);
}

/* Writes large values as JSON in steps. */

/** Creates a 200 response with the same body as `jsonAnswer`. */
export async function largeJsonAnswer(value: unknown): Promise<Answer> {
  return jsonBytesAnswer(200, await runYielding(jsonBytes(value)));
}

/** Creates a 200 response with the concatenation of `texts`, which must be JSON. */
export async function jsonTextsAnswer(texts: Texts): Promise<Answer> {
  return jsonBytesAnswer(200, await runYielding(bytes(texts)));
}

/** Returns the bytes that `JSON.stringify` would produce. */
export const jsonBytes = (value: unknown): Resumable<Buffer> => bytes(jsonTokens(value));

/** Passes the output of `JSON.stringify` to `use` in chunks. */
export const jsonChunks = (value: unknown, use: (chunk: Buffer) => void): Resumable<void> =>
  inChunks(jsonTokens(value), use);

/* Converts any thrown value to a response. */

interface FailureContext {
  logger: Logger;
  primaryUrl: string | null;
  /** Called for each request that is rejected because of overload. */
  onOverload: () => void;
}

/**
 * Creates the response to a thrown value. Rejections keep their status, and problems with the database become 503. All
 * other errors become 500, with details only in the log.
 */
export function failureAnswer(
  error: unknown,
  requestId: string,
  { logger, primaryUrl, onOverload }: FailureContext,
): Answer {
  if (error instanceof RejectedError) return refusalAnswer(error.problems, error.headers);
  if (error instanceof ProblemError) return refusalAnswer([error.problem]);
  // Requests can share work, and the others may have abandoned it.
  if (error instanceof OverloadedError || error instanceof AbandonedError) {
    onOverload();
    return refusalAnswer([overloadedProblem('The service has received more requests than it can answer in time')]);
  }
  if (error instanceof URIError) {
    return refusalAnswer([{ code: 'INVALID_QUERY', message: 'The path contains an invalid percent-encoding.' }]);
  }
  if (error instanceof UnreadableEventError) return refusalAnswer([createLogUnreadableProblem(error)]);
  const environment = environmentProblem(error, primaryUrl);
  if (environment !== undefined) {
    if (environment.code === 'OVERLOADED') onOverload();
    else logger.warn('request failed because the database is unavailable', { request_id: requestId, error });
    return refusalAnswer([environment]);
  }
  logger.error('request failed', { request_id: requestId, error });
  const message = 'Internal error. Look for this request id in the service log.';
  return refusalAnswer([{ code: 'INTERNAL', message, details: { request_id: requestId } }]);
}

/** Minimum number of bytes of a value: `1,`. */
const BYTES_PER_VALUE = 2;

/**
 * Checks that clients can send a diff back in order to apply it.
 * @param limit maximum number of bytes of a schema document in a body
 * @param advice a sentence that says what to do if the diff is too large
 * @throws RejectedError CONTENT_TOO_LARGE
 */
export async function requireSendable(diff: Buffer, limit: number, advice: string): Promise<void> {
  const { length } = diff;
  if (length > limit) throw tooLarge(`of ${length} bytes`, { limit, length }, advice);
  if (length <= JSON_LIMITS.values * BYTES_PER_VALUE) return;
  try {
    await runYielding(scanJson(diff, { limits: JSON_LIMITS, group: length }));
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw tooLarge(`(${error.message})`, { limited: error.kind }, advice);
  }
}

function tooLarge(subject: string, details: Record<string, unknown>, advice: string) {
  const message = `The response ${subject} would exceed the size limit (MAX_BODY). ${advice}`;
  return refused('CONTENT_TOO_LARGE', message, { details });
}
