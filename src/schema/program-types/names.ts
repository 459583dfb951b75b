/** Safe names of collections and fields in programs. */
import type { Resumable } from '../../kernel/resumable.js';
import { sortedInSteps } from '../../kernel/sorted.js';
import { byName } from '../model/state.js';

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** Returns a member name, quoted if necessary. JSON does not escape some line terminators, which are escaped here. */
export function memberName(name: string): string {
  return IDENTIFIER.test(name) && name !== '__proto__' ? name : textLiteral(name);
}

/** A string literal of TypeScript and JSON. */
export const textLiteral = (text: string): string =>
  JSON.stringify(text).replaceAll(/[\u2028\u2029\u007f-\u009f]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });

/** Text for a comment: on one line, and unable to end the comment. */
export const commentText = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll('*/', '*\\/')
    .trim();

/** Type names that the program already uses and that collections could have. */
const TAKEN: readonly string[] = ['Schema', 'Record', 'Array', 'Object', 'Json'];

/** Returns a unique type name for each collection: `blog_posts` becomes `BlogPosts`. */
export function* typeNames(collections: Iterable<string>): Resumable<ReadonlyMap<string, string>> {
  // Number of uses per name. Names never contain the underscore before a number, so numbered names are unique.
  const taken = new Map(TAKEN.map((name) => [name, 1]));
  const found = new Map<string, string>();
  for (const collection of yield* sortedInSteps(collections, byName)) {
    const words = collection.split(/[^A-Za-z0-9]+/);
    const joined = words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('');
    const name = /^[A-Za-z]/.test(joined) ? joined : `Collection${joined}`;
    const number = (taken.get(name) ?? 0) + 1;
    taken.set(name, number);
    found.set(collection, number === 1 ? name : `${name}_${number}`);
    yield;
  }
  return found;
}
