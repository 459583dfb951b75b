import type { Resumable } from '../../kernel/resumable.js';

export const BYTE = {
  quote: 0x22,
  backslash: 0x5c,
  comma: 0x2c,
  colon: 0x3a,
  openObject: 0x7b,
  closeObject: 0x7d,
  openArray: 0x5b,
  closeArray: 0x5d,
} as const;

const SPACE = 0x20;

/** The maximum run of white space, because skipping more would take too long. */
const MAX_SPACE = 4 * 1024 * 1024;

/** The end of the white space at `from`, or where it exceeds the maximum. */
export function skipSpace(bytes: Uint8Array, from: number): number {
  const end = from + MAX_SPACE;
  let at = from;
  for (let byte = bytes[at]; isSpace(byte) && at < end; byte = bytes[at]) at++;
  return at;
}

const isSpace = (byte: number | undefined): boolean =>
  byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;

/**
 * The position after the closing quote of the string at `from`, or the negative position of a fault. Reads at most
 * `limit` bytes.
 */
export function endOfString(bytes: Uint8Array, from: number, limit: number): number {
  const end = Math.min(bytes.length, from + limit);
  for (let at = from + 1; ; at++) {
    const byte = bytes[at];
    if (byte === BYTE.quote) return at + 1;
    if (at >= end || byte === undefined || byte < SPACE) return -at;
    if (byte !== BYTE.backslash) continue;
    at = endOfEscape(bytes, at + 1);
    if (at < 0) return at;
  }
}

const ESCAPED: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));
const HEX = /^[0-9a-fA-F]{4}$/;

/** The last byte of the escape whose letter is at `at`, or the negative position of a fault. */
function endOfEscape(bytes: Uint8Array, at: number): number {
  const letter = bytes[at];
  if (letter !== undefined && ESCAPED.has(letter)) return at;
  const isCode = letter === 0x75 && HEX.test(String.fromCharCode(...bytes.subarray(at + 1, at + 5)));
  return isCode ? at + 4 : -at;
}

const LITERALS: readonly Uint8Array[] = ['true', 'false', 'null'].map((text) => Buffer.from(text));

/** The end of the number or literal at `from`, or the negative position of a fault. */
export function endOfLiteral(bytes: Uint8Array, from: number): number {
  const found = LITERALS.find((literal) => literal[0] === bytes[from]);
  if (found === undefined) return endOfNumber(bytes, from);
  for (let index = 1; index < found.length; index++) if (bytes[from + index] !== found[index]) return -(from + index);
  return from + found.length;
}

const MINUS = 0x2d;
const ZERO = 0x30;

function endOfNumber(bytes: Uint8Array, from: number): number {
  let at = bytes[from] === MINUS ? from + 1 : from;
  at = bytes[at] === ZERO ? at + 1 : digits(bytes, at);
  if (at > 0 && bytes[at] === 0x2e) at = digits(bytes, at + 1);
  if (at > 0 && (bytes[at] === 0x65 || bytes[at] === 0x45)) {
    const sign = bytes[at + 1];
    at = digits(bytes, sign === MINUS || sign === 0x2b ? at + 2 : at + 1);
  }
  return at;
}

/** The end of one or more digits at `from`. */
function digits(bytes: Uint8Array, from: number): number {
  let at = from;
  for (let byte = bytes[at]; byte !== undefined && byte >= ZERO && byte <= 0x39; byte = bytes[at]) at++;
  return at > from ? at : -from;
}

/** Line and column of a position, starting at 1. Columns count characters. */
export function* lineAndColumn(bytes: Uint8Array, at: number): Resumable<{ line: number; column: number }> {
  let [line, column] = [1, 1];
  for (let index = 0; index < at; index++) {
    const byte = bytes[index] as number;
    if (byte === 0x0a) {
      line += 1;
      column = 1;
    } else if ((byte & 0xc0) !== 0x80) column += 1;
    if (index % 100_000 === 0) yield;
  }
  return { line, column };
}
