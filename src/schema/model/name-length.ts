/** Names that PostgreSQL keeps whole. The admin app makes them too, so nothing here needs a state. */
import { hash } from 'node:crypto';

/** PostgreSQL cuts longer names off. */
export const MAX_NAME_BYTES = 63;

const utf8 = new TextEncoder();

const bytesOf = (text: string): number => utf8.encode(text).length;

/** The name a foreign key gets when the caller gives none. Unique per table only, so it is hashed only when too long. */
export function foreignKeyName(collection: string, field: string): string {
  return fitted(`${collection}_${field}`, '_foreign', `${collection}\0${field}`);
}

/** The name, shortened where PostgreSQL would cut it off: then a hash of `key` tells it from others. */
export function fitted(base: string, suffix: string, key: string): string {
  const name = base + suffix;
  return fits(name) ? name : withHash(base, suffix, key);
}

/** With a hash of `key` before the suffix. */
export function withHash(base: string, suffix: string, key: string): string {
  const end = `_${hash('sha256', key).slice(0, 8)}${suffix}`;
  return cut(base, MAX_NAME_BYTES - end.length) + end;
}

/** Whether PostgreSQL keeps the whole name. A UTF-16 unit is at most 3 bytes, so short names need no counting. */
export function fits(name: string): boolean {
  return name.length * 3 <= MAX_NAME_BYTES || bytesOf(name) <= MAX_NAME_BYTES;
}

/** The longest beginning of `text` that is whole characters and at most `bytes` long in UTF-8. */
export function cut(text: string, bytes: number): string {
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
