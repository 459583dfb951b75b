/** Which names fit what was typed, the best first. */
import type { NavigateOptions } from '@tanstack/react-router';
import type { FieldDocument, ListedCollection } from '../service/types.js';
import { brief } from '../shared/brief.js';
import type { PageEntry } from './pages.js';

export interface Found {
  kind: 'page' | 'collection' | 'field';
  key: string;
  label: string;
  description: string;
  /** Its Material name, of a collection. */
  icon: string | null;
  to: NavigateOptions;
}

interface Searched {
  pages: readonly PageEntry[];
  collections: readonly ListedCollection[];
  fields: readonly Pick<FieldDocument, 'collection' | 'field' | 'type'>[];
}

/** More than anybody reads. */
const MOST = 30;

/** @param needle what was typed; empty: the pages, and the first collections */
export function findFor(needle: string, { pages, collections, fields }: Searched): Found[] {
  const wanted = needle.toLowerCase();
  const ranked = [
    ...best(pages, wanted, ({ label }) => label).map(pageFound),
    ...best(collections, wanted, ({ collection }) => collection).map(collectionFound),
    ...(wanted === '' ? [] : best(fields, wanted, (field) => nameFor(wanted, field)).map(fieldFound)),
  ];
  return ranked.slice(0, MOST);
}

/** `orders.total` is looked for in both names. */
const nameFor = (wanted: string, { collection, field }: Searched['fields'][number]): string =>
  wanted.includes('.') ? `${collection}.${field}` : field;

/** Equal, then those that begin so, then those that hold it. */
function best<T>(items: readonly T[], wanted: string, nameOf: (item: T) => string): T[] {
  const groups: [T[], T[], T[]] = [[], [], []];
  for (const item of items) {
    const name = nameOf(item).toLowerCase();
    const at = name.indexOf(wanted);
    if (at < 0) continue;
    const group = name.length === wanted.length ? groups[0] : at === 0 ? groups[1] : groups[2];
    if (group.length < MOST) group.push(item);
  }
  return groups.flat().slice(0, MOST);
}

const pageFound = ({ to, label, search }: PageEntry): Found => ({
  kind: 'page',
  key: `page ${to} ${label}`,
  label,
  description: search === undefined ? 'Page' : 'Action',
  icon: null,
  to: { to, ...(search && { search }) },
});

const collectionFound = ({ collection, meta, schema }: ListedCollection): Found => ({
  kind: 'collection',
  key: `collection ${collection}`,
  label: collection,
  description: meta.note === null ? (schema === null ? 'Folder' : 'Collection') : brief(meta.note),
  icon: meta.icon,
  to: { to: '/collections/$name', params: { name: collection } },
});

const fieldFound = ({ collection, field, type }: Searched['fields'][number]): Found => ({
  kind: 'field',
  key: `field ${collection} ${field}`,
  label: `${collection}.${field}`,
  description: type,
  icon: null,
  to: { to: '/collections/$name', params: { name: collection }, search: { field } },
});
