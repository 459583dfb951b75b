/** The write path: from a command to its events, tables, rows and answer, in one transaction. */
import type pg from 'pg';
import { ProblemError, environmentProblem, unavailable } from '../postgres/errors.js';
import { operations } from '../schema/operations/index.js';
import type { Problem } from '../schema/problem.js';
import type { Point } from '../reads/store.js';
import type { State } from '../schema/state.js';
import { type Attempt, Undecided, attempt, rehearse } from './attempt.js';
import { StaleConnectionError, begin } from './begin.js';
import { UnknownOutcomeError, commit } from './commit.js';
import { type Queue, createQueue } from './queue.js';
import { type Unsettled, createUnsettled, isCommitted, outcomeUnknown } from './settle.js';
import { tryUntilFree } from './tries.js';
import type { Job, Outcome, Pipeline, PipelineOptions, Prepare, Refusal, RequestContext } from './types.js';

export type * from './types.js';

export function createPipeline(options: PipelineOptions): Pipeline {
  const writer = { options, queue: createQueue(), unsettled: createUnsettled(options) };
  const run = <T>(job: Job, work: (attempt: Attempt) => Promise<T>): Promise<T | Outcome> => answer(writer, job, work);
  return {
    execute: async (name, command, request) => {
      const started = performance.now();
      const outcome = await run(toJob(name, command, request), attempt);
      report(options, request, { outcome, milliseconds: performance.now() - started });
      return outcome;
    },
    dryRun: async (name, command, request) => {
      const outcome = await run(toJob(name, command, request), rehearse);
      if (outcome.kind === 'done' || outcome.kind === 'replayed') throw new Error('a dry run is never done');
      return outcome;
    },
    underLock: (work) => underLock(writer, work),
  };
}

/** The registry pairs each name with its command; within it, TypeScript can't follow a name that isn't known yet. */
function toJob(name: keyof typeof operations, command: unknown, request: RequestContext): Job {
  const { decide } = operations[name] as { decide(state: State, command: unknown): ReturnType<Job['decide']> };
  if (typeof command !== 'function') return { decide: (state) => decide(state, command), request };
  const prepare: NonNullable<Job['prepare']> = async (client, state) => {
    const prepared = await (command as Prepare<unknown>)(client, state);
    return (at) => decide(at, prepared);
  };
  return { prepare, decide: unprepared, request };
}

function unprepared(): never {
  throw new Error('a command was decided before it was prepared');
}

interface Writer {
  options: PipelineOptions;
  queue: Queue;
  unsettled: Unsettled;
}

/** Answers what stands in the way of an attempt as a refusal. */
async function answer<T>(writer: Writer, job: Job, work: (attempt: Attempt) => Promise<T>): Promise<T | Outcome> {
  const { options, queue, unsettled } = writer;
  try {
    const problem = await unsettled.settle();
    if (problem !== null) return refusal(problem);
    const { abandoned } = job.request;
    return await tryUntilFree({ options, queue, abandoned }, (at) => work({ ...at, options, job }));
  } catch (error) {
    if (error instanceof Undecided) return settle(error, writer, job.request);
    return refusalOf(error);
  }
}

/** Finds out what became of a COMMIT that was never answered. */
async function settle(undecided: Undecided, { options, unsettled }: Writer, request: RequestContext): Promise<Outcome> {
  const { lost, done, point } = undecided;
  options.logger.warn('the connection was lost during a commit', { batch: lost.batch, position: done.position });
  const committed = await isCommitted(lost, options);
  if (committed === undefined) {
    unsettled.add(lost, point);
    return refusal(outcomeUnknown(request.idempotency !== undefined));
  }
  if (!committed)
    return refusal(
      unavailable('The connection to the database was lost before the change was committed; nothing was written.'),
    );
  options.store.publish(point);
  return done;
}

async function underLock<T>(
  { options, queue, unsettled }: Writer,
  work: (client: pg.ClientBase, point: Point) => Promise<T>,
): Promise<T> {
  try {
    const problem = await unsettled.settle();
    if (problem !== null) throw new ProblemError(problem);
    return await tryUntilFree({ options, queue }, async (at) => {
      const { point } = await begin(at.client, options, at);
      const result = await work(at.client, point);
      await commit(at.client, []);
      return result;
    });
  } catch (error) {
    const problem = problemOf(error);
    throw problem === undefined ? error : new ProblemError(problem, error);
  }
}

function refusalOf(error: unknown): Refusal {
  const problem = problemOf(error);
  if (problem === undefined) throw error;
  return refusal(problem);
}

/** What ended a transaction, if it was the moment and not a bug. */
function problemOf(error: unknown): Problem | undefined {
  if (error instanceof ProblemError) return error.problem;
  if (error instanceof UnknownOutcomeError) return outcomeUnknown(false);
  return environmentProblem(error instanceof StaleConnectionError ? error.cause : error);
}

function refusal(...problems: Refusal['problems']): Refusal {
  return { kind: 'refused', problems };
}

function report(
  options: PipelineOptions,
  { cause }: RequestContext,
  run: { outcome: Outcome; milliseconds: number },
): void {
  const { outcome } = run;
  options.logger.info('command', {
    command: cause.command,
    request_id: cause.request_id,
    outcome: outcome.kind,
    milliseconds: Math.round(run.milliseconds),
    ...(outcome.kind === 'done' && { position: outcome.position, events: outcome.events.length }),
    ...(outcome.kind === 'refused' && { code: outcome.problems[0]?.code }),
  });
}
