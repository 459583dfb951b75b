/** One attempt at a command: one transaction. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { prepareEvents } from '../log/append.js';
import { type Parameterised, sendBatch } from '../postgres/exchange.js';
import { metadataStatements } from '../projector/metadata/rows.js';
import { planBatch } from '../projector/ddl/plan.js';
import { asSent } from '../postgres/client.js';
import type { Statement } from '../projector/ddl/statement.js';
import type { Point } from '../reads/store.js';
import { collectionsChanged } from '../schema/fold/event-schemas.js';
import type { LogEvent } from '../schema/model/events.js';
import type { Problem } from '../kernel/problem.js';
import { snapshotHash } from '../schema/snapshot/snapshot.js';
import type { State } from '../schema/model/state.js';
import { runYielding } from '../kernel/event-loop.js';
import { isLarge, streamRows } from './stream-rows.js';
import type { Try } from './attend.js';
import { SAVEPOINT, begin } from './begin.js';
import { checkpoints } from './checkpoints.js';
import { UnknownOutcomeError, commit } from './commit.js';
import { earlierAnswer, findAnswer, isStorable, storeAnswerStatements } from './idempotency.js';
import { type Projection, runStatements } from './run-ddl.js';
import type { Unanswered } from './commit-outcome.js';
import type { Done, DryRun, Job, Outcome, PipelineOptions, Refusal, RequestContext } from './types.js';

/** A batch that may have been committed, and what to answer if it was. */
export class CommitInDoubt extends Error {
  override readonly name = 'CommitInDoubt';
  readonly lost: Unanswered;
  readonly done: Done;
  readonly point: Point;

  constructor(lost: Unanswered, { done, point }: Pick<Batch, 'done' | 'point'>) {
    super('the outcome of a commit is unknown');
    this.lost = lost;
    this.done = done;
    this.point = point;
  }
}

export interface Attempt extends Try {
  options: PipelineOptions;
  job: Job;
}

/** @throws CommitInDoubt, LockedError; and the driver's error when the connection is gone */
export async function attempt({ options, job, ...at }: Attempt): Promise<Outcome> {
  const { client } = at;
  const { request } = job;
  const { idempotency, cause } = request;
  const { point, found, backend } = await begin(client, options, {
    ...at,
    ...(idempotency && { question: findAnswer(idempotency, cause), savepoint: true }),
  });
  const earlier = idempotency && earlierAnswer(idempotency, found);
  if (earlier !== undefined) return rollback(client, earlier);
  const decided = await decideEvents(point.state, await preparedJob(client, job, point.state), options.release);
  if (decided.kind === 'refused')
    return finishRefused(client, options, { request, outcome: decided, head: point.head });
  const { events } = decided;
  if (events.length === 0) return finishUnchanged(client, options, { request, point });
  const { statements, after } = await runYielding(planBatch(point.state, events, options.place.schema));
  // PostgreSQL works on the DDL while rows and hashes are computed here; the rest follows in one flight.
  const keeps = idempotency !== undefined;
  const running = runStatements(
    client,
    projectionOf(options, { before: point.state, after, events, statements, keeps }),
  );
  const preparing = { options, request, backend, point, events, after };
  const projecting = isLarge(events) ? streamRows(client, { running, rows: () => metadataOf(preparing) }) : running;
  const [problems, batch] = await Promise.all([projecting, prepare(preparing)]);
  if (problems !== null) {
    const outcome: Refusal = { kind: 'refused', problems };
    return finishRefused(client, options, { request, outcome, head: point.head, failed: true });
  }
  return finishDone(client, options, batch);
}

/** The same up to the DDL; everything is rolled back. */
export async function attemptDryRun({ options, job, ...at }: Attempt): Promise<DryRun> {
  const { client } = at;
  const { point } = await begin(client, options, at);
  const decided = await decideEvents(point.state, await preparedJob(client, job, point.state), options.release);
  if (decided.kind === 'refused') return rollback(client, decided);
  const { events } = decided;
  const { statements, after } = await runYielding(planBatch(point.state, events, options.place.schema));
  const batch = { before: point.state, after, events, statements, keeps: false };
  const problems = await runStatements(client, projectionOf(options, batch));
  const shown = statements.map((statement) => ({ ...statement, sql: asSent(client, statement.sql) }));
  return rollback(client, planned({ point, events, statements: shown, problems }));
}

function projectionOf({ pool, place }: PipelineOptions, batch: Omit<Projection, 'pool' | 'schema'>): Projection {
  return { ...batch, pool, schema: place.schema };
}

interface PlannedBatch {
  point: Point;
  events: LogEvent[];
  statements: Statement[];
  problems: Problem[] | null;
}

