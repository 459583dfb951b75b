/** Current marks of tables and columns: drift and preparations. For admins and auditors. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { SCHEMA } from '../../../service/queries.js';
import { request } from '../../../service/request.js';
import { inWorkQuery } from '../../../service/change-queries.js';
import type { ChangeSummary, Drift } from '../../../service/types.js';
import { type IndexUnderWay, useIndexesUnderWay } from '../../../shared/indexes-under-way.js';
import { type DrawnMarks, type Mark, fieldKey } from '../graph/mark.js';

/** Milliseconds: a comparison reads the whole catalog. */
const EVERY = 60_000;

/** Undefined if not requested. Unknown and unreadable marks are omitted. Refreshed every minute. */
export function useStanding(isAsked: boolean): DrawnMarks | undefined {
  const drift = useQuery({
    queryKey: [SCHEMA, 'standing'],
    queryFn: ({ signal }) => request<Drift>('/schema/drift', { signal }),
    enabled: isAsked,
    refetchInterval: EVERY,
  });
  const changes = useQuery({ ...inWorkQuery(), enabled: isAsked });
  const indexes = useIndexesUnderWay(isAsked);
  return useMemo(
    () => (isAsked ? standingOf(drift.data?.tables ?? [], changes.data ?? [], indexes) : undefined),
    [isAsked, drift.data, changes.data, indexes],
  );
}

type Indexed = Pick<IndexUnderWay, 'collection' | 'field'>;

/** The most important of several marks of a table. */
function standingOf(
  tables: Drift['tables'],
  inWork: readonly Pick<ChangeSummary, 'collections'>[],
  indexes: readonly Indexed[] = [],
): DrawnMarks {
  const collections = new Map<string, Mark>();
  const fields = new Map<string, Mark>();
  for (const change of inWork) {
    for (const name of change.collections) collections.set(name, 'prepared');
  }
  for (const { collection, field } of indexes) {
    collections.set(collection, 'indexing');
    if (field !== null) fields.set(fieldKey({ collection, field }), 'indexing');
  }
  for (const { table, differences } of tables) {
    collections.set(table, 'drift');
    for (const { field } of differences) {
      if (field !== undefined) fields.set(fieldKey({ collection: table, field }), 'drift');
    }
  }
  return { collections, fields, relations: new Map() };
}
