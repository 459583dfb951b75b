/** The write path: it turns a command into events, tables, rows and an answer in one transaction. */
import { createLogDivergedProblem } from '../log/divergence.js';
import { createLogWatch } from '../log/watch.js';
import { SQLSTATE, environmentProblem, unavailableProblem } from '../postgres/errors.js';
import { sendBatch } from '../postgres/exchange.js';
import { commitOrThrow } from '../postgres/transaction.js';
import { UnreadableEventError } from '../schema/fold/upcasting.js';
import { operations } from '../schema/operations/index.js';
import { type Problem, ProblemError, ok } from '../kernel/problem.js';
import { AUTOMATIC, acknowledge } from './acknowledge.js';
import type { TransactionAttempt } from './keep-alive.js';
import { type Attempt, attempt, attemptDryRun, attemptPlan, reloadPostgrest } from './transaction/attempt.js';
import {
  CommitInDoubt,
  type CommitsInDoubt,
  createCommitsInDoubt,
  isCommitted,
  outcomeUnknown,
  UNTIL_DEADLINE,
} from './transaction/commit.js';
import { StaleConnectionError, begin } from './transaction/begin.js';
import { proveInScratchDatabase } from './transaction/prove.js';
import type { ExpectedOutcome } from './transaction/single-flight.js';
import { DivergedError, createLogUnreadableProblem, recheckLog, requireReadable } from './diverged.js';
import { runUrgent } from '../kernel/scheduler.js';
import { type Semaphore, createSemaphore } from '../kernel/semaphore.js';
import { createClientGoneProblem, retryWhileLocked } from './wait-for-locks.js';
import type {
  Command,
  CommandName,
  Decider,
  Job,
  Outcome,
  Pipeline,
  PipelineOptions,
  Plan,
  PlanRequest,
  Readers,
  Recording,
  Refusal,
  RequestContext,
} from './types.js';

export type * from './types.js';

/**
 * Commands of this process run one at a time. Plans take no locks and run separately, a few at once. The log lock
 * serialises other processes.
 */
export function createPipeline(submitted: PipelineOptions): Pipeline {
  const options = { ...submitted, watch: submitted.watch ?? createLogWatch(submitted) };
  const commitsInDoubt = createCommitsInDoubt(options);
  let diskFullAt = -Infinity;
  const noteDisk = <T extends Outcome | Plan>(outcome: T): T => {
    if (outcome.kind === 'done') diskFullAt = -Infinity;
    const problems = outcome.kind === 'refused' ? outcome.problems : [];
    if (problems.some(({ details }) => details?.['sqlstate'] === SQLSTATE.disk_full)) diskFullAt = performance.now();
    return outcome;
  };
  const outlook: ExpectedOutcome = { assumptions: undefined };
  const writer: Writer = { options, semaphore: createSemaphore(), commitsInDoubt, outlook, isUrgent: true };
  // Plans have their own semaphore. A large plan takes long and needs no lock, so changes must not wait for it.
  const planner: Writer = { ...writer, semaphore: createSemaphore(PLANS), isUrgent: false };
  // Each proof creates a database, so they run one after another.
  const proofs = createSemaphore();
  const plan = async <C>(by: Writer, job: Job<C>, work: Work<C, Plan<C> | Refusal>): Promise<Plan<C> | Refusal> =>
    noteDisk(await answer(by, job, { deadline: deadlineFrom(options, job.request), work }));
  return {
    apply: async <C>(name: CommandName, command: Command<C>, request: RequestContext) => {
      const started = performance.now();
      const deadline = deadlineFrom(options, request);
      const job: Job<C> = { operation: deciderOf(name, options.readers), command, request };
      const run = (): Promise<Outcome<C>> =>
        answer(writer, job, { deadline, work: attempt }).catch((error: unknown) => {
          if (!(error instanceof CommitInDoubt)) throw error;
          return resolveCommitInDoubt(error as CommitInDoubt<C>, writer, { request, deadline, again: run });
        });
      const outcome = await run();
      report(options, request, { outcome, milliseconds: performance.now() - started });
      return noteDisk(outcome);
    },
    plan: <C>(name: CommandName, command: Command<C>, request: PlanRequest) =>
      plan(planner, { operation: deciderOf<C>(name, options.readers), command, request }, attemptPlan),
    dryRun: async <C>(name: CommandName, command: Command<C>, request: PlanRequest) => {
      const job = { operation: deciderOf<C>(name, options.readers), command, request };
      const { proveDatabaseUrl: url } = options;
      if (request.proves !== true || url == null) return plan(writer, job, attemptDryRun);
      const planned = await plan(planner, job, attemptPlan);
      if (planned.kind === 'refused') return planned;
      const permit = await proofs.acquire();
      try {
        if (request.abandoned?.() === true) throw new ProblemError(createClientGoneProblem());
        return await proveInScratchDatabase({ ...options, url }, planned);
      } finally {
        permit.release();
      }
    },
    underLock: (work, mode) => {
      const evenDiverged = mode?.readOnly === true;
      return inTransaction(writer, { deadline: deadlineFrom(options), evenDiverged }, async (at) => {
        const { point } = await begin(at.client, options, { ...at, evenDiverged });
        const result = await work(at.client, point);
        if (mode?.altersTables === true) await sendBatch(at.client, reloadPostgrest(options));
        await commitOrThrow(options.pool, at.client);
        return result;
      });
    },
    acknowledge: (cause) => {
      const mode = { deadline: deadlineFrom(options), evenDiverged: true };
      return inTransaction(writer, mode, (at) => acknowledge(at, options, cause));
    },
    isDiskFull: () => performance.now() - diskFullAt < DISK_FULL_FOR,
  };
}

