/** Ends an attempt as done, unchanged or rejected, and stores the answer under its idempotency key. */
import type pg from 'pg';
import type { Backend } from '../../postgres/backend.js';
import { type Parameterised, sendBatch } from '../../postgres/exchange.js';
import type { Point } from '../../log/fold.js';
import { SAVEPOINT } from './begin.js';
import type { Unanswered } from './commit-outcome.js';
import { UnknownOutcomeError, commit } from './commit.js';
import { isStorable, storeAnswerStatements } from './idempotency.js';
import type { Done, PipelineOptions, Refusal, RequestContext } from '../types.js';

export interface Batch {
  id: string;
  /** The server process of the transaction. */
  backend: Backend;
  timeline: number | null;
  done: Done;
  /** The state that this process had folded when the transaction began. */
  base: Point;
  point: Point;
  statements: Parameterised[];
}

/** A batch that may have been committed, with its answer. */
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

/** Commits and publishes the new state. Readers wait for it from now on. @throws CommitInDoubt */
export function finishDone(client: pg.ClientBase, options: PipelineOptions, batch: Batch): Promise<Done> {
  const ended = commitAndPublish(client, options, batch);
  options.store.expect(batch.point, ended);
  return ended;
}

async function commitAndPublish(client: pg.ClientBase, options: PipelineOptions, batch: Batch): Promise<Done> {
  try {
    await commit(client, batch.statements);
  } catch (error) {
    if (!(error instanceof UnknownOutcomeError)) throw error;
    throw new CommitInDoubt({ batch: batch.id, backend: batch.backend, timeline: batch.timeline }, batch);
  }
  options.store.publish(batch.point, batch.base);
  return batch.done;
}

interface Unchanged {
  request: RequestContext;
  point: Point;
}

/** Rolls back, or commits only the answer if there is an Idempotency-Key. */
export async function finishUnchanged(client: pg.ClientBase, options: PipelineOptions, at: Unchanged): Promise<Done> {
  const { state, head } = at.point;
  const done: Done = { kind: 'done', before: state, state, events: [], position: head.position };
  if (at.request.idempotency === undefined) return rollback(client, done);
  const statements = await storeAnswerStatements(at.request, done, head);
  return commitAnswer(client, options, { statements, outcome: done });
}

interface Refused {
  request: RequestContext;
  outcome: Refusal;
  head: Point['head'];
  /** The transaction has failed. */
  failed?: boolean;
}

/** Rolls back. If there is an Idempotency-Key and a repetition would be rejected too, commits only the answer. */
export async function finishRefused(
  client: pg.ClientBase,
  options: PipelineOptions,
  refused: Refused,
): Promise<Refusal> {
  const { request, outcome, head, failed } = refused;
  if (request.idempotency === undefined || !isStorable(outcome)) return rollback(client, outcome);
  const back = failed === true ? [{ text: `ROLLBACK TO SAVEPOINT ${SAVEPOINT}` }] : [];
  return commitAnswer(client, options, {
    statements: [...back, ...(await storeAnswerStatements(request, outcome, head))],
    outcome,
  });
}

/** Commits the answer of a command that changed nothing. A failure to store it does not change the answer. */
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

/** Ends the transaction and returns `outcome`. A lost connection has ended it already. */
export async function rollback<T>(client: pg.ClientBase, outcome: T): Promise<T> {
  await sendBatch(client, [{ text: 'ROLLBACK' }]).catch(() => undefined);
  return outcome;
}
