/** What a body is written in. */
import { extname } from 'node:path/posix';
import { refused } from '../errors.js';
import { BYTE, skipSpace } from './json-bytes.js';

export type Notation = 'json' | 'yaml';

const NOTATIONS: ReadonlyMap<string, Notation> = new Map([
  ['application/json', 'json'],
  ['application/yaml', 'yaml'],
  ['text/yaml', 'yaml'],
  ['application/x-yaml', 'yaml'],
  ['text/x-yaml', 'yaml'],
]);

/** Types that uploaders give to files whose type they don't know. */
const UNTOLD = new Set(['', 'application/octet-stream', 'text/plain']);

const BY_EXTENSION: ReadonlyMap<string, Notation> = new Map([
  ['.json', 'json'],
  ['.yaml', 'yaml'],
  ['.yml', 'yaml'],
]);

export interface MediaType {
  /** `application/json`, lower case; empty without a Content-Type. */
  type: string;
  charset: string | null;
}

/** Of several charsets the first. What is no media type comes out as it is. */
export function mediaType(header: string | undefined): MediaType {
  const [type = '', ...parameters] = (header ?? '').split(';');
  const charset = parameters.map((text) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/i.exec(text)?.[1]).find(Boolean);
  return { type: type.trim().toLowerCase(), charset: charset?.toLowerCase() ?? null };
}

/** The notation of a body; undefined for any other. */
export function notationOf(type: string): Notation | undefined {
  return NOTATIONS.get(type);
}

/** The notation of an uploaded file, by its type, else its name, else its first character. */
export function notationOfFile(type: string, name: string, content: Uint8Array): Notation {
  const told = NOTATIONS.get(type) ?? BY_EXTENSION.get(extname(name).toLowerCase());
  if (told !== undefined) return told;
  if (UNTOLD.has(type)) return content[skipSpace(content, startOf(content))] === BYTE.openObject ? 'json' : 'yaml';
  throw unsupported(type, 'an uploaded file must be JSON or YAML');
}

/** Behind a byte-order mark. */
const startOf = ([first]: Uint8Array): number => (first === 0xef ? 3 : 0);

/** Only UTF-8, and ASCII as part of it. */
export function checkCharset(charset: string | null): void {
  if (charset === null || ['utf-8', 'utf8', 'us-ascii', 'ascii'].includes(charset)) return;
  throw refused('UNSUPPORTED_MEDIA_TYPE', `The charset ${JSON.stringify(charset)} is not supported: send UTF-8.`, {
    details: { charset },
  });
}

/** `instead`: what would be right. */
export function unsupported(type: string, instead: string): Error {
  const found = type === '' ? 'A body without a Content-Type' : `The media type ${JSON.stringify(type)}`;
  return refused('UNSUPPORTED_MEDIA_TYPE', `${found} is not supported: ${instead}.`, { details: { media_type: type } });
}
