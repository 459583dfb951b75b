import { type UseInfiniteQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { batchDifferenceQuery, trashEventsQuery } from '../../service/history-queries.js';
import type { Batch } from '../../service/types.js';
import { changesOf, restoredKeys } from './sentences.js';

/**
 * Returns the changes of a batch. `data` is undefined until the first page and the restored objects are loaded. `more`
 * is the rest with its own error, and `error` is that of the first page.
 */
export function useBatchChanges(batch: Batch) {
  const { types, last_position: last } = batch;
  const makes = types['collection.created'] !== undefined || types['field.created'] !== undefined;
  const difference = useInfiniteQuery(batchDifferenceQuery(batch));
  const events = useQuery({ ...trashEventsQuery(batch.batch), enabled: makes });
  const pages = difference.data?.pages;
  const isWhole = !makes || events.data !== undefined;
  const data = useMemo(
    () =>
      pages && isWhole ? pages.flatMap(({ diff }) => changesOf(diff, restoredKeys(events.data ?? []))) : undefined,
    [pages, events.data, isWhole],
  );
  const more = moreOf(difference, last);
  const { error, refetch } = difference.error === null && events.error !== null ? events : difference;
  return { data, more, error: error === more.error ? null : error, refetch };
}

type Difference = UseInfiniteQueryResult<{ pages: { to: number }[] }>;

/** @param last the last position of the batch */
const moreOf = ({ data, ...later }: Difference, last: number) => ({
  events: last - (data?.pages.at(-1)?.to ?? last),
  isLoading: later.isFetchingNextPage,
  error: later.isFetchNextPageError ? later.error : null,
  load: () => void later.fetchNextPage(),
});
