import { queryOptions } from '@tanstack/react-query';
import { SCHEMA } from './queries.js';
import { reasonHeader } from './reason.js';
import { request, withQuery } from './request.js';
import type { Plan, TrashEntry } from './types.js';

const LISTED = 200;

/** The newest entries and the total. */
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
  /** The new name; empty for the former one. */
  as: string;
  /** Names of keys to leave out. */
  without: readonly string[];
}

const bodyOf = ({ as, without }: Restoring) => ({ ...(as !== '' && { as }), ...(without.length > 0 && { without }) });

/** The plan of a restore. Stores nothing. */
export const restorePlanQuery = (position: number, restoring: Restoring) =>
  queryOptions({
    // Outside the schema keys: a restored entry is not planned again.
    queryKey: ['restore', position, restoring],
    gcTime: 0,
    retry: false,
    queryFn: ({ signal }) =>
      request<Plan>(`/trash/${position}/restore?dry_run`, { method: 'POST', json: bodyOf(restoring), signal }),
  });

/** The restored object and what could not be restored. */
export const restore = (position: number, restoring: Restoring, reason: string) =>
  request<{ data: { collection: string; field?: string }; warnings?: { code: string; message: string }[] }>(
    `/trash/${position}/restore`,
    { method: 'POST', json: bodyOf(restoring), headers: reasonHeader(reason) },
  );

/**
 * Deletes it permanently with its rows.
 * @param position of the trash entry
 */
export const purge = (position: number, reason: string) =>
  request(`/trash/${position}`, { method: 'DELETE', headers: reasonHeader(reason) });
