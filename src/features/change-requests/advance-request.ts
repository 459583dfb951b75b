/** Advances one change request as far as possible. A lock ensures that only one process works on the request. */
import type pg from 'pg';
import { keepDocuments, toDocument } from '../../log/documents.js';
import type { LockedSession } from '../../postgres/locked-session.js';
import {
  type KeptStep,
  deleteSteps,
  keepProgress,
  readSteps,
  reopenSteps,
  beginStep,
  endStep,
  keepCheckpoint,
} from './rows.js';
import { hasRowOf, isDue, storeWaitingReason, readChange } from './rows.js';
import {
  PREPARATION_LOST,
  PreparationRefused,
  type StepProgress,
  type PreparationEngine,
} from '../../projector/online/types.js';
import type { Holder } from '../../projector/ddl/table-locks.js';
import { type ChangeRequest, isAtRest } from '../../schema/change-requests/model.js';
import type { Problem } from '../../kernel/problem.js';
import type { ObjectName } from '../../schema/model/objects.js';
import { isStorable } from '../../pipeline/transaction/idempotency.js';
import { describeHolder, holderDetails } from '../../pipeline/wait-for-locks.js';
import type { CompletedChange, Outcome, Pipeline, Revise } from '../../pipeline/types.js';
import { reviseForPreparedSteps, planRecording, applicantsCause, createServiceCause } from './planning.js';
import { type Reading, commandOf } from './command.js';
import { requireApprovedPlan, reviseForStart, requireDue } from './review-and-apply.js';
import { lostSchema, schemasExist } from '../../postgres/schemas.js';

/* Runs the steps of a preparation in order. Each step continues where the previous process stopped. */

interface RunningSteps {
  engine: PreparationEngine;
  /** The id of the change request. */
  id: string;
  session: LockedSession;
  pool: pg.Pool;
  schema: string;
  /** Aborted when the request is withdrawn or this process stops. */
  signal: AbortSignal;
  /** Called after each finished step. */
  onStep?: (kind: string, milliseconds: number) => void;
}

/** Thrown if the request is no longer in preparation, because it was withdrawn or another process works on it. */
export class NoLongerPreparingError extends Error {
  override readonly name = 'NoLongerPreparingError';
}

/** @throws PreparationRefused, the error of a step, or the signal's reason */
async function runSteps(running: RunningSteps): Promise<KeptStep[]> {
  const { pool, id, signal, session } = running;
  for (const kept of await readSteps(pool, id)) {
    if (kept.milliseconds !== null) continue;
    signal.throwIfAborted();
    await beginStep(session.client, id, kept.number);
    await runObservedStep(running, kept);
    const milliseconds = await endStep(session.client, id, kept.number);
    if (milliseconds !== undefined) running.onStep?.(kept.step.kind, milliseconds);
  }
  return readSteps(pool, id);
}

/** Milliseconds between two checks of a running step's progress. */
const LOOK = 1_000;

const NOTHING: StepProgress = { done: null, phase: null, waiting_for: [] };

async function runObservedStep(running: RunningSteps, { number, step, checkpoint }: KeptStep): Promise<void> {
  const { engine, id, session, pool, schema, signal } = running;
  const location = { request: id, number };
  let lastProgress: Partial<StepProgress> = {};
  let shown = '';
  const look = async (): Promise<void> => {
    const seen = await engine.observeStep(pool, session.pid, step);
    const progress = { ...NOTHING, ...lastProgress, ...seen };
    const text = JSON.stringify(progress);
    if (text === shown) return;
    shown = text;
    await keepProgress(pool, location, progress);
  };
  const attending = repeatCheck(look);
  try {
    await engine.runStep(
      {
        id,
        session: session.client,
        schema,
        signal,
        checkpoint,
        save: async (saved) => {
          signal.throwIfAborted();
          if (!(await keepCheckpoint(session.client, location, saved)))
            throw new NoLongerPreparingError('another process has taken over the change request');
        },
        progress: (progress) => (lastProgress = { ...lastProgress, ...progress }),
      },
      step,
    );
  } finally {
    await attending.end();
  }
}

/** Repeats a progress check, one at a time. A failed check is tried again later. */
function repeatCheck(look: () => Promise<void>): { end(): Promise<void> } {
  let running: Promise<void> = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    running = look()
      .catch(() => undefined)
      .finally(() => (busy = false));
  }, LOOK);
  timer.unref();
  return {
    end: async () => {
      clearInterval(timer);
      await running;
    },
  };
}

export interface Work extends Pick<RunningSteps, 'engine' | 'onStep'>, Reading {
  pool: pg.Pool;
  pipeline: Pick<Pipeline, 'apply'>;
  schema: string;
}

export interface OnRequest extends Work {
  id: string;
  session: LockedSession;
  /** Aborted when the request is withdrawn or this process stops. */
  signal: AbortSignal;
  /** Maximum number of times that prepared objects may be unusable before the request fails. */
  tries?: number;
  /**
   * Called with true when the request has not ended, and with false when only the removal of prepared objects is left.
   */
  setInterruptible: (value: boolean) => void;
}

