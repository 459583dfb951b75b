/** Stores first answers for a day, in the transaction of their command. */
import type { LogHead } from '../../log/head.js';
import type { Parameterised } from '../../postgres/exchange.js';
import type { Cause } from '../../schema/model/events.js';
import type { Problem } from '../../kernel/problem.js';
import type { Done, Idempotency, Refusal, Replay, RequestContext } from '../types.js';
import { IS_OLDER_RELEASE, own } from '../../postgres/own-tables.js';
import type { Json } from '../../kernel/json.js';

const KEPT = `interval '24 hours'`;

/** Expired rows removed per write, so that many of them do not delay a command. */
const REMOVED_IN_PASSING = 100;

/** @param condition a further SQL condition, with AND */
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

/* Ends changes whose only flight was lost. */

/** No user has this id. */
const LOST = '';

/**
 * Runs under the log lock. If the flight of the batch still arrives, it finds this row and changes nothing, because it
 * looks for it under the same lock. Writes nothing after a newer release has migrated the database, because the flight
 * fails then anyway.
 */
export const endLost = (batch: string): Parameterised => ({
  text: `WITH expired AS (${removeExpired(`AND key <> $1 AND NOT ${IS_OLDER_RELEASE}`)})
         INSERT INTO ${own.idempotency} (actor, key, request_hash, status, headers, body, position, event_hash)
         SELECT '${LOST}', $1, '', 0, '{}', 'null', 0, '' WHERE NOT ${IS_OLDER_RELEASE} ON CONFLICT DO NOTHING`,
  values: [batch],
});

/** SQL condition on an id of a batch. */
export const isLost = (batch: string): string =>
  `(SELECT true FROM ${own.idempotency} i WHERE i.actor = '${LOST}' AND i.key = ${batch}) IS TRUE`;

/** Returns the stored answer instead of running the command. Undefined if the command must run. */
export function earlierAnswer(
  idempotency: Idempotency,
  found: Record<string, unknown>[],
): Replay | Refusal | undefined {
  const row = found[0] as Row | undefined;
  if (row === undefined) return undefined;
  if (row.request_hash !== idempotency.requestHash) return { kind: 'refused', problems: [mismatch()] };
  return { kind: 'replayed', status: row.status, headers: row.headers, body: row.body };
}

/** True if a repeated request would get the same answer. Rejections that suggest a retry are not stored. */
export function isStorable(outcome: Done | Refusal): boolean {
  return (
    outcome.kind === 'done' || !outcome.problems.some(({ code }) => code === 'LOCK_TIMEOUT' || code === 'UNAVAILABLE')
  );
}

/** Statements that store the answer before COMMIT. @param head the end of the log that the answer describes */
export async function storeAnswerStatements(
  { idempotency, cause }: Pick<RequestContext, 'idempotency' | 'cause'>,
  outcome: Done | Refusal,
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

function mismatch(): Problem {
  return {
    code: 'IDEMPOTENCY_MISMATCH',
    message: 'This Idempotency-Key was used for another request within the last 24 hours. Send a new key.',
  };
}
