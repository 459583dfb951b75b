/** What can be done to the schema, by a few words: `new field articles`. */
import type { NavigateOptions } from '@tanstack/react-router';
import type { EditName } from '../editing/edit-names.js';
import type { ListedCollection } from '../service/types.js';
import { best } from './rank-names.js';
import type { SearchHit, Searched } from './search-model.js';

const MAKING: readonly { label: string; to: NavigateOptions }[] = [
  { label: 'New collection', to: { to: '/new' } },
  { label: 'New folder', to: { to: '/new', search: { as: 'folder' } } },
];

/** Typed with the name of a collection behind them: `new field articles`. */
const DOING: readonly { words: string; label: (name: string) => string; edit: EditName; ofTables: boolean }[] = [
  { words: 'new field', label: (name) => `New field of ${name}`, edit: 'new-field', ofTables: true },
  { words: 'new relation', label: (name) => `New relation of ${name}`, edit: 'new-relation', ofTables: true },
  { words: 'edit', label: (name) => `Edit ${name}`, edit: 'collection', ofTables: false },
  { words: 'rename', label: (name) => `Rename ${name}`, edit: 'rename', ofTables: false },
  { words: 'delete', label: (name) => `Delete ${name}`, edit: 'delete', ofTables: false },
];

/** So many of one kind. */
const MOST_ACTIONS = 6;

/**
 * What can be made comes first, then at most six of each edit: of the open collection while no other one is named.
 * @param wanted what was typed, in lower case
 */
export function actionsFor(wanted: string, { collections, here }: Pick<Searched, 'collections' | 'here'>): SearchHit[] {
  const made = MAKING.filter(({ label }) => label.toLowerCase().includes(wanted)).map(({ label, to }) =>
    actionFound(label, to),
  );
  const done = DOING.flatMap(({ words, label, edit, ofTables }) => {
    const fitting = collections.filter(({ schema }) => !ofTables || schema !== null);
    return namesFor({ wanted, words, here }, fitting).map(({ collection: name }) =>
      actionFound(label(name), { to: '/collections/$name', params: { name }, search: { edit } }),
    );
  });
  return [...made, ...done];
}

interface Wanted {
  wanted: string;
  words: string;
  here: string | undefined;
}

/** While the words themselves are typed, it is about the collection that is open. */
function namesFor({ wanted, words, here }: Wanted, collections: readonly ListedCollection[]): ListedCollection[] {
  if (!wanted.startsWith(words)) {
    return words.startsWith(wanted) ? collections.filter(({ collection }) => collection === here) : [];
  }
  const name = wanted.slice(words.length).replace(/^ *(?:of |in )?/, '');
  const first = name === '' ? collections.filter(({ collection }) => collection === here) : [];
  return [...new Set([...first, ...best(collections, name, ({ collection }) => collection)])].slice(0, MOST_ACTIONS);
}

const actionFound = (label: string, to: NavigateOptions): SearchHit => ({
  kind: 'action',
  key: `action ${label}`,
  label,
  description: 'Into the draft',
  icon: null,
  to,
});
