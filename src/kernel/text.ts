/** Checks for text that PostgreSQL can store, and names that people can read. */

const SUSPECT = /[\0\uD800-\uDFFF]/;
const LONE_SURROGATE = /\p{Cs}/u;

/** Returns why the database cannot store `text`, as the end of a sentence (`must …`), or null. */
export function textFault(text: string): string | null {
  if (!SUSPECT.test(text)) return null;
  if (text.includes('\0')) return 'must not contain the character NUL, which PostgreSQL cannot store';
  return surrogateFault(text);
}

/** Returns why `text` is not well-formed Unicode, as `textFault` does, or null. */
export const surrogateFault = (text: string): string | null =>
  LONE_SURROGATE.test(text) ? 'must be well-formed Unicode (it contains half a surrogate pair)' : null;

/**
 * Characters that could hide or reorder others on display: control characters, which include escape sequences, format
 * characters like U+202E (right-to-left override) and U+200B (zero width space), and characters without a glyph like
 * U+3164 (Hangul filler) and U+2800 (Braille pattern blank). The list also contains halves of surrogate pairs, because
 * PostgreSQL cannot store them, and replacing them would make different names equal.
 */
export const INVISIBLE = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]`;

const INVISIBLE_IN_NAME = new RegExp(INVISIBLE, 'u');

/** Returns why `name` could hide or reorder characters on display, or null. */
export function invisibleFault(name: string): string | null {
  const character = INVISIBLE_IN_NAME.exec(name)?.[0];
  if (character === undefined) return null;
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  return `must not contain control, format or invisible characters (it contains ${code})`;
}

/** U+FE0F only selects the form of an emoji. */
export const HIDDEN = String.raw`(?!\ufe0f)${INVISIBLE}`;
const HIDDEN_IN_MESSAGE = new RegExp(String.raw`(?!\n)${HIDDEN}`, 'gu');

/** Escapes invisible characters in a message. Adopted names and strings from the database may contain them. */
export const visibleText = (message: string): string =>
  message.replaceAll(HIDDEN_IN_MESSAGE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);

/** Puts a name in double quotes, for messages. Null is written without quotes. */
export const quoteName = (name: string | null): string => JSON.stringify(name);

/** Returns the kind with its article: `a table`, `an index`. */
export const addArticle = (kind: string): string => `${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}`;

/** `1 table`, `2 tables` */
export const formatCount = (count: number | bigint, noun: string): string =>
  `${count} ${noun}${Number(count) === 1 ? '' : 's'}`;

/** A uuid: 8-4-4-4-12 hexadecimal digits in either case. */
export const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Ids come from request paths and logs. A string that is not a uuid matches nothing and must never reach a query. */
export const isUuid = (text: string): boolean => UUID.test(text);

/** Quotes a string as one word in single quotes, for any POSIX shell. The shell expands nothing within the quotes. */
export const quoteForShell = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/* Positions in the log as text. */

/** Positions begin at 1. They have at most 15 digits, which JavaScript numbers represent exactly. */
const POSITION = /^[1-9]\d{0,14}$/;

/** True for a position without a sign or leading zeros. */
export const isPosition = (text: string): boolean => POSITION.test(text);
