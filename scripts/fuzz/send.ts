/** Sends one request byte for byte and returns the raw response. */
import http from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Encoded } from './request.js';

interface Answered {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

/** Milliseconds. */
const LIMIT = 60_000;
/** How long to read a stream, which never ends by itself. */
const LISTENED = 30;

export interface Sender {
  /** Rejects without a response. */
  send(url: string, method: string, encoded: Encoded): Promise<Answered>;
  close(): void;
}

export function createSender(): Sender {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  return {
    close: () => agent.destroy(),
    send: (url, method, { path, headers, body }) =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(url);
        const length: Record<string, string> = body === null ? {} : { 'Content-Length': String(body.length) };
        const options = { hostname, port, method, path, headers: { ...headers, ...length }, agent, timeout: LIMIT };
        const request = http.request(options, (response) => {
          collect(response).then((bytes) => {
            const { statusCode: status = 0, headers: received } = response;
            const text = decoded(bytes, received['content-encoding']);
            resolve({ status, headers: received, text });
          }, reject);
        });
        request.on('timeout', () => request.destroy(new Error(`no answer within ${LIMIT} ms`)));
        request.on('error', reject);
        request.end(body ?? undefined);
      }),
  };
}

async function collect(response: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
  const timer = isStream ? setTimeout(() => response.destroy(), LISTENED) : undefined;
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch (error) {
    if (!isStream) throw error;
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks);
}

function decoded(bytes: Buffer, coding: string | undefined): string {
  if (bytes.length === 0) return '';
  if (coding === 'gzip') return gunzipSync(bytes).toString();
  if (coding === 'br') return brotliDecompressSync(bytes).toString();
  return bytes.toString();
}