/** What PostgreSQL says of the statements belongs into the plan; what it says of the moment refuses the dry run. */
function planned({ point, events, statements, problems }: PlannedBatch): DryRun {
  const refusal = problems?.[0];
  if (problems !== null && !isStorable({ kind: 'refused', problems })) return { kind: 'refused', problems };
  const accepted = refusal === undefined;
  return { kind: 'planned', events, statements, accepted, ...(refusal && { refusal }), before: point.state };
}

async function preparedJob(client: pg.ClientBase, job: Job, state: State): Promise<Job> {
  return job.prepare === undefined ? job : { ...job, decide: await job.prepare(client, state) };
}

type Decided = { kind: 'decided'; events: LogEvent[] } | Refusal;

async function decideEvents(state: State, { decide, request }: Job, release: string): Promise<Decided> {
  const { ifMatch } = request;
  if (ifMatch !== undefined && ifMatch !== (await runYielding(snapshotHash(state, release)))) {
    return { kind: 'refused', problems: [preconditionFailed()] };
  }
  const result = await runYielding(decide(state));
  return result.ok ? { kind: 'decided', events: result.value } : { kind: 'refused', problems: result.problems };
}

interface Batch {
  id: string;
  /** The process of the server that runs the transaction. */
  backend: number;
  done: Done;
  point: Point;
  statements: Parameterised[];
}

interface Preparing {
  options: PipelineOptions;
  request: RequestContext;
  backend: number;
  point: Point;
  events: readonly LogEvent[];
  after: State;
}

function metadataOf({ point, events, after }: Preparing): Iterable<Parameterised> {
  return metadataStatements(point.state, after, collectionsChanged(events));
}

/** Everything of a batch but what is streamed. */
async function prepare(preparing: Preparing): Promise<Batch> {
  const { options, request, point, events, after } = preparing;
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
    ...checkpoints(prepared.head, options),
    ...(request.idempotency ? storeAnswerStatements(request, done, prepared.head) : []),
  ];
  return { id, backend: preparing.backend, done, point: { state: after, head: prepared.head }, statements };
}

function finishDone(client: pg.ClientBase, options: PipelineOptions, batch: Batch): Promise<Done> {
  const ended = commitAndPublish(client, options, batch);
  options.store.expect(batch.point, ended);
  return ended;
}

async function commitAndPublish(client: pg.ClientBase, options: PipelineOptions, batch: Batch): Promise<Done> {
  try {
    await commit(client, batch.statements);
  } catch (error) {
    if (!(error instanceof UnknownOutcomeError)) throw error;
    throw new CommitInDoubt({ batch: batch.id, backend: batch.backend }, batch);
  }
  options.store.publish(batch.point);
  return batch.done;
}

interface Unchanged {
  request: RequestContext;
  point: Point;
}

async function finishUnchanged(client: pg.ClientBase, options: PipelineOptions, at: Unchanged): Promise<Done> {
  const { state, head } = at.point;
  const done: Done = { kind: 'done', before: state, state, events: [], position: head.position };
  if (at.request.idempotency === undefined) return rollback(client, done);
  return commitAnswer(client, options, { statements: storeAnswerStatements(at.request, done, head), outcome: done });
}

interface Refused {
  request: RequestContext;
  outcome: Refusal;
  head: Point['head'];
  /** The transaction has met an error. */
  failed?: boolean;
}

async function finishRefused(client: pg.ClientBase, options: PipelineOptions, refused: Refused): Promise<Refusal> {
  const { request, outcome, head, failed } = refused;
  if (request.idempotency === undefined || !isStorable(outcome)) return rollback(client, outcome);
  const back = failed === true ? [{ text: `ROLLBACK TO SAVEPOINT ${SAVEPOINT}` }] : [];
  return commitAnswer(client, options, {
    statements: [...back, ...storeAnswerStatements(request, outcome, head)],
    outcome,
  });
}

/** Commits an answer of a command that changed nothing. Whether it could be kept makes no difference to it. */
async function commitAnswer<T>(
  client: pg.ClientBase,
  options: PipelineOptions,
  kept: { statements: Parameterised[]; outcome: T },
): Promise<T> {
  try {
    await commit(client, kept.statements);
  } catch (error) {
    if (!(error instanceof UnknownOutcomeError)) throw error;
    options.logger.warn('an answer could not be kept', { error: error.message });
  }
  return kept.outcome;
}

/** Ends the transaction and answers `outcome`. A connection that is gone has ended it already. */
async function rollback<T>(client: pg.ClientBase, outcome: T): Promise<T> {
  await sendBatch(client, [{ text: 'ROLLBACK' }]).catch(() => undefined);
  return outcome;
}

function preconditionFailed(): Problem {
  const message = 'The schema is not the one that If-Match names: read it again and decide again.';
  return { code: 'PRECONDITION_FAILED', message };
}
