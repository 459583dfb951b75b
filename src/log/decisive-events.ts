/**
 * Reads the events that decisions rely on: events of the policy, trust rules, accounts and change requests. Each event
 * is checked against its own hash and against the event that follows it.
 */
import { createTimeSlice, mapYielding } from '../kernel/event-loop.js';
import { sha256 } from '../kernel/sha256.js';
import { own } from '../postgres/own-tables.js';
import type { Queryable } from '../postgres/pool.js';
import { type Accounts, accountEvent, foldAccount } from '../schema/fold/accounts.js';
import { UnreadableEventError, readEvent } from '../schema/fold/upcasting.js';
import type { LogEvent, StoredEvent } from '../schema/model/events.js';
import { USER } from '../schema/model/service-events.js';
import { TRUST_SUBJECT, type TrustRule } from '../schema/model/token-scope.js';
import { DEFAULT_POLICY, POLICY_SUBJECT, type Policy, foldPolicy } from '../schema/policy.js';
import { createChecker } from './event-hash.js';
import { EVENT_COLUMNS, type EventRow, toEventRecord } from './read.js';

/** A row with `LINKED_COLUMNS`. */
export type LinkedRow = EventRow & { followed_by: string | null };

/** Columns of the events `e` that a decision relies on. They include `previous_hash` of the next event. */
export const LINKED_COLUMNS = `${EVENT_COLUMNS}, (SELECT n.previous_hash FROM ${own.events} n
  WHERE n.position > e.position ORDER BY n.position LIMIT 1) AS followed_by`;

const whyChanged = createChecker(sha256);

/**
 * Reads an event that a decision relies on. The chain up to the head is verified elsewhere, so only this event and its
 * link to the next one are checked here.
 * @throws UnreadableEventError if it is not the event that was appended
 */
function toLinkedEvent({ followed_by: next, ...row }: LinkedRow): StoredEvent {
  const event = toEventRecord(row);
  const reason = whyChanged(event);
  if (reason !== null) throw new UnreadableEventError(event.position, reason);
  if (next !== null && next !== event.hash)
    throw new UnreadableEventError(event.position, 'the event after it does not follow it');
  return readEvent(event);
}

/** @throws UnreadableEventError like `toLinkedEvent` */
export const toLinkedEvents = (rows: readonly LinkedRow[]): Promise<StoredEvent[]> =>
  mapYielding(rows, toLinkedEvent, createTimeSlice());

/* Reads users and API tokens from the log. */

/** Events per query. */
const ACCOUNTS_PER_PAGE = 1_000;

const QUERY = `SELECT ${EVENT_COLUMNS} FROM ${own.events}
 WHERE subject ->> 'kind'::text = '${USER}' AND position > $1 ORDER BY position LIMIT ${ACCOUNTS_PER_PAGE}`;

/**
 * Returns the accounts as recorded at the head of the log. Without account events, these are the accounts that the
 * first start creates.
 */
export async function readAccounts(db: Queryable): Promise<Accounts> {
  const accounts: Accounts = new Map();
  for (let last: number | undefined = 0; last !== undefined;) {
    const { rows }: { rows: EventRow[] } = await db.query<EventRow>(QUERY, [last]);
    if (last === 0 && rows.length === 0) for (const event of await readFirstEvents(db)) foldAccount(accounts, event);
    for (const row of rows) foldAccount(accounts, readEvent(toEventRecord(row)));
    last = rows.length < ACCOUNTS_PER_PAGE ? undefined : rows.at(-1)?.position;
  }
  return accounts;
}

const OF_USERS = `SELECT ${LINKED_COLUMNS} FROM ${own.events} e
 WHERE subject ->> 'kind'::text = '${USER}' AND subject ->> 'id'::text = ANY ($1::text[]) ORDER BY position`;

/**
 * Returns the account events of some users, in order and verified. If the log has no account events, the first account
 * gets the events that would be appended for it, at position 0.
 * @throws UnreadableEventError if an event is not the one that was appended
 */
export async function readAccountEvents(
  db: Queryable,
  users: readonly string[],
): Promise<(LogEvent & { position: number })[]> {
  if (users.length === 0) return [];
  const events = await toLinkedEvents((await db.query<LinkedRow>(OF_USERS, [users])).rows);
  if (events.length > 0 || (await recordsAccounts(db))) return events;
  return (await readFirstEvents(db)).map((event) => ({ ...event, position: 0 }));
}

