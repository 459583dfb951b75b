/** Which names fit what was typed, the best first. */
import type { ListedCollection } from '../service/types.js';
import { brief } from '../shared/brief.js';
import { best } from './rank-names.js';
import { actionsFor } from './search-actions.js';
import type { PageEntry } from './pages.js';
import type { Found, Searched } from './search-model.js';
import type { Heading } from 'docs:headings';

/** More than anybody reads. */
const MOST = 30;

/** @param needle what was typed; empty: the pages, and the first collections */
export function findFor(needle: string, searched: Searched): Found[] {
  const { pages, parts, headings, collections, fields, mayEdit } = searched;
  const wanted = needle.toLowerCase();
  const ranked = [
    ...(mayEdit && wanted !== '' ? actionsFor(wanted, searched) : []),
    ...best(pages, wanted, ({ label }) => label).map(pageFound),
    ...(wanted === '' ? [] : best(parts, wanted, ({ label }) => label).map(partFound)),
    ...best(collections, wanted, ({ collection }) => collection).map(collectionFound),
    ...(wanted === '' ? [] : best(fields, wanted, (field) => nameFor(wanted, field)).map(fieldFound)),
    ...(wanted === '' ? [] : best(headings, wanted, ({ text }) => text).map(headingFound)),
  ];
  return [...ranked.slice(0, MOST), ...(searched.mayReadHistory && wanted !== '' ? [historyFound(needle)] : [])];
}

/** The log has more words than names: who did what, and why. */
const historyFound = (needle: string): Found => ({
  kind: 'history',
  key: 'history',
  label: `Changes with “${needle}”`,
  description: 'Timeline: in reasons and names, also of what is no more',
  icon: null,
  to: { to: '/timeline', search: { q: needle.slice(0, LONGEST) } },
});

/** What the timeline takes. */
const LONGEST = 200;

/** `orders.total` is looked for in both names. */
const nameFor = (wanted: string, { collection, field }: Searched['fields'][number]): string =>
  wanted.includes('.') ? `${collection}.${field}` : field;

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
