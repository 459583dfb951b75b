/* Reads change requests and writes their rows in the transaction of their events. */
import type pg from 'pg';
import type { Json } from '../../kernel/json.js';
import { type Parameterised, sendBatch } from '../../postgres/exchange.js';
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import type { PreparationStep, StepProgress } from '../../projector/online/types.js';
import { LINKED_COLUMNS, type LinkedRow, toLinkedEvents, readAccountEvents } from '../../log/decisive-events.js';
import { changeIdOf, evolveChange, foldChanges, isChangeEvent, foldChange } from '../../schema/change-requests/fold.js';
import {
  CHANGE,
  CHANGE_STATES,
  type ChangeRequest,
  type ChangeState,
  protectedCollections,
  isEnded,
  type Approval,
} from '../../schema/change-requests/model.js';
import type { CollectionScope } from '../../schema/collection-scope.js';
import type { LogEvent, StoredEvent } from '../../schema/model/events.js';
import { EVENT_COLUMNS, type EventRow, readHeadPosition, toEventRecord } from '../../log/read.js';
import { createTimeSlice } from '../../kernel/event-loop.js';
import { readEvent } from '../../schema/fold/upcasting.js';
import type { LogLock } from '../../log/fold.js';
import { isUuid } from '../../kernel/text.js';
import { type Approvers, hasIssuedCredential } from '../../schema/change-requests/approvals.js';
import { type Accounts, foldAccount, isActiveAdmin } from '../../schema/fold/accounts.js';

/* Decide which scheduled requests are due. Only this file reads the time, from the database's clock. */

const AT = `(request -> 'schedule'::text ->> 'at'::text)::timestamptz`;

/** SQL condition on a row of change requests: the request is due. */
const IS_DUE = `state = 'scheduled' AND ${AT} <= clock_timestamp()`;

/** Checks whether the request is scheduled and due. */
export async function isDue(db: Queryable, { schedule }: Pick<ChangeRequest, 'schedule'>): Promise<boolean> {
  return schedule !== null && (await readWaitUntil(db, schedule.at)) <= 0;
}

/**
 * Returns the number of milliseconds until a time, negative if the time has passed.
 * @param at ISO 8601
 */
export async function readWaitUntil(db: Queryable, at: string): Promise<number> {
  const { rows } = await db.query<{ wait: number }>(
    'SELECT (extract(epoch FROM $1::timestamptz - clock_timestamp()) * 1000::numeric)::float8 AS wait',
    [at],
  );
  return rows[0]?.wait ?? Infinity;
}

/**
 * Returns the number of milliseconds until the next request becomes due. Ignores requests that are already due. Null if
 * there is none.
 */
export async function readWaitUntilNextDue(db: Queryable): Promise<number | null> {
  const { rows } = await db.query<{ wait: number | null }>(
    `SELECT (extract(epoch FROM pg_catalog.min(${AT}) - clock_timestamp()) * 1000::numeric)::float8 AS wait
       FROM ${own.changes} WHERE state = 'scheduled' AND ${AT} > clock_timestamp()`,
  );
  return rows[0]?.wait ?? null;
}

const EVENTS = `SELECT ${LINKED_COLUMNS} FROM ${own.events} e
 WHERE subject ->> 'kind'::text = '${CHANGE}' AND subject ->> 'id'::text = ANY ($1::text[]) ORDER BY position`;

/**
 * Folds a request from its events. Its row is not used, because it may have been altered by hand. It only decides which
 * requests are listed and worked on.
 * @throws UnreadableEventError if an event is not the one that was appended
 */
export async function readChange(db: Queryable, id: string): Promise<ChangeRequest | undefined> {
  return (await readChanges(db, [id])).get(id);
}

async function readChanges(db: Queryable, ids: readonly string[]): Promise<Map<string, ChangeRequest>> {
  const { rows } = await db.query<LinkedRow>(EVENTS, [ids]);
  return foldChanges(await toLinkedEvents(rows));
}

