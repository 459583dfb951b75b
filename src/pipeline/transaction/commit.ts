/* Ends the transaction of a command. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { ExchangeError, isConnectionLoss, isLocked, unavailableProblem } from '../../postgres/errors.js';
import { type Parameterised, sendBatch, sendNamed } from '../../postgres/exchange.js';
import { OUTCOME_UNKNOWN, watchReplication, SYNC_POINT } from '../../postgres/transaction.js';
import { NotInTimeError, limitTime } from '../../kernel/time.js';
import { advisoryKey } from '../../postgres/locked-session.js';
import { type Backend, IS_BACKEND, withOwnClient } from '../../postgres/client.js';
import { TIMELINE } from '../../postgres/hosts/choose-host.js';
import { CHECK_QUERY, type CheckRow } from '../../log/divergence.js';
import type { Problem } from '../../kernel/problem.js';
import { own } from '../../postgres/own-tables.js';
import type { PipelineOptions, CompletedChange, Refusal, RequestContext } from '../types.js';
import type { Point } from '../../log/fold.js';
import { SAVEPOINT } from './begin.js';
import { endLostStatement, isStorable, storeAnswerStatements } from './idempotency.js';

/** The connection was lost after COMMIT may have been sent, or the commit may not be durable. */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError';
}

/**
 * Sends the last statements and COMMIT in one flight. After an error the server does not reach COMMIT.
 * @throws UnknownOutcomeError
 */
async function commit(client: pg.ClientBase, statements: readonly Parameterised[]): Promise<void> {
  const replication = watchReplication(client);
  try {
    const results = await sendBatch(client, [...statements, { text: 'COMMIT' }]);
    if (replication.broken()) throw new UnknownOutcomeError('the wait for the synchronous standby was canceled');
    // PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK and no error.
    if (results.at(-1)?.command !== 'COMMIT') throw new Error(`COMMIT returned ${results.at(-1)?.command}`);
  } catch (error) {
    if (isConnectionLoss(error) && !(error instanceof ExchangeError && !error.isSent))
      throw new UnknownOutcomeError('the connection was lost during COMMIT', { cause: error });
    throw error;
  } finally {
    replication.end();
  }
}

/* Determines the outcome of a commit in doubt. */

/** A transaction whose COMMIT was sent but not answered. */
interface UnansweredCommit {
  batch: string;
  /** The server process that ran the transaction. */
  backend: Backend;
  /** The server's timeline at that time. On another timeline, the same process id belongs to a different process. */
  timeline: number | null;
  /** True if the whole change was sent at once. The server may then receive it, or get its lock, at any later time. */
  isWholeChange: boolean;
}

/** Milliseconds to pause before each check. There are as many checks as values. */
const LOOKS = [0, 100, 500, 1_000, 2_000, 4_000];

/**
 * Milliseconds after which no further check starts, because the caller is waiting. At least two checks run, even after
 * the deadline.
 */
const ENOUGH = 6_000;
const LEAST = 1_000;

/** Milliseconds that a check waits for the log lock. It waits less if little time is left. */
const PATIENCE = 2_000;
const SHORT_PATIENCE = 300;

/** Milliseconds that a check waits for the server's answer. */
const LIMIT = 3_000;

interface OutcomeCheckOptions {
  /** When the caller gives up waiting (`performance.now`). */
  deadline?: number;
  /** Milliseconds to pause before each check. */
  looks?: readonly number[];
  /** Milliseconds after which no further check starts. */
  enough?: number;
}

/**
 * Options to check until the deadline. They are for a change that can wait for an unavailable database, as if it had
 * not begun.
 */
export const UNTIL_DEADLINE: Pick<OutcomeCheckOptions, 'looks' | 'enough'> = {
  looks: [...LOOKS, ...Array.from({ length: 1_000 }, () => 4_000)],
  enough: Infinity,
};

/**
 * Determines whether a batch is in the log. A server process that has not noticed the lost connection may still run the
 * transaction. It holds the log lock, so once we get the lock, the transaction has ended. If it does not end, it is
 * terminated, because it would block every change. A whole change that has not got the lock yet will change nothing.
 * After a failover the log of the new primary decides.
 * @returns undefined if the outcome cannot be determined
 */
