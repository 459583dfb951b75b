/** Encodes text as bytes in chunks. Encoding a large answer at once would block the event loop. */
import type { Resumable } from './resumable.js';
import { recordBytes } from './scheduler.js';

/** Chunks of text. Each is produced on demand in less than a millisecond. */
export type Texts = Iterable<string>;

/** Yields an empty string for each step, to use steps where strings are expected. */
export function* emptyTexts<T>(steps: Resumable<T>): Generator<string, T, void> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    yield '';
  }
}

/** Puts a comma between every two strings that are not empty. */
export function* withCommas(texts: Texts): Generator<string, void, void> {
  let separator = '';
  for (const text of texts) {
    yield text === '' ? '' : separator + text;
    if (text !== '') separator = ',';
  }
}

/**
 * `inChunks` encodes a chunk once it has this many characters. It pauses after each chunk, and after every `ASKED`
 * texts.
 */
const PIECE = 32_768;
const ASKED = 16;

/** Joins the strings into chunks of a useful size and passes them to `use`. */
export function* inChunks(texts: Texts, use: (chunk: Buffer) => void): Resumable<void> {
  let text = '';
  let neededBytes = 0;
  for (const each of texts) {
    text += each;
    neededBytes += 1;
    if (text.length >= PIECE) {
      use(Buffer.from(text));
      text = '';
    } else if (neededBytes % ASKED !== 0) continue;
    yield;
  }
  use(Buffer.from(text));
}

/** Returns all of `texts` as UTF-8. */
export function* bytes(texts: Texts): Resumable<Buffer> {
  const chunks: Buffer[] = [];
  yield* inChunks(texts, (chunk) => {
    chunks.push(chunk);
    recordBytes(chunk.length);
  });
  return yield* joinBytes(chunks);
}

/** Number of chunks that `bytes` copies per step. */
const COPIED = 16;

function* joinBytes(chunks: readonly Buffer[]): Resumable<Buffer> {
  const joined = Buffer.allocUnsafe(chunks.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const [index, chunk] of chunks.entries()) {
    at += chunk.copy(joined, at);
    if (index % COPIED === 0) yield;
  }
  return joined;
}

/** Bytes in several buffers, so that long bodies can share their common parts. */
export class SharedBytes {
  readonly parts: readonly Buffer[];
  /** The total length of all buffers in bytes. */
  readonly length: number;

  constructor(parts: readonly Buffer[]) {
    this.parts = parts;
    this.length = parts.reduce((sum, part) => sum + part.length, 0);
  }

  toString(): string {
    return toBuffer(this).toString();
  }
}

export const toBuffer = (bytes: Buffer | SharedBytes): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.concat(bytes.parts, bytes.length);
