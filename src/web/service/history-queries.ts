import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { SCHEMA } from './queries.js';
import { request, requestAnswer, withQuery } from './request.js';
import type { Batch, CollectionEvent, Lives, LogEvent, SchemaDiff } from './types.js';

interface Page<T, M> {
  data: T[];
  meta: M;
}

export interface BatchFilter {
  q?: string | undefined;
  collection?: string | undefined;
  field?: string | undefined;
  type?: string | undefined;
  actor?: string | undefined;
  command?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

const BATCHES = 50;

/** Newest first, in pages. */
export const batchesQuery = (filter: BatchFilter) =>
  infiniteQueryOptions({
    queryKey: [SCHEMA, 'batches', filter],
    initialPageParam: null as number | null,
    queryFn: ({ pageParam, signal }) =>
      request<Page<Batch, { next: number | null }>>(
        withQuery('/history/batches', { ...filter, after: pageParam, limit: BATCHES }),
        { signal },
      ),
    getNextPageParam: ({ meta }) => meta.next,
  });

/** Events of a batch per page. */
const TOGETHER = 200;

/** The changes of a batch; for a large one, in pages of its events. */
export const batchDifferenceQuery = ({ first_position: first, last_position: last }: Batch) =>
  infiniteQueryOptions({
    queryKey: ['difference', first, last],
    staleTime: Infinity,
    initialPageParam: first - 1,
    queryFn: async ({ pageParam: from, signal }) => {
      const to = Math.min(last, from + TOGETHER);
      const { diff } = await request<{ diff: SchemaDiff }>(withQuery('/history/diff', { from, to }), { signal });
      return { diff, to };
    },
    getNextPageParam: ({ to }) => (to < last ? to : null),
  });

/** The same between points in time: positions, times, `now`. */
export const momentDifferenceQuery = (from: string, to: string) =>
  queryOptions({
    queryKey: [SCHEMA, 'difference of moments', from, to],
    queryFn: ({ signal }) => request<{ diff: SchemaDiff }>(withQuery('/history/diff', { from, to }), { signal }),
  });

/** The SQL script of the schema at a point in time. */
export const pastScriptQuery = (at: string) =>
  queryOptions({
    queryKey: [SCHEMA, 'script', at],
    queryFn: async ({ signal }) =>
      (await requestAnswer(withQuery('/history/snapshot', { at, export: 'sql' }), { signal })).text(),
  });

const EVENTS = 500;
/** Maximum pages for one collection. */
const MOST_PAGES = 10;

/** All events of a collection under every name, newest first. */
export const lifeQuery = (collection: string) =>
  queryOptions({
    queryKey: [SCHEMA, 'life', collection],
    queryFn: async ({ signal }) => {
      const events: CollectionEvent[] = [];
      let after: number | null = 0;
      for (let page = 0; page < MOST_PAGES && after !== null; page++) {
        const path = withQuery(`/history/collections/${encodeURIComponent(collection)}`, { after, limit: EVENTS });
        const found: Page<CollectionEvent, Lives> = await request(path, { signal });
        events.push(...found.data);
        after = found.meta.next;
      }
      return events.reverse();
    },
  });

/** A batch by id; null if there is none. */
export const batchQuery = (id: string) =>
  queryOptions({
    queryKey: ['batch', id],
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const events: Page<{ position: number }, unknown> = await request(
        withQuery('/history/events', { batch: id, order: 'desc', limit: 1 }),
        { signal },
      );
      const last = events.data[0]?.position;
      if (last === undefined) return null;
      const path = withQuery('/history/batches', { after: last + 1, limit: 1 });
      const batches: Page<Batch, unknown> = await request(path, { signal });
      return batches.data[0] ?? null;
    },
  });

/** The trash events of a batch: restored objects. */
export const trashEventsQuery = (batch: string) =>
  queryOptions({
    queryKey: ['trash events', batch],
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const path = withQuery('/history/events', { batch, subject: 'trash', limit: EVENTS });
      return (await request<Page<LogEvent, unknown>>(path, { signal })).data;
    },
  });

const LATEST = 5;

/** The latest changes of a user. */
export const latestQuery = (actor: string) =>
  queryOptions({
    queryKey: [SCHEMA, 'latest', actor],
    queryFn: async ({ signal }) =>
      (await request<{ data: Batch[] }>(withQuery('/history/batches', { actor, limit: LATEST }), { signal })).data,
  });
