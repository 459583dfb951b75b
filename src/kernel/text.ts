/** Text that PostgreSQL can store, and names that people can read. */

const SUSPECT = /[\0\uD800-\uDFFF]/;
const LONE_SURROGATE = /\p{Cs}/u;

/** Why `text` can't be sent to the database, to be put behind what it is: `must …`. Null: it can. */
export function textFault(text: string): string | null {
  if (!SUSPECT.test(text)) return null;
  if (text.includes('\0')) return 'must not hold the character NUL, which PostgreSQL cannot store';
  return surrogateFault(text);
}

/** The part of `textFault` that is about UTF-8. */
export const surrogateFault = (text: string): string | null =>
  LONE_SURROGATE.test(text) ? 'must be well-formed Unicode (it holds half a surrogate pair)' : null;

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/**
 * Why `name` could hide or reorder characters where it is shown, or `null`. Control characters include escape sequences;
 * format characters include U+202E (right-to-left override) and U+200B (zero width space).
 */
export function invisibleFault(name: string): string | null {
  const found = INVISIBLE.exec(name)?.[0];
  if (found === undefined) return null;
  const code = `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  return `must not contain control or format characters (it contains ${code})`;
}

const HIDDEN = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A message with control and format characters escaped: adopted names and texts from the database may contain them. */
export const visibleText = (message: string): string =>
  message.replaceAll(HIDDEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
