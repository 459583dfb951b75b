/** Change requests for whoever takes them up: opening, withdrawing, and the work on them. */
import { randomUUID } from 'node:crypto';
import type { Document } from '../../log/document-lines.js';
import { toDocument } from '../../log/documents.js';
import type { OperationName } from '../../schema/operations/index.js';
import { foldChanges } from '../../schema/change-requests/fold.js';
import type { ChangeRequest } from '../../schema/change-requests/model.js';
import type { Done, Foresee, Outcome, Pipeline, RequestContext, Revise } from '../types.js';
import type { PreparationEngine } from '../../projector/online/types.js';
import { eraseDocuments } from '../../projector/change-requests/rows.js';
import { recordingOf } from './applying.js';
import type { AskedFor } from './command.js';
import { foreseeing, openingOf } from './planning.js';

export { type ChangeRunner, createChangeRunner } from './runner.js';

/** The name of the command, in the log. */
export const WITHDRAW = 'withdraw-change';

export interface ChangeRequests {
  /**
   * What makes a request of a change, where something has to be prepared for it.
   * @param input what the operation reads
   */
  opening(
    operation: OperationName,
    input: object,
    how?: Pick<RequestContext, 'purge' | 'acknowledges'>,
  ): Promise<{ revise: Revise; document: Document }>;
  /** Of a dry run: what would be prepared. */
  foresee: Foresee;
  /** Nothing is left of it, and what it asked for is erased. Refuses with INVALID_STATE, NOT_FOUND. */
  withdraw(id: string, request: RequestContext): Promise<Outcome>;
}

/** `opening` gives the request its id, and writes nothing: that is for the pipeline to do. */
export function createChangeRequests(
  engine: Pick<PreparationEngine, 'planPreparation'>,
  pipeline: Pick<Pipeline, 'record'>,
): ChangeRequests {
  return {
    async opening(operation, input, { purge, acknowledges } = {}) {
      const askedFor: AskedFor = {
        operation,
        input,
        ...(purge === true && { purge }),
        ...(acknowledges && { acknowledged: [...acknowledges.findings] }),
      };
      const document = await toDocument(askedFor);
      return { revise: openingOf(engine, { id: randomUUID(), operation, document }), document };
    },
    foresee: foreseeing(engine),
    withdraw: (id, request) =>
      pipeline.record(recordingOf(id, 'change.withdrawn', {}, { also: [eraseDocuments(id)] }), request),
  };
}

/** The request that a batch opened; undefined: it changed the schema. */
export function openedBy({ events }: Pick<Done, 'events'>): ChangeRequest | undefined {
  return events[0]?.type === 'change.opened' ? [...foldChanges(events).values()][0] : undefined;
}
