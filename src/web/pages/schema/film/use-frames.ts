/** The batches around a position, loaded in pages near either end. */
import { type UseInfiniteQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { framesQuery } from '../../../service/film-queries.js';
import { infoQuery } from '../../../service/queries.js';
import type { ChangedBatch } from '../../../service/types.js';
import { indexAt } from './reel.js';

const batchesOf = (data: { pages: { batches: ChangedBatch[] }[] } | undefined): readonly ChangedBatch[] =>
  data?.pages.flatMap(({ batches }) => batches) ?? [];

/** Batches kept loaded on either side. */
const READY = 25;

export interface Frames {
  /** Consecutive and in order. */
  all: readonly ChangedBatch[];
  /** The index of the wanted batch; -1 before the first; undefined while loading. */
  index: number | undefined;
  /** True if earlier batches are not loaded. */
  hasEarlier: boolean;
  hasLater: boolean;
  head: number;
  error: Error | null;
  refetch: () => Promise<unknown>;
}

/**
 * Loads further pages near either end. Restarts at a distant position.
 * @param wanted a position; clamped to the head
 */
export function useFrames(wanted: number): Frames {
  const [anchor, setAnchor] = useState(wanted);
  const pages = useInfiniteQuery(framesQuery(anchor));
  const { data: info } = useQuery(infoQuery());
  const { data, error, refetch } = pages;
  const all = useMemo(() => batchesOf(data), [data]);
  const last = all.at(-1)?.last_position ?? 0;
  const head = Math.max(info?.position ?? 0, last);
  const index = data && placeOf(all, wanted, head);
  const isElsewhere = data !== undefined && index === undefined && anchor !== wanted;

  // A new replay begins there.
  useEffect(() => {
    if (isElsewhere) setAnchor(wanted);
  }, [isElsewhere, wanted]);

  const hasLater = last < head;
  useAhead(pages, { isNearFirst: index !== undefined && index < READY, isNearLast: nearLast(index, all, hasLater) });
  // A later error keeps the loaded batches.
  return { all, index, hasEarlier: pages.hasPreviousPage, hasLater, head, error: data ? null : error, refetch };
}

const nearLast = (index: number | undefined, all: readonly ChangedBatch[], hasLater: boolean): boolean =>
  index !== undefined && hasLater && index > all.length - READY;

type Pages = Pick<
  UseInfiniteQueryResult,
  'fetchNextPage' | 'fetchPreviousPage' | 'hasPreviousPage' | 'isFetching' | 'isError'
>;

/** Loads ahead of the end. */
function useAhead(pages: Pages, { isNearFirst, isNearLast }: { isNearFirst: boolean; isNearLast: boolean }): void {
  const { fetchNextPage, fetchPreviousPage } = pages;
  const isIdle = !pages.isFetching && !pages.isError;
  const wantsEarlier = isIdle && isNearFirst && pages.hasPreviousPage;
  const wantsLater = isIdle && isNearLast;
  useEffect(() => {
    if (wantsEarlier) void fetchPreviousPage();
    else if (wantsLater) void fetchNextPage();
  }, [wantsEarlier, wantsLater, fetchNextPage, fetchPreviousPage]);
}

/** Positions after the end mean the end. */
function placeOf(all: readonly ChangedBatch[], wanted: number, head: number): number | undefined {
  const last = all.at(-1);
  if (last !== undefined && wanted > last.last_position && last.last_position >= head) return all.length - 1;
  return indexAt(all, wanted);
}
