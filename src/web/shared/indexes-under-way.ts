/** Indexes that are being made while their tables are used. For admins and auditors. */
import { type UseQueryResult, useQueries, useQuery } from '@tanstack/react-query';
import { changeQuery, changesQuery } from '../service/review-queries.js';
import type { ChangeRequest, ChangeSummary } from '../service/types.js';

/** One step of a change request. */
export type IndexUnderWay = ChangeRequest['steps'][number] & { request: string };

const IN_WORK: ReadonlySet<ChangeSummary['state']> = new Set(['queued', 'preparing', 'prepared']);

/** It holds its tables now, or waits for them. */
export const isInWork = ({ state }: Pick<ChangeSummary, 'state'>): boolean => IN_WORK.has(state);

export function useIndexesUnderWay(isAsked: boolean): readonly IndexUnderWay[] {
  const { data: changes = [] } = useQuery({ ...changesQuery(), enabled: isAsked });
  const inWork = isAsked ? changes.filter((change) => isInWork(change)) : [];
  return useQueries({ queries: inWork.map(({ id }) => changeQuery(id)), combine: indexesOf });
}

const indexesOf = (answers: UseQueryResult<ChangeRequest>[]): IndexUnderWay[] =>
  answers.flatMap(({ data }) =>
    data === undefined || !isInWork(data)
      ? []
      : data.steps
          .filter(({ kind, state }) => kind === 'index' && state !== 'done')
          .map((step) => ({ ...step, request: data.id })),
  );
