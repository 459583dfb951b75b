/** Schema actions that a few words find: `new field articles`. */
import type { NavigateOptions } from '@tanstack/react-router';
import type { Heading } from 'docs:headings';
import type { EditName } from '../editing/edit-names.js';
import type { ListedCollection, FieldDocument } from '../service/types.js';
import type { PARTS, PageEntry } from './pages.js';

/* The input and output of the search. */

export interface SearchHit {
  kind: 'page' | 'collection' | 'field' | 'guide' | 'action' | 'history';
  key: string;
  label: string;
  description: string;
  icon: string | null;
  to: NavigateOptions;
}

export interface Searched {
  pages: readonly PageEntry[];
  parts: typeof PARTS;
  /** Headings of the guides. */
  headings: readonly Heading[];
  collections: readonly ListedCollection[];
  fields: readonly Pick<FieldDocument, 'collection' | 'field' | 'type'>[];
  /** Includes actions that change the schema. */
  mayEdit: boolean;
  /** Includes the timeline, which searches reasons and actors. */
  mayReadHistory: boolean;
  /** The collection of the open page. */
  here: string | undefined;
}

const MOST = 30;

/** Equal names first, then prefixes, then other matches. */
export function best<T>(items: readonly T[], text: string, nameOf: (item: T) => string): T[] {
  const groups: [T[], T[], T[]] = [[], [], []];
  for (const item of items) {
    const name = nameOf(item).toLowerCase();
    const at = name.indexOf(text);
    if (at < 0) continue;
    const group = name.length === text.length ? groups[0] : at === 0 ? groups[1] : groups[2];
    if (group.length < MOST) group.push(item);
  }
  return groups.flat().slice(0, MOST);
}

const MAKING: readonly { label: string; to: NavigateOptions }[] = [
  { label: 'New collection', to: { to: '/new' } },
  { label: 'New folder', to: { to: '/new', search: { as: 'folder' } } },
];

/** Typed before the name of a collection: `new field articles`. */
const DOING: readonly { words: string; label: (name: string) => string; edit: EditName; ofTables: boolean }[] = [
  { words: 'new field', label: (name) => `New field in ${name}`, edit: 'new-field', ofTables: true },
  { words: 'new relation', label: (name) => `New relation of ${name}`, edit: 'new-relation', ofTables: true },
  { words: 'edit', label: (name) => `Edit ${name}`, edit: 'collection', ofTables: false },
  { words: 'rename', label: (name) => `Rename ${name}`, edit: 'rename', ofTables: false },
  { words: 'delete', label: (name) => `Delete ${name}`, edit: 'delete', ofTables: false },
];

/** Maximum per kind. */
const MOST_ACTIONS = 6;

/**
 * Create actions first, then at most six of each edit. They apply to the open collection unless another is named.
 * @param text the input in lower case
 */
export function actionsFor(text: string, { collections, here }: Pick<Searched, 'collections' | 'here'>): SearchHit[] {
  const made = MAKING.filter(({ label }) => label.toLowerCase().includes(text)).map(({ label, to }) =>
    actionFound(label, to),
  );
  const done = DOING.flatMap(({ words, label, edit, ofTables }) => {
    const fitting = collections.filter(({ schema }) => !ofTables || schema !== null);
    return namesFor({ wanted: text, words, here }, fitting).map(({ collection: name }) =>
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

/** While the words themselves are typed, the action applies to the open collection. */
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
  description: 'Adds to the draft',
  icon: null,
  to,
});
