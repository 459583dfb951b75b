import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { Operations } from '../../client/api.js';
import type { Body } from './send.js';
import type { ObjectName } from '../../schema/model/objects.js';
import { SCHEMA } from './queries.js';
import { request, requestAnswer } from './request.js';
import type {
  Batch,
  CollectionEvent,
  ChangedBatch,
  FieldDocument,
  ListedCollection,
  RelationDocument,
} from './types.js';

interface HistoryCursor {
  order: 'asc' | 'desc';
  after: number;
}

const placeBefore = (after: number): HistoryCursor => ({ order: 'desc', after });

const BATCHES = 40;

/** The batches up to a position, then earlier and later pages on request. */
export const framesQuery = (anchor: number) =>
  infiniteQueryOptions({
    queryKey: ['replay', 'frames', anchor],
    staleTime: Infinity,
    initialPageParam: placeBefore(anchor + 1),
    queryFn: async ({ pageParam, signal }) => {
      const query = { ...pageParam, after: String(pageParam.after), limit: BATCHES };
      const { data: shown, meta } = await request('listBatchChanges', { query, signal });
      const data = shown as ChangedBatch[];
      const isOldest = pageParam.order === 'desc' && meta.next === null;
      return { batches: pageParam.order === 'desc' ? data.reverse() : data, isOldest };
    },
    getPreviousPageParam: ({ batches: [first], isOldest }): HistoryCursor | null =>
      first === undefined || isOldest ? null : placeBefore(first.first_position),
    // The head of the log shows whether there are any.
    getNextPageParam: (_last, pages): HistoryCursor => ({
      order: 'asc',
      after: pages.findLast(({ batches }) => batches.length > 0)?.batches.at(-1)?.last_position ?? 0,
    }),
  });

export interface PastDocuments {
  collections: ListedCollection[];
  fields?: FieldDocument[];
  relations: RelationDocument[];
}

/** @param isSmall true to include all fields */
export const momentQuery = (position: number, isSmall: boolean) =>
  queryOptions({
    queryKey: ['replay', 'moment', position, isSmall],
    staleTime: Infinity,
    gcTime: 60_000,
    queryFn: async ({ signal }): Promise<PastDocuments> => {
      const parts: ('collections' | 'fields' | 'relations')[] = isSmall
        ? ['collections', 'fields', 'relations']
        : ['collections', 'relations'];
      return (await request('getPastDocuments', { query: { at: String(position), parts }, signal }))
        .data as PastDocuments;
    },
  });

/** The fields of some collections at a position. */
export const pastFieldsQuery = (position: number, names: readonly string[]) =>
  queryOptions({
    queryKey: ['replay', 'fields', position, names],
    staleTime: Infinity,
    gcTime: 60_000,
    queryFn: async ({ signal }) => {
      const query = { at: String(position), parts: ['fields' as const], collections: [...names] };
      return ((await request('getPastDocuments', { query, signal })).data.fields ?? []) as FieldDocument[];
    },
  });

/**
 * The last batch at or before a time; null if there is none.
 * @param until ISO 8601
 */
export async function fetchBatchAt(until: string): Promise<Batch | null> {
  const { data } = await request('listBatches', { query: { until, limit: 1 } });
  return data[0] ?? null;
}

type EventType = NonNullable<Operations['listBatches']['query']['type']>;

export interface BatchFilter {
  q?: string | undefined;
  collection?: string | undefined;
  field?: string | undefined;
  type?: EventType | undefined;
  actor?: string | undefined;
  command?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

const BATCHES_PER_PAGE = 50;

/** Batches in pages, newest first. */
export const batchesQuery = (filter: BatchFilter) =>
  infiniteQueryOptions({
    queryKey: [SCHEMA, 'batches', filter],
    initialPageParam: null as number | null,
    queryFn: ({ pageParam, signal }) =>
      request('listBatches', { query: { ...filter, after: pageParam?.toString(), limit: BATCHES_PER_PAGE }, signal }),
    getNextPageParam: ({ meta }) => meta.next,
  });

/** Number of events of a batch per page. */
const TOGETHER = 200;

/** The changes of a batch; for a large one, in pages of its events. */
export const batchDifferenceQuery = ({ first_position: first, last_position: last }: Batch) =>
  infiniteQueryOptions({
    queryKey: ['difference', first, last],
    staleTime: Infinity,
    initialPageParam: first - 1,
    queryFn: async ({ pageParam: from, signal }) => {
      const to = Math.min(last, from + TOGETHER);
      const { diff } = await request('diffMoments', { query: { from: String(from), to: String(to) }, signal });
      return { diff, to };
    },
    getNextPageParam: ({ to }) => (to < last ? to : null),
  });

/** The changes between two points in time: positions, times or `now`. */
export const momentDifferenceQuery = (from: string, to: string) =>
  queryOptions({
    queryKey: [SCHEMA, 'difference of moments', from, to],
    queryFn: ({ signal }) => request('diffMoments', { query: { from, to }, signal }),
  });

/** The SQL script of the schema at a point in time. */
export const pastScriptQuery = (at: string) =>
  queryOptions({
    queryKey: [SCHEMA, 'script', at],
    queryFn: async ({ signal }) =>
      (await requestAnswer('getPastSnapshot', { query: { at, export: 'sql' }, signal })).text(),
  });

const EVENTS = 500;
/** Maximum number of pages of one history. */
const MOST_PAGES = 10;

/** All events of a collection under every name, newest first. */
export const collectionEventsQuery = (collection: string) =>
  queryOptions({
    queryKey: [SCHEMA, 'life', collection],
    queryFn: ({ signal }) =>
      readAllEvents((query) => request('getCollectionHistory', { params: { id: collection }, query, signal })),
  });

/** All events of a view, a function or another object under every name, newest first. */
export const objectEventsQuery = ({ kind, id }: ObjectName) =>
  queryOptions({
    queryKey: [SCHEMA, 'life', kind, id],
    queryFn: ({ signal }) =>
      readAllEvents((query) => request('getObjectHistory', { params: { kind, id }, query, signal })),
  });

type EventPage = Body<'getCollectionHistory'>;

async function readAllEvents(
  read: (query: { after: string; limit: number }) => Promise<EventPage>,
): Promise<CollectionEvent[]> {
  const events: CollectionEvent[] = [];
  let after: number | null = 0;
  for (let page = 0; page < MOST_PAGES && after !== null; page++) {
    const received: EventPage = await read({ after: String(after), limit: EVENTS });
    events.push(...received.data);
    after = received.meta.next;
  }
  return events.reverse();
}

/** A batch by its id. Null if there is none. */
export const batchQuery = (id: string) =>
  queryOptions({
    queryKey: ['batch', id],
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const events = await request('listEvents', { query: { batch: id, order: 'desc', limit: 1 }, signal });
      const last = events.data[0]?.position;
      if (last === undefined) return null;
      const batches = await request('listBatches', { query: { after: String(last + 1), limit: 1 }, signal });
      return batches.data[0] ?? null;
    },
  });

/** The trash events of a batch: restored objects. */
export const trashEventsQuery = (batch: string) =>
  queryOptions({
    queryKey: ['trash events', batch],
    staleTime: Infinity,
    queryFn: async ({ signal }) =>
      (await request('listEvents', { query: { batch, subject: 'trash', limit: EVENTS }, signal })).data,
  });

const LATEST = 5;

/** The latest changes by a user. */
export const latestQuery = (actor: string) =>
  queryOptions({
    queryKey: [SCHEMA, 'latest', actor],
    queryFn: async ({ signal }) => (await request('listBatches', { query: { actor, limit: LATEST }, signal })).data,
  });