/** Milliseconds for which `isDiskFull` reports a full disk after a failed change. */
const DISK_FULL_FOR = 60_000;

/** Concurrent plans. Each uses a connection while it runs. */
const PLANS = 2;

/** Returns the time until which a request that arrives now waits for locks. */
const deadlineFrom = ({ lockTimeout }: PipelineOptions, { waited = 0 }: Pick<RequestContext, 'waited'> = {}): number =>
  performance.now() + lockTimeout - waited;

const RECORD: Decider<Recording> = {
  // eslint-disable-next-line require-yield
  *decide(_state, { events }) {
    return ok(events);
  },
  also: ({ also = [] }) => also,
};

/**
 * Returns the decider of a command name. TypeScript cannot infer that the operation with this name accepts the command.
 */
const deciderOf = <C>(name: CommandName, readers: Readers) =>
  (name === 'record' ? RECORD : { ...operations[name], read: readers[name] }) as unknown as Decider<C>;

interface Writer {
  options: Options;
  semaphore: Semaphore;
  commitsInDoubt: CommitsInDoubt;
  outlook: ExpectedOutcome;
  /** True if all other changes wait while the work of this writer runs. */
  isUrgent: boolean;
}

/** Pipeline options after defaults were filled in. */
type Options = PipelineOptions & Required<Pick<PipelineOptions, 'watch'>>;

type Work<C, T> = (attempt: Attempt<C>) => Promise<T>;

/**
 * Converts errors that end an attempt to rejected outcomes.
 * @throws CommitInDoubt
 */
async function answer<C, T>(
  writer: Writer,
  job: Job<C>,
  { deadline, work }: { deadline: number; work: Work<C, T> },
): Promise<T | Refusal> {
  const { options, semaphore, commitsInDoubt, outlook } = writer;
  const { abandoned, onBlocked } = job.request;
  try {
    const problem = await commitsInDoubt.resolve(deadline);
    if (problem !== null) return createRefusal(problem);
    const attempt = () =>
      retryWhileLocked({ options, semaphore, deadline, abandoned, onBlocked }, (at) =>
        writer.isUrgent
          ? runUrgent(() => work({ ...at, options, job, outlook }))
          : work({ ...at, options, job, outlook }),
      );
    return await retryAfterLogCheck(writer, { deadline, evenDiverged: false }, attempt);
  } catch (error) {
    if (error instanceof CommitInDoubt) throw error;
    return refusalOf(error, options);
  }
}

