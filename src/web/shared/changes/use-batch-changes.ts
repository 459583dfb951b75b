/** What a batch changed, with what of it came back from the trash. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { differenceQuery, trashEventsQuery } from '../../service/history-queries.js';
import type { Batch } from '../../service/types.js';
import { changesOf, restoredBy } from './sentences.js';

export function useBatchChanges({ batch, first_position: first, last_position: last, types }: Batch) {
  const makes = types['collection.created'] !== undefined || types['field.created'] !== undefined;
  const difference = useQuery(differenceQuery(first - 1, last));
  const events = useQuery({ ...trashEventsQuery(batch), enabled: makes });
  const isWhole = !makes || events.data !== undefined;
  const data = useMemo(
    () => (difference.data && isWhole ? changesOf(difference.data, restoredBy(events.data ?? [])) : undefined),
    [difference.data, events.data, isWhole],
  );
  const { error, refetch } = difference.error === null && events.error !== null ? events : difference;
  return { data, error, refetch };
}
