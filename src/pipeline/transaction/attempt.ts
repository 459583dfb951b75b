/** One attempt at a command: one transaction. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { runYielding, createTimeSlice, mapYielding, yieldToEventLoop } from '../../kernel/event-loop.js';
import { prepareEvents } from '../../log/append.js';
import { type Parameterised, sendBatch } from '../../postgres/exchange.js';
import { changesAfter, changesBefore, writeChanges } from '../../projector/change-requests/rows.js';
import { metadataStatements } from '../../projector/metadata/rows.js';
import { trashStatements } from '../../projector/trash/rows.js';
import { collectionsChanged } from '../../schema/fold/event-schemas.js';
import type { Cause, LogEvent } from '../../schema/model/events.js';
import type { Acknowledgement } from '../../schema/policy/index.js';
import type { ChangeRequest } from '../../schema/change-requests/model.js';
import type { Try } from '../keep-alive.js';
import { type Begun, begin, notCommitted } from './begin.js';
import { checkpoints } from './checkpoints.js';
import { type DecidedBatch, decideBatch } from './decide.js';
import { enforcePolicy } from './enforce-policy.js';
import { type Batch, finishDone, finishRefused, finishUnchanged, rollback } from './finish.js';
import { earlierAnswer, findAnswer, storeAnswerStatements } from './idempotency.js';
import { type Projection, runStatements } from './run-ddl.js';
import type { Done, Job, Outcome, PipelineOptions, Refusal, RequestContext } from '../types.js';
import type { Problem } from '../../kernel/problem.js';

/* Streams parts of a large batch before its end. */

/** True if writing the rows takes longer than a round trip. */
const isLarge = (events: readonly LogEvent[]): boolean => events.length > 100 || events.some(isWide);

const isWide = ({ data }: LogEvent): boolean => 'fields' in data && data.fields.length > 500;

interface DdlAndRows {
  /** The running DDL. Resolves with the errors of PostgreSQL, or null. */
  running: Promise<Problem[] | null>;
  rows(): Iterable<Parameterised>;
}

/** Sends the rows directly after the DDL, so that PostgreSQL writes them while this process hashes the events. */
async function streamRows(client: pg.ClientBase, { running, rows }: DdlAndRows): Promise<Problem[] | null> {
  const [problems, statements] = await Promise.all([
    running,
    yieldToEventLoop().then(() => mapYielding(rows(), (each) => each, createTimeSlice())),
  ]);
  if (problems === null) await sendBatch(client, statements);
  return problems;
}

export interface Attempt extends Try {
  options: PipelineOptions;
  job: Job;
}

/** @throws CommitInDoubt, LockedError, or StaleConnectionError if the connection was lost before COMMIT was sent */
export async function attempt(attempting: Attempt): Promise<Outcome> {
  return run(attempting).catch(notCommitted);
}

async function run({ options, job, ...at }: Attempt): Promise<Outcome> {
  const { client } = at;
  const { request } = job;
  const { idempotency, cause } = request;
  const begun = await begin(client, options, {
    ...at,
    ...(idempotency && { question: findAnswer(idempotency, cause), savepoint: true }),
    keeps: keptBy(job, options),
  });
  const { point, found } = begun;
  const earlier = idempotency && earlierAnswer(idempotency, found);
  if (earlier !== undefined) return rollback(client, earlier);
  const decided = await decideBatch(client, { options, job, begun, waits: at });
  if (decided.kind === 'refused')
    return finishRefused(client, options, { request, outcome: decided, head: point.head });
  if (decided.events.length === 0) return finishUnchanged(client, options, { request, point });
  const { judging, warnings } = decided;
  const admission = await enforcePolicy(client, { ...judging, warnings, acknowledges: request.acknowledges });
  if (admission.kind === 'refused')
    return finishRefused(client, options, { request, outcome: admission, head: point.head });
  const told = { ...request, cause: withAcknowledged(cause, admission.acknowledged) };
  const events = decided.events.map((event): LogEvent =>
    event.type === 'change.approved' ? { ...event, data: { ...event.data, ...admission.approved } } : event,
  );
  return carryOut(client, { options, request: told, begun, waits: at, ...decided, events });
}