interface AttemptOptions {
  /** When the caller gives up waiting (`performance.now`). */
  deadline: number;
  /** True for commands that also run while the log is diverged. */
  evenDiverged: boolean;
}

/** Maximum number of checks of a diverged log. Another attempt follows each check. */
const LOOKS = 3;

/**
 * Runs `attempt`. Repeats it if the log was replaced and no acknowledgement is required.
 * @throws ProblemError LOG_DIVERGED, LOG_UNREADABLE
 */
async function retryAfterLogCheck<T>(
  writer: Writer,
  attemptOptions: AttemptOptions,
  attempt: () => Promise<T>,
): Promise<T> {
  const { options } = writer;
  const { deadline, evenDiverged } = attemptOptions;
  await requireReadable(options);
  for (let count = 1; ; count += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof DivergedError) || count >= LOOKS) throw error;
      const pending = await recheckLog(error, options);
      await requireReadable(options);
      if (pending === undefined || evenDiverged) continue;
      if (options.onLogDivergence !== 'continue') throw new ProblemError(createLogDivergedProblem(pending));
      await inTransaction(writer, { deadline, evenDiverged: true }, (at) => acknowledge(at, options, AUTOMATIC));
    }
  }
}

interface WaitOptions<C> {
  request: RequestContext;
  deadline: number;
  /** Runs the command again. */
  again: () => Promise<Outcome<C>>;
}

/**
 * Determines the outcome of a COMMIT without a response. A change that was sent as a single flight and got lost is
 * repeated, like one that was lost before its COMMIT.
 */
async function resolveCommitInDoubt<C>(
  doubt: CommitInDoubt<C>,
  { options, commitsInDoubt }: Writer,
  waiting: WaitOptions<C>,
): Promise<Outcome<C>> {
  const { request, deadline, again } = waiting;
  const { lost, done, point } = doubt;
  options.logger.warn('the connection was lost during a commit', { batch: lost.batch, position: done.position });
  const committed = await isCommitted(lost, options, { deadline, ...(lost.isWholeChange && UNTIL_DEADLINE) });
  if (committed === undefined) {
    commitsInDoubt.add(lost);
    return createRefusal(outcomeUnknown(request.idempotency !== undefined));
  }
  if (!committed && lost.isWholeChange) return again();
  if (!committed)
    return createRefusal(
      unavailableProblem('The connection to the database was lost before the commit. Nothing was changed.'),
    );
  options.store.publish(point);
  return done;
}

/** Runs work that is not a command. Problems are thrown. */
async function inTransaction<T>(
  writer: Writer,
  attemptOptions: AttemptOptions,
  work: (at: TransactionAttempt) => Promise<T>,
): Promise<T> {
  const { deadline } = attemptOptions;
  try {
    const problem = await writer.commitsInDoubt.resolve(deadline);
    if (problem !== null) throw new ProblemError(problem);
    return await retryAfterLogCheck(writer, attemptOptions, () =>
      retryWhileLocked({ ...writer, deadline }, (at) => runUrgent(() => work(at))),
    );
  } catch (error) {
    const problem = problemOf(error, writer.options);
    throw problem === undefined ? error : new ProblemError(problem, error);
  }
}

function refusalOf(error: unknown, options: Options): Refusal {
  const problem = problemOf(error, options);
  if (problem === undefined) throw error;
  return createRefusal(problem);
}

/** Returns the problem for a temporary condition. Undefined if the error is a bug. */
function problemOf(error: unknown, { primaryUrl }: Options): Problem | undefined {
  if (error instanceof ProblemError) return error.problem;
  if (error instanceof DivergedError)
    return unavailableProblem('The log has just forked. Nothing was changed. Try again.');
  if (error instanceof UnreadableEventError) return createLogUnreadableProblem(error);
  return environmentProblem(error instanceof StaleConnectionError ? error.cause : error, primaryUrl);
}

function createRefusal(...problems: Refusal['problems']): Refusal {
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
