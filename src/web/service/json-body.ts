/** Serializes request bodies in slices, so that the page stays responsive for changes of 10,000 collections. */
import { jsonTokens } from '../../kernel/json-tokens.js';

/** Milliseconds per slice. */
const SLICE = 12;
/** Characters passed to the browser at once. */
const PIECE = 256 * 1024;

/**
 * @returns short text directly, otherwise a Blob
 * @throws the reason of an aborted `signal`
 */
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

/** Runs after input and rendering. A timer would wait at least 4 ms, a message does not. */
const nextTask = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
