/* Reads and writes webhooks and their deliveries. */
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';

export const STATES = ['enabled', 'failing', 'disabled'] as const;

/** A webhook without its secret. Times are ISO 8601, UTC. */
export interface WebhookRow {
  id: string;
  name: string;
  url: string;
  format: 'cloudevents' | 'slack' | 'teams';
  types: string[];
  collections: string[] | null;
  /** `failing` means that the webhook is enabled and the last attempt failed. */
  state: (typeof STATES)[number];
  /** Null while the webhook is enabled. */
  disabled_because: string | null;
  /**
   * The last position that was delivered or that the filter does not match. Null until the webhook is first enabled.
   */
  position: number | null;
  /** Number of events in the log after this position, including those that the filter does not match. */
  behind: number;
  failures: number;
  failing_since: string | null;
  next_attempt_at: string | null;
  last_error: string | null;
  /** Time until which the previous secret also signs, after a rotation. */
  old_secret_until: string | null;
  created_at: string;
}

const time = (column: string): string =>
  `pg_catalog.to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const shownTime = (column: string): string => `${time(column)} AS ${column}`;

const HEAD = `(SELECT coalesce(pg_catalog.max(h.position), 0::bigint) FROM ${own.events} h)`;

const COLUMNS = `id, name, url, format, types, collections,
  CASE WHEN NOT enabled THEN 'disabled' WHEN failures > 0 THEN 'failing' ELSE 'enabled' END AS state, disabled_because,
  position, CASE WHEN position IS NULL THEN 0 ELSE greatest(${HEAD} - position, 0::bigint) END AS behind,
  failures, ${shownTime('failing_since')}, ${shownTime('next_attempt_at')}, last_error,
  CASE WHEN old_secret_until > now() THEN ${time('old_secret_until')} END AS old_secret_until,
  ${shownTime('created_at')}`;

export async function readWebhooks(db: Queryable): Promise<WebhookRow[]> {
  const { rows } = await db.query<WebhookRow>(
    `SELECT ${COLUMNS} FROM ${own.webhooks} ORDER BY name COLLATE "C", created_at, id`,
  );
  return rows;
}

/** @param id a uuid */
export async function readWebhook(db: Queryable, id: string): Promise<WebhookRow | undefined> {
  const { rows } = await db.query<WebhookRow>(`SELECT ${COLUMNS} FROM ${own.webhooks} WHERE id = $1`, [id]);
  return rows[0];
}

/** Returns the secrets that sign now, newest first. Empty if the webhook was restored from a backup. */
export async function readSecrets(db: Queryable, id: string): Promise<string[]> {
  const { rows } = await db.query<{ secrets: string[] }>(
    `SELECT ${SECRETS} AS secrets FROM ${own.webhooks} w WHERE w.id = $1`,
    [id],
  );
  return rows[0]?.secrets ?? [];
}

const SECRETS = `pg_catalog.array_remove(ARRAY[w.secret, CASE WHEN w.old_secret_until > now() THEN w.old_secret END], NULL::text)`;

/**
 * SQL that identifies the database. A dump that is restored into another database has another identity. Physical copies
 * and standbys have the same identity.
 */
export const DATABASE = `(SELECT c.system_identifier::text || '/' || d.oid::text
  FROM pg_catalog.pg_control_system() c, pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())`;

/**
 * SQL for the position after which a new webhook receives events: the position of the event that records it. Requires
 * the log's lock.
 */
export const AFTER_NEXT = `${HEAD} + 1`;

/* Filter events by patterns, which contain `*` for any characters. */

const like = (pattern: string): string =>
  [`'\\', '\\\\'`, `'%', '\\%'`, `'_', '\\_'`, `'*', '%'`].reduce(
    (text, replacement) => `pg_catalog.replace(${text}, ${replacement})`,
    pattern,
  );

const matchesPatterns = (value: string, patterns: string): string =>
  `EXISTS (SELECT FROM pg_catalog.unnest(${patterns}) p WHERE ${value} LIKE ${like('p')})`;

/** SQL for the table in the id of a trigger, policy, rule or privileges, without quotes: `audit on posts`. Null for a function. */
const tableOfObject = (
  id: string,
): string => `(SELECT CASE WHEN t.name LIKE '"%' THEN pg_catalog.replace(pg_catalog.substr(t.name, 2, pg_catalog.length(t.name) - 2), '""', '"') ELSE t.name END
  FROM (SELECT (pg_catalog.regexp_match(${id}, '^(?:"(?:[^"]|"")+"|[^" ]+) on ("(?:[^"]|"")+"|[^"( ]+)$'))[1] AS name) t)`;

/**
 * True if event `e` passes the filter of webhook `w`. Events of a change request concern its collections, a rename
 * concerns both names, and an event about an object of a table concerns the table, before and after a rename. The
 * query avoids EXISTS for the change request. PostgreSQL could hash it and would then read all change requests for each
 * webhook: 1.4 s for 50 webhooks and 20,000 change requests.
 */
const PASSES = `${matchesPatterns('e.type', 'w.types')} AND (w.collections IS NULL OR ${matchesPatterns('e.collection', 'w.collections')}
  OR e.type = 'collection.renamed' AND ${matchesPatterns(`(e.data ->> 'to'::text)`, 'w.collections')}
  OR e.subject ->> 'kind'::text IN ('trigger', 'policy', 'rule', 'privileges') AND (${matchesPatterns(tableOfObject(`(e.subject ->> 'id'::text)`), 'w.collections')}
    OR e.type = 'object.renamed' AND ${matchesPatterns(tableOfObject(`(e.data ->> 'to'::text)`), 'w.collections')})
  OR e.subject ->> 'kind'::text IN ('row_security', 'table_options') AND (${matchesPatterns(`(e.subject ->> 'id'::text)`, 'w.collections')}
    OR e.type = 'object.renamed' AND ${matchesPatterns(`(e.data ->> 'to'::text)`, 'w.collections')})
  OR e.subject ->> 'kind'::text = 'change' AND (SELECT pg_catalog.bool_or(${matchesPatterns('n', 'w.collections')})
       FROM ${own.changes} c, pg_catalog.unnest(c.collections) n
      WHERE c.id = CASE WHEN e.subject ->> 'kind'::text = 'change' THEN (e.subject ->> 'id'::text)::uuid END))`;

/** Number of events that one statement filters, so that no statement takes long. */
const RANGE = 10_000;

/** Number of positions per page. */
const PAGE = 500;

/** Milliseconds after which a process that has not renewed its lease counts as dead. */
export const LEASE = 5_000;

const LEASED = `now() + interval '${LEASE} milliseconds'`;

/**
 * SQL condition that a webhook has no valid lease. A lease in the far future was created before the clock of the server
 * was set back.
 */
const isFree = (owner: string): string =>
  `(w.owner IS NULL OR w.owner = ${owner} OR w.leased_until NOT BETWEEN now() AND now() + interval '${2 * LEASE} milliseconds')`;

export interface Claimed {
  id: string;
  name: string;
  url: string;
  format: WebhookRow['format'];
  secrets: string[];
  position: number;
  revision: number;
  failures: number;
}

/**
 * Claims the webhooks with events to deliver. The same statement advances those whose filter matches none of the next
 * events.
 * @returns the claimed webhooks, and true if others were advanced and have more events
 */
export async function claimDue(
  db: Queryable,
  { owner, busy, limit }: { owner: string; busy: readonly string[]; limit: number },
): Promise<{ claimed: Claimed[]; more: boolean }> {
  const { rows } = await db.query<Claimed & { matches: boolean; more: boolean }>(CLAIM, [owner, busy, limit]);
  const claimed = rows.filter(({ matches }) => matches);
  return { claimed, more: rows.some(({ matches, more }) => !matches && more) };
}

const CLAIM = `
WITH due AS MATERIALIZED (
  SELECT w.id, least(head.position, w.position + ${RANGE}) AS up_to, head.position AS head, EXISTS (
           SELECT FROM ${own.events} e
            WHERE e.position > w.position AND e.position <= least(head.position, w.position + ${RANGE}) AND ${PASSES}) AS matches
    FROM ${own.webhooks} w, (SELECT ${HEAD} AS position) head
   WHERE w.enabled AND w.position < head.position AND w.id <> ALL ($2::uuid[])
     AND (w.next_attempt_at IS NULL OR w.next_attempt_at <= now())
     AND ${isFree('$1::uuid')} AND w.database = ${DATABASE}
   ORDER BY w.position, w.id LIMIT $3::int
   FOR UPDATE OF w SKIP LOCKED
)
UPDATE ${own.webhooks} w
   SET position = CASE WHEN due.matches THEN w.position ELSE due.up_to END,
       owner = CASE WHEN due.matches THEN $1::uuid END,
       leased_until = CASE WHEN due.matches THEN ${LEASED} END
  FROM due WHERE w.id = due.id
