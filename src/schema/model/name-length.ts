/** Shortens names to PostgreSQL's length limit. The admin app uses these functions too, so they need no state. */
import { hash } from 'node:crypto';

/** PostgreSQL truncates longer names. */
export const MAX_NAME_BYTES = 63;

const utf8 = new TextEncoder();

const bytesOf = (text: string): number => utf8.encode(text).length;

/**
 * Returns the default name of a foreign key. The name must be unique only in its table, so it contains a hash only if
 * it would be too long.
 */
export function foreignKeyName(collection: string, field: string): string {
  return fitName(`${collection}_${field}`, '_foreign', `${collection}\0${field}`);
}

/**
 * Returns the name of `base` and `suffix`. If PostgreSQL would truncate the name, it is shortened and gets a hash of
 * `key`.
 */
export function fitName(base: string, suffix: string, key: string): string {
  const name = base + suffix;
  return fitsNameLimit(name) ? name : withHash(base, suffix, key);
}

/** Shortens `base` and inserts a hash of `key` before the suffix. */
export function withHash(base: string, suffix: string, key: string): string {
  const end = `_${hash('sha256', key).slice(0, 8)}${suffix}`;
  return truncateBytes(base, MAX_NAME_BYTES - end.length) + end;
}

/**
 * True if PostgreSQL does not truncate the name. A UTF-16 unit has at most 3 bytes, so short names need no counting.
 */
export function fitsNameLimit(name: string): boolean {
  return name.length * 3 <= MAX_NAME_BYTES || bytesOf(name) <= MAX_NAME_BYTES;
}

/** Returns the longest prefix of whole characters with at most `bytes` bytes in UTF-8. */
export function truncateBytes(text: string, bytes: number): string {
  if (bytesOf(text) <= bytes) return text;
  let length = 0;
  let end = 0;
  for (const character of text) {
    length += bytesOf(character);
    if (length > bytes) break;
    end += character.length;
  }
  return text.slice(0, end);
}
