import { queryOptions } from '@tanstack/react-query';
import { SCHEMA } from '../service/queries.js';
import { request, withQuery } from '../service/request.js';
import type { TableExtras } from '../../schema/model/extras.js';

/** What a table has beyond its columns. For admins. */
export const extrasQuery = (collection: string) =>
  queryOptions({
    staleTime: Infinity,
    queryKey: [SCHEMA, 'extras', collection],
    queryFn: async ({ signal }) => {
      // In double quotes a name may hold commas.
      const name = `"${collection.replaceAll('"', '""')}"`;
      const path = withQuery('/schema/snapshot', { includeCollections: name });
      const { collections } = await request<{ collections: { schema: { extras?: TableExtras } | null }[] }>(path, {
        signal,
      });
      return collections[0]?.schema?.extras ?? {};
    },
  });