/** Number of requests that are folded again at the same time. */
const REFOLDED = 100;

/** Writes the rows of requests again from their events. Used in the transaction that erases data of these events. */
export async function refoldChanges(client: pg.ClientBase, ids: readonly string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += REFOLDED) {
    const requests = await readChanges(client, ids.slice(at, at + REFOLDED));
    await sendBatch(client, writeChanges([...requests.values()]));
  }
}

/** True if the row of a request has the state that results from the events. */
export async function hasRowOf(db: Queryable, id: string, request: ChangeRequest | undefined): Promise<boolean> {
  const text = `SELECT state FROM ${own.changes} WHERE id = $1`;
  return (await db.query<{ state: string }>(text, [id])).rows[0]?.state === request?.state;
}

/** Returns the requests that the events change, in the state before them. */
export async function changesBefore(
  db: Queryable,
  events: readonly LogEvent[],
): Promise<ReadonlyMap<string, ChangeRequest>> {
  const ids = new Set(events.flatMap((event) => (isChangeEvent(event) ? [changeIdOf(event)] : [])));
  return ids.size === 0 ? new Map() : readChanges(db, [...ids]);
}

const WRITE = `
INSERT INTO ${own.changes} AS c (id, state, collections, held, opened_position, request)
SELECT r.id, r.state, r.collections, r.held, r.opened_position, r.request
  FROM pg_catalog.jsonb_to_recordset($1) AS r (id uuid, state text, collections text[], held text[], opened_position bigint, request jsonb)
ON CONFLICT (id) DO UPDATE SET progress = CASE WHEN c.state = excluded.state
    AND c.request -> 'schedule'::text = excluded.request -> 'schedule'::text THEN c.progress END, state = excluded.state, collections = excluded.collections, held = excluded.held,
  opened_position = excluded.opened_position, request = excluded.request`;

/**
 * Returns the requests that the events change, in the state after them.
 * @param before the result of `changesBefore`
 */
export function changesAfter(
  events: readonly StoredEvent[],
  before: ReadonlyMap<string, ChangeRequest>,
): ReadonlyMap<string, ChangeRequest> {
  const after = new Map<string, ChangeRequest>();
  for (const event of events) {
    if (!isChangeEvent(event)) continue;
    const id = changeIdOf(event);
    after.set(id, evolveChange(after.get(id) ?? before.get(id), event));
  }
  return after;
}

/** Returns the row without the progress of the work. */
export const rowOf = (request: ChangeRequest) => {
  const { id, state, collections, opened_position } = request;
  return { id, state, collections, held: protectedCollections(request), opened_position, request };
};

/** Returns one statement that upserts the rows, or none if there are no requests. */
export function writeChanges(requests: readonly ChangeRequest[]): Parameterised[] {
  if (requests.length === 0) return [];
  const rows = requests.map(rowOf);
  return [{ text: WRITE, values: [JSON.stringify(rows)] }];
}

/** Stores why a request without steps cannot continue. The reason is valid until the state of the request changes. */
export async function storeWaitingReason(db: Queryable, id: string, progress: StepProgress): Promise<void> {
  await db.query(`UPDATE ${own.changes} SET progress = $2 WHERE id = $1`, [id, JSON.stringify(progress)]);
}

/** Reads the reason that `storeWaitingReason` stored. */
export async function readWaiting(db: Queryable, id: string): Promise<StepProgress | null> {
  const text = `SELECT progress FROM ${own.changes} WHERE id = $1`;
  return (await db.query<{ progress: StepProgress | null }>(text, [id])).rows[0]?.progress ?? null;
}

/** Collections that a request has locked. */
export interface HeldCollections {
  id: string;
  collections: string[];
}

/** Selects the requests with locked collections, oldest first. Runs in the first round trip of each change. */
export const HELD = `SELECT id, held AS collections FROM ${own.changes} WHERE held OPERATOR(pg_catalog.<>) '{}' ORDER BY opened_position`;

