/** Opens, withdraws and executes change requests. */
import { randomUUID } from 'node:crypto';
import type { Document } from '../../log/document-lines.js';
import { toDocument } from '../../log/documents.js';
import type { OperationName } from '../../schema/operations/index.js';
import { foldChanges } from '../../schema/change-requests/fold.js';
import type { ChangeRequest } from '../../schema/change-requests/model.js';
import type { Done, Outcome, Pipeline, RequestContext, Revise } from '../../pipeline/types.js';
import type { PreparationEngine } from '../../projector/online/types.js';
import { eraseDocuments } from './rows.js';
import { recordingOf, foreseeing, openingOf } from './planning.js';
import type { AskedFor } from './command.js';

export { createChangeRunner } from './runner.js';

/** The name of the command in the log. */
export const WITHDRAW = 'withdraw-change';

export interface ChangeRequests {
  /**
   * Turns a change into a request if it needs preparation.
   * @param input the input of the operation
   */
  opening(
    operation: OperationName,
    input: object,
    how?: Pick<RequestContext, 'purge' | 'acknowledges'>,
  ): Promise<{ revise: Revise; document: Document }>;
  /** For plans of online changes. */
  foresee: Revise;
  /** Removes everything that was prepared and erases the requested change. Rejects with INVALID_STATE or NOT_FOUND. */
  withdraw(id: string, request: RequestContext): Promise<Outcome>;
}

/** `opening` assigns the request its id and writes nothing. The pipeline writes it. */
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

/** Returns the request that a batch opened. Undefined if the batch changed the schema. */
export function openedBy({ events }: Pick<Done, 'events'>): ChangeRequest | undefined {
  return events[0]?.type === 'change.opened' ? [...foldChanges(events).values()][0] : undefined;
}
