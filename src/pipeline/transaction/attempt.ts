/* Runs one attempt at a command in one transaction. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { runYielding, createTimeSlice, mapYielding, yieldToEventLoop } from '../../kernel/event-loop.js';
import { prepareEvents } from '../../log/append.js';
import { type Parameterised, sendBatch } from '../../postgres/exchange.js';
import { changesAfter, changesBefore, writeChanges } from '../../features/change-requests/rows.js';
import { metadataStatements, objectStatements } from '../../projector/metadata/rows.js';
import { trashStatements } from '../../features/trash/rows.js';
import { changesObjects, changesSchema, collectionsChanged } from '../../schema/fold/event-schemas.js';
import { type Cause, type LogEvent, isConsequence } from '../../schema/model/events.js';
import { isObjectInScope } from '../../schema/collection-scope.js';
import { isJudged } from '../../schema/change-requests/replay-policy.js';
import { type Acknowledgement, isEnforced } from '../../schema/policy.js';
import type { ChangeRequest } from '../../schema/change-requests/model.js';
import type { TransactionAttempt } from '../keep-alive.js';
import { type StartedTransaction, begin, throwNotCommitted } from './begin.js';
import { type DecidedBatch, type DecideOptions, decideBatch, isReader, outOfScope } from './decide.js';
import { type Admission, enforcePolicy, unmatchedAcknowledgements } from './enforce-policy.js';
import { type Batch, finishDone, finishRefused, finishUnchanged, rollback } from './commit.js';
import { readEarlierAnswer, findAnswer, storeAnswerStatements, isStorable } from './idempotency.js';
import { countUnmatched, restoresValues, type Projection, runStatements, readUnobstructedScript } from './run-ddl.js';
import { type RewrittenBatch, withRewrittenObjects } from './rewritten-objects.js';
import { startProof } from './prove.js';
import {
  NO_DATABASE,
  type ExpectedOutcome,
  assumeBegin,
  assumptionsAfter,
  fitsOneRoundTrip,
  createOpening,
  requireRejected,
  ignoreDatabaseNeeded,
} from './single-flight.js';
import type { CompletedChange, Job, Outcome, PipelineOptions, Refusal, Plan, RequestContext } from '../types.js';
import type { Problem } from '../../kernel/problem.js';
import type { LogHead } from '../../log/head.js';
import { logChannel } from '../../postgres/locked-session.js';
import { own } from '../../postgres/own-tables.js';
import { nameSentSchema } from '../../postgres/client.js';

/* Updates the checkpoints of projections that are written together with their events. */

/** Returns statements that set the checkpoints to a new head, and the NOTIFY for all listeners. */
export function checkpoints(
  { position, hash }: LogHead,
  { location }: Pick<PipelineOptions, 'location'>,
): Parameterised[] {
  return [
    {
      text: `INSERT INTO ${own.projections} (name, kind, position, hash)
             VALUES ('tables', 'transactional', $1, $2), ('metadata', 'transactional', $1, $2),
                    ('trash', 'transactional', $1, $2), ('change-requests', 'transactional', $1, $2)
             ON CONFLICT (name) DO UPDATE
                SET position = excluded.position, hash = excluded.hash, updated_at = now()`,
      values: [position, hash],
    },
    { text: `SELECT pg_catalog.pg_notify($1, $2)`, values: [logChannel(location.schema), String(position)] },
  ];
}

/**
 * Returns the notification for PostgREST. PostgreSQL delivers it after the commit, so PostgREST reads the new schema.
 */
export const reloadPostgrest = ({ notifyPostgrest }: PipelineOptions): Parameterised[] =>
  notifyPostgrest === true ? [{ text: `SELECT pg_catalog.pg_notify('pgrst', 'reload schema')` }] : [];

/** True if the event changes something that PostgREST serves, which is tables and views. */
const isServedByPostgrest = (event: LogEvent): boolean => changesSchema(event) || changesObjects(event);

/* Sends parts of a large batch to PostgreSQL before the whole batch is ready. */

/** True if writing the rows takes longer than a round trip. */
const isLarge = (events: readonly LogEvent[]): boolean => events.length > 100 || events.some(isWide);