export interface ChangeFilter {
  state?: ChangeState | undefined;
  collection?: string | undefined;
  /** The id of a user. */
  author?: string | undefined;
  /** Limits the list to requests whose own collections are all in the scope. */
  within?: CollectionScope | undefined;
  /** Limits the list to requests that wait for this user's approval. */
  approver?: Approver | undefined;
  /** Limits the list to requests that were opened before this position. */
  before?: number | undefined;
}

export interface Approver {
  id: string;
  /** Returns the requests that the user may approve. `all` includes the user's own, if the policy allows that. */
  may: 'none' | 'others' | 'all';
}

/**
 * Returns SQL conditions for the members of the filter, so that PostgreSQL can use an index. Parameters start at $1.
 */
function conditionsOf({ state, collection, author, within, approver, before }: ChangeFilter): {
  sql: string;
  values: unknown[];
} {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  if (state !== undefined) conditions.push(`state = ${bind(state)}`);
  if (collection !== undefined) conditions.push(`${bind(collection)} = ANY (collections)`);
  if (author !== undefined) conditions.push(`request -> 'author'::text ->> 'id'::text = ${bind(author)}`);
  if (within !== undefined)
    conditions.push(
      `collections OPERATOR(pg_catalog.<>) '{}' AND NOT EXISTS (SELECT FROM pg_catalog.unnest(collections) AS name
         WHERE NOT name OPERATOR(pg_catalog.~~) ANY (${bind(within.map(toLikePattern))}::text[]))`,
    );
  if (approver !== undefined) conditions.push(waitsFor(approver, bind));
  if (before !== undefined) conditions.push(`opened_position < ${bind(before)}::bigint`);
  return { sql: conditions.length === 0 ? 'true' : conditions.join(' AND '), values };
}

/** Converts a pattern with `*` to a pattern of LIKE. */
const toLikePattern = (pattern: string): string => pattern.replaceAll(/[\\%_]/g, '\\$&').replaceAll('*', '%');

/** SQL condition: the request is open, and the approver has not approved its current plan. */
function waitsFor({ id, may }: Approver, bind: (value: unknown) => string): string {
  if (may === 'none') return 'false';
  const user = `${bind(id)}::text`;
  const own = `request -> 'authors'::text @> pg_catalog.jsonb_build_array(pg_catalog.jsonb_build_object('id', ${user}))`;
  const byOthers = may === 'all' ? 'true' : `NOT ${own}`;
  return `state = 'open' AND request -> 'proposal'::text <> 'null' AND ${byOthers}
    AND NOT request -> 'proposal'::text -> 'approvals'::text @> pg_catalog.jsonb_build_array(pg_catalog.jsonb_build_object(
      'by', pg_catalog.jsonb_build_object('id', ${user}), 'plan', request -> 'proposal'::text -> 'plan'::text))`;
}

/** Returns requests, newest first. */
export async function listChanges(
  db: Queryable,
  filter: ChangeFilter,
  page: { offset: number; limit: number },
): Promise<ChangeRequest[]> {
  const { sql, values } = conditionsOf(filter);
  const { rows } = await db.query<{ request: ChangeRequest }>(
    `SELECT request FROM ${own.changes} WHERE ${sql} ORDER BY opened_position DESC
      LIMIT $${values.length + 1} OFFSET $${values.length + 2}`,
    [...values, page.limit, page.offset],
  );
  return rows.map(({ request }) => request);
}

/** @param filter an empty filter counts all requests */
export async function countMatchingChanges(db: Queryable, filter: ChangeFilter): Promise<number> {
  const { sql, values } = conditionsOf(filter);
  const text = `SELECT count(*) AS count FROM ${own.changes} WHERE ${sql}`;
  return (await db.query<{ count: number }>(text, values)).rows[0]?.count ?? 0;
}

export async function findOpenRevert(db: Queryable, id: string): Promise<string | undefined> {
  const text = `SELECT id FROM ${own.changes} WHERE request ->> 'reverts'::text = $1
    AND state NOT IN ('applied', 'withdrawn', 'rejected', 'failed') ORDER BY opened_position LIMIT 1`;
  return (await db.query<{ id: string }>(text, [id])).rows[0]?.id;
}