RETURNING w.id, w.name, w.url, w.format, ${SECRETS} AS secrets, w.position, w.revision, w.failures, due.matches,
          due.up_to < due.head AS more`;

/** Returns the number of milliseconds until the next webhook is due. Undefined if nothing is left to deliver. */
export async function readWaitUntilNextDue(
  db: Queryable,
  owner: string,
  busy: readonly string[],
): Promise<number | undefined> {
  const { rows } = await db.query<{ wait: number | null }>(
    `SELECT pg_catalog.min(extract(epoch FROM greatest(w.next_attempt_at,
              CASE WHEN w.owner <> $1::uuid THEN w.leased_until END, now()) - now()))::float8 * 1000::float8 AS wait
       FROM ${own.webhooks} w
      WHERE w.enabled AND w.position < ${HEAD} AND w.id <> ALL ($2::uuid[]) AND w.database = ${DATABASE}`,
    [owner, busy],
  );
  return rows[0]?.wait ?? undefined;
}

/** Renews the leases of a process. */
export async function renewLeases(db: Queryable, owner: string): Promise<void> {
  await db.query(`UPDATE ${own.webhooks} SET leased_until = ${LEASED} WHERE owner = $1`, [owner]);
}

/** Releases one lease, or all leases of a process. */
export async function releaseLeases(db: Queryable, owner: string, id: string | null): Promise<void> {
  await db.query(
    `UPDATE ${own.webhooks} SET owner = NULL, leased_until = NULL WHERE owner = $1 AND ($2::uuid IS NULL OR id = $2::uuid)`,
    [owner, id],
  );
}

/** The next positions that pass the filter, and the last position that was read. */
export interface MatchingPage {
  positions: number[];
  upTo: number;
  /** True if the log ends at that position. */
  isEnd: boolean;
}

export async function nextMatches(db: Queryable, id: string, after: number): Promise<MatchingPage> {
  const { rows } = await db.query<{ positions: string[]; up_to: number; head: number }>(
    `SELECT head.position AS head, least(head.position, $2::bigint + ${RANGE}) AS up_to, ARRAY(
              SELECT e.position FROM ${own.events} e
               WHERE e.position > $2::bigint AND e.position <= least(head.position, $2::bigint + ${RANGE}) AND ${PASSES}
               ORDER BY e.position LIMIT ${PAGE}) AS positions
       FROM ${own.webhooks} w, (SELECT ${HEAD} AS position) head WHERE w.id = $1`,
    [id, after],
  );
  const [row] = rows;
  if (row === undefined) return { positions: [], upTo: after, isEnd: true };
  const positions = row.positions.map(Number);
  const upTo = positions.length === PAGE ? (positions.at(-1) ?? after) : row.up_to;
  return { positions, upTo, isEnd: upTo === row.head };
}

/** One attempt to deliver a message. */
export interface Attempt {
  message: { id: string; type: string; position: number | null };
  attemptedAt: Date;
  milliseconds: number;
  status: number | null;
  error: string | null;
}

/** Number of attempts that are kept for each webhook. */
const KEPT_DELIVERIES = 100;

const NOTED = `
  INSERT INTO ${own.webhookDeliveries} (webhook, message, type, position, attempted_at, milliseconds, status, error)
  SELECT w.id, $2::uuid, $3::text, $4::bigint, $5::timestamptz, $6::int, $7::int, $8::text FROM ${own.webhooks} w WHERE w.id = $1`;

/** Deletes all but the newest attempts. It keeps one less than KEPT_DELIVERIES, because the same statement adds one. */
const PRUNED = `
  DELETE FROM ${own.webhookDeliveries} d WHERE d.webhook = $1 AND d.id <= (
    SELECT o.id FROM ${own.webhookDeliveries} o WHERE o.webhook = $1 ORDER BY o.id DESC OFFSET ${KEPT_DELIVERIES - 1} LIMIT 1)`;

const valuesOf = (webhook: string, { message, attemptedAt, milliseconds, status, error }: Attempt): unknown[] => [
  webhook,
  message.id,
  message.type,
  message.position,
  attemptedAt,
  milliseconds,
  status,
  error,
];

/** Records an attempt that does not advance the webhook, which is a test. */
export async function noteAttempt(db: Queryable, webhook: string, attempt: Attempt): Promise<void> {
  await db.query(`WITH pruned AS (${PRUNED}) ${NOTED}`, valuesOf(webhook, attempt));
}

interface Holder {
  id: string;
  owner: string;
  revision: number;
}

/**
 * Records a successful delivery, and advances the webhook. Does not wait for the disk or a standby: after a crash of
 * the server, the last deliveries may be repeated.
 * @param next the new position. `isLast` releases the lease.
 * @returns false if this process may no longer deliver, because it lost its lease or the webhook was changed
 */
export async function recordDelivery(
  db: Queryable,
  { id, owner, revision }: Holder,
  attempt: Attempt,
  { next, isLast }: { next: number; isLast: boolean },
): Promise<boolean> {
  const { rows } = await db.query<{ moved: boolean }>(
    `WITH quick AS (SELECT pg_catalog.set_config('synchronous_commit', 'off', true)), noted AS (${NOTED}), pruned AS (${PRUNED}), moved AS (
       UPDATE ${own.webhooks} SET position = $11::bigint, failures = 0, failing_since = NULL, next_attempt_at = NULL,
              last_error = NULL, owner = CASE WHEN $12::boolean THEN NULL ELSE owner END, leased_until = ${LEASED}
        WHERE id = $1 AND owner = $9::uuid AND revision = $10::int RETURNING id)
     SELECT EXISTS (SELECT FROM moved) AS moved FROM quick`,
    [...valuesOf(id, attempt), owner, revision, next, isLast],
  );
  return rows[0]?.moved === true;
}

/**
 * Records a failed attempt, and releases the lease until the next attempt.
 * @param pause milliseconds until the next attempt
 * @returns the number of days since the first of these failures. Null if this process may no longer deliver
 */
export async function recordFailure(
  db: Queryable,
  { id, owner, revision }: Holder,
  attempt: Attempt,
  pause: number,
): Promise<number | null> {
  const { rows } = await db.query<{ days: number }>(
    `WITH noted AS (${NOTED}), pruned AS (${PRUNED})
     UPDATE ${own.webhooks} SET failures = failures + 1, failing_since = coalesce(failing_since, now()), last_error = $8::text,
            next_attempt_at = now() + $11::float8 * interval '1 millisecond', owner = NULL, leased_until = NULL
      WHERE id = $1 AND owner = $9::uuid AND revision = $10::int
     RETURNING extract(epoch FROM now() - failing_since)::float8 / 86400::float8 AS days`,
    [...valuesOf(id, attempt), owner, revision, pause],
  );
  return rows[0]?.days ?? null;
}

/** True if any webhook is enabled. All other statements of a delivery cost twenty times as much. */
export async function hasEnabledWebhooks(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query(`SELECT FROM ${own.webhooks} WHERE enabled LIMIT 1`);
  return rowCount === 1;
}

/** Returns enabled webhooks whose database was copied after they were enabled. */
export async function copiedWebhooks(db: Queryable): Promise<{ id: string; name: string }[]> {
  const { rows } = await db.query<{ id: string; name: string }>(
    `SELECT id, name FROM ${own.webhooks} WHERE enabled AND database IS DISTINCT FROM ${DATABASE}`,
  );
  return rows;
}

export interface DeliveryRow {
  message: string;
  type: string;
  position: number | null;
  attempted_at: string;
  milliseconds: number;
  status: number | null;
  error: string | null;
}

/** Returns deliveries, newest first. */
export async function readDeliveries(db: Queryable, id: string): Promise<DeliveryRow[]> {
  const { rows } = await db.query<DeliveryRow>(
    `SELECT message, type, position, ${shownTime('attempted_at')}, milliseconds, status, error
       FROM ${own.webhookDeliveries} d WHERE d.webhook = $1 ORDER BY d.id DESC LIMIT ${KEPT_DELIVERIES}`,
    [id],
  );
  return rows;
}

/** Returns the number of webhooks by state, and the number of events after the position of the slowest webhook. */
export async function countWebhooks(db: Queryable): Promise<{ states: Map<string, number>; behind: number }> {
  const rows = await readWebhooks(db);
  const states = new Map<string, number>(STATES.map((state) => [state, 0]));
  for (const { state } of rows) states.set(state, (states.get(state) ?? 0) + 1);
  const behind = Math.max(0, ...rows.filter(({ state }) => state !== 'disabled').map((row) => row.behind));
  return { states, behind };
}