const isWide = ({ data }: LogEvent): boolean => 'fields' in data && data.fields.length > 500;

interface DdlAndRows {
  /** Resolves when the running DDL has finished. The value is PostgreSQL's errors, or null. */
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

export interface Attempt<C> extends TransactionAttempt {
  options: PipelineOptions;
  job: Job<C>;
  outlook: ExpectedOutcome;
}

/** @throws CommitInDoubt, LockedError, or StaleConnectionError if the connection was lost before COMMIT was sent */
export async function attempt<C>(attempting: Attempt<C>): Promise<Outcome<C>> {
  return run(attempting).catch(throwNotCommitted);
}

async function run<C>(attempting: Attempt<C>): Promise<Outcome<C>> {
  const done = await attemptInOneFlight(attempting);
  if (done !== undefined) return done;
  const { options, job, outlook, ...at } = attempting;
  const { client } = at;
  const { request } = job;
  const { idempotency, cause, pipelineToken } = request;
  const begun = await begin(client, options, {
    ...at,
    ...(idempotency && { question: findAnswer(idempotency, cause), savepoint: true }),
    pipelineToken,
    keeps: tablesToKeep(job, options),
    alters: tablesToAlter(job),
  });
  outlook.assumptions = assumptionsAfter(begun);
  const { point, found } = begun;
  const earlier = idempotency && readEarlierAnswer(idempotency, found);
  if (earlier !== undefined) return rollback(client, earlier);
  if (begun.isRevoked) return rollback(client, { kind: 'refused', problems: [REVOKED] });
  const decided = await decideBatch(client, { options, job, begun, waits: at });
  if (decided.kind === 'refused')
    return finishRefused(client, options, { request, outcome: decided, head: point.head });
  const { command, judging, warnings } = decided;
  if (decided.events.length === 0) return finishUnchanged(client, options, { request, command, point });
  const { acknowledges } = request;
  const admission = await enforcePolicy(client, { ...judging, warnings, acknowledges, cause });
  if (admission.kind === 'refused')
    return finishRefused(client, options, { request, outcome: admission, head: point.head });
  const recorded = { ...request, cause: withPolicy(withAcknowledged(cause, admission.acknowledged), decided, begun) };
  const events = decided.events.map((event) => withCovered(event, admission));
  return executeAttempt(client, { options, request: recorded, begun, waits: at, ...decided, events });
}

const REVOKED: Problem = {
  code: 'FORBIDDEN',
  message:
    'The API token of this pipeline became invalid while the request waited: it expired or was revoked, or its trust rule changed. Nothing was changed.',
};

/** Carries out a change in one flight. Returns undefined, with nothing changed, if that is not possible. */
async function attemptInOneFlight<C>({
  options,
  job,
  outlook,
  ...at
}: Attempt<C>): Promise<CompletedChange<C> | undefined> {
  const { client } = at;
  const { assumptions } = outlook;
  const begun = assumptions && fitsOneRoundTrip(job) ? assumeBegin(client, options, assumptions) : undefined;
  if (begun === undefined) return undefined;
  const decided = await decideBatch(NO_DATABASE, { options, job, begun, waits: at }).catch(ignoreDatabaseNeeded);
  if (decided?.kind !== 'decided' || decided.events.length === 0) return undefined;
  const script = readUnobstructedScript(decided);
  if (script === null) return undefined;
  const { request } = job;
  const batch = await prepare({ options, request, begun, waits: at, ...decided, changes: new Map() }, false);
  const before = [
    ...createOpening(begun, options, { ...at, ...request, batch: batch.id }),
    ...script.map((text) => ({ text, once: true })),
  ];
  const statements = [...before, ...batch.statements];
  at.attendance.began(begun.backend);
  outlook.assumptions = undefined;
  try {
    const done = await finishDone(client, options, { ...batch, statements, isWholeChange: true });
    outlook.assumptions = assumptions;
    return done;
  } catch (error) {
    requireRejected(error, statements.length + 1);
    return rollback(client, undefined);
  }
}

/** Returns the deleted tables that go to the trash, as far as they are known before the decision. */
function tablesToKeep<C>({ operation, command, request }: Job<C>, { keep, store }: PipelineOptions): readonly string[] {
  if (keep.deleted === 0 || request.purge === true || isReader(command)) return [];
  const { collections } = store.point().state;
  return (operation.deletes?.(command) ?? []).filter((name) => collections.has(name));
}

/** Returns the tables whose columns may change, as far as they are known before the decision. */
const tablesToAlter = <C>({ operation, command }: Job<C>): readonly string[] =>
  isReader(command) ? [] : (operation.alters?.(command) ?? []);

/** Records acknowledged findings in the events. */
const withAcknowledged = (cause: Cause, acknowledged: readonly Acknowledgement[]): Cause =>
  acknowledged.length === 0
    ? cause
    : {
        ...cause,
        context: { ...cause.context, acknowledged: acknowledged.map(({ code, place }) => ({ code, place })) },
      };

/** Records which policy admitted a change, for verification of the log. */
function withPolicy(cause: Cause, { events }: DecidedBatch, { policy, policyHash }: StartedTransaction): Cause {
  if (policyHash === null || !isEnforced(policy) || !events.some(isJudged)) return cause;
  return { ...cause, context: { ...cause.context, policy: policyHash } };
}

const withCovered = (event: LogEvent, { covered }: Extract<Admission, { kind: 'admitted' }>): LogEvent =>
  event.type === 'change.applied' && covered !== undefined
    ? { ...event, data: { ...event.data, findings: covered } }
    : event;

/** Carries out the rest of an attempt, from the DDL to the commit. */
async function executeAttempt<C>(
  client: pg.ClientBase,
  deciding: Omit<PreparationInput<C>, 'changes'>,
): Promise<Outcome<C>> {
  const { options, request, begun, waits, events, after, statements } = deciding;
  const { point } = begun;
  if (deciding.facts !== undefined || events.some(restoresValues)) return executeInSequence(client, deciding);
  const preparing = { ...deciding, changes: await changesBefore(client, events) };
  // PostgreSQL runs the DDL while this process computes rows and hashes. The remaining statements are sent in one
  // flight.
  const keeps = request.idempotency !== undefined;
  const running = runStatements(
    client,
    projectionOf(options, { before: point.state, after, events, statements, keeps, waits, lossless: request.lossless }),
  );
  const isStreamed = isLarge(events);
  const projecting = isStreamed ? streamRows(client, { running, rows: () => metadataOf(preparing) }) : running;
  const [problems, batch] = await Promise.all([projecting, prepare(preparing, isStreamed)]);
  if (problems !== null) {
    const outcome: Refusal = { kind: 'refused', problems };
    return finishRefused(client, options, { request, outcome, head: point.head });
  }
  return finishDone(client, options, batch);
}

/**
 * Carries out the rest of an attempt whose statements may rewrite views, which adds events, or restore values, which
 * the response counts. The events are therefore prepared after the statements have run.
 */
async function executeInSequence<C>(
  client: pg.ClientBase,
  deciding: Omit<PreparationInput<C>, 'changes'>,
): Promise<Outcome<C>> {
  const { options, request, begun, waits, events, after, statements, facts } = deciding;
  const { point } = begun;
  const changes = await changesBefore(client, events);
  const keeps = request.idempotency !== undefined;
  const batch = { before: point.state, after, events, statements, keeps, waits, lossless: request.lossless };
  const problems = await runStatements(client, projectionOf(options, batch));
  if (problems !== null) {
    const outcome: Refusal = { kind: 'refused', problems };
    return finishRefused(client, options, { request, outcome, head: point.head });
  }
  const rewriting = { before: point.state, after, events, schema: options.location.schema };
  const rewritten =
    facts === undefined ? { after, events } : await withRewrittenObjects(client, { ...rewriting, facts });
  if (rewritesOutside(request, { before: point.state, events }, rewritten))
    return finishRefused(client, options, { request, outcome: outOfScope(), head: point.head });
  const losses = await countUnmatched(client, events);
  return finishDone(client, options, await prepare({ ...deciding, ...rewritten, changes, losses }, false));
}

/** Adds the pool and the schema of the pipeline. */
function projectionOf({ pool, location }: PipelineOptions, batch: Omit<Projection, 'pool' | 'schema'>): Projection {
  return { ...batch, pool, schema: location.schema };
}

interface PreparationInput<C> extends DecidedBatch<C> {
  options: PipelineOptions;
  request: RequestContext;
  begun: StartedTransaction;
  waits: Projection['waits'];
  /** The change requests that the events concern, in their state before the events. */
  changes: ReadonlyMap<string, ChangeRequest>;
  /** The keys of unchanged objects whose rows are written again. */
  reprinted?: RewrittenBatch['reprinted'];
  /** The restored values without a row, if the events restore values. */
  losses?: Pick<CompletedChange, 'unmatched'>;
}

function* metadataOf<C>({
  options,
  begun: { point },
  events,
  after,
  reprinted,
}: PreparationInput<C>): Generator<Parameterised> {
  yield* metadataStatements(point.state, after, collectionsChanged(events));
  yield* objectStatements(point.state, after, options.location.schema, reprinted);
}

/** Prepares everything of a batch except streamed rows. */
async function prepare<C>(preparing: PreparationInput<C>, isStreamed: boolean): Promise<Batch<C>> {
  const { options, request, begun, command, events, after, also, judging, changes, losses } = preparing;
  const { returns, document } = judging.revised;
  const { backend, timeline, base, point } = begun;
  const id = randomUUID();
  const now = options.clock?.() ?? new Date();
  const prepared = await prepareEvents({ head: point.head, events, cause: request.cause, batch: id, now });
  const requests = changesAfter(prepared.events, changes);
  const done: CompletedChange<C> = {
    kind: 'done',
    command,
    before: point.state,
    state: after,
    events: prepared.events,
    position: prepared.head.position,
    ...(requests.size > 0 && { changes: requests }),
    ...(request.purge === true && { purge: true }),
    ...losses,
    ...(returns && { returns }),
    ...(document && { document }),
  };
  const statements = [
    ...prepared.statements,
    ...(isStreamed ? [] : metadataOf(preparing)),
    ...(await runYielding(trashStatements({ before: point.state, events: prepared.events }))),
    ...writeChanges([...requests.values()]),
    ...also,
    ...checkpoints(prepared.head, options),
    ...(prepared.events.some(isServedByPostgrest) ? reloadPostgrest(options) : []),
    ...(request.idempotency ? await storeAnswerStatements(request, done, prepared.head) : []),
  ];
  return { id, backend, timeline, base, done, point: { state: after, head: prepared.head }, statements };
}

/* Decides a command, optionally runs it up to the DDL, and rolls everything back. */

/** Only decides: PostgreSQL runs none of the statements. Reads in one snapshot, without the log lock. */
export async function attemptPlan<C>({ options, job, ...at }: Attempt<C>): Promise<Plan<C> | Refusal> {
  const { client } = at;
  const begun = await begin(client, options, { ...at, alters: tablesToAlter(job), unlocked: true });
  const plan = await planOf(client, { options, job, begun, waits: null });
  if (plan.kind === 'refused') return rollback(client, plan);
  const { decided: _, ...shown } = plan;
  return rollback(client, showSentSql(client, shown));
}

/** Runs the command up to the DDL. A proof runs it up to the commit. */
export async function attemptDryRun<C>({ options, job, ...at }: Attempt<C>): Promise<Plan<C> | Refusal> {
  const { client } = at;
  const begun = await begin(client, options, { ...at, alters: tablesToAlter(job) });
  const plan = await planOf(client, { options, job, begun, waits: at, isDryRun: true });
  if (plan.kind === 'refused') return rollback(client, plan);
  const { decided, ...shown } = plan;
  const prove = await prepareProof(client, { options, job, begun, waits: at, ...plan });
  // Steps that would be prepared online are not run here, because they would hold locks for a long time.
  const problems =
    plan.preparation === undefined
      ? await runStatements(
          client,
          projectionOf(options, { ...plan, keeps: false, waits: at, lossless: job.request.lossless }),
        )
      : null;
  // PostgreSQL errors about the statements are part of the plan. Errors about temporary conditions reject the dry run.
  if (problems !== null && !isStorable({ kind: 'refused', problems }))
    return rollback(client, { kind: 'refused', problems });
  const refusal = problems?.[0];
  const isRun = problems === null && plan.preparation === undefined;
  const run = isRun ? await prove({ ...decided, ...(await planRewriting(client, options, plan)) }) : shown;
  if (rewritesOutside(job.request, plan, run)) return rollback(client, outOfScope());
  const accepted = { accepted: problems === null, ...(refusal && { refusal }) };
  return rollback(client, showSentSql(client, { ...shown, ...run, ...accepted }));
}

type RunBatch = Pick<Plan, 'events' | 'after' | 'proof'>;

/**
 * Returns the function that executes the rest of a batch and adds the proof. Without `proves`, it executes nothing.
 */
async function prepareProof<C>(
  client: pg.ClientBase,
  {
    options,
    job: { request },
    begun,
    waits,
    after: planned,
    events: plannedEvents,
  }: Pick<PreparationInput<C>, 'options' | 'begun' | 'waits' | 'after' | 'events'> & { job: Job<C> },
): Promise<(decided: DecidedBatch<C> & Pick<PreparationInput<C>, 'reprinted'>) => Promise<RunBatch>> {
  if (request.proves !== true) return ({ events, after }) => Promise.resolve({ events, after });
  const prove = await startProof(client, options, {
    before: begun.point.state,
    state: planned,
    events: plannedEvents,
  });
  return async (decided) => {
    const { events, after } = decided;
    const changes = await changesBefore(client, events);
    const batch = await prepare({ ...decided, options, request, begun, waits, changes }, false);
    return { events, after, proof: await prove(batch) };
  };
}

const planRewriting = async (
  client: pg.ClientBase,
  { location: { schema } }: PipelineOptions,
  { before, events, after, decided: { facts } }: DecidedPlan<unknown>,
): Promise<RewrittenBatch> =>
  facts === undefined ? { events, after } : withRewrittenObjects(client, { before, events, after, facts, schema });

type DecidedPlan<C> = Plan<C> & { decided: DecidedBatch<C> };

/**
 * True if PostgreSQL rewrote objects outside the caller's collections. Views belong to no collection, so a caller who
 * is limited to collections cannot change them.
 */
const rewritesOutside = (
  { collections }: Pick<RequestContext, 'collections'>,
  planned: Pick<Plan, 'before' | 'events'>,
  { events, after }: Pick<Plan, 'events' | 'after'>,
): boolean =>
  collections !== undefined &&
  events.length > planned.events.length &&
  events.some(
    (event) =>
      changesObjects(event) &&
      isConsequence(event) &&
      !isObjectInScope(collections, [planned.before, after], event.subject),
  );

/** Checks that acknowledgements match findings. The policy does not reject plans. */
async function planOf<C>(client: pg.ClientBase, deciding: DecideOptions<C>): Promise<DecidedPlan<C> | Refusal> {
  const decided = await decideBatch(client, deciding);
  if (decided.kind === 'refused') return decided;
  const { command, events, statements, after, warnings, judging, preparation } = decided;
  const problems = await unmatchedAcknowledgements(client, {
    planned: judging.planned,
    acknowledges: deciding.job.request.acknowledges,
    warnings: [...warnings, ...(preparation?.warnings ?? [])],
    online: judging.revised.online === true,
    plansOnly: deciding.waits === null,
  });
  if (problems.length > 0) return { kind: 'refused', problems };
  const { state: before } = deciding.begun.point;
  const plan = { kind: 'planned' as const, command, before, after, events, statements, warnings, accepted: null };
  return { ...plan, decided, ...(preparation && { preparation }) };
}

function showSentSql<C>(client: pg.ClientBase, plan: Plan<C> | Refusal): Plan<C> | Refusal {
  if (plan.kind === 'refused') return plan;
  return { ...plan, statements: plan.statements.map((each) => ({ ...each, sql: nameSentSchema(client, each.sql) })) };
}
