/** Opens, withdraws and executes change requests. */
import { randomUUID } from 'node:crypto';
import { toDocument } from '../../log/documents.js';
import type { CommandOf, OperationName } from '../../schema/operations/index.js';
import { foldChanges } from '../../schema/change-requests/fold.js';
import type { ChangeRequest } from '../../schema/change-requests/model.js';
import type { Command, CompletedChange, Outcome, Pipeline, PlanRequest, RequestContext } from '../../pipeline/types.js';
import type { PreparationEngine } from '../../projector/online/types.js';
import { eraseDocuments } from './rows.js';
import { planRecording, withPreparation, reviseForOpening } from './planning.js';
import type { RequestedOperation } from './command.js';

export { createChangeRunner } from './runner.js';

/** The name of the command in the log. */
export const WITHDRAW = 'withdraw-change';

/** The part of the pipeline for online changes. Their slow steps run before the change. */
interface OnlinePipeline extends Pick<Pipeline, 'plan' | 'dryRun'> {
  /** Opens a change request if anything must be prepared. Otherwise, applies the change immediately. */
  apply<N extends OperationName, C extends CommandOf<N>>(
    name: N,
    command: Command<C>,
    request: OnlineRequest,
  ): Promise<Outcome<C>>;
}

interface OnlineRequest extends RequestContext {
  /** The input of the operation, which the change request stores. */
  input: object;
}

export interface ChangeRequests {
  online: OnlinePipeline;
  /**
   * Withdraws a request: removes all prepared objects and erases the requested change. Rejects with INVALID_STATE or
   * NOT_FOUND.
   */
  withdraw(id: string, request: RequestContext): Promise<Outcome>;
}

export function createChangeRequests(
  engine: Pick<PreparationEngine, 'planPreparation'>,
  pipeline: Pick<Pipeline, 'apply' | 'plan' | 'dryRun'>,
): ChangeRequests {
  const foresee = (request: PlanRequest) => ({ ...request, online: true, revise: withPreparation(engine) });
  return {
    online: {
      plan: (name, command, request) => pipeline.plan(name, command, foresee(request)),
      dryRun: (name, command, request) => pipeline.dryRun(name, command, foresee(request)),
      async apply(operation, command, { input, ...request }) {
        const { purge, acknowledges } = request;
        const askedFor: RequestedOperation = {
          operation,
          input,
          ...(purge === true && { purge }),
          ...(acknowledges && { acknowledged: [...acknowledges.findings] }),
        };
        const document = await toDocument(askedFor);
        const revise = reviseForOpening(engine, { id: randomUUID(), operation, document });
        return pipeline.apply(operation, command, { ...request, online: true, revise });
      },
    },
    withdraw: (id, request) =>
      pipeline.apply('record', planRecording(id, 'change.withdrawn', {}, { also: [eraseDocuments(id)] }), request),
  };
}

/** Returns the request that a batch opened. Undefined if the batch changed the schema. */
export function findOpenedRequest({ events }: Pick<CompletedChange, 'events'>): ChangeRequest | undefined {
  return events[0]?.type === 'change.opened' ? [...foldChanges(events).values()][0] : undefined;
}
