/* Counts changes. Every page that shows a number of changes uses these functions, so that the numbers agree. */
import { locale } from '../language.js';
import { messages } from './messages.js';

export interface CountedChange {
  part: 'collections' | 'fields' | 'relations' | 'objects';
  /** The name of the collection, or the id of an object. */
  collection: string;
  field: string | null;
  /** The kind of an object. */
  kind?: string | null;
  mark: 'made' | 'restored' | 'changed' | 'renamed' | 'removed';
}

/** Returns the changes without the content of new and deleted collections, which counts as part of the collection. */
export function dropContents<T extends CountedChange>(changes: readonly T[]): T[] {
  const whole = new Set(
    changes
      .filter(({ part, mark }) => part === 'collections' && signOf(mark) !== '~')
      .map(({ collection }) => collection),
  );
  return changes.filter(
    ({ part, collection }) => part === 'collections' || part === 'objects' || !whole.has(collection),
  );
}

export type Sign = '+' | '~' | '−';

const SIGN_OF: Readonly<Record<CountedChange['mark'], Sign>> = {
  made: '+',
  restored: '+',
  changed: '~',
  renamed: '~',
  removed: '−',
};

export const signOf = (mark: CountedChange['mark']): Sign => SIGN_OF[mark];

/**
 * Returns a string such as `3 changes in 1 collection and 1 view`. Kinds other than views count as objects. An object that
 * is deleted and replaced counts twice. An object that occurs twice because the changes were loaded in parts counts once.
 */
export function totalText(all: readonly CountedChange[]): string {
  const changes = distinctChanges(all);
  const namesOf = (isObject: boolean) =>
    new Set(changes.flatMap(({ part, collection }) => ((part === 'objects') === isObject ? [collection] : []))).size;
  const [collections, objects] = [namesOf(false), namesOf(true)];
  const areViews = changes.every(({ part, kind }) => part !== 'objects' || kind?.endsWith('view'));
  const { total, inCollections, inViews, inObjects } = messages;
  const parts = [
    ...(collections > 0 || objects === 0 ? [inCollections(collections)] : []),
    ...(objects > 0 ? [areViews ? inViews(objects) : inObjects(objects)] : []),
  ];
  return total(changes.length, new Intl.ListFormat(locale).format(parts));
}

/** Returns the number of `totalText`. */
export const countChanges = (all: readonly CountedChange[]): number => distinctChanges(all).length;

const distinctChanges = (all: readonly CountedChange[]): CountedChange[] => [
  ...new Map(dropContents(all).map((change) => [identityOf(change), change])).values(),
];

const identityOf = ({ part, collection, field, kind, mark }: CountedChange): string =>
  [part, collection, field, kind, mark === 'removed'].join('\0');
