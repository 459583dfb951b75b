/** A stream as lines. */
import type { Readable } from 'node:stream';

/**
 * Lines without their line feeds, which alone end one: node:readline also breaks at U+2028, which JSON text may hold.
 * What is behind the last line feed is a line if it isn't empty. Bytes that are no UTF-8 become U+FFFD.
 */
export async function* readLines(
  stream: Readable | AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let rest = '';
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
