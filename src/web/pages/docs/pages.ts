/** The guides in docs/ of this release, each loaded on use. */
import { queryOptions } from '@tanstack/react-query';

const TEXTS = import.meta.glob<string>('../../../../docs/**/*.md', { query: '?raw', import: 'default' });
const PICTURES = import.meta.glob<string>('../../../../docs/images/*.svg', {
  query: '?url',
  import: 'default',
  eager: true,
});

const FOLDER = '../../../../docs/';

/** @param page path below docs/ without extension: `trash`, `findings/rewrite` */
const pathOf = (page: string): string => `${FOLDER}${page}.md`;

/** Null for an unknown page. */
export const guideQuery = (page: string) =>
  queryOptions({
    queryKey: ['guide', page],
    staleTime: Infinity,
    queryFn: async () => (await TEXTS[pathOf(page)]?.()) ?? null,
  });

/** For an image in the guide `page`: `images/log.svg`. */
export const pictureAt = (source: string, page: string): string | undefined =>
  PICTURES[`${FOLDER}${fileAt(source, page)}`];

export type Target =
  | { to: 'page'; page: string; hash: string }
  | { to: 'reference' }
  | { to: 'here'; hash: string }
  | { to: 'web'; href: string }
  | { to: 'nowhere' };

/** The target in the app of a link in the guide `page`. */
export function targetOf(href: string, page: string): Target {
  if (/^https?:\/\//.test(href)) return { to: 'web', href };
  const [file = '', hash = ''] = href.split('#');
  if (file === '') return { to: 'here', hash };
  const [, target] = /^(.+)\.md$/.exec(fileAt(file, page)) ?? [];
  if (target === 'api') return { to: 'reference' };
  return target !== undefined && pathOf(target) in TEXTS ? { to: 'page', page: target, hash } : { to: 'nowhere' };
}

/** Relative to docs/. */
const fileAt = (file: string, page: string): string =>
  decodeURIComponent(new URL(file, `http://guides/${page}.md`).pathname.slice(1));