/** The deleted tables that go to the trash, as far as that is known before the decision. */
function keptBy({ deletes = [], request }: Job, { keep, store }: PipelineOptions): readonly string[] {
  if (keep.deleted === 0 || request.purge === true || request.plansOnly === true) return [];
  const { collections } = store.point().state;
  return deletes.filter((name) => collections.has(name));
}

/** Records acknowledged findings in the events. */
const withAcknowledged = (cause: Cause, acknowledged: readonly Acknowledgement[]): Cause =>
  acknowledged.length === 0
    ? cause
    : {
        ...cause,
        context: { ...cause.context, acknowledged: acknowledged.map(({ code, place }) => ({ code, place })) },
      };

/** The rest of an attempt, from the DDL to the commit. */
async function carryOut(client: pg.ClientBase, deciding: Omit<Preparing, 'changes'>): Promise<Outcome> {
  const { options, request, begun, waits, events, after, statements } = deciding;
  const { point } = begun;
  const preparing = { ...deciding, changes: await changesBefore(client, events) };
  // PostgreSQL runs the DDL while this process computes rows and hashes. The remaining statements are sent in one
  // flight.
  const keeps = request.idempotency !== undefined;
  const running = runStatements(
    client,
    projectionOf(options, { before: point.state, after, events, statements, keeps, waits }),
  );
  const projecting = isLarge(events) ? streamRows(client, { running, rows: () => metadataOf(preparing) }) : running;
  const [problems, batch] = await Promise.all([projecting, prepare(preparing)]);
  if (problems !== null) {
    const outcome: Refusal = { kind: 'refused', problems };
    return finishRefused(client, options, { request, outcome, head: point.head, failed: true });
  }
  return finishDone(client, options, batch);
}

/** Adds the pool and the schema of the pipeline. */
export function projectionOf({ pool, place }: PipelineOptions, batch: Omit<Projection, 'pool' | 'schema'>): Projection {
  return { ...batch, pool, schema: place.schema };
}

interface Preparing extends DecidedBatch {
  options: PipelineOptions;
  request: RequestContext;
  begun: Begun;
  waits: Projection['waits'];
  /** The change requests that the events are about, before the events. */
  changes: ReadonlyMap<string, ChangeRequest>;
}

function metadataOf({ begun: { point }, events, after }: Preparing): Iterable<Parameterised> {
  return metadataStatements(point.state, after, collectionsChanged(events));
}

/** Prepares everything of a batch except streamed rows. */
async function prepare(preparing: Preparing): Promise<Batch> {
  const { options, request, begun, events, after, also, changes } = preparing;
  const { backend, timeline, base, point } = begun;
  const id = randomUUID();
  const now = options.clock?.() ?? new Date();
  const prepared = await prepareEvents({ head: point.head, events, cause: request.cause, batch: id, now });
  const requests = changesAfter(prepared.events, changes);
  const done: Done = {
    kind: 'done',
    before: point.state,
    state: after,
    events: prepared.events,
    position: prepared.head.position,
    ...(requests.size > 0 && { changes: requests }),
    ...(request.purge === true && { purge: true }),
  };
  const statements = [
    ...prepared.statements,
    ...(isLarge(events) ? [] : metadataOf(preparing)),
    ...(await runYielding(trashStatements({ before: point.state, events: prepared.events }))),
    ...writeChanges([...requests.values()]),
    ...also,
    ...checkpoints(prepared.head, options),
    ...(request.idempotency ? await storeAnswerStatements(request, done, prepared.head) : []),
  ];
  return { id, backend, timeline, base, done, point: { state: after, head: prepared.head }, statements };
}
