/** Suggests a reason from the changes. */
import { counted } from '../../../shared/amounts.js';
import { brief } from '../../../shared/brief.js';
import type { Item } from './items.js';
import { type Phrase, plain } from './phrase.js';
import { nameOf, sentencesOf } from './sentences.js';

const MOST = 3;
const LONGEST = 240;
/** The service's maximum length. */
export const LONGEST_REASON = 1000;

/** @param items the items to apply */
export function reasonFor(items: readonly Item[]): string {
  const news = new Set(items.filter(isNewCollection).map(({ collection }) => collection));
  const gone = new Set(items.filter(isGoneCollection).map(({ collection }) => collection));
  // Objects created or removed with their collection are covered by it.
  const told = items.filter(
    (item) => item.part === 'collections' || !(news.has(item.collection) || gone.has(item.collection)),
  );
  const sentences = told.slice(0, MOST).map((item) => sentenceOf(item, items));
  const more = told.length > MOST ? [counted(told.length - MOST, 'more change')] : [];
  return brief([...sentences, ...more].join('. '), LONGEST);
}

function sentenceOf(item: Item, items: readonly Item[]): string {
  const [first] = sentencesOf(item, (collection) => countFields(items, collection));
  const more = item.how === 'changed' && item.members.length > 1 ? ` (and ${item.members.length - 1} more)` : '';
  const text = first === undefined ? nameOf(item) : plain(item.part === 'fields' ? qualified(first, item) : first);
  return `${text}${more}`;
}

/** A field is named with its collection: there is no heading above a reason. */
function qualified(phrase: Phrase, { collection }: Item): Phrase {
  const at = phrase.findIndex((part) => typeof part !== 'string');
  return phrase.map((part, index) =>
    index === at && typeof part !== 'string' ? { name: `${collection}.${part.name}` } : part,
  );
}

/** Counts are cached per list of items. */
const fieldCounts = new WeakMap<readonly Item[], ReadonlyMap<string, number>>();

/** The new fields of a collection. */
export function countFields(items: readonly Item[], collection: string): number {
  const counts = fieldCounts.get(items) ?? countsOf(items);
  fieldCounts.set(items, counts);
  return counts.get(collection) ?? 0;
}

function countsOf(items: readonly Item[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { part, how, collection } of items) {
    if (part === 'fields' && how === 'made') counts.set(collection, (counts.get(collection) ?? 0) + 1);
  }
  return counts;
}

const isNewCollection = ({ part, how }: Item): boolean => part === 'collections' && how === 'made';
const isGoneCollection = ({ part, how }: Item): boolean => part === 'collections' && how === 'removed';
