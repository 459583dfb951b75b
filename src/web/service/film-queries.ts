import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { request, withQuery, nameList } from './request.js';
import type { Batch, ChangedBatch, FieldDocument, ListedCollection, RelationDocument } from './types.js';

interface Page {
  data: ChangedBatch[];
  meta: { next: number | null };
}

interface Place {
  order: 'asc' | 'desc';
  after: number;
}

const placeBefore = (after: number): Place => ({ order: 'desc', after });

const BATCHES = 40;

/** The batches up to a position, then earlier and later pages on request. */
export const framesQuery = (anchor: number) =>
  infiniteQueryOptions({
    queryKey: ['film', 'frames', anchor],
    staleTime: Infinity,
    initialPageParam: placeBefore(anchor + 1),
    queryFn: async ({ pageParam, signal }) => {
      const path = withQuery('/history/changes', { ...pageParam, limit: BATCHES });
      const { data, meta }: Page = await request(path, { signal });
      const isOldest = pageParam.order === 'desc' && meta.next === null;
      return { batches: pageParam.order === 'desc' ? data.reverse() : data, isOldest };
    },
    getPreviousPageParam: ({ batches: [first], isOldest }): Place | null =>
      first === undefined || isOldest ? null : placeBefore(first.first_position),
    // The head of the log tells whether there are any.
    getNextPageParam: (_last, pages): Place => ({
      order: 'asc',
      after: pages.findLast(({ batches }) => batches.length > 0)?.batches.at(-1)?.last_position ?? 0,
    }),
  });

export interface PastDocuments {
  collections: ListedCollection[];
  fields?: FieldDocument[];
  relations: RelationDocument[];
}

/** @param isSmall includes all fields */
export const momentQuery = (position: number, isSmall: boolean) =>
  queryOptions({
    queryKey: ['film', 'moment', position, isSmall],
    staleTime: Infinity,
    gcTime: 60_000,
    queryFn: async ({ signal }) => {
      const parts = isSmall ? 'collections,fields,relations' : 'collections,relations';
      return (await request<{ data: PastDocuments }>(withQuery('/history/schema', { at: position, parts }), { signal }))
        .data;
    },
  });

/** The fields of some collections at a position. */
export const pastFieldsQuery = (position: number, names: readonly string[]) =>
  queryOptions({
    queryKey: ['film', 'fields', position, names],
    staleTime: Infinity,
    gcTime: 60_000,
    queryFn: async ({ signal }) => {
      const path = withQuery('/history/schema', { at: position, parts: 'fields', collections: nameList(names) });
      return (await request<{ data: { fields: FieldDocument[] } }>(path, { signal })).data.fields;
    },
  });

/**
 * The last batch at or before a time; null if there is none.
 * @param until ISO 8601
 */
export async function batchAt(until: string): Promise<Batch | null> {
  const { data } = await request<{ data: Batch[] }>(withQuery('/history/batches', { until, limit: 1 }));
  return data[0] ?? null;
}