/** `waits` means that other requests hold its tables. */
export type WorkResult = 'ended' | 'waits';

/** Thrown if a temporary condition prevents the work. The work is retried. */
export class TemporaryObstacleError extends Error {
  override readonly name: string = 'TemporaryObstacleError';
}

/** Thrown if prepared objects are unusable. The preparation is retried with increasing delays. */
export class LostError extends TemporaryObstacleError {
  override readonly name = 'LostError';
}

/** Default for `tries`. The pauses add up to about seven minutes, in addition to the work between them. */
const TRIES = 20;

/** @throws TemporaryObstacleError, the signal's reason, and temporary errors of steps */
export async function advanceRequest(work: OnRequest): Promise<WorkResult> {
  for (;;) {
    const request = await readChange(work.pool, work.id);
    if (request === undefined || (isAtRest(request) && !(await isDue(work.pool, request)))) {
      // If the row was altered by hand, the runner would otherwise work on the request again immediately.
      if (await hasRowOf(work.pool, work.id, request)) return cleanUp(work);
      throw new TemporaryObstacleError('its row does not match the state of its events (dps rebuild change-requests)');
    }
    work.signal.throwIfAborted();
    work.setInterruptible(true);
    const waits = await advance(work, request);
    if (waits) return 'waits';
  }
}

/** @returns true if the request must wait for another request */
async function advance(work: OnRequest, request: ChangeRequest): Promise<boolean> {
  const { state, id } = request;
  if (waitsForPeople(request)) return true;
  if (state === 'scheduled') return isDue(work.pool, request).then((due) => !due || beginWork(work, request));
  if (state !== 'queued' && (await readSteps(work.pool, id)).length > 0) {
    const steps = await prepare(work, request);
    if (steps !== undefined && state === 'preparing') await notePrepared(work, request, steps);
    if (steps !== undefined && state === 'prepared')
      await change(work, request, reviseForPreparedSteps(work.engine, id));
    return false;
  }
  // Either the request was queued, or the log came from another database, which had the steps.
  return beginWork(work, request);
}

/** @returns true if the request must wait for another request */
async function beginWork(work: OnRequest, request: ChangeRequest): Promise<boolean> {
  const done = await change(work, request, reviseForStart(request, work.engine));
  return done?.events.length === 0;
}

/** True if the request is prepared and nobody has requested a further action. */
const waitsForPeople = ({ state, applicant }: ChangeRequest): boolean => state === 'prepared' && applicant === null;

/** Decides the requested change again, and carries it out. @returns undefined if the request failed */
async function change(work: OnRequest, request: ChangeRequest, revise: Revise): Promise<CompletedChange | undefined> {
  const { state } = request;
  const askedFor = await commandOf(work, request);
  if (!askedFor.ok) return fail(work, request, askedFor.problems);
  const { name, command, ...planOptions } = askedFor.value;
  // Showing the holders of locks may fail. The next attempt then shows them.
  const onBlocked = (problem: Problem): Promise<void> => showWaiting(work, problem).catch(() => undefined);
  const outcome = await work.pipeline.apply(name, state === 'scheduled' ? requireDue(request, command) : command, {
    cause: applicantsCause(request),
    revise: requireApprovedPlan(request.id, revise, planOptions),
    online: request.online,
    onBlocked,
    ...planOptions,
  });
  return handleOutcome(work, request, outcome);
}

async function handleOutcome(
  work: OnRequest,
  request: ChangeRequest,
  outcome: Outcome,
): Promise<CompletedChange | undefined> {
  if (outcome.kind === 'done') return outcome;
  const problems = outcome.kind === 'refused' ? outcome.problems : [];
  const [first] = problems;
  // The state of the request has changed in the meantime, so the caller reads the request again.
  if (first?.code === 'INVALID_STATE') return undefined;
  if (isLost(first)) return prepareAgain(work, request, first);
  if (outcome.kind !== 'refused' || !isStorable(outcome) || isTemporary(first)) return failTemporarily(work, first);
  return fail(work, request, problems);
}

/** Shows the obstacle and fails, so that the work is retried. @throws TemporaryObstacleError */
async function failTemporarily(work: OnRequest, problem: Problem | undefined): Promise<never> {
  await showWaiting(work, problem);
  throw new TemporaryObstacleError(problem?.message ?? 'refused');
}

/** True if the problem is about prepared objects. */
const isLost = (problem: Problem | undefined): problem is Problem =>
  problem?.details?.['sqlstate'] === PREPARATION_LOST;

/**
 * Repeats the preparation until the maximum number of tries. @throws LostError @returns undefined if the request failed
 */
async function prepareAgain(work: OnRequest, request: ChangeRequest, problem: Problem): Promise<undefined> {
  const { engine, pool, schema, id, tries = TRIES } = work;
  const { collection: table } = problem;
  const writers = table === undefined ? [] : await engine.writersOf(pool, { schema, table });
  const reason = String(problem.details?.['reason']);
  const lost = await reopenSteps(pool, id);
  if (lost >= tries) return fail(work, request, [preparationFailure(problem, lost, writers)]);
  await showPhase(pool, id, { phase: `attempt ${lost} of ${tries}: ${reason}`, waiting_for: writers });
  throw new LostError(reason);
}

