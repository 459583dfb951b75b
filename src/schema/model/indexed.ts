/** Secondary indexes of persistent maps. An index is built once and updated when a few values change. */
import { Map as PersistentMap, Set as PersistentSet } from 'immutable';
import { createAttachment } from '../../kernel/attachment.js';
import { type Resumable, runToEnd, pausingEvery } from '../../kernel/resumable.js';

type Index = PersistentMap<string, PersistentSet<string>>;
type WordsOf<V> = (value: V) => Iterable<string>;

const known = createAttachment<PersistentMap<string, never>, Map<WordsOf<never>, Index>>();

export interface IndexedBy<V> {
  /** Returns the keys whose values contain the word. */
  (map: PersistentMap<string, V>, word: string): PersistentSet<string>;
  /** Builds the index of a large map in steps, unless it exists. */
  inSteps(map: PersistentMap<string, V>): Resumable<void>;
}

/** Each `wordsOf` has its own index, so create it once. A word without values returns an empty set. */
export function indexed<V>(wordsOf: WordsOf<V>): IndexedBy<V> {
  const indexOf = function* (map: PersistentMap<string, V>): Resumable<Index> {
    const there = known.get(map as PersistentMap<string, never>)?.get(wordsOf);
    return there ?? (yield* build(map, wordsOf));
  };
  const keysOf = (map: PersistentMap<string, V>, word: string): PersistentSet<string> =>
    runToEnd(indexOf(map)).get(word) ?? PersistentSet<string>();
  return Object.assign(keysOf, {
    *inSteps(map: PersistentMap<string, V>): Resumable<void> {
      yield* indexOf(map);
    },
  });
}

/** Values per step. */
const AT_ONCE = 500;

function* build<V>(map: PersistentMap<string, V>, wordsOf: WordsOf<V>): Resumable<Index> {
  const index = PersistentMap<string, PersistentSet<string>>().asMutable();
  const pause = pausingEvery(AT_ONCE);
  for (const [key, value] of map) {
    for (const word of wordsOf(value)) add(index, word, key);
    yield* pause();
  }
  const made = index.asImmutable();
  const there = known.get(map as PersistentMap<string, never>) ?? new Map<WordsOf<never>, Index>();
  known.set(map as PersistentMap<string, never>, there.set(wordsOf, made));
  return made;
}

/** If more than one in this many values changed, rebuilding the index is faster than updating it. */
const SHARE = 16;

/**
 * Returns `after` with the indexes of `before` updated.
 * @param keys at least all keys whose values differ
 */
export function carried<V>(
  before: PersistentMap<string, V>,
  after: PersistentMap<string, V>,
  keys: ReadonlySet<string>,
): PersistentMap<string, V> {
  const there = known.get(before as PersistentMap<string, never>);
  if (there === undefined || before === after || keys.size * SHARE > after.size) return after;
  const indexes = new Map<WordsOf<never>, Index>();
  for (const [wordsOf, index] of there) {
    const words = wordsOf as WordsOf<V>;
    indexes.set(
      wordsOf,
      index.withMutations((next) => {
        for (const key of keys) {
          const [old, now] = [before.get(key), after.get(key)];
          if (old === now) continue;
          for (const word of old === undefined ? [] : words(old)) remove(next, word, key);
          for (const word of now === undefined ? [] : words(now)) add(next, word, key);
        }
      }),
    );
  }
  known.set(after as PersistentMap<string, never>, indexes);
  return after;
}

function add(index: Index, word: string, key: string): void {
  index.set(word, (index.get(word) ?? PersistentSet<string>()).add(key));
}

function remove(index: Index, word: string, key: string): void {
  const rest = index.get(word)?.delete(key);
  if (rest === undefined || rest.isEmpty()) index.delete(word);
  else index.set(word, rest);
}
