/** A large value as JSON text in steps: JSON.stringify of 30 MiB stops the event loop for a tenth of a second. */
import { bytes, inChunks, type Texts } from '../kernel/bytes.js';
import { runYielding } from '../kernel/event-loop.js';
import type { Resumable } from '../kernel/resumable.js';
import { type Answer, jsonBytesAnswer } from './answer.js';

/** Levels that are taken apart; what is deeper is written whole. */
const LEVELS = 3;

/** 200 with what `jsonAnswer` would send. */
export async function largeJsonAnswer(value: unknown): Promise<Answer> {
  return jsonBytesAnswer(200, await runYielding(jsonBytes(value)));
}

/** 200 with `texts` one after the other, which are JSON together. */
export async function jsonTextsAnswer(texts: Texts): Promise<Answer> {
  return jsonBytesAnswer(200, await runYielding(bytes(texts)));
}

/** The bytes of what `JSON.stringify` would write. */
export const jsonBytes = (value: unknown): Resumable<Buffer> => bytes(tokensOf(value, LEVELS));

/** Gives `use` what `JSON.stringify` would write, in chunks. */
export const jsonChunks = (value: unknown, use: (chunk: Buffer) => void): Resumable<void> =>
  inChunks(tokensOf(value, LEVELS), use);

type Tokens = Generator<string, void, void>;

function* tokensOf(value: unknown, levels: number): Tokens {
  if (levels === 0 || typeof value !== 'object' || value === null) yield JSON.stringify(value) ?? 'null';
  else if (Array.isArray(value)) yield* tokensOfArray(value, levels);
  else yield* tokensOfObject(value, levels);
}

function* tokensOfArray(elements: unknown[], levels: number): Tokens {
  yield '[';
  for (const [index, element] of elements.entries()) {
    if (index > 0) yield ',';
    yield* tokensOf(element, levels - 1);
  }
  yield ']';
}

function* tokensOfObject(object: object, levels: number): Tokens {
  let before = '{';
  for (const [name, member] of Object.entries(object)) {
    if (member === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* tokensOf(member, levels - 1);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}
