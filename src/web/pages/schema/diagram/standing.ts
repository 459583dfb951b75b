/** How tables and columns stand now: what the database has otherwise, and what is being prepared. For admins and auditors. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { SCHEMA } from '../../../service/queries.js';
import { request } from '../../../service/request.js';
import { changesQuery } from '../../../service/review-queries.js';
import type { ChangeSummary, Drift } from '../../../service/types.js';
import { type DrawnMarks, type Mark, fieldKey } from '../film/mark.js';

/** Milliseconds: comparing reads the whole catalog. */
const EVERY = 60_000;

export function useStanding(isAsked: boolean): DrawnMarks | undefined {
  const drift = useQuery({
    queryKey: [SCHEMA, 'standing'],
    queryFn: ({ signal }) => request<Drift>('/schema/drift', { signal }),
    enabled: isAsked,
    refetchInterval: EVERY,
  });
  const changes = useQuery({ ...changesQuery(), enabled: isAsked });
  return useMemo(
    () => (isAsked ? standingOf(drift.data?.tables ?? [], changes.data ?? []) : undefined),
    [isAsked, drift.data, changes.data],
  );
}

const IN_WORK = new Set<ChangeSummary['state']>(['queued', 'preparing', 'prepared']);

export function standingOf(tables: Drift['tables'], changes: readonly ChangeSummary[]): DrawnMarks {
  const collections = new Map<string, Mark>();
  const fields = new Map<string, Mark>();
  for (const { state, collections: names } of changes) {
    if (IN_WORK.has(state)) for (const name of names) collections.set(name, 'prepared');
  }
  for (const { table, differences } of tables) {
    collections.set(table, 'drift');
    for (const { field } of differences) {
      if (field !== undefined) fields.set(fieldKey({ collection: table, field }), 'drift');
    }
  }
  return { collections, fields, relations: new Map() };
}
