/** What answers may not show of the service's inside, unless just that was sent before. */
import { encode, type FuzzRequest } from './request.js';

const INSIDE = /\.[jt]s:\d|node_modules|SELECT .*? FROM|INSERT INTO|at Object\.|service_events_/g;

/** Everything in a text that looks like it; the escapes of JSON and of YAML are no difference. */
export const insideOf = (text: string): string[] => text.replaceAll('\\', '').match(INSIDE) ?? [];

/** The same of a request: its names may be quoted by any answer from then on. */
export function sentOf(request: FuzzRequest): string[] {
  const { path, headers, body } = encode(request, {});
  return [decoded(path), ...Object.values(headers), body?.toString() ?? ''].flatMap(insideOf);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path.replaceAll('+', ' '));
  } catch {
    return path;
  }
}
