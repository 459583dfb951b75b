/**
 * The short transaction that applies a prepared change. The change is decided again, and prepared steps replace slow
 * statements.
 */
import { readSteps } from '../../projector/change-requests/preparations.js';
import { readChange } from '../../projector/change-requests/rows.js';
import type { PreparationEngine } from '../../projector/online/types.js';
import { allowedIn } from '../../schema/change-requests/actions.js';
import { mayFollow } from '../../schema/change-requests/fold.js';
import type { ChangeEvent, ChangeRequest } from '../../schema/change-requests/model.js';
import type { Problem } from '../../kernel/problem.js';
import type { Revise } from '../types.js';
import { changeEvent } from './events.js';
import { instead, prepare, withApplied } from './planning.js';

/** If the change needs other steps by now, those are prepared first. The outcome then contains no schema change. */
export const applyingOf =
  (engine: Pick<PreparationEngine, 'preparedStatements'>, id: string): Revise =>
  async (client, batch) => {
    const request = await readChange(client, id);
    if (request?.state !== 'prepared') return { kind: 'refused', problems: [wrongState(id, request)] };
    if (batch.events.length === 0) return withApplied(batch, id);
    const steps = (await readSteps(client, id)).map(({ step }) => step);
    const { before, after, events, statements, schema } = batch;
    const change = { id, before: before.state, after, events, statements, schema };
    const prepared = engine.preparedStatements(change, steps);
    if (prepared.kind === 'prepared')
      return { ...withApplied({ ...batch, statements: prepared.statements }, id), online: true };
    const collections = new Set([
      ...(request.preparation?.collections ?? []),
      ...prepared.steps.map(({ collection }) => collection),
    ]);
    return instead(batch, prepare(id, { steps: [...steps, ...prepared.steps], collections: [...collections] }));
  };

export interface Recorded {
  /** Further statements of the same transaction. */
  also?: Parameters<typeof instead>[1]['also'];
  /** A further condition on the request. */
  still?: (now: ChangeRequest) => boolean;
}

/** Appends an event about a request, if the state of the request allows it. */
export const recordingOf =
  <T extends ChangeEvent['type']>(
    id: string,
    type: T,
    data: Parameters<typeof changeEvent<T>>[2],
    { also = [], still = () => true }: Recorded = {},
  ): Revise =>
  async (client, batch) => {
    const request = await readChange(client, id);
    if (request === undefined || !mayFollow(request, type) || !still(request))
      return { kind: 'refused', problems: [wrongState(id, request)] };
    return instead(batch, { events: [changeEvent(type, id, data)], also });
  };

/** The problem with an action that the state of the request does not allow. */
export function wrongState(id: string, request: ChangeRequest | undefined): Problem {
  if (request === undefined) return { code: 'NOT_FOUND', message: `There is no change request ${id}.` };
  const { state } = request;
  const allowed = allowedIn(request);
  const rest =
    allowed.length === 0 ? 'nothing can be done with it any more' : `what can be done is: ${allowed.join(', ')}`;
  return {
    code: 'INVALID_STATE',
    message: `The change request ${id} is ${state}; ${rest}.`,
    details: { change: id, state, allowed },
  };
}