/** The number of the user's unfinished requests. */
export async function countUnderWay(db: Queryable, author: string): Promise<number> {
  const text = `SELECT count(*) AS count FROM ${own.changes}
    WHERE state = ANY ($1::text[]) AND request -> 'author'::text ->> 'id'::text = $2`;
  const states = CHANGE_STATES.filter((state) => !isEnded({ state }));
  return (await db.query<{ count: number }>(text, [states, author])).rows[0]?.count ?? 0;
}

/**
 * Deletes the documents of a request. Documents that another request uses are kept, unless that request was withdrawn.
 */
export const eraseDocuments = (id: string): Parameterised => ({
  text: `
  UPDATE ${own.documents} d SET content = NULL, erased_at = now()
   WHERE d.content IS NOT NULL AND d.hash IN (
     SELECT e.data ->> 'document'::text FROM ${own.events} e
      WHERE e.subject ->> 'kind'::text = 'change' AND e.subject ->> 'id'::text = $1)
     AND NOT EXISTS (SELECT FROM ${own.changes} c
       WHERE c.id <> $1::uuid AND c.state <> 'withdrawn' AND c.request ->> 'document'::text = d.hash)`,
  values: [id],
});

/** The number of requests in each state. */
export async function countChanges(db: Queryable): Promise<ReadonlyMap<string, number>> {
  const text = `SELECT state, count(*) AS count FROM ${own.changes} GROUP BY state`;
  const { rows } = await db.query<{ state: string; count: number }>(text);
  return new Map(rows.map(({ state, count }) => [state, count]));
}

export interface Unfinished {
  id: string;
  /** True if the request is due and needs no preparation. */
  due: boolean;
}

/**
 * Returns the requests that the runner must work on, oldest first. Queued requests whose tables are locked and requests
 * that are scheduled for later are excluded.
 */
export async function unfinishedChanges(db: Queryable): Promise<Unfinished[]> {
  const text = `
    SELECT id, pg_catalog.bool_or(due) AS due FROM (
      SELECT id, opened_position, (${IS_DUE}) AND request ->> 'online'::text IS DISTINCT FROM 'true' AS due FROM ${own.changes}
        WHERE state = 'preparing' OR (state = 'prepared' AND request -> 'applicant'::text <> 'null') OR (${IS_DUE})
      UNION
      SELECT q.id, q.opened_position, false FROM ${own.changes} q WHERE q.state = 'queued' AND NOT EXISTS (
        SELECT FROM ${own.changes} h WHERE h.held OPERATOR(pg_catalog.<>) '{}' AND h.held OPERATOR(pg_catalog.&&) q.collections)
      UNION
      SELECT p.request, coalesce(c.opened_position, 0), false
        FROM ${own.preparations} p
        LEFT JOIN LATERAL (SELECT state, opened_position, request FROM ${own.changes} r WHERE r.id = p.request OFFSET 0) c ON true
       WHERE (c.state = 'prepared' AND c.request -> 'applicant'::text = 'null'
           OR c.state = 'scheduled' AND c.request -> 'preparation'::text <> 'null') IS NOT TRUE
    ) open GROUP BY id ORDER BY pg_catalog.min(opened_position), id`;
  const { rows } = await db.query<Unfinished>(text);
  return rows;
}

/* Rebuilds the change request rows from the log. */

export const CHANGES_PROJECTION = 'change-requests';

/** Number of events per page. */
const PAGE = 1_000;

const QUERY = `SELECT ${EVENT_COLUMNS} FROM ${own.events}
 WHERE subject ->> 'kind'::text = '${CHANGE}' AND position > $1 AND position <= $2 ORDER BY position LIMIT ${PAGE}`;

type Requests = Map<string, ChangeRequest>;

