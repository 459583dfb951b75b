/** Stores the first response to each idempotency key for a day, in the transaction of the command. */
import type { LogHead } from '../../log/head.js';
import type { Parameterised } from '../../postgres/exchange.js';
import type { Cause } from '../../schema/model/events.js';
import type { Problem } from '../../kernel/problem.js';
import type { CompletedChange, Idempotency, Refusal, Replay, RequestContext } from '../types.js';
import { IS_OLDER_RELEASE, own } from '../../postgres/own-tables.js';
import type { Json } from '../../kernel/json.js';
import { REASON_REQUIRED } from '../../schema/policy.js';

const KEPT = `interval '24 hours'`;

/** Maximum number of expired rows that a write removes. More would delay the command. */
const REMOVED_IN_PASSING = 100;

/** @param condition a further SQL condition, starting with AND */
const removeExpired = (condition = ''): string =>
  `DELETE FROM ${own.idempotency}
    WHERE (actor, key) IN (SELECT actor, key FROM ${own.idempotency} WHERE created_at <= now() - ${KEPT} ${condition}
                            ORDER BY created_at LIMIT ${REMOVED_IN_PASSING})`;

interface Row {
  request_hash: string;
  status: number;
  headers: Json;
  body: Json;
}

/** Runs under the log lock, when no other transaction can use the same key. */
export function findAnswer(idempotency: Idempotency, cause: Cause): Parameterised {
  return {
    text: `SELECT request_hash, status, headers, body
             FROM ${own.idempotency} i
            WHERE actor = $1 AND key = $2 AND created_at > now() - ${KEPT} AND (i.position = 0 OR EXISTS (
              SELECT FROM ${own.events} e WHERE e.position = i.position AND e.hash = i.event_hash))`,
    values: [cause.actor.id, idempotency.key],
  };
}

/* Ends changes that were sent as a single flight and got lost. */

/** The user id of rows that mark lost flights. No user has an empty id. */
const LOST = '';

/**
 * Returns the statement that marks a lost flight. It runs under the log lock. If the flight still arrives, it looks for
 * this row under the same lock, finds it and changes nothing. Nothing is written if a newer release has migrated the
 * database, because the flight then fails anyway.
 */
export const endLostStatement = (batch: string): Parameterised => ({
  text: `WITH expired AS (${removeExpired(`AND key <> $1 AND NOT ${IS_OLDER_RELEASE}`)})
         INSERT INTO ${own.idempotency} (actor, key, request_hash, status, headers, body, position, event_hash)
         SELECT '${LOST}', $1, '', 0, '{}', 'null', 0, '' WHERE NOT ${IS_OLDER_RELEASE} ON CONFLICT DO NOTHING`,
  values: [batch],
});

/** SQL condition: the batch with this id was ended by `endLostStatement`. */
export const isLost = (batch: string): string =>
  `(SELECT true FROM ${own.idempotency} i WHERE i.actor = '${LOST}' AND i.key = ${batch}) IS TRUE`;

/** Returns the stored response, which replaces running the command. Undefined if the command must run. */
export function readEarlierAnswer(
  idempotency: Idempotency,
  rows: Record<string, unknown>[],
): Replay | Refusal | undefined {
  const row = rows[0] as Row | undefined;
  if (row === undefined) return undefined;
  if (row.request_hash !== idempotency.requestHash) return { kind: 'refused', problems: [createMismatchProblem()] };
  return { kind: 'replayed', status: row.status, headers: row.headers, body: row.body };
}

/**
 * True if a repeated request would get the same response. Rejections that suggest a retry are not stored. The key does
 * not cover X-Reason, so a request may be repeated with the reason that the policy requires.
 */
export function isStorable(outcome: CompletedChange | Refusal): boolean {
  return (
    outcome.kind === 'done' ||
    !outcome.problems.some(
      ({ code, details }) =>
        code === 'LOCK_TIMEOUT' || code === 'UNAVAILABLE' || details?.['rule'] === REASON_REQUIRED.rule,
    )
  );
}

/**
 * Returns statements that store the response before COMMIT. @param head the end of the log that the response describes
 */
export async function storeAnswerStatements(
  { idempotency, cause }: Pick<RequestContext, 'idempotency' | 'cause'>,
  outcome: CompletedChange | Refusal,
  head: LogHead,
): Promise<Parameterised[]> {
  if (idempotency === undefined) return [];
  const { status, headers, body } = await idempotency.render(outcome);
  return [
    {
      text: `INSERT INTO ${own.idempotency} (actor, key, request_hash, status, headers, body, position, event_hash)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
             ON CONFLICT (actor, key) DO UPDATE
                SET request_hash = excluded.request_hash, status = excluded.status, headers = excluded.headers,
                    body = excluded.body, created_at = now(),
                    position = excluded.position, event_hash = excluded.event_hash`,
      values: [
        cause.actor.id,
        idempotency.key,
        idempotency.requestHash,
        status,
        JSON.stringify(headers),
        JSON.stringify(body),
        head.position,
        head.hash,
      ],
    },
    { text: removeExpired() },
  ];
}

function createMismatchProblem(): Problem {
  return {
    code: 'IDEMPOTENCY_MISMATCH',
    message: 'This Idempotency-Key was used for another request within the last 24 hours. Send a new key.',
  };
}
