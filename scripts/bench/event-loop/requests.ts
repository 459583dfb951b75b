/** Requests whose event loop turns are measured, and their bodies. */
import type { Work } from './stops.js';
import type { Service } from '../servers.js';

export const MIB = 1024 ** 2;

/** Used for bodies that are not JSON documents. */
export const OTHER_BODY = MIB - 1024;

const JSON_TYPE = 'application/json';

/** The request may be rejected: its duration is measured anyway. */
export async function send(
  service: Service,
  path: string,
  { method = 'POST', type = JSON_TYPE, text, headers = {} }: Sent,
) {
  const all = { ...service.headers, 'Content-Type': type, ...headers };
  const request = () => fetch(service.url + path, { method, headers: all, ...(text !== undefined && { body: text }) });
  // The server may have closed an idle connection.
  const answer = await request().catch(request);
  const body = await answer.text();
  if (answer.status >= 500) throw new Error(`${method} ${path}: ${answer.status} ${body.slice(0, 500)}`);
  if (process.env['BENCH_VERBOSE'] !== undefined) process.stderr.write(`${answer.status} ${body.slice(0, 300)}\n`);
}

export interface Sent {
  method?: string;
  type?: string;
  text?: string;
  headers?: Record<string, string>;
}

export const filled = (first: string, each: string, bytes: number): string =>
  first + `,${each}`.repeat(Math.floor(bytes / (Buffer.byteLength(each) + 1)));

/** As many items as fit into `bytes`. */
export function list(bytes: number, each: (index: number) => object): object[] {
  const items: object[] = [];
  for (let index = 0, left = bytes; left > 0; index += 1) {
    const item = each(index);
    left -= JSON.stringify(item).length + 1;
    if (left > 0) items.push(item);
  }
  return items;
}

export const sizeInMib = (text: string): string => `${Math.ceil(Buffer.byteLength(text) / MIB)} MiB`;

/** A diff from the current schema to `snapshot`. */
export const diffTo =
  (snapshot: object, query = '') =>
  (service: Service) =>
    service.send('POST', `/schema/diff${query}`, JSON.stringify(snapshot));

export const apply = (service: Service, text: string) => service.send('POST', '/schema/apply', text);

export async function makeSo(service: Service, snapshot: object): Promise<void> {
  await apply(service, await diffTo(snapshot)(service));
}

/** Requests that may be rejected. */
export const requestPath = (path: string) => (service: Service) => send(service, path, { method: 'GET' });

export const getWork = (work: string, path: string): Work => ({ work, run: (service) => service.send('GET', path) });
