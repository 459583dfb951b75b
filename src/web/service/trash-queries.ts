/** What was deleted, and what is done with it. */
import { queryOptions } from '@tanstack/react-query';
import { SCHEMA } from './queries.js';
import { reasonHeader } from './reason.js';
import { request, withQuery } from './request.js';
import type { Plan, TrashEntry } from './types.js';

const LISTED = 200;

/** The newest, and how many there are. */
export const trashQuery = () =>
  queryOptions({
    queryKey: [SCHEMA, 'trash'],
    queryFn: ({ signal }) =>
      request<{ data: TrashEntry[]; meta: { total_count: number } }>(
        withQuery('/trash', { limit: LISTED, meta: 'total_count' }),
        { signal },
      ),
  });

export interface Restoring {
  /** Another name; empty: the one that it had. */
  as: string;
  /** Keys that stay away, by name. */
  without: readonly string[];
}

const bodyOf = ({ as, without }: Restoring) => ({ ...(as !== '' && { as }), ...(without.length > 0 && { without }) });

/** What would come back and what wouldn't; nothing is kept of it. */
export const restorePlanQuery = (position: number, restoring: Restoring) =>
  queryOptions({
    // Not of the schema: what was brought back is not tried again.
    queryKey: ['restore', position, restoring],
    gcTime: 0,
    retry: false,
    queryFn: ({ signal }) =>
      request<Plan>(`/trash/${position}/restore?dry_run`, { method: 'POST', json: bodyOf(restoring), signal }),
  });

/** What came back, and what didn't. */
export const restore = (position: number, restoring: Restoring, reason: string) =>
  request<{ data: { collection: string; field?: string }; warnings?: { code: string; message: string }[] }>(
    `/trash/${position}/restore`,
    { method: 'POST', json: bodyOf(restoring), headers: reasonHeader(reason) },
  );

/** Drops it with its rows, for good. @param position of the entry, as the trash lists it */
export const purge = (position: number, reason: string) =>
  request(`/trash/${position}`, { method: 'DELETE', headers: reasonHeader(reason) });
