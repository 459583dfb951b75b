/** Internal details that responses must not contain, unless a request sent them. */
import { encode, type FuzzRequest } from './request.js';

const INSIDE = /\.[jt]s:\d|node_modules|SELECT .*? FROM|INSERT INTO|at Object\.|service_events_/g;

/** All matches in a text. Escapes of JSON and YAML are ignored. */
export const insideOf = (text: string): string[] => text.replaceAll('\\', '').match(INSIDE) ?? [];

/** All matches in a request. Later responses may quote them. */
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
