/** Handles commands while the log is not the one seen before. */
import { type NotedDivergence, checkHead, isInLog } from '../log/divergence.js';
import type { Point } from '../log/fold.js';
import { type Problem, ProblemError } from '../kernel/problem.js';
import type { UnreadableEventError } from '../schema/fold/upcasting.js';
import type { PipelineOptions } from './types.js';

/**
 * Thrown under the log lock: the log lacks events that this process or a checkpoint has seen, or another process
 * recorded a divergence.
 */
export class DivergedError extends Error {
  override readonly name = 'DivergedError';
  readonly from: Point;

  constructor(from: Point) {
    super('the log has forked: it no longer contains the events that were read before');
    this.from = from;
  }
}

/**
 * Records divergences, and folds the log again if it lacks folded events. The caller runs this without the log lock
 * first, then again under the lock.
 * @returns the divergence that must be acknowledged first. Undefined if the command can be retried.
 */
export async function recheckLog(
  { from }: DivergedError,
  { pool, store, watch }: Required<Pick<PipelineOptions, 'pool' | 'store' | 'watch'>>,
): Promise<NotedDivergence | undefined> {
  const check = await checkHead(pool);
  watch.admit(check);
  await watch.examine(check, from.head);
  if (!(await isInLog(pool, from.head))) {
    await watch.replaced(from.head);
    await store.reload(from);
  }
  return watch.pending();
}

/** Commands that need the whole log are rejected while an event cannot be read. */
export function createLogUnreadableProblem({ position, message }: UnreadableEventError): Problem {
  return {
    code: 'LOG_UNREADABLE',
    message:
      `Position ${position} of the log cannot be read: ${message.replace(/\.$/, '')}. History, verification and export ` +
      'still work. Use the release that wrote the event, or a newer one. If the log is damaged, restore a valid one (dps restore).',
    details: { position },
  };
}

/** @throws ProblemError LOG_UNREADABLE before the command waits for the log lock */
export async function requireReadable({ store }: Pick<PipelineOptions, 'store'>): Promise<void> {
  const unreadable = store.unreadable();
  if (unreadable === undefined) return;
  await store.atHead(Number.MAX_SAFE_INTEGER).catch(() => undefined);
  const still = store.unreadable();
  if (still !== undefined) throw new ProblemError(createLogUnreadableProblem(still));
}
