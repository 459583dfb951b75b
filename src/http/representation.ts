/** A body that can be asked for again: bytes with a strong validator, and the 304 that spares them. */
import type { Rendered } from '../reads/rendered.js';
import type { Answer } from './answer.js';

export interface Representation extends Rendered {
  /** Its media type. */
  type: string;
  /** Position of the schema that it reflects; without: it reflects none. */
  position?: number;
}

/** 200 with the bytes, or 304 when `ifNoneMatch` holds their tag. `no-cache`: keep it, but ask before each use. */
export function representationAnswer(
  { body, etag, type, position }: Representation,
  ifNoneMatch: string | undefined,
  headers: readonly string[] = [],
): Answer {
  const at = position === undefined ? {} : { position };
  const validators = ['ETag', etag, 'Cache-Control', 'no-cache', 'Vary', 'Authorization'];
  if (ifNoneMatch !== undefined && matches(ifNoneMatch, etag)) {
    return { status: 304, headers: validators, body: null, ...at };
  }
  const content = ['Content-Type', type, 'Content-Length', String(body.length)];
  return { status: 200, headers: [...content, ...validators, ...headers], body, ...at };
}

/** If-None-Match compares weakly (RFC 9110, 13.1.2): proxies that recode a body mark its tag as weak. */
function matches(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);
}
