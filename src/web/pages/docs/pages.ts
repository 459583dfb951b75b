/** The guides of docs/ as this release has them: part of the app, each loaded when it is read. */
import { queryOptions } from '@tanstack/react-query';

const TEXTS = import.meta.glob<string>('../../../../docs/*.md', { query: '?raw', import: 'default' });
const PICTURES = import.meta.glob<string>('../../../../docs/images/*.svg', {
  query: '?url',
  import: 'default',
  eager: true,
});

const pathOf = (page: string): string => `../../../../docs/${page}.md`;

/** Null: there is no such page. */
export const guideQuery = (page: string) =>
  queryOptions({
    queryKey: ['guide', page],
    staleTime: Infinity,
    queryFn: async () => (await TEXTS[pathOf(page)]?.()) ?? null,
  });

/** @param source as the guides say it: `images/log.svg` */
export const pictureAt = (source: string): string | undefined => PICTURES[`../../../../docs/${source}`];

export type Target =
  | { to: 'page'; page: string; hash: string }
  | { to: 'reference' }
  | { to: 'here'; hash: string }
  | { to: 'web'; href: string }
  | { to: 'nowhere' };

/** Where a link of a guide leads to in the app. */
export function targetOf(href: string): Target {
  if (/^https?:\/\//.test(href)) return { to: 'web', href };
  const [file = '', hash = ''] = href.split('#');
  if (file === '') return { to: 'here', hash };
  const [, page] = /^(?:\.\/)?([\w-]+)\.md$/.exec(file) ?? [];
  if (page === 'api') return { to: 'reference' };
  return page !== undefined && pathOf(page) in TEXTS ? { to: 'page', page, hash } : { to: 'nowhere' };
}
