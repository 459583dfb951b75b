/**
 * A pure function of a text that remembers what it answered. A database says `now()` and `'{}'::jsonb` thousands of
 * times, and each would go through the parser several times.
 */

/** Of one text: a long one is rarely asked for twice and isn't worth its memory. */
const MAX_LENGTH = 500;

/** Answers kept of one function; the oldest gives way. */
const MAX_ANSWERS = 2_000;

/** What `ask` throws is not remembered; what it answers is shared and must not be changed. */
export function memoize<T>(ask: (text: string) => T): (text: string) => T {
  const answers = new Map<string, T>();
  return (text) => {
    if (text.length > MAX_LENGTH) return ask(text);
    const known = answers.get(text);
    if (known !== undefined) return known;
    const answer = ask(text);
    const [oldest] = answers.size < MAX_ANSWERS ? [] : answers.keys();
    if (oldest !== undefined) answers.delete(oldest);
    answers.set(text, answer);
    return answer;
  };
}
