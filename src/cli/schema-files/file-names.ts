/**
 * Names of collections as names of files, and back. Every file system has these: lower-case letters of ASCII, digits,
 * `_`, `-`, and `%` with two hexadecimal digits for each byte of anything else. Two names never meet, also where
 * the file system sees no difference of case; the longest name (63 bytes) makes 194 characters.
 */

const END = '.yaml';

const PLAIN = /^[a-z0-9_-]$/;

/** Device names on Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;

/** `posts.yaml`, `%50osts.yaml`. */
export function fileNameOf(collection: string): string {
  // A name with a leading hyphen would look like an option.
  const first = DEVICE.test(collection) || collection.startsWith('-') ? 1 : 0;
  const bytes = [...Buffer.from(collection, 'utf8')];
  return bytes.map((byte, index) => (index < first ? escaped(byte) : written(byte))).join('') + END;
}

function written(byte: number): string {
  const character = String.fromCharCode(byte);
  return PLAIN.test(character) ? character : escaped(byte);
}

const escaped = (byte: number): string => `%${byte.toString(16).padStart(2, '0')}`;

/** The collection of a file name; null for other names. */
export function collectionOf(fileName: string): string | null {
  const stem = fileName.slice(0, -END.length);
  if (!/^(?:[a-z0-9_-]|%[0-9a-f]{2})+$/.test(stem)) return null;
  const name = decoded(stem);
  return name !== null && fileNameOf(name) === fileName ? name : null;
}

function decoded(stem: string): string | null {
  try {
    return decodeURIComponent(stem);
  } catch {
    return null;
  }
}
