import { infiniteQueryOptions } from '@tanstack/react-query';
import { request, withQuery } from './request.js';

/** The service's maximum page size. */
export const MOST_LISTED = 1_000;

export interface ListPage<T> {
  data: T[];
  meta: { filter_count: number };
}

/**
 * @param path of a list with `offset`, `limit` and `meta`
 * @param limit items per page
 */
export const pagedQuery = <T>(queryKey: readonly unknown[], path: string, limit: number) =>
  infiniteQueryOptions({
    queryKey,
    initialPageParam: 0,
    queryFn: ({ pageParam: offset, signal }) =>
      request<ListPage<T>>(withQuery(path, { offset, limit, meta: 'filter_count' }), { signal }),
    getNextPageParam: ({ data, meta }, _, offset) =>
      data.length > 0 && offset + data.length < meta.filter_count ? offset + data.length : null,
  });

/** Concurrent changes shift pages, so duplicates are removed. */
export const itemsIn = <T extends { id: string }>(pages: readonly { data: readonly T[] }[]): T[] => [
  ...new Map(pages.flatMap(({ data }) => data).map((item) => [item.id, item])).values(),
];
