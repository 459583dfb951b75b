/** One attempt at a command: one transaction. */
import { randomUUID } from 'node:crypto';
import { runYielding } from '../kernel/event-loop.js';
import { prepareEvents } from '../log/append.js';
import type { Point } from '../log/fold.js';
import type { Backend } from '../postgres/backend.js';
import type { Parameterised } from '../postgres/exchange.js';
import { planBatch } from '../projector/ddl/plan.js';
import { metadataStatements } from '../projector/metadata/rows.js';
import { trashStatements } from '../projector/trash/rows.js';
import { collectionsChanged } from '../schema/fold/event-schemas.js';
import type { LogEvent } from '../schema/model/events.js';
import type { State } from '../schema/model/state.js';
import type { Try } from './keep-alive.js';
import { begin, notCommitted } from './begin.js';
import { checkpoints } from './checkpoints.js';
import { decideEvents } from './decide.js';
import { type Batch, finishDone, finishRefused, finishUnchanged, rollback } from './finish.js';
import { earlierAnswer, findAnswer, storeAnswerStatements } from './idempotency.js';
import { type Projection, runStatements } from './run-ddl.js';
import { isLarge, streamRows } from './stream-rows.js';
import type { Done, Job, Outcome, PipelineOptions, Refusal, RequestContext } from './types.js';

export interface Attempt extends Try {
  options: PipelineOptions;
  job: Job;
}

/** @throws CommitInDoubt, LockedError; StaleConnectionError when the connection was lost before the COMMIT was sent */
export async function attempt(attempting: Attempt): Promise<Outcome> {
  return run(attempting).catch(notCommitted);
}

async function run({ options, job, ...at }: Attempt): Promise<Outcome> {
  const { client } = at;
  const { request } = job;
  const { idempotency, cause } = request;
  const { point, base, found, backend, timeline } = await begin(client, options, {
    ...at,
    ...(idempotency && { question: findAnswer(idempotency, cause), savepoint: true }),
  });
  const earlier = idempotency && earlierAnswer(idempotency, found);
  if (earlier !== undefined) return rollback(client, earlier);
  const decided = await decideEvents(client, { job, state: point.state, options, waits: at });
  if (decided.kind === 'refused')
    return finishRefused(client, options, { request, outcome: decided, head: point.head });
  const { events } = decided;
  if (events.length === 0) return finishUnchanged(client, options, { request, point });
  const { statements, after } = await runYielding(planBatch(point.state, events, options.place.schema));
  // PostgreSQL works on the DDL while rows and hashes are computed here; the rest follows in one flight.
  const keeps = idempotency !== undefined;
  const running = runStatements(
    client,
    projectionOf(options, { before: point.state, after, events, statements, keeps, waits: at }),
  );
  const preparing = { options, request, backend, timeline, base, point, events, after };
  const projecting = isLarge(events) ? streamRows(client, { running, rows: () => metadataOf(preparing) }) : running;
  const [problems, batch] = await Promise.all([projecting, prepare(preparing)]);
  if (problems !== null) {
    const outcome: Refusal = { kind: 'refused', problems };
    return finishRefused(client, options, { request, outcome, head: point.head, failed: true });
  }
  return finishDone(client, options, batch);
}

export function projectionOf({ pool, place }: PipelineOptions, batch: Omit<Projection, 'pool' | 'schema'>): Projection {
  return { ...batch, pool, schema: place.schema };
}

interface Preparing {
  options: PipelineOptions;
  request: RequestContext;
  backend: Backend;
  timeline: number | null;
  base: Point;
  point: Point;
  events: readonly LogEvent[];
  after: State;
}

function metadataOf({ point, events, after }: Preparing): Iterable<Parameterised> {
  return metadataStatements(point.state, after, collectionsChanged(events));
}

/** Everything of a batch but what is streamed. */
async function prepare(preparing: Preparing): Promise<Batch> {
  const { options, request, backend, timeline, base, point, events, after } = preparing;
  const id = randomUUID();
  const now = options.clock?.() ?? new Date();
  const prepared = await prepareEvents({ head: point.head, events, cause: request.cause, batch: id, now });
  const done: Done = {
    kind: 'done',
    before: point.state,
    state: after,
    events: prepared.events,
    position: prepared.head.position,
  };
  const statements = [
    ...prepared.statements,
    ...(isLarge(events) ? [] : metadataOf(preparing)),
    ...(await runYielding(trashStatements({ before: point.state, events: prepared.events }))),
    ...checkpoints(prepared.head, options),
    ...(request.idempotency ? await storeAnswerStatements(request, done, prepared.head) : []),
  ];
  return { id, backend, timeline, base, done, point: { state: after, head: prepared.head }, statements };
}