/** Folds the events between two positions into `requests`, which it also returns. */
export async function foldChangesOf(
  db: Queryable,
  { after, upTo }: { after: number; upTo: number },
  requests: Requests = new Map(),
): Promise<Requests> {
  const slice = createTimeSlice();
  for (let last: number | undefined = after; last !== undefined;) {
    const { rows }: { rows: EventRow[] } = await db.query<EventRow>(QUERY, [last, upTo]);
    for (const row of rows) {
      if (slice.isOver()) await slice.yield();
      foldChange(requests, readEvent(toEventRecord(row)));
    }
    last = rows.length < PAGE ? undefined : rows.at(-1)?.position;
  }
  return requests;
}

/** Number of rows per statement. */
const WRITTEN = 1_000;

/** Replaces all rows in the client's transaction, which must hold the log's lock. */
export async function replaceChanges(client: pg.ClientBase, requests: Requests): Promise<void> {
  await client.query(`DELETE FROM ${own.changes}`);
  const all = [...requests.values()];
  for (let at = 0; at < all.length; at += WRITTEN) await sendBatch(client, writeChanges(all.slice(at, at + WRITTEN)));
}

export interface RebuiltChanges {
  position: number;
  changes: number;
}

/** Folds the events without the log's lock, and takes the lock only for the last events and the rows. */
export async function rebuildChanges(pool: pg.Pool, lock: LogLock): Promise<RebuiltChanges> {
  const head = await readHeadPosition(pool);
  const folded = await foldChangesOf(pool, { after: 0, upTo: head });
  return lock.underLock(async (client, { head: { position } }) => {
    const requests = await foldChangesOf(client, { after: head, upTo: position }, folded);
    await replaceChanges(client, requests);
    return { position, changes: requests.size };
  });
}

/* Check which approvers may still approve, and if they approved with their own credentials. */

/** Returns the users among the ids who are active admins now. */
export const activeAdmins = async (db: Queryable, ids: readonly string[]): Promise<ReadonlySet<string>> =>
  (await approversOf(db, ids, [])).admins;

/** Returns the approvers of a request. */
export const readApprovers = (db: Queryable, approvals: readonly Approval[]): Promise<Approvers> =>
  approversOf(
    db,
    approvals.map(({ by }) => by.id),
    approvals,
  );

/**
 * Returns the approvers who are active admins both in the log and in the table of users. Each credential is evaluated by
 * the account in the log at the position of the approval.
 */
