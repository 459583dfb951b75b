import { ok, refuse, type Problem, type Result } from '../../kernel/problem.js';
import { INVISIBLE, invisibleFault } from '../../kernel/text.js';

export const PASSWORD_LENGTH = { min: 12, max: 256 } as const;

export const NAME_LENGTH = { min: 1, max: 255 } as const;

/** Checks the name of a user. Terminals and the history show it, so it must not contain invisible characters. */
export function checkName(name: string | undefined): Result<null> {
  if (name === undefined) return ok(null);
  const { min, max } = NAME_LENGTH;
  const fault = name.length < min || name.length > max ? `must have ${min} to ${max} characters` : invisibleFault(name);
  return fault === null ? ok(null) : refuse(invalid('name', `The name ${fault}.`));
}

/** @param password null or undefined if the user gets no password */
export function checkPassword(
  password: string | null | undefined,
  owner: { email: string; name?: string | undefined },
): Result<null> {
  if (password == null) return ok(null);
  const fault = passwordFault(password, owner);
  return fault === null ? ok(null) : refuse(invalid('password', `The password ${fault}.`));
}

/** An invitation link contains a password, so each invitation sets one. */
export function checkInvitation(user: {
  invitation?: boolean | undefined;
  password?: string | null | undefined;
}): Result<null> {
  if (user.invitation !== true || user.password != null) return ok(null);
  return refuse(invalid('invitation', 'An invitation requires a new password.'));
}

/** Such names mark pipelines in the log. */
const PIPELINE_PREFIX = 'ci:';

/** Users must not have the name of a pipeline. Compatible characters such as a full-width colon look the same. */
export function checkUserName(name: string | undefined): Result<null> {
  const letters = (name ?? '').normalize('NFKC').replaceAll(/\s/g, '').toLowerCase();
  if (!letters.startsWith(PIPELINE_PREFIX)) return checkName(name);
  return refuse(invalid('name', 'The name must not begin with "ci:", because pipelines have such names in the log.'));
}

const invalid = (path: string, message: string): Problem => ({ code: 'INVALID_PAYLOAD', message, path });

/** Minimum number of different characters outside guessable parts. */
const LEAST_DIFFERENT = 5;

/** Explains why the password is easy to guess, as a continuation of `The password`. Null if it is accepted. */
export function passwordFault(
  password: string,
  { email, name = '' }: { email: string; name?: string | undefined },
): string | null {
  const { min, max } = PASSWORD_LENGTH;
  if (password.length < min || password.length > max) return `must have ${min} to ${max} characters`;
  const text = password.normalize('NFKC').toLowerCase();
  const own = partsOf(`${email} ${name}`.normalize('NFKC').toLowerCase());
  const unit = repeatedUnit(text);
  if (unit.length < Math.min(text.length, min)) return 'must not repeat a short string';
  const words = [...own, ...COMMON_WORDS].toSorted((a, b) => b.length - a.length);
  const rest = withoutSequences(withoutWords(unit, words)).replaceAll(BLANK, '');
  if (new Set(rest).size >= LEAST_DIFFERENT) return null;
  return 'is easy to guess. It must not consist of blanks, sequences, common words, or parts of the name or e-mail address';
}

const BLANK = new RegExp(String.raw`\s|${INVISIBLE}`, 'gu');

/**
 * Passwords are searched for parts of the user's name or address that have at least this length. Shorter parts occur in
 * too many ordinary words.
 */
const SHORTEST_PART = 3;

const partsOf = (text: string): string[] =>
  text.split(/[^\p{L}\p{N}]+/u).filter((part) => part.length >= SHORTEST_PART);

/** Returns the shortest text whose repetition begins with `text`. */
function repeatedUnit(text: string): string {
  for (let length = 1; length <= text.length / 2; length += 1) {
    const unit = text.slice(0, length);
    if (unit.repeat(Math.ceil(text.length / length)).startsWith(text)) return unit;
  }
  return text;
}

const SUBSTITUTES: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};

/** Replaces words with blanks, even if characters in them were substituted in a common way. */
function withoutWords(text: string, words: readonly string[]): string {
  const plain = text.replaceAll(/[013457@$!]/g, (each) => SUBSTITUTES[each] ?? each);
  const kept = text.split('');
  for (const word of words) {
    for (const searched of [text, plain]) {
      for (let at = searched.indexOf(word); at >= 0; at = searched.indexOf(word, at + 1))
        kept.fill(' ', at, at + word.length);
    }
  }
  return kept.join('');
}

const KEYBOARD_ROWS = ['1234567890', 'qwertyuiop', 'qwertzuiop', 'azertyuiop', 'asdfghjkl', 'yxcvbnm', 'zxcvbnm'];

/** Minimum length of a sequence that is removed. */
const SHORTEST_SEQUENCE = 4;

/** Removes runs of the alphabet, of digits, of keyboard rows and of one character, in both directions. */
function withoutSequences(text: string): string {
  const characters = Array.from(text);
  let rest = '';
  for (let start = 0; start < characters.length;) {
    let end = start + 1;
    const step = stepBetween(characters[start], characters[end]);
    while (step !== null && stepBetween(characters[end - 1], characters[end]) === step) end += 1;
    if (end - start < SHORTEST_SEQUENCE) {
      rest += characters[start] ?? '';
      start += 1;
    } else start = end;
  }
  return rest;
}

/** Returns the step between two consecutive characters. Null if they are not in a sequence. */
function stepBetween(one: string | undefined, other: string | undefined): string | null {
  if (one === undefined || other === undefined) return null;
  const difference = (other.codePointAt(0) ?? 0) - (one.codePointAt(0) ?? 0);
  if (Math.abs(difference) <= 1) return String(difference);
  const row = KEYBOARD_ROWS.find((each) => each.includes(one + other) || each.includes(other + one));
  return row === undefined ? null : row.includes(one + other) ? 'right' : 'left';
}

/** The most common leaked passwords, and names of services like this one. */
const COMMON_WORDS = (
  'password passwort passwd pass admin administrator root superuser user username login welcome willkommen ' +
  'letmein changeme change secret geheim default test testing guest iloveyou love monkey dragon football baseball ' +
  'basketball soccer hockey sunshine princess master shadow superman batman trustno hello freedom whatever ' +
  'michael jordan charlie ashley daniel jessica thomas george computer internet database postgres postgresql directus ' +
  'data platform service server system summer winter spring autumn sommer herbst fruehling january february march april ' +
  'june july august september october november december monday tuesday wednesday thursday friday saturday sunday ' +
  'google facebook apple samsung pokemon starwars matrix ninja cookie cheese flower hunter killer mustang corvette access'
).split(' ');