/** True if the log contains an account event. */
export async function recordsAccounts(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT FROM ${own.events} WHERE subject ->> 'kind'::text = '${USER}') AS found`,
  );
  return rows[0]?.found === true;
}

interface FirstRow {
  user_id: string;
  token_id: string | null;
}

/**
 * Returns the events for the admin and the API token that the first start creates. They are appended with the first
 * account change, so that a new service begins with an empty log. Only the oldest account and its oldest token are
 * recorded. If someone inserted further rows, they stay unrecorded and verification reports them.
 */
export async function readFirstEvents(db: Queryable): Promise<LogEvent[]> {
  const { rows } = await db.query<FirstRow>(
    `SELECT u.id AS user_id, t.id AS token_id FROM ${own.users} u LEFT JOIN ${own.tokens} t ON t.user_id = u.id
      ORDER BY u.created_at, u.id, t.created_at, t.id LIMIT 1`,
  );
  return rows.flatMap(({ user_id: user, token_id: token }) => [
    accountEvent('account.created', user, { role: 'admin', status: 'active', password_set_by: null }),
    ...(token === null ? [] : [accountEvent('token.created', user, { token, issued_by: null, expires_at: null })]),
  ]);
}

/*
 * Reads the policy from the log. The newest policy event contains the whole policy, so there is no copy that could
 * differ.
 */

/** The policy and the position of the event that set it. The position is 0 if no event did. */
interface PolicyAt {
  policy: Policy;
  position: number;
  /** ISO 8601. Null if no event set a policy. */
  updated_at: string | null;
  /** The hash of the event. Null if no event set a policy. */
  hash: string | null;
}

type Subject = typeof POLICY_SUBJECT | typeof TRUST_SUBJECT;

/** Selects the newest event of a type up to a position, using an index. */
const newestQuery = (
  { kind, id }: Subject,
  type: string,
  upTo = '',
): string => `SELECT ${LINKED_COLUMNS} FROM ${own.events} e
 WHERE subject ->> 'kind'::text = '${kind}' AND subject ->> 'id'::text = '${id}' AND type = '${type}'${upTo}
 ORDER BY position DESC LIMIT 1`;

const UP_TO = ' AND position <= $1';

/** Callers that enforce the policy run this under the log lock. */
export const POLICY_QUERY = newestQuery(POLICY_SUBJECT, 'policy.updated');

const POLICY_QUERY_UP_TO = newestQuery(POLICY_SUBJECT, 'policy.updated', UP_TO);

/** Parses the row of the query. @throws UnreadableEventError if the event is not the one that was appended */
export function toPolicy([row]: readonly LinkedRow[]): PolicyAt {
  if (row === undefined) return { policy: DEFAULT_POLICY, position: 0, updated_at: null, hash: null };
  const event = toLinkedEvent(row);
  const { position, occurred_at: updated_at, hash } = event;
  return { policy: foldPolicy([event]), position, updated_at, hash };
}

/** @param upTo a position; defaults to the head */
export async function readPolicy(db: Queryable, upTo?: number): Promise<PolicyAt> {
  const { rows } =
    upTo === undefined
      ? await db.query<LinkedRow>(POLICY_QUERY)
      : await db.query<LinkedRow>(POLICY_QUERY_UP_TO, [upTo]);
  return toPolicy(rows);
}

/* Reads the trust rules. Like the policy, the newest event contains all of them. */

/** The trust rules and the position of the event that set them. The position is 0 if no event did. */
export interface TrustAt {
  rules: readonly TrustRule[];
  position: number;
  /** ISO 8601. Null if no event set rules. */
  updated_at: string | null;
}

const TRUST_QUERY = newestQuery(TRUST_SUBJECT, 'trust.updated');
const TRUST_QUERY_UP_TO = newestQuery(TRUST_SUBJECT, 'trust.updated', UP_TO);

/**
 * @param upTo a position; defaults to the head
 * @throws UnreadableEventError if the event is not the one that was appended
 */
export async function readTrust(db: Queryable, upTo?: number): Promise<TrustAt> {
  const { rows } =
    upTo === undefined ? await db.query<LinkedRow>(TRUST_QUERY) : await db.query<LinkedRow>(TRUST_QUERY_UP_TO, [upTo]);
  const event = rows[0] && toLinkedEvent(rows[0]);
  if (event?.type !== 'trust.updated') return { rules: [], position: 0, updated_at: null };
  return { rules: event.data.rules, position: event.position, updated_at: event.occurred_at };
}
