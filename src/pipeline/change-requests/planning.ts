/**
 * Decides how a change with preparation continues. It is applied at once if preparation gains nothing, and rejected if
 * it is impossible. Otherwise it becomes a request, whose preparation begins when no other request holds its tables.
 */
import type pg from 'pg';
import type { Document } from '../../log/document-lines.js';
import { keepDocuments } from '../../log/documents.js';
import type { Problem } from '../../kernel/problem.js';
import type { Warning } from '../../kernel/warning.js';
import type { Parameterised } from '../../postgres/exchange.js';
import { keepSteps } from '../../projector/change-requests/preparations.js';
import type { Preparation, PreparationEngine, PreparationStep } from '../../projector/online/types.js';
import { collectionsChanged } from '../../schema/fold/event-schemas.js';
import type { ChangeStep, LogEvent } from '../../schema/model/events.js';
import { byName } from '../../schema/model/state.js';
import type { Foresee, PlannedBatch, Refusal, Revise, RevisedBatch } from '../types.js';
import { changeEvent } from './events.js';

export interface Opening {
  id: string;
  operation: string;
  document: Document;
}

type Planner = Pick<PreparationEngine, 'planPreparation'>;

/** For a change with `online`: opens a request if something must be prepared. */
export const openingOf =
  (engine: Planner, { id, operation, document }: Opening): Revise =>
  async (client, batch) => {
    const preparation = await planned(engine, client, { id, batch });
    if (preparation.kind === 'not possible') return refusal(preparation);
    if (preparation.kind === 'nothing') return asPlanned(batch);
    if ((document.content?.length ?? 0) > MOST) return { kind: 'refused', problems: [tooLarge()] };
    const collections = [...collectionsChanged(batch.events)].sort(byName);
    const opened = changeEvent('change.opened', id, { operation, document: document.hash, online: true, collections });
    const next = isFree(batch, id, preparation.collections) ? prepare(id, preparation) : { events: [], also: [] };
    return instead(batch, { events: [opened, ...next.events], also: [...keepDocuments([document]), ...next.also] });
  };

/** Characters of a requested change. It is parsed in one step each time the request is resumed or shown. */
const MOST = 1024 ** 2;

const tooLarge = (): Problem => ({
  code: 'ONLINE_NOT_POSSIBLE',
  message: `A change that is prepared online may be described in ${MOST.toLocaleString('en')} characters at most: send what is large apart, and the rest without online.`,
});

/** Returns what would be prepared for a change. */
export const foreseeing =
  (engine: Planner): Foresee =>
  (client, batch) =>
    planned(engine, client, { id: NO_ID, batch });

/** Nothing is created under this id. */
const NO_ID = '00000000-0000-4000-8000-000000000000';

/** Begins the preparation of a request that waited for others. Does nothing while they continue. */
export const startingOf =
  (engine: Planner, id: string): Revise =>
  async (client, batch) => {
    const preparation = await planned(engine, client, { id, batch });
    if (preparation.kind === 'not possible') return refusal(preparation);
    if (preparation.kind === 'nothing') return { ...withApplied(batch, id), online: true };
    if (!isFree(batch, id, preparation.collections)) return instead(batch, { events: [], also: [] });
    return instead(batch, prepare(id, preparation));
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

/** Begins the preparation, or repeats it with the missing parts. @param apply for a proposal: apply it once prepared */
export function prepare(
  id: string,
  { steps, collections, warnings = [] }: Preparable,
  apply = false,
): { events: LogEvent[]; also: Parameterised[] } {
  return {
    events: [
      changeEvent('change.preparing', id, {
        collections,
        steps: shownSteps(steps),
        ...(warnings.length > 0 && { warnings }),
        ...(apply && { apply }),
      }),
    ],
    also: keepSteps(id, steps),
  };
}

/** Selects the properties of the steps that the log records. */
export const shownSteps = (steps: readonly ChangeStep[]): ChangeStep[] =>
  steps.map(({ key, kind, collection, field, summary }) => ({ key, kind, collection, field, summary }));

/** Replaces the change by events about a request. */
export function instead(
  { before }: PlannedBatch,
  told: Pick<RevisedBatch, 'events' | 'also' | 'online'>,
): RevisedBatch {
  return { kind: 'revised', statements: [], after: before.state, ...told };
}

/** Returns what would be prepared for a batch. */
export async function planned(
  engine: Planner,
  client: pg.ClientBase,
  { id, batch }: { id: string; batch: PlannedBatch },
): Promise<Preparation> {
  const { before, after, events, statements, schema } = batch;
  if (events.length === 0) return { kind: 'nothing' };
  return engine.planPreparation(client, { id, before: before.state, after, events, statements, schema });
}

function asPlanned({ events, statements, after }: PlannedBatch): RevisedBatch {
  return { kind: 'revised', events, statements, after, also: [], online: true };
}

/** The rejection with the reasons why it cannot be prepared. */
export const refusal = ({ problems }: Extract<Preparation, { kind: 'not possible' }>): Refusal => ({
  kind: 'refused',
  problems,
});

const isFree = ({ held }: PlannedBatch, id: string, collections: readonly string[]): boolean =>
  !held.some((each) => each.id !== id && each.collections.some((name) => collections.includes(name)));
