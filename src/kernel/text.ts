/** Text that PostgreSQL can store. */

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
