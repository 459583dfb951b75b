import { extname } from 'node:path/posix';
import { refused } from '../errors.js';
import { BYTE, skipSpace } from './json.js';

export type Notation = 'json' | 'yaml';

const NOTATIONS: ReadonlyMap<string, Notation> = new Map([
  ['application/json', 'json'],
  ['application/yaml', 'yaml'],
  ['text/yaml', 'yaml'],
  ['application/x-yaml', 'yaml'],
  ['text/x-yaml', 'yaml'],
]);

/** The media types that clients send for files of unknown type. */
const UNTOLD = new Set(['', 'application/octet-stream', 'text/plain']);

const BY_EXTENSION: ReadonlyMap<string, Notation> = new Map([
  ['.json', 'json'],
  ['.yaml', 'yaml'],
  ['.yml', 'yaml'],
]);

export interface MediaType {
  /** The type in lower case, such as `application/json`. Empty without a Content-Type. */
  type: string;
  charset: string | null;
}

/** Parses a media type. Of several charsets, the first one counts. An invalid media type is returned unchanged. */
export function mediaType(header: string | undefined): MediaType {
  const [type = '', ...parameters] = (header ?? '').split(';');
  const charset = parameters.map((text) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/i.exec(text)?.[1]).find(Boolean);
  return { type: type.trim().toLowerCase(), charset: charset?.toLowerCase() ?? null };
}

/** Returns the notation of a media type. Undefined for other types. */
export function notationOf(type: string): Notation | undefined {
  return NOTATIONS.get(type);
}

/** Returns the notation of a file, determined by the media type, then the file name, and then the first character. */
export function notationOfFile(type: string, name: string, content: Uint8Array): Notation {
  const notation = NOTATIONS.get(type) ?? BY_EXTENSION.get(extname(name).toLowerCase());
  if (notation !== undefined) return notation;
  if (UNTOLD.has(type)) return content[skipSpace(content, startOf(content))] === BYTE.openObject ? 'json' : 'yaml';
  throw unsupported(type, 'an uploaded file must be JSON or YAML');
}

/** Returns the offset of the content after a byte-order mark. */
const startOf = ([first]: Uint8Array): number => (first === 0xef ? 3 : 0);

/** Accepts only UTF-8, and ASCII as a subset. */
export function checkCharset(charset: string | null): void {
  if (charset === null || ['utf-8', 'utf8', 'us-ascii', 'ascii'].includes(charset)) return;
  throw refused('UNSUPPORTED_MEDIA_TYPE', `The charset ${JSON.stringify(charset)} is not supported. Use UTF-8.`, {
    details: { charset },
  });
}

/** @param instead the media type that is expected */
export function unsupported(type: string, instead: string): Error {
  const subject = type === '' ? 'A body without a Content-Type' : `The media type ${JSON.stringify(type)}`;
  return refused('UNSUPPORTED_MEDIA_TYPE', `${subject} is not supported: ${instead}.`, {
    details: { media_type: type },
  });
}
