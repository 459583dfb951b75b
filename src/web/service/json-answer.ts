/** Parses JSON responses. Large ones are parsed in a worker and arrive in pieces. */
import type { FromReader } from './json.worker.js';

/** Bytes parsed at once: about ten milliseconds. */
const LARGE = 1024 * 1024;

/**
 * @returns undefined for an empty response
 * @throws errors of reading the response, SyntaxError
 */
export async function jsonAnswer(answer: Response): Promise<unknown> {
  const bytes = await answer.arrayBuffer();
  if (bytes.byteLength === 0) return undefined;
  return bytes.byteLength < LARGE ? JSON.parse(new TextDecoder().decode(bytes)) : readBeside(bytes);
}

function readBeside(bytes: ArrayBuffer): Promise<unknown> {
  const worker = new Worker(new URL('./json.worker.ts', import.meta.url), { type: 'module' });
  const pieces: { path: readonly string[]; elements: readonly unknown[] }[] = [];
  const reading = new Promise<unknown>((resolve, reject) => {
    worker.onerror = ({ message }) => reject(new Error(`The response could not be read. ${message}`));
    worker.onmessage = ({ data }: MessageEvent<FromReader>) => {
      if (data.kind === 'failed') reject(new SyntaxError(data.message));
      else if (data.kind === 'piece') {
        pieces.push(data);
        worker.postMessage('more');
      } else {
        for (const { path, elements } of pieces) arrayAt(data.value, path).push(...elements);
        resolve(data.value);
      }
    };
    worker.postMessage(bytes, [bytes]);
  });
  return reading.finally(() => worker.terminate());
}

const arrayAt = (value: unknown, path: readonly string[]): unknown[] =>
  path.reduce((inner, step) => (inner as Record<string, unknown>)[step], value) as unknown[];
