/** Indexes that are being built online. For admins and auditors. */
import { type UseQueryResult, useQueries, useQuery } from '@tanstack/react-query';
import { openRequestsQuery, isInWork } from '../service/change-queries.js';
import { changeQuery } from '../service/review-queries.js';
import type { ChangeRequest } from '../service/types.js';

/** One step of a change request. */
export type IndexUnderWay = ChangeRequest['steps'][number] & { request: string };

/**
 * @param collection limits the result to this collection. Null if it does not exist yet. Undefined for all collections
 */
export function useIndexesUnderWay(isAsked: boolean, collection?: string | null): readonly IndexUnderWay[] {
  const isWanted = isAsked && collection !== null;
  const { data: changes = [] } = useQuery({ ...openRequestsQuery(collection ?? undefined), enabled: isWanted });
  // A queued request has no steps yet.
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
