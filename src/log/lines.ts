/** Splits a stream into lines. */
import type { Readable } from 'node:stream';

/**
 * Yields lines without their line feeds. Only line feeds end a line: node:readline also breaks at U+2028, which JSON
 * text may contain. Text after the last line feed is a line if it is not empty. Invalid UTF-8 becomes U+FFFD.
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
