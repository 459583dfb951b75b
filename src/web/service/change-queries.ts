/** Change requests: what is being prepared, and what became of it. */
import { queryOptions } from '@tanstack/react-query';
import { SCHEMA } from './queries.js';
import { reasonHeader } from './reason.js';
import { request, withQuery } from './request.js';
import type { ChangeRequest, ChangeSummary } from './types.js';

/** Milliseconds: of one that is under way, of the list. */
const SOON = 1_000;
const EVERY = 5_000;

const LISTED = 50;

const UNDER_WAY: ReadonlySet<string> = new Set(['queued', 'preparing', 'prepared']);

export const isUnderWay = ({ state }: Pick<ChangeSummary, 'state'>): boolean => UNDER_WAY.has(state);

/** The newest first. */
export const changesQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'changes'],
    refetchInterval: EVERY,
    queryFn: ({ signal }) =>
      request<{ data: ChangeSummary[]; meta: { total_count: number } }>(
        withQuery('/changes', { limit: LISTED, meta: 'total_count' }),
        { signal },
      ),
  });

/** One, asked for again for as long as it moves. */
export const changeQuery = (id: string) =>
  queryOptions<ChangeRequest>({
    queryKey: [SCHEMA, 'change', id],
    refetchInterval: ({ state: { data } }) => (data === undefined || isUnderWay(data) || data.cleaning ? SOON : false),
    queryFn: async ({ signal }) => (await request<{ data: ChangeRequest }>(`/changes/${id}`, { signal })).data,
  });

export const withdraw = (id: string, reason: string) =>
  request(`/changes/${id}/withdraw`, { method: 'POST', headers: reasonHeader(reason) });