async function approversOf(db: Queryable, ids: readonly string[], approvals: readonly Approval[]): Promise<Approvers> {
  // Actors without an account have no UUID, so they cannot approve.
  const users = ids.filter(isUuid);
  const accounts: Accounts = new Map();
  const issued = new Set<number>();
  const waiting = [...approvals].sort((a, b) => a.position - b.position);
  const judgeBefore = (position: number): void => {
    for (let next = waiting[0]; next !== undefined && next.position < position; [next] = waiting) {
      if (hasIssuedCredential(accounts, next)) issued.add(next.position);
      waiting.shift();
    }
  };
  for (const event of await readAccountEvents(db, users)) {
    judgeBefore(event.position);
    foldAccount(accounts, event);
  }
  judgeBefore(Infinity);
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM ${own.users} WHERE id = ANY ($1::uuid[]) AND role = 'admin' AND status = 'active'`,
    [users],
  );
  return { admins: new Set(rows.map(({ id }) => id).filter((id) => isActiveAdmin(accounts.get(id)))), issued };
}

/**
 * Stores the preparation steps of change requests, outside the log. Only the holder of a request's lock writes them.
 */

/** A stored step. */
export interface KeptStep {
  number: number;
  step: PreparationStep;
  checkpoint: Json;
  progress: StepProgress | null;
  started_at: Date | null;
  /** Duration by the database's clock. Null while the step is not done. */
  milliseconds: number | null;
}

/** Replaces the planned steps. A step that was already planned keeps its progress. */
export function keepSteps(request: string, steps: readonly PreparationStep[]): Parameterised[] {
  return [
    {
      text: `WITH planned AS (
               SELECT number::integer AS number, step FROM pg_catalog.jsonb_array_elements($2::jsonb) WITH ORDINALITY AS s (step, number)
             ), before AS (SELECT * FROM ${own.preparations} WHERE request = $1),
             gone AS (DELETE FROM ${own.preparations} WHERE request = $1 AND number > $3)
             INSERT INTO ${own.preparations} (request, number, step, checkpoint, started_at, milliseconds)
             SELECT $1, p.number, p.step, b.checkpoint, b.started_at, b.milliseconds
               FROM planned p LEFT JOIN before b ON b.step ->> 'key'::text = p.step ->> 'key'::text
             ON CONFLICT (request, number) DO UPDATE SET step = excluded.step, checkpoint = excluded.checkpoint,
               progress = NULL, started_at = excluded.started_at, milliseconds = excluded.milliseconds`,
      values: [request, JSON.stringify(steps), steps.length],
    },
  ];
}

/** Returns steps in execution order. Empty if nothing is prepared for the request. */
export async function readSteps(db: Queryable, request: string): Promise<KeptStep[]> {
  const text = `SELECT number, step, checkpoint, progress, started_at, milliseconds
                  FROM ${own.preparations} WHERE request = $1 ORDER BY number`;
  const { rows } = await db.query<KeptStep>(text, [request]);
  return rows;
}

/** Stores the progress shown for the current step, or for the last one while the change waits to be applied. */
export async function keepProgress(
  db: Queryable,
  { request, number }: { request: string; number: number },
  progress: StepProgress,
): Promise<void> {
  const text = `UPDATE ${own.preparations} SET progress = $3 WHERE request = $1 AND number = $2`;
  await db.query(text, [request, number, JSON.stringify(progress)]);
}

/** Marks a step as begun. A step that was begun before keeps its start time, so that its duration covers all attempts. */
export async function beginStep(db: Queryable, request: string, number: number): Promise<void> {
  const text = `UPDATE ${own.preparations} SET started_at = coalesce(started_at, now()) WHERE request = $1 AND number = $2`;
  await db.query(text, [request, number]);
}

/** @returns the duration in milliseconds; undefined if the step no longer exists */
export async function endStep(db: Queryable, request: string, number: number): Promise<number | undefined> {
  const text = `UPDATE ${own.preparations} SET progress = NULL,
                  milliseconds = pg_catalog.round(extract(epoch FROM clock_timestamp() - started_at) * 1000::numeric)
                 WHERE request = $1 AND number = $2 RETURNING milliseconds::float8`;
  const { rows } = await db.query<{ milliseconds: number }>(text, [request, number]);
  return rows[0]?.milliseconds;
}

/**
 * Marks all steps as not done. Each one runs again from its checkpoint if necessary.
 * @returns how often the request was reopened
 */
export async function reopenSteps(db: Queryable, request: string): Promise<number> {
  const text = `UPDATE ${own.preparations} SET progress = NULL, started_at = NULL, milliseconds = NULL, lost = lost + 1
                 WHERE request = $1 RETURNING lost`;
  const { rows } = await db.query<{ lost: number }>(text, [request]);
  return Math.max(0, ...rows.map(({ lost }) => lost));
}

/** @returns false if the request is no longer being prepared */
export async function keepCheckpoint(
  db: Queryable,
  { request, number }: { request: string; number: number },
  checkpoint: Json,
): Promise<boolean> {
  const text = `UPDATE ${own.preparations} p SET checkpoint = $3 WHERE request = $1 AND number = $2
                 AND EXISTS (SELECT FROM ${own.changes} c WHERE c.id = $1 AND c.state IN ('preparing', 'prepared'))`;
  const { rowCount } = await db.query(text, [request, number, JSON.stringify(checkpoint)]);
  return rowCount === 1;
}

/** Must be called only when the database contains no more prepared objects of the request. */
export async function deleteSteps(db: Queryable, request: string): Promise<void> {
  await db.query(`DELETE FROM ${own.preparations} WHERE request = $1`, [request]);
}
