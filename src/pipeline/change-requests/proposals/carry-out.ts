/** Prepares and applies exactly the approved change of a proposal, after deciding it again. */
import type pg from 'pg';
import { readChange } from '../../../projector/change-requests/rows.js';
import type { PreparationEngine } from '../../../projector/online/types.js';
import type { ChangeAction } from '../../../schema/change-requests/actions.js';
import type { ChangeRequest } from '../../../schema/change-requests/model.js';
import type { PlannedBatch, Refusal, Revise, RevisedBatch } from '../../types.js';
import { heldFrom } from '../../transaction/held-collections.js';
import { changeEvent } from '../events.js';
import { instead, planned, prepare, refusal, shownSteps, startingOf, withApplied } from '../planning.js';
import { counting, standing } from './approvals.js';
import type { How } from './plan.js';
import { nothingToPrepare } from './problems.js';
import { allowed } from './asked-for.js';

export interface CarryingOut {
  engine: Pick<PreparationEngine, 'planPreparation'>;
  how: How;
}

/** Applies it, or begins the preparation. The runner then applies it, unless only the preparation was requested. */
export const carryingOut =
  (id: string, action: Extract<ChangeAction, 'prepare' | 'apply'>, { engine, how }: CarryingOut): Revise =>
  async (client, batch) => {
    const request = await allowed(client, id, action);
    const stands = await standing(client, { request, batch, how });
    if (stands.kind === 'refused') return stands;
    return counting(stands, await carried(client, { request, batch, action }, engine));
  };

/** For dry runs: returns the batch unchanged if it is still the reviewed plan. */
export const rehearsing =
  (id: string, how: How): Revise =>
  async (client, batch) => {
    const request = await allowed(client, id, 'apply');
    const stands = await standing(client, { request, batch, how });
    return stands.kind === 'refused' ? stands : { ...batch, kind: 'revised', also: [] };
  };

async function carried(
  client: pg.ClientBase,
  { request, batch, action }: { request: ChangeRequest; batch: PlannedBatch; action: 'prepare' | 'apply' },
  engine: CarryingOut['engine'],
): Promise<RevisedBatch | Refusal> {
  const { id } = request;
  if (isPrepared(request)) return goingOn(batch, request);
  if (!request.online) return withApplied(batch, id);
  const preparation = await planned(engine, client, { id, batch });
  if (preparation.kind === 'not possible') return refusal(preparation);
  if (preparation.kind === 'nothing')
    return action === 'apply' ? withApplied(batch, id) : { kind: 'refused', problems: [nothingToPrepare(request)] };
  const problems = heldFrom(batch.held, { id, collections: preparation.collections });
  if (problems.length > 0) return { kind: 'refused', problems };
  return instead(batch, prepare(id, preparation, action === 'apply'));
}

/** True if it is prepared and waits, perhaps for its scheduled time. */
const isPrepared = ({ state, preparation }: ChangeRequest): boolean =>
  state === 'prepared' || (state === 'scheduled' && preparation !== null);

/** Hands a prepared request to the runner, which uses the prepared steps. */
function goingOn(batch: PlannedBatch, { id, preparation }: ChangeRequest): RevisedBatch {
  const { steps = [], ...rest } = preparation ?? { collections: [] };
  return instead(batch, {
    events: [changeEvent('change.preparing', id, { ...rest, steps: shownSteps(steps), apply: true })],
    also: [],
  });
}

/** The first action of the runner for a request that waited for others or for its time. */
export const starting =
  (request: ChangeRequest, engine: CarryingOut['engine']): Revise =>
  async (client, batch) => {
    if (isPrepared(request)) return goingOn(batch, request);
    return request.online ? startingOf(engine, request.id)(client, batch) : withApplied(batch, request.id);
  };

/**
 * Runs a proposal only if it is still the approved one.
 * @param revise the action for a request without review
 */
export const guarding =
  (id: string, revise: Revise, how: How): Revise =>
  async (client, batch) => {
    const request = await readChange(client, id);
    if (request === undefined || request.proposal === null) return revise(client, batch);
    const stands = await standing(client, { request, batch, how });
    if (stands.kind === 'refused') return stands;
    const revised = counting(stands, await revise(client, batch));
    // If no preparation is needed any more, it waits, as requested.
    const applies = revised.kind === 'revised' && revised.change !== undefined;
    if (!applies || request.applicant !== null) return revised;
    return instead(batch, { events: [changeEvent('change.prepared', id, { steps: [] })], also: [] });
  };
