import { queryOptions } from '@tanstack/react-query';
import { SCHEMA } from '../service/queries.js';
import { request, withQuery, nameList } from '../service/request.js';
import type { TableExtras } from '../../schema/model/extras.js';

/** Extras of a table. For admins. */
export const extrasQuery = (collection: string) =>
  queryOptions({
    staleTime: Infinity,
    queryKey: [SCHEMA, 'extras', collection],
    queryFn: async ({ signal }) => {
      const path = withQuery('/schema/snapshot', { includeCollections: nameList([collection]) });
      const { collections } = await request<{ collections: { schema: { extras?: TableExtras } | null }[] }>(path, {
        signal,
      });
      return collections[0]?.schema?.extras ?? {};
    },
  });