export async function isCommitted(
  lost: UnansweredCommit,
  options: PipelineOptions,
  { deadline = Infinity, looks = LOOKS, enough = ENOUGH }: OutcomeCheckOptions = {},
): Promise<boolean | undefined> {
  const started = performance.now();
  const end = Math.max(Math.min(started + enough, deadline), started + LEAST);
  for (const delay of looks) {
    if (performance.now() + delay > end) break;
    await sleep(delay);
    const limit = Math.max(1, Math.min(LIMIT, end - performance.now()));
    try {
      // Uses a new connection, because a network failure that broke one connection of the pool usually breaks all.
      return await withOwnClient(options.pool, limit, (client) => readOutcome(client, lost, { options, limit }));
    } catch (error) {
      const { message } = error as Error;
      options.logger.warn('the outcome of a commit cannot be read yet', { batch: lost.batch, error: message });
    }
  }
  return undefined;
}

interface OutcomeCheck {
  options: PipelineOptions;
  /** Milliseconds that the check may take. */
  limit: number;
}

async function readOutcome(
  client: pg.Client,
  lost: UnansweredCommit,
  { options, limit }: OutcomeCheck,
): Promise<boolean> {
  const patience = limit < LIMIT ? SHORT_PATIENCE : PATIENCE;
  const key = advisoryKey(options.location, 'log');
  const flight = sendNamed(client, {
    // Explicit, because the default of new sessions may be read-only by now.
    begin: { text: 'BEGIN READ WRITE' },
    patience: {
      text: `SELECT pg_catalog.set_config('lock_timeout', $1, true)`,
      values: [Math.min(options.lockTimeout, patience)],
    },
    lock: { text: 'SELECT pg_catalog.pg_advisory_xact_lock($1)', values: [key] },
    head: { text: CHECK_QUERY },
    batch: { text: `SELECT FROM ${own.events} WHERE batch = $1 LIMIT 1`, values: [lost.batch] },
    ended: lost.isWholeChange ? endLostStatement(lost.batch) : undefined,
    sync: { text: SYNC_POINT },
    commit: { text: 'COMMIT' },
  });
  const timer = setTimeout(() => (client as unknown as pg.PoolClient).connection.stream.destroy(), limit);
  try {
    const { head, batch } = await flight;
    options.watch?.admit(head[0] as unknown as CheckRow);
    return batch.length === 1;
  } catch (error) {
    if (isLocked(error)) await endHolder(client, lost, key);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Terminates the process of the lost transaction, but only while that transaction holds the lock. */
async function endHolder(client: pg.Client, { backend, timeline }: UnansweredCommit, key: string): Promise<void> {
  const statement = {
    text: `SELECT pg_catalog.pg_terminate_backend(a.pid) FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
            WHERE ${IS_BACKEND} AND l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
              AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())
              AND (l.classid::bigint << 32 | l.objid::bigint) = $3::bigint AND ${TIMELINE} = $4`,
    values: [backend.pid, backend.since, key, timeline],
  };
  await sendBatch(client, [{ text: 'ROLLBACK' }, statement]);
}

/** Commits of this process with an unknown outcome. All commands wait until it is known. */
export interface CommitsInDoubt {
  add(lost: UnansweredCommit): void;
  /** Resolves them until the deadline (`performance.now`). @returns why no command can run yet, or null */
  resolve(deadline: number): Promise<Problem | null>;
}

/**
 * Creates the list of commits in doubt. Only this process knows these commits, and the list is lost when the process
 * ends.
 */
export function createCommitsInDoubt(options: PipelineOptions): CommitsInDoubt {
  const { logger } = options;
  const left = new Set<UnansweredCommit>();
  let running: Promise<Problem | null> | undefined;

  const resolveOutcomes = async (): Promise<Problem | null> => {
    for (const lost of left) {
      const committed = await isCommitted(lost, options, { looks: [0, 100] });
      if (committed === undefined) return createEarlierUnknownProblem();
      logger.warn('the outcome of an earlier commit is now known', { batch: lost.batch, committed });
      left.delete(lost);
    }
    return null;
  };

  return {
    add: (lost) => void left.add(lost),
    resolve: async (deadline) => {
      if (left.size === 0) return null;
      running ??= resolveOutcomes().finally(() => (running = undefined));
      return limitTime(running, Math.max(1, deadline - performance.now())).catch((error: unknown) => {
        if (error instanceof NotInTimeError) return createEarlierUnknownProblem();
        throw error;
      });
    },
  };
}

function createEarlierUnknownProblem(): Problem {
  return unavailableProblem(
    'It is not yet known whether an earlier change was committed. Nothing was changed. Try again shortly.',
  );
}

/**
 * Creates the problem UNAVAILABLE for an unknown outcome.
 * @param hasKey true if the request had an Idempotency-Key, so that it can safely be repeated
 */
export function outcomeUnknown(hasKey: boolean): Problem {
  const advice = hasKey
    ? 'Send the request again with the same Idempotency-Key. It is executed at most once.'
    : 'Check the schema before you send it again, or send such requests with an Idempotency-Key.';
  return unavailableProblem(`${OUTCOME_UNKNOWN} ${advice}`);
}

/* Ends an attempt as done, unchanged or rejected, and stores the response under its idempotency key. */

export interface Batch<C = unknown> {
  id: string;
  /** The server process of the transaction. */
  backend: Backend;
  timeline: number | null;
  done: CompletedChange<C>;
  /** The state that this process had folded when the transaction began. */
  base: Point;
  point: Point;
  statements: Parameterised[];
  /** True if the statements begin the transaction too. */
  isWholeChange?: boolean;
}

/** A batch that may have been committed, and its response. */
export class CommitInDoubt<C = unknown> extends Error {
  override readonly name = 'CommitInDoubt';
  readonly lost: UnansweredCommit;
  readonly done: CompletedChange<C>;
  readonly point: Point;

  constructor(lost: UnansweredCommit, { done, point }: Pick<Batch<C>, 'done' | 'point'>) {
    super('the outcome of a commit is not known');
    this.lost = lost;
    this.done = done;
    this.point = point;
  }
}

/**
 * Milliseconds that a reader who already sees the commit waits for its response. After that, the reader reads the log.
 * Until a whole change has the log lock, another process may commit its position, and the reader would wait in vain.
 */
const RESPONSE = { afterDecision: 1_000, wholeChange: 20 };

/**
 * Commits and publishes the new state. Readers wait for the new state from this call on.
 * @throws CommitInDoubt
 */
export function finishDone<C>(
  client: pg.ClientBase,
  options: PipelineOptions,
  batch: Batch<C>,
): Promise<CompletedChange<C>> {
  const ended = commitAndPublish(client, options, batch);
  const patience = batch.isWholeChange === true ? RESPONSE.wholeChange : RESPONSE.afterDecision;
  options.store.expect(batch.point, ended, patience);
  return ended;
}

async function commitAndPublish<C>(
  client: pg.ClientBase,
  options: PipelineOptions,
  batch: Batch<C>,
): Promise<CompletedChange<C>> {
  try {
    await commit(client, batch.statements);
  } catch (error) {
    if (!(error instanceof UnknownOutcomeError)) throw error;
    const { id, backend, timeline, isWholeChange = false } = batch;
    throw new CommitInDoubt({ batch: id, backend, timeline, isWholeChange }, batch);
  }
  options.store.publish(batch.point, batch.base, batch.done.events);
  return batch.done;
}

interface Unchanged<C> {
  request: RequestContext;
  command: C;
  point: Point;
}

/** Rolls back. If there is an Idempotency-Key, it commits only the response instead. */
export async function finishUnchanged<C>(
  client: pg.ClientBase,
  options: PipelineOptions,
  at: Unchanged<C>,
): Promise<CompletedChange<C>> {
  const { state, head } = at.point;
  const done: CompletedChange<C> = {
    kind: 'done',
    command: at.command,
    before: state,
    state,
    events: [],
    position: head.position,
  };
  if (at.request.idempotency === undefined) return rollback(client, done);
  const statements = await storeAnswerStatements(at.request, done, head);
  return commitAnswer(client, options, { statements, outcome: done });
}

interface Refused {
  request: RequestContext;
  outcome: Refusal;
  head: Point['head'];
}

/**
 * Rolls back. If there is an Idempotency-Key and a repeated request would be rejected too, it commits only the response
 * instead.
 */
export async function finishRefused(
  client: pg.ClientBase,
  options: PipelineOptions,
  refused: Refused,
): Promise<Refusal> {
  const { request, outcome, head } = refused;
  if (request.idempotency === undefined || !isStorable(outcome)) return rollback(client, outcome);
  const back = { text: `ROLLBACK TO SAVEPOINT ${SAVEPOINT}` };
  return commitAnswer(client, options, {
    statements: [back, ...(await storeAnswerStatements(request, outcome, head))],
    outcome,
  });
}

/** Commits the response to a command that changed nothing. If storing it fails, the response is still sent. */
async function commitAnswer<T>(
  client: pg.ClientBase,
  options: PipelineOptions,
  kept: { statements: Parameterised[]; outcome: T },
): Promise<T> {
  try {
    await commit(client, kept.statements);
  } catch (error) {
    if (!(error instanceof UnknownOutcomeError)) throw error;
    options.logger.warn('a response could not be stored', { error: error.message });
  }
  return kept.outcome;
}

/** Rolls the transaction back and returns `outcome`. A lost connection has already ended the transaction. */
export async function rollback<T>(client: pg.ClientBase, outcome: T): Promise<T> {
  await sendBatch(client, [{ text: 'ROLLBACK' }]).catch(() => undefined);
  return outcome;
}
