/** Lists that are read in pages, by offset. */
import { infiniteQueryOptions } from '@tanstack/react-query';
import { request, withQuery } from './request.js';

/** As many items as the service lists at once. */
export const MOST_LISTED = 1_000;

export interface ListPage<T> {
  data: T[];
  meta: { filter_count: number };
}

/** @param path of a list that takes `offset`, `limit` and `meta`; @param limit items of a page */
export const pagedQuery = <T>(queryKey: readonly unknown[], path: string, limit: number) =>
  infiniteQueryOptions({
    queryKey,
    initialPageParam: 0,
    queryFn: ({ pageParam: offset, signal }) =>
      request<ListPage<T>>(withQuery(path, { offset, limit, meta: 'filter_count' }), { signal }),
    getNextPageParam: ({ data, meta }, _, offset) =>
      data.length > 0 && offset + data.length < meta.filter_count ? offset + data.length : null,
  });

/** What was made or removed between two pages moves the others on: each is shown once. */
export const itemsIn = <T extends { id: string }>(pages: readonly { data: readonly T[] }[]): T[] => [
  ...new Map(pages.flatMap(({ data }) => data).map((item) => [item.id, item])).values(),
];
