/** What is sent as JSON. A change of 10,000 collections is written in slices: the page goes on being used meanwhile. */
import { jsonTokens } from '../../kernel/json-tokens.js';

/** Milliseconds of work before the page is drawn and answers again. */
const SLICE = 12;
/** Characters that are handed to the browser at once. */
const PIECE = 256 * 1024;

/** @returns text where it is short, else what the browser keeps outside of the page. @throws what `signal` was aborted with */
export async function jsonBody(value: unknown, signal?: AbortSignal): Promise<string | Blob> {
  const pieces: Blob[] = [];
  let text = '';
  let began = performance.now();
  for (const token of jsonTokens(value)) {
    text += token;
    if (text.length >= PIECE) {
      pieces.push(new Blob([text]));
      text = '';
    }
    if (performance.now() - began < SLICE) continue;
    await nextTask();
    signal?.throwIfAborted();
    began = performance.now();
  }
  return pieces.length === 0 ? text : new Blob([...pieces, text]);
}

/** After what the user did and what is to be drawn. A timer waits for 4 ms each time; a message doesn't. */
const nextTask = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