function preparationFailure(problem: Problem, tries: number, writers: readonly Holder[]): Problem {
  const [first] = writers;
  const others = writers.length > 1 ? ` and ${writers.length - 1} more` : '';
  const who = first === undefined ? '' : ` It is being written ${describeHolder(first)}${others}.`;
  return {
    ...problem,
    message: `The prepared change could not be completed in ${tries} attempts. Last reason: ${String(problem.details?.['reason'])}.${who}`,
    details: { ...problem.details, tries, blocked_by: writers.map((holder) => holderDetails(holder)) },
  };
}

const isTemporary = (problem: Problem | undefined): boolean =>
  problem !== undefined &&
  (['LOG_DIVERGED', 'LOG_UNREADABLE', 'READ_ONLY'].includes(problem.code) || problem.details?.['change'] !== undefined);

/** Shows whose transactions prevent the service from applying the request. */
function showWaiting({ pool, id }: OnRequest, problem: Problem | undefined): Promise<void> {
  return showPhase(pool, id, { phase: problem?.message ?? null, waiting_for: holdersIn(problem) });
}

/**
 * Stores the phase to show, with the unfinished step or the last one. If there are no steps, it is stored with the
 * request.
 */
export async function showPhase(
  pool: pg.Pool,
  id: string,
  { phase, waiting_for = [] }: Pick<StepProgress, 'phase'> & Partial<StepProgress>,
): Promise<void> {
  const steps = await readSteps(pool, id);
  const step = steps.find(({ milliseconds }) => milliseconds === null) ?? steps.at(-1);
  const progress = { done: null, phase, waiting_for };
  if (step === undefined) await storeWaitingReason(pool, id, progress);
  else await keepProgress(pool, { request: id, number: step.number }, progress);
}

interface BlockingSession {
  pid: number | null;
  application_name: string;
  age_seconds: number | null;
  collection?: string;
  object?: ObjectName;
}

function holdersIn(problem: Problem | undefined): Holder[] {
  const blocked = (problem?.details?.['blocked_by'] ?? []) as BlockingSession[];
  return blocked.map(({ pid, application_name, age_seconds, collection = '', object }) => {
    const named = { application: application_name, age: age_seconds, table: collection, ...(object && { object }) };
    return { pid, ...named, transaction: '', maintenance: false };
  });
}

/** Runs the unfinished steps. @returns undefined if the request must not be applied */
async function prepare(work: OnRequest, request: ChangeRequest): Promise<KeptStep[] | undefined> {
  try {
    return await runSteps(work);
  } catch (error) {
    if (error instanceof NoLongerPreparingError) return undefined;
    if (!(error instanceof PreparationRefused)) throw error;
    return fail(work, request, error.problems);
  }
}

async function notePrepared(work: OnRequest, request: ChangeRequest, steps: readonly KeptStep[]): Promise<void> {
  const times = steps.map(({ step: { key }, milliseconds }) => ({ key, milliseconds: milliseconds ?? 0 }));
  const revise = planRecording(request.id, 'change.prepared', { steps: times });
  await handleOutcome(
    work,
    request,
    await work.pipeline.apply('record', revise, { cause: createServiceCause('prepare-change') }),
  );
}

/** Records that the request failed. Prepared objects are removed afterwards. */
async function fail(work: OnRequest, request: ChangeRequest, problems: readonly Problem[]): Promise<undefined> {
  const document = await toDocument({ problems });
  const data = { code: problems[0]?.code ?? 'DATABASE_REFUSED', document: document.hash };
  // If the request was rescheduled in the meantime, it has not failed.
  const still = ({ schedule }: ChangeRequest): boolean => schedule?.position === request.schedule?.position;
  const revise = planRecording(request.id, 'change.failed', data, { also: keepDocuments([document]), still });
  const command = request.schedule === null ? 'prepare-change' : 'apply-change';
  const outcome = await work.pipeline.apply('record', revise, { cause: createServiceCause(command) });
  if (outcome.kind === 'refused' && outcome.problems[0]?.code !== 'INVALID_STATE')
    throw new TemporaryObstacleError(outcome.problems[0]?.message ?? 'refused');
  return undefined;
}

/** Removes all prepared objects. The request is then complete. */
async function cleanUp({ engine, pool, id, session, schema, signal, ...work }: OnRequest): Promise<WorkResult> {
  work.setInterruptible(false);
  await requireSchema(session.client, schema);
  await engine.cleanUp({ id, session: session.client, schema, signal });
  await requireSchema(session.client, schema);
  await deleteSteps(pool, id);
  return 'ended';
}

/**
 * Checks that the schema exists, because the cleanup searches it. If the schema was renamed, the cleanup would find
 * nothing although objects are left.
 */
async function requireSchema(client: pg.ClientBase, schema: string): Promise<void> {
  const { text, values } = schemasExist([schema]);
  const { rows } = await client.query<{ there: boolean }>(text, values);
  if (rows[0]?.there !== true) throw new TemporaryObstacleError(lostSchema(schema));
}
