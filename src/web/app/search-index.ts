/** Which names fit what was typed, the best first. */
import type { NavigateOptions } from '@tanstack/react-router';
import type { FieldDocument, ListedCollection } from '../service/types.js';
import { brief } from '../shared/brief.js';
import type { PARTS, PageEntry } from './pages.js';
import type { Heading } from 'docs:headings';

export interface Found {
  kind: 'page' | 'collection' | 'field' | 'guide';
  key: string;
  label: string;
  description: string;
  /** Its Material name, of a collection. */
  icon: string | null;
  to: NavigateOptions;
}

interface Searched {
  pages: readonly PageEntry[];
  parts: typeof PARTS;
  /** Of the guides. */
  headings: readonly Heading[];
  collections: readonly ListedCollection[];
  fields: readonly Pick<FieldDocument, 'collection' | 'field' | 'type'>[];
}

/** More than anybody reads. */
const MOST = 30;

/** @param needle what was typed; empty: the pages, and the first collections */
export function findFor(needle: string, { pages, parts, headings, collections, fields }: Searched): Found[] {
  const wanted = needle.toLowerCase();
  const ranked = [
    ...best(pages, wanted, ({ label }) => label).map(pageFound),
    ...(wanted === '' ? [] : best(parts, wanted, ({ label }) => label).map(partFound)),
    ...best(collections, wanted, ({ collection }) => collection).map(collectionFound),
    ...(wanted === '' ? [] : best(fields, wanted, (field) => nameFor(wanted, field)).map(fieldFound)),
    ...(wanted === '' ? [] : best(headings, wanted, ({ text }) => text).map(headingFound)),
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

const partFound = ({ to, label, of }: Searched['parts'][number]): Found => ({
  kind: 'page',
  key: `part ${to}`,
  label,
  description: of,
  icon: null,
  to: { to: to as '/' },
});

const headingFound = ({ page, title, text, anchor }: Heading): Found => ({
  kind: 'guide',
  key: `guide ${page} ${anchor}`,
  label: text,
  description: title === text ? 'Guide' : `Guide: ${title}`,
  icon: null,
  to: { to: '/docs/$page', params: { page }, hash: anchor },
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
