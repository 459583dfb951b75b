/** Text as bytes, in chunks: a large answer in one go stops the event loop for as long as it takes. */
import type { Resumable } from './resumable.js';
import { recordBytes } from './scheduler.js';

/** Text in chunks, each made when it is asked for and in less than a millisecond. */
export type Texts = Iterable<string>;

/** Work on the way to texts: an empty text for each of its steps. */
export function* emptyTexts<T>(steps: Resumable<T>): Generator<string, T, void> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    yield '';
  }
}

/** `texts` with a comma between each two that aren't empty. */
export function* withCommas(texts: Texts): Generator<string, void, void> {
  let separator = '';
  for (const text of texts) {
    yield text === '' ? '' : separator + text;
    if (text !== '') separator = ',';
  }
}

/** Characters that are written at once, and how many texts are asked for until then. */
const PIECE = 32_768;
const ASKED = 16;

/** Gives `use` the texts, joined to chunks that are worth it. */
export function* inChunks(texts: Texts, use: (chunk: Buffer) => void): Resumable<void> {
  let text = '';
  let asked = 0;
  for (const each of texts) {
    text += each;
    asked += 1;
    if (text.length >= PIECE) {
      use(Buffer.from(text));
      text = '';
    } else if (asked % ASKED !== 0) continue;
    yield;
  }
  use(Buffer.from(text));
}

/** All of `texts`, as UTF-8. */
export function* bytes(texts: Texts): Resumable<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  yield* inChunks(texts, (chunk) => {
    chunks.push(chunk);
    recordBytes(chunk.length);
    size += chunk.length;
  });
  const whole = Buffer.allocUnsafe(size);
  let at = 0;
  for (const chunk of chunks) {
    at += chunk.copy(whole, at);
    yield;
  }
  return whole;
}
