/** Lists of change requests. */
import { queryOptions } from '@tanstack/react-query';
import { MOST_LISTED, itemsIn, pagedQuery } from './paged.js';
import { SCHEMA } from './queries.js';
import { request, withQuery } from './request.js';
import type { ChangeSummary } from './types.js';

const LISTED = 20;

export const changesQuery = () => pagedQuery<ChangeSummary>([SCHEMA, 'changes'], '/changes', LISTED);

const IN_WORK = ['queued', 'preparing', 'prepared'] as const satisfies readonly ChangeSummary['state'][];

/** It has locked its tables or waits for them. */
export const isInWork = ({ state }: Pick<ChangeSummary, 'state'>): boolean => IN_WORK.some((each) => each === state);

/**
 * All requests in progress, newest first.
 * @param collection only those that change it
 */
export const inWorkQuery = (collection?: string) =>
  queryOptions({
    queryKey: [SCHEMA, 'changes', 'in work', collection ?? null],
    queryFn: async ({ signal }) => {
      const lists = await Promise.all(
        IN_WORK.map((state) =>
          request<{ data: ChangeSummary[] }>(withQuery('/changes', { state, collection, limit: MOST_LISTED }), {
            signal,
          }),
        ),
      );
      // A request may change its state between two responses.
      return itemsIn(lists).sort((one, other) => other.opened_position - one.opened_position);
    },
  });
