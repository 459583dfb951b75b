/** The response of a route as a value. Only `respond` writes it. */
import type { ServerResponse } from 'node:http';
import { errorBody, headersOf, type EdgeProblem, Refused, statusOf } from '../errors.js';

export interface Answer {
  status: number;
  /** Alternating names and values. */
  headers: readonly string[];
  body: Buffer | string | null;
  /** The schema position that the response reflects. */
  position?: number;
  /**
   * Writes the body incrementally instead of `body`. The response ends when it resolves, and the connection is closed
   * when it fails.
   */
  stream?: (res: ServerResponse) => Promise<void>;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Only responses of `representation` are worth caching. */
const NOT_STORED = ['Cache-Control', 'no-store'] as const;

/** For small values, written at once and not cached (`no-store`). */
export function jsonAnswer(status: number, value: unknown, headers: readonly string[] = []): Answer {
  return textAnswer(status, JSON.stringify(value), ['Content-Type', JSON_TYPE, ...headers]);
}

export function textAnswer(status: number, text: string, headers: readonly string[]): Answer {
  const length = String(Buffer.byteLength(text));
  return { status, headers: [...headers, 'Content-Length', length, ...NOT_STORED], body: text };
}

/** `bytes` contains JSON text. */
export function jsonBytesAnswer(status: number, bytes: Buffer): Answer {
  const content = ['Content-Type', JSON_TYPE, 'Content-Length', String(bytes.length)];
  return { status, headers: [...content, ...NOT_STORED], body: bytes };
}

/** A response whose body is written incrementally. */
export function streamAnswer(
  type: string,
  stream: NonNullable<Answer['stream']>,
  headers: readonly string[] = [],
): Answer {
  return { status: 200, headers: ['Content-Type', type, ...headers, ...NOT_STORED], body: null, stream };
}

/**
 * 204.
 * @param position the schema position that it reflects, if any
 */
export function noContent(position?: number): Answer {
  return { status: 204, headers: NOT_STORED, body: null, ...(position !== undefined && { position }) };
}

/** `headers` replace the headers that belong to the problem's code. */
export function refusal(problems: readonly EdgeProblem[], headers: readonly string[] = []): Answer {
  return jsonAnswer(statusOf(problems), errorBody(problems), headers.length > 0 ? headers : headersOf(problems));
}

export function unwrap<T>(result: { ok: true; value: T } | { ok: false; problems: EdgeProblem[] }): T {
  if (result.ok) return result.value;
  throw new Refused(result.problems);
}
