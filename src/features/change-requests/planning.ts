/* Decides how a change with preparation continues. It is applied immediately if preparation has no benefit, and rejected
   if preparation is impossible. Otherwise it becomes a request. The preparation of a request begins when no other
   request holds its tables. */
import type pg from 'pg';
import type { Document } from '../../log/document-lines.js';
import { keepDocuments } from '../../log/documents.js';
import type { Problem, Warning } from '../../kernel/problem.js';
import type { Parameterised } from '../../postgres/exchange.js';
import { keepSteps, readSteps } from './rows.js';
import type { Preparation, PreparationEngine, PreparationStep } from '../../projector/online/types.js';
import { listCollections } from '../../schema/collection-scope.js';
import type { ChangeStep, LogEvent, Cause, OtherEventData } from '../../schema/model/events.js';
import {
  CommandRefused,
  type PlannedBatch,
  type Prepare,
  type Recording,
  type Refusal,
  type Revise,
  type RevisedBatch,
} from '../../pipeline/types.js';
import { type ChangeEvent, type ChangeRequest, CHANGE } from '../../schema/change-requests/model.js';
import { readChange } from './rows.js';
import { allowedActions } from '../../schema/change-requests/fold.js';
import { isAllowedAfter } from '../../schema/change-requests/fold.js';

/* Create events about change requests, and causes for actions that nobody requested. */

/** Creates an event of a change request. Position, batch and actor are added when it is appended. */
export function changeEvent<T extends ChangeEvent['type']>(type: T, id: string, data: OtherEventData[T]): LogEvent {
  return { type, version: 1, collection: null, field: null, subject: { kind: CHANGE, id }, data } as LogEvent;
}

/** The cause of actions that the service starts by itself. */
export function createServiceCause(command: string): Cause {
  return {
    actor: { id: 'service', name: 'Data Platform Service' },
    command,
    reason: null,
    request_id: null,
    ip: null,
    user_agent: null,
  };
}

/** Returns the cause of an applied change. Its actor is the user who applies it, whichever process carries it out. */
export function applicantsCause({ author, applicant, operation, reason }: ChangeRequest): Cause {
  return { ...createServiceCause(operation), actor: applicant ?? author, reason };
}

interface Opening {
  id: string;
  operation: string;
  document: Document;
}

type Planner = Pick<PreparationEngine, 'planPreparation'>;

/** Opens a request for a change with `online` if something must be prepared. */
export const reviseForOpening =
  (engine: Planner, { id, operation, document }: Opening): Revise =>
  async (client, batch) => {
    const preparation = await planPreparation(engine, client, { id, batch });
    if (preparation.kind === 'not possible') return toRefusal(preparation);
    if (preparation.kind === 'nothing') return keepBatch(batch);
    if ((document.content?.length ?? 0) > MOST) return { kind: 'refused', problems: [tooLarge()] };
    const collections = listCollections({ ...batch, before: batch.before.state });
    const opened = changeEvent('change.opened', id, { operation, document: document.hash, online: true, collections });
    const next = isFree(batch, id, preparation.collections) ? prepare(id, preparation) : { events: [], also: [] };
    const also = [...keepDocuments([document]), ...next.also];
    return { ...replaceBatch(batch, { events: [opened, ...next.events], also }), document };
  };

/**
 * Maximum number of characters of a requested change. It is parsed without a pause each time the request is resumed or
 * shown.
 */
const MOST = 1024 ** 2;

const tooLarge = (): Problem => ({
  code: 'ONLINE_NOT_POSSIBLE',
  message: `An online change may have at most ${MOST.toLocaleString('en')} characters. Send the large part separately, without online.`,
});

/** Adds to the plan of an online change what would be prepared first. */
export const withPreparation =
  (engine: Planner): Revise =>
  async (client, batch) => {
    const preparation = await planPreparation(engine, client, { id: NO_ID, batch });
    if (preparation.kind === 'not possible') return toRefusal(preparation);
    return { ...keepBatch(batch), ...(preparation.kind === 'steps' && { preparation }) };
  };

/** An id under which nothing is created. */
const NO_ID = '00000000-0000-4000-8000-000000000000';

/** Begins the preparation of a request that waited for other requests. Does nothing while those are unfinished. */
export const reviseForPreparation =
  (engine: Planner, id: string): Revise =>
  async (client, batch) => {
    const preparation = await planPreparation(engine, client, { id, batch });
    if (preparation.kind === 'not possible') return toRefusal(preparation);
    if (preparation.kind === 'nothing') return { ...withApplied(batch, id), online: true };
    if (!isFree(batch, id, preparation.collections)) return replaceBatch(batch, { events: [], also: [] });
    return replaceBatch(batch, prepare(id, preparation));
  };

