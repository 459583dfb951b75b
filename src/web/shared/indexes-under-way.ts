/** Indexes that are being made while their tables are used. For admins and auditors. */
import { type UseQueryResult, useQueries, useQuery } from '@tanstack/react-query';
import { inWorkQuery, isInWork } from '../service/change-queries.js';
import { changeQuery } from '../service/review-queries.js';
import type { ChangeRequest } from '../service/types.js';

/** One step of a change request. */
export type IndexUnderWay = ChangeRequest['steps'][number] & { request: string };

/** @param collection of it alone; null: it isn't there yet. Undefined: of all */
export function useIndexesUnderWay(isAsked: boolean, collection?: string | null): readonly IndexUnderWay[] {
  const isWanted = isAsked && collection !== null;
  const { data: changes = [] } = useQuery({ ...inWorkQuery(collection ?? undefined), enabled: isWanted });
  // One that waits for its tables has no steps yet.
  const begun = isWanted ? changes.filter(({ state }) => state !== 'queued') : [];
  const steps = useQueries({ queries: begun.map(({ id }) => changeQuery(id)), combine: indexesOf });
  return collection === undefined ? steps : steps.filter((step) => step.collection === collection);
}

const indexesOf = (answers: UseQueryResult<ChangeRequest>[]): IndexUnderWay[] =>
  answers.flatMap(({ data }) =>
    data === undefined || !isInWork(data)
      ? []
      : data.steps
          .filter(({ kind, state }) => kind === 'index' && state !== 'done')
          .map((step) => ({ ...step, request: data.id })),
  );
