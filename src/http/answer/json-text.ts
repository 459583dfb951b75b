/** Writes large values as JSON in steps. */
import { bytes, inChunks, type Texts } from '../../kernel/bytes.js';
import { runYielding } from '../../kernel/event-loop.js';
import { jsonTokens } from '../../kernel/json-tokens.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type Answer, jsonBytesAnswer } from './answer.js';

/** 200 with the same body as `jsonAnswer`. */
export async function largeJsonAnswer(value: unknown): Promise<Answer> {
  return jsonBytesAnswer(200, await runYielding(jsonBytes(value)));
}

/** 200 with the concatenation of `texts`, which must be JSON. */
export async function jsonTextsAnswer(texts: Texts): Promise<Answer> {
  return jsonBytesAnswer(200, await runYielding(bytes(texts)));
}

/** The bytes that `JSON.stringify` would produce. */
export const jsonBytes = (value: unknown): Resumable<Buffer> => bytes(jsonTokens(value));

/** Passes the output of `JSON.stringify` to `use` in chunks. */
export const jsonChunks = (value: unknown, use: (chunk: Buffer) => void): Resumable<void> =>
  inChunks(jsonTokens(value), use);
