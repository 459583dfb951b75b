/* Acknowledges that the log is not the one seen before. One event records all divergences. */
import { readPendingDivergences, toDivergence } from '../log/divergence.js';
import { prepareEvents } from '../log/append.js';
import { storeFirstEvent, originBefore } from '../log/signed-checkpoints/sign.js';
import { sendBatch } from '../postgres/exchange.js';
import { commitOrThrow } from '../postgres/transaction.js';
import type { Cause, LogEvent } from '../schema/model/events.js';
import { evolve } from '../schema/fold/evolve.js';
import type { TransactionAttempt } from './keep-alive.js';
import { begin } from './transaction/begin.js';
import { checkpoints } from './transaction/attempt.js';
import { own } from '../postgres/own-tables.js';
import type { Acknowledged, PipelineOptions, Pipeline } from './types.js';
import type { LogWatch } from '../log/watch.js';
import type { Logger } from '../postgres/logger.js';

/** The command name under which the log records an acknowledgement. */
export const ACKNOWLEDGE = 'acknowledge-log';

/** The cause of the event if ON_LOG_DIVERGENCE=continue acknowledges automatically. */
export const AUTOMATIC: Cause = {
  actor: { id: 'service', name: 'Data Platform Service' },
  command: ACKNOWLEDGE,
  reason: 'ON_LOG_DIVERGENCE=continue',
  request_id: null,
  ip: null,
  user_agent: null,
};

/** Deletes stored responses and folds of the log that was replaced, because nobody may see or use them. */
const DROPPED = [
  `DELETE FROM ${own.idempotency} i
    WHERE i.position > 0 AND NOT EXISTS (SELECT FROM ${own.events} e WHERE e.position = i.position AND e.hash = i.event_hash)`,
  `DELETE FROM ${own.folds} f
    WHERE NOT EXISTS (SELECT FROM ${own.events} e WHERE e.position = f.position AND e.hash = f.event_hash)`,
  // Projections with their own checkpoint start again from the beginning. They are idempotent.
  `UPDATE ${own.projections} p SET position = 0, hash = NULL, updated_at = now()
    WHERE kind = 'after-commit' AND p.position > 0
      AND NOT EXISTS (SELECT FROM ${own.events} e WHERE e.position = p.position AND (p.hash IS NULL OR e.hash = p.hash))`,
];

/** Runs in one transaction under the log lock. */
export async function acknowledge(
  at: TransactionAttempt,
  options: PipelineOptions,
  cause: Cause,
): Promise<Acknowledged> {
  const { client } = at;
  const { point } = await begin(client, options, { ...at, evenDiverged: true });
  const pending = await readPendingDivergences(client);
  const divergences = pending.map(toDivergence);
  if (pending.length === 0) {
    await sendBatch(client, [{ text: 'ROLLBACK' }]);
    return { position: point.head.position, divergences };
  }
  const origin = await originBefore(client, point.head.position);
  const event: LogEvent = {
    type: 'log.acknowledged',
    version: 1,
    collection: null,
    field: null,
    subject: { kind: 'log', id: String(point.head.position) },
    data: { divergences, ...(origin !== null && { previous_origin: origin }) },
  };
  const now = options.clock?.() ?? new Date();
  const prepared = await prepareEvents({ head: point.head, events: [event], cause, now });
  const { head } = prepared;
  await sendBatch(client, [
    ...prepared.statements,
    {
      text: `UPDATE ${own.divergences} SET acknowledged = $1 WHERE id = ANY ($2::bigint[])`,
      values: [head.position, pending.map(({ id }) => String(id))],
    },
    ...DROPPED.map((text) => ({ text })),
    storeFirstEvent(head),
    ...checkpoints(head, options),
  ]);
  await commitOrThrow(options.pool, client);
  options.store.publish({ state: evolve(point.state, { ...event, position: head.position }), head });
  return { position: head.position, divergences };
}

/* Implements ON_LOG_DIVERGENCE=continue. */

interface AutoAcknowledge {
  onLogDivergence: 'refuse' | 'continue';
  logger: Logger;
  watch: LogWatch;
  pipeline: Pick<Pipeline, 'acknowledge'>;
  readOnly: () => boolean;
}

/** Acknowledges divergences without an operator, if configured. */
export function autoAcknowledge({ onLogDivergence, logger, watch, pipeline, readOnly }: AutoAcknowledge): void {
  if (onLogDivergence !== 'continue') return;
  watch.subscribe(() => {
    if (readOnly()) return;
    pipeline.acknowledge(AUTOMATIC).catch((error: unknown) => {
      // The next change tries again.
      logger.warn('a fork of the log could not be acknowledged yet', { error });
    });
  });
}
