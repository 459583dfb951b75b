/** A large value as JSON text in steps. */
import { bytes, inChunks, type Texts } from '../../kernel/bytes.js';
import { runYielding } from '../../kernel/event-loop.js';
import { jsonTokens } from '../../kernel/json-tokens.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type Answer, jsonBytesAnswer } from './answer.js';

/** 200 with what `jsonAnswer` would send. */
export async function largeJsonAnswer(value: unknown): Promise<Answer> {
  return jsonBytesAnswer(200, await runYielding(jsonBytes(value)));
}

/** 200 with `texts` one after the other, which are JSON together. */
export async function jsonTextsAnswer(texts: Texts): Promise<Answer> {
  return jsonBytesAnswer(200, await runYielding(bytes(texts)));
}

/** The bytes of what `JSON.stringify` would write. */
export const jsonBytes = (value: unknown): Resumable<Buffer> => bytes(jsonTokens(value));

/** Gives `use` what `JSON.stringify` would write, in chunks. */
export const jsonChunks = (value: unknown, use: (chunk: Buffer) => void): Resumable<void> =>
  inChunks(jsonTokens(value), use);
