/** What a route answers: a value, written by `respond` alone. */
import type { ServerResponse } from 'node:http';
import { errorBody, headersOf, type EdgeProblem, Refused, statusOf } from '../errors.js';

export interface Answer {
  status: number;
  /** Names and values in turn. */
  headers: readonly string[];
  body: Buffer | string | null;
  /** Position of the schema that the answer reflects. */
  position?: number;
  /** Writes the body as it comes, in place of `body`; the answer ends when it resolves, and is cut off when it fails. */
  stream?: (res: ServerResponse) => Promise<void>;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** Only what a reader asks for again is worth keeping: everything that `representation` doesn't make. */
const NOT_STORED = ['Cache-Control', 'no-store'] as const;

/** Written in one go: for what is small. Nobody keeps it (`no-store`). */
export function jsonAnswer(status: number, value: unknown, headers: readonly string[] = []): Answer {
  return textAnswer(status, JSON.stringify(value), ['Content-Type', JSON_TYPE, ...headers]);
}

/** `text` is JSON already. */
export function textAnswer(status: number, text: string, headers: readonly string[]): Answer {
  const length = String(Buffer.byteLength(text));
  return { status, headers: [...headers, 'Content-Length', length, ...NOT_STORED], body: text };
}

/** `bytes` are JSON text already. */
export function jsonBytesAnswer(status: number, bytes: Buffer): Answer {
  const content = ['Content-Type', JSON_TYPE, 'Content-Length', String(bytes.length)];
  return { status, headers: [...content, ...NOT_STORED], body: bytes };
}

/** An answer whose body is written as it comes. */
export function streamAnswer(
  type: string,
  stream: NonNullable<Answer['stream']>,
  headers: readonly string[] = [],
): Answer {
  return { status: 200, headers: ['Content-Type', type, ...headers, ...NOT_STORED], body: null, stream };
}

/** 204. @param position of the schema that it reflects, where there is one to say */
export function noContent(position?: number): Answer {
  return { status: 204, headers: NOT_STORED, body: null, ...(position !== undefined && { position }) };
}

/** `headers` take the place of those that the problem's code brings. */
export function refusal(problems: readonly EdgeProblem[], headers: readonly string[] = []): Answer {
  return jsonAnswer(statusOf(problems), errorBody(problems), headers.length > 0 ? headers : headersOf(problems));
}

/** The value of a result, or its problems as a refusal. */
export function unwrap<T>(result: { ok: true; value: T } | { ok: false; problems: EdgeProblem[] }): T {
  if (result.ok) return result.value;
  throw new Refused(result.problems);
}
