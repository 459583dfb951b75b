import type { ListedCollection } from '../service/types.js';
import { brief } from '../shared/brief.js';
import { best } from './rank-names.js';
import { actionsFor } from './search-actions.js';
import type { PageEntry } from './pages.js';
import type { SearchHit, Searched } from './search-model.js';
import type { Heading } from 'docs:headings';

const MOST = 30;

/** @param needle the input; if empty, returns the pages and the first collections */
export function findFor(needle: string, searched: Searched): SearchHit[] {
  const { pages, parts, headings, collections, fields, mayEdit } = searched;
  const wanted = needle.toLowerCase();
  const ranked = [
    ...(mayEdit && wanted !== '' ? actionsFor(wanted, searched) : []),
    ...best(pages, wanted, ({ label }) => label).map(pageHit),
    ...(wanted === '' ? [] : best(parts, wanted, ({ label }) => label).map(partHit)),
    ...best(collections, wanted, ({ collection }) => collection).map(collectionHit),
    ...(wanted === '' ? [] : best(fields, wanted, (field) => nameFor(wanted, field)).map(fieldHit)),
    ...(wanted === '' ? [] : best(headings, wanted, ({ text }) => text).map(headingHit)),
  ];
  return [...ranked.slice(0, MOST), ...(searched.mayReadHistory && wanted !== '' ? [historyHit(needle)] : [])];
}

/** The history search finds actors and reasons, which are no names here. */
const historyHit = (needle: string): SearchHit => ({
  kind: 'history',
  key: 'history',
  label: `Search the timeline for “${needle}”`,
  description: 'Reasons and names, including deleted objects',
  icon: null,
  to: { to: '/timeline', search: { q: needle.slice(0, LONGEST) } },
});

/** The maximum of the timeline. */
const LONGEST = 200;

/** `orders.total` is searched in both names. */
const nameFor = (wanted: string, { collection, field }: Searched['fields'][number]): string =>
  wanted.includes('.') ? `${collection}.${field}` : field;

const pageHit = ({ to, label, search }: PageEntry): SearchHit => ({
  kind: 'page',
  key: `page ${to} ${label}`,
  label,
  description: search === undefined ? 'Page' : 'Action',
  icon: null,
  to: { to, ...(search && { search }) },
});

const partHit = ({ to, label, of }: Searched['parts'][number]): SearchHit => ({
  kind: 'page',
  key: `part ${to}`,
  label,
  description: of,
  icon: null,
  to: { to: to as '/' },
});

const headingHit = ({ page, title, text, anchor }: Heading): SearchHit => ({
  kind: 'guide',
  key: `guide ${page} ${anchor}`,
  label: text,
  description: title === text ? 'Guide' : `Guide: ${title}`,
  icon: null,
  to: { to: '/docs/$page', params: { page }, hash: anchor },
});

const collectionHit = ({ collection, meta, schema }: ListedCollection): SearchHit => ({
  kind: 'collection',
  key: `collection ${collection}`,
  label: collection,
  description: meta.note === null ? (schema === null ? 'Folder' : 'Collection') : brief(meta.note),
  icon: meta.icon,
  to: { to: '/collections/$name', params: { name: collection } },
});

const fieldHit = ({ collection, field, type }: Searched['fields'][number]): SearchHit => ({
  kind: 'field',
  key: `field ${collection} ${field}`,
  label: `${collection}.${field}`,
  description: type,
  icon: null,
  to: { to: '/collections/$name', params: { name: collection }, search: { field } },
});
