/** The write path: from a command to its events, tables, rows and answer, in one transaction. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { ProblemError, environmentProblem, isRetryable, lockTimeout, unavailable } from '../postgres/errors.js';
import { withClient } from '../postgres/pool.js';
import { operations } from '../schema/operations/index.js';
import type { Problem } from '../schema/problem.js';
import type { Point } from '../reads/store.js';
import type { State } from '../schema/state.js';
import { type Attempt, Undecided, attempt, rehearse } from './attempt.js';
import { StaleConnectionError, begin } from './begin.js';
import { UnknownOutcomeError, commit } from './commit.js';
import { type Queue, createQueue } from './queue.js';
import { isCommitted, outcomeUnknown } from './settle.js';
import type { Job, Outcome, Pipeline, PipelineOptions, Prepare, Refusal, RequestContext } from './types.js';

export type * from './types.js';

/** Of one transaction that deadlocks, for one: the first, and two more. */
const ATTEMPTS = 3;

/** Milliseconds; each wait is a random part of it, so that two who clashed don't clash again. */
const BACKOFF = 100;

export function createPipeline(options: PipelineOptions): Pipeline {
  const queue = createQueue();
  const run = <T>(job: Job, work: (attempt: Attempt) => Promise<T>): Promise<T | Outcome> =>
    inTurn(queue, options, job, work);
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
    underLock: (work) => underLock(queue, options, work),
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

/** Waits for this process's turn, and answers what stands in the way of an attempt as a refusal. */
async function inTurn<T>(
  queue: Queue,
  options: PipelineOptions,
  job: Job,
  work: (attempt: Attempt) => Promise<T>,
): Promise<T | Outcome> {
  try {
    const turn = await queue.enter(options.lockTimeout, lockTimeout);
    try {
      const lockWait = options.lockTimeout - turn.waited;
      return await retried(options, (client) => work({ options, client, job, lockWait }));
    } finally {
      turn.end();
    }
  } catch (error) {
    if (error instanceof Undecided) return settle(error, options, job.request);
    return refusalOf(error);
  }
}

/** Repeats a transaction as a whole. */
async function retried<T>(options: PipelineOptions, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  for (let count = 1; ; count += 1) {
    try {
      return await withClient(options.pool, work);
    } catch (error) {
      const repeat = isRetryable(error) || error instanceof StaleConnectionError;
      if (count >= ATTEMPTS || !repeat) throw error;
      options.logger.warn('a transaction is repeated', { attempt: count, error: (error as Error).message });
      await sleep(Math.random() * BACKOFF * count);
    }
  }
}

/** Finds out what became of a COMMIT that was never answered. */
async function settle(undecided: Undecided, options: PipelineOptions, request: RequestContext): Promise<Outcome> {
  const { lost, done, point } = undecided;
  options.logger.warn('the connection was lost during a commit', { batch: lost.batch, position: done.position });
  const committed = await isCommitted(lost, options);
  if (committed === undefined) return refusal(outcomeUnknown(request.idempotency !== undefined));
  if (!committed)
    return refusal(unavailable('The database went away before the change was committed; nothing was written.'));
  options.store.publish(point);
  return done;
}

async function underLock<T>(
  queue: Queue,
  options: PipelineOptions,
  work: (client: pg.ClientBase, point: Point) => Promise<T>,
): Promise<T> {
  const turn = await queue.enter(options.lockTimeout, lockTimeout);
  try {
    return await retried(options, async (client) => {
      const { point } = await begin(client, options, { lockWait: options.lockTimeout - turn.waited });
      const result = await work(client, point);
      await commit(client, [], options);
      return result;
    });
  } catch (error) {
    const problem = problemOf(error);
    throw problem === undefined ? error : new ProblemError(problem, error);
  } finally {
    turn.end();
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
  if (isRetryable(error)) return lockTimeout();
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
