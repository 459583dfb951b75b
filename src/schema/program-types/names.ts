/** Names of collections and fields in programs: whatever they are, the text stays what it is meant to be. */
import type { Resumable } from '../../kernel/resumable.js';
import { sortedInSteps } from '../../kernel/sorted.js';
import { byName } from '../model/state.js';

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** A member's name: as it is, or as a string. JSON's escapes leave the line terminators that some readers break at. */
export function memberName(name: string): string {
  return IDENTIFIER.test(name) && name !== '__proto__' ? name : textLiteral(name);
}

/** A string of TypeScript and of JSON. */
export const textLiteral = (text: string): string =>
  JSON.stringify(text).replaceAll(/[\u2028\u2029\u007f-\u009f]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });

/** What a comment may hold: it ends where it is meant to, and is one line. */
export const commentText = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll('*/', '*\\/')
    .trim();

/** Names of types that the program has already, as a collection's name could be written. */
const TAKEN: readonly string[] = ['Schema', 'Record', 'Array', 'Object', 'Json'];

/** A type's name for each collection, by the collections' names: `blog_posts` is `BlogPosts`. None stands twice. */
export function* typeNames(collections: Iterable<string>): Resumable<ReadonlyMap<string, string>> {
  // How many have a name already. No name holds the line that is before a number, so that numbered ones are new.
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