/** Appends to the batch the event that assigns it to its request. */
export function withApplied({ events, statements, after }: PlannedBatch, id: string): RevisedBatch {
  const all = [...events, changeEvent('change.applied', id, {})];
  return { kind: 'revised', events: all, statements, after, also: [], change: id };
}

interface Preparable {
  steps: readonly PreparationStep[];
  collections: string[];
  warnings?: Warning[];
}

/**
 * Begins the preparation, or repeats it with the missing parts.
 * @param apply true to apply a proposal once it is prepared
 */
export function prepare(
  id: string,
  { steps, collections, warnings = [] }: Preparable,
  apply = false,
): { events: LogEvent[]; also: Parameterised[] } {
  return {
    events: [
      changeEvent('change.preparing', id, {
        collections,
        steps: toLoggedSteps(steps),
        ...(warnings.length > 0 && { warnings }),
        ...(apply && { apply }),
      }),
    ],
    also: keepSteps(id, steps),
  };
}

/** Returns the properties of the steps that the log records. */
export const toLoggedSteps = (steps: readonly ChangeStep[]): ChangeStep[] =>
  steps.map(({ key, kind, collection, field, summary }) => ({ key, kind, collection, field, summary }));

/** Replaces the schema change by events about a request. */
export function replaceBatch(
  { before }: PlannedBatch,
  recorded: Pick<RevisedBatch, 'events' | 'also' | 'online'>,
): RevisedBatch {
  return { kind: 'revised', statements: [], after: before.state, ...recorded };
}

/** Returns what would be prepared for a batch. */
export async function planPreparation(
  engine: Planner,
  client: pg.ClientBase,
  { id, batch }: { id: string; batch: PlannedBatch },
): Promise<Preparation> {
  const { before, after, events, statements, schema } = batch;
  if (events.length === 0) return { kind: 'nothing' };
  return engine.planPreparation(client, { id, before: before.state, after, events, statements, schema });
}

function keepBatch({ events, statements, after }: PlannedBatch): RevisedBatch {
  return { kind: 'revised', events, statements, after, also: [], online: true };
}

/** Returns the rejection with the reasons why the change cannot be prepared. */
export const toRefusal = ({ problems }: Extract<Preparation, { kind: 'not possible' }>): Refusal => ({
  kind: 'refused',
  problems,
});

const isFree = ({ held }: PlannedBatch, id: string, collections: readonly string[]): boolean =>
  !held.some((each) => each.id !== id && each.collections.some((name) => collections.includes(name)));

/* Applies a prepared change in a short transaction. The change is decided again, and prepared steps replace slow
   statements. */

/**
 * Applies a prepared change. If it now needs different steps, these are prepared first, and the outcome contains no
 * schema change.
 */
export const reviseForPreparedSteps =
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
    return replaceBatch(batch, prepare(id, { steps: [...steps, ...prepared.steps], collections: [...collections] }));
  };

interface RecordOptions extends Pick<Recording, 'also'> {
  /** A further condition that the current request must meet. */
  still?: (now: ChangeRequest) => boolean;
}

/** Appends an event about a request, if the state of the request allows it. */
export const planRecording =
  <T extends ChangeEvent['type']>(
    id: string,
    type: T,
    data: Parameters<typeof changeEvent<T>>[2],
    { also = [], still = () => true }: RecordOptions = {},
  ): Prepare<Recording> =>
  async (client) => {
    const request = await readChange(client, id);
    if (request === undefined || !isAllowedAfter(request, type) || !still(request))
      throw new CommandRefused([wrongState(id, request)]);
    return { events: [changeEvent(type, id, data)], also };
  };

/** Creates the problem of an action that the state of the request does not allow. */
export function wrongState(id: string, request: ChangeRequest | undefined): Problem {
  if (request === undefined) return { code: 'NOT_FOUND', message: `Change request ${id} does not exist.` };
  const { state } = request;
  const allowed = allowedActions(request);
  const rest =
    allowed.length === 0 ? 'it has ended, so no action is possible' : `possible actions: ${allowed.join(', ')}`;
  return {
    code: 'INVALID_STATE',
    message: `Change request ${id} is ${state}; ${rest}.`,
    details: { change: id, state, allowed },
  };
}
