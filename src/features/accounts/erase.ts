/**
 * Erases the personal data of one person from the log. The events remain, with the id of their actor and the commitment
 * to the erased data.
 */
import type pg from 'pg';
import type { Queryable } from '../../postgres/pool.js';
import { type Result, ok, refuse } from '../../kernel/problem.js';
import { isUuid } from '../../kernel/text.js';
import { readHeadPosition } from '../../log/read.js';
import {
  CommandRefused,
  type Outcome,
  type Pipeline,
  type Recording,
  type RequestContext,
} from '../../pipeline/types.js';
import { erasedEvent, eraseEvents } from '../../pipeline/erase-events.js';
import { sendBatch } from '../../postgres/exchange.js';
import { own } from '../../postgres/own-tables.js';
import type { LogEvent } from '../../schema/model/events.js';
import { USER } from '../../schema/model/service-events.js';
import { createAccountCommand } from './change-account.js';
import { type AccountChange, type Users, unknownUser } from './users.js';

/** The name of the command in the log. */
export const ERASE_USER = 'erase-user';

/** A person, identified by the id of an account. All operators share one id, so a name identifies one of them. */
export interface Person {
  id: string;
  /** The operator's name in the log. */
  name?: string;
}

export interface Erasure {
  /** The id of the actor. */
  user: string;
  /** True if the erasure also deleted the account. */
  deleted: boolean;
  /** Number of events whose personal data was erased. */
  erased: number;
}

/** `value` is the result of the erasure so far. */
interface ErasingPass extends Recording {
  value: Erasure;
}

interface EraseDeps {
  pool: Queryable;
  pipeline: Pick<Pipeline, 'apply'>;
  users: Pick<Users, 'remove'>;
}

/** Maximum number of events per transaction. Erasing them holds the log's lock for about as long as a large change. */
export const ERASED_AT_ONCE = 5_000;

/** Number of positions per query, so that no query reads the whole log. */
const WINDOW = 100_000;

/**
 * Deletes the account if it exists, and erases the personal data of all events of the person. Each transaction erases
 * events and appends the event that names them, so an interrupted erasure can be repeated. Events that are appended
 * later are not erased.
 * @returns the outcome of the last transaction, or the first rejection
 */
export async function erasePerson(
  { pool, pipeline, users }: EraseDeps,
  person: Person,
  request: Omit<RequestContext, 'revise' | 'idempotency'>,
): Promise<Outcome<ErasingPass>> {
  const own = { ...request.cause, ...NOTHING, actor: { id: person.id, name: null } };
  const cause = isBy(request, person) ? own : request.cause;
  let total: Erasure = { user: person.id, deleted: false, erased: 0 };
  for (let after = 0; ;) {
    const batch = await findEvents(pool, person, after);
    const change = createErasure(person, batch, users);
    const prepare = person.name === undefined ? createAccountCommand(change) : createErasingPass(change);
    const outcome = await pipeline.apply<ErasingPass>('record', prepare, { ...request, cause });
    if (outcome.kind !== 'done') return outcome;
    const { value } = outcome.command;
    total = { ...total, deleted: total.deleted || value.deleted, erased: total.erased + value.erased };
    if (!batch.hasMore && value.erased < 2 * ERASED_AT_ONCE)
      return { ...outcome, command: { ...outcome.command, value: total } };
    after = batch.after;
  }
}

/** Replaces the request data of the erasure if people erase themselves, so that nothing about them remains. */
const NOTHING = { reason: null, ip: null, user_agent: null };

const isBy = ({ cause: { actor } }: Pick<RequestContext, 'cause'>, { id, name }: Person): boolean =>
  actor.id === id && (name === undefined || actor.name === name);

const createErasingPass =
  (change: AccountChange<Erasure>) =>
  async (client: pg.ClientBase): Promise<ErasingPass> => {
    const changed = await change(client);
    if (!changed.ok) throw new CommandRefused(changed.problems);
    return changed.value;
  };

/* Finds the events of a person that still have personal data. */

/** Parameter $1 is the id of the actor, and $2 the name or null. */
const HAS_DATA = `actor ->> 'id'::text = $1 AND ($2::text IS NULL OR actor ->> 'name'::text = $2)
  AND (actor ->> 'name'::text IS NOT NULL OR reason IS NOT NULL OR ip IS NOT NULL OR user_agent IS NOT NULL)`;

const FIND = `SELECT position FROM ${own.events} WHERE ${HAS_DATA} AND position > $3 AND position <= $4
  ORDER BY position LIMIT ${ERASED_AT_ONCE}`;

const FIND_AGAIN = `SELECT position FROM ${own.events} WHERE ${HAS_DATA} AND (position = ANY ($3::bigint[]) OR position > $4)
  ORDER BY position LIMIT ${2 * ERASED_AT_ONCE}`;

interface ErasableEvents {
  positions: number[];
  /** All events up to this position were read. */
  after: number;
  /** True if the log may contain more of these events, apart from those that were appended in the meantime. */
  hasMore: boolean;
}

/** Reads without the log's lock, because the log can be long and contain few of these events. */
async function findEvents(pool: Queryable, { id, name }: Person, from: number): Promise<ErasableEvents> {
  const head = await readHeadPosition(pool);
  const positions: number[] = [];
  let after = from;
  while (after < head) {
    const upTo = Math.min(after + WINDOW, head);
    const { rows } = await pool.query<{ position: number }>(FIND, [id, name ?? null, after, upTo]);
    for (const { position } of rows.slice(0, ERASED_AT_ONCE - positions.length)) positions.push(position);
    const last = positions.at(-1);
    if (positions.length === ERASED_AT_ONCE && last !== undefined) return { positions, after: last, hasMore: true };
    after = upTo;
  }
  return { positions, after, hasMore: false };
}

/* Erases events in the transaction that appends the event about the erasure. */

const createErasure =
  (person: Person, events: ErasableEvents, users: Pick<Users, 'remove'>): AccountChange<Erasure> =>
  async (client) => {
    const { id, name } = person;
    const removed = await removeAccount(client, person, users);
    if (!removed.ok) return removed;
    const since = events.hasMore ? Number.MAX_SAFE_INTEGER : events.after;
    const { rows } = await client.query<{ position: number }>(FIND_AGAIN, [id, name ?? null, events.positions, since]);
    const positions = rows.map(({ position }) => position);
    const wasKnown = await eraseTraces(client, person);
    if (positions.length > 0) await eraseEvents(client, positions);
    const deleted = removed.value.length > 0;
    const value = { user: id, deleted, erased: positions.length };
    if (!deleted && !wasKnown && positions.length === 0) return ok({ value, events: [] });
    return ok({ value, events: [...removed.value, erasedEvent(id, positions)] });
  };

/** Returns the events of the deletion. Empty if the account no longer exists. */
async function removeAccount(
  client: pg.ClientBase,
  { id, name }: Person,
  users: Pick<Users, 'remove'>,
): Promise<Result<LogEvent[]>> {
  if (name !== undefined) return ok([]);
  const { rows } = await client.query<{ exists: boolean; was: boolean }>(EXISTED, [id]);
  const [account] = rows;
  if (account?.exists !== true) return account?.was === true ? ok([]) : refuse(unknownUser(id));
  const removed = await users.remove(id)(client);
  return removed.ok ? ok(removed.value.events) : removed;
}

const EXISTED = `SELECT EXISTS (SELECT FROM ${own.users} WHERE id = $1::uuid) AS exists,
  EXISTS (SELECT FROM ${own.events} WHERE subject ->> 'kind'::text = '${USER}' AND subject ->> 'id'::text = $1::uuid::text) AS was`;

/** Erases all other stored data about the person. @returns true if this erased the address of a deleted account */
async function eraseTraces(client: pg.ClientBase, { id, name }: Person): Promise<boolean> {
  if (name !== undefined) return false;
  const [former] = await sendBatch(client, [
    { text: `DELETE FROM ${own.formerUsers} WHERE id = $1 RETURNING id`, values: [id] },
    { text: `DELETE FROM ${own.idempotency} WHERE actor = $1`, values: [id] },
  ]);
  return former !== undefined && former.rows.length > 0;
}

/* Finds a person by the e-mail address or the id of an account, which may be deleted. */

const KNOWN = `
SELECT id FROM (
  SELECT id, 0 AS rank FROM ${own.users} WHERE id = $2::uuid OR pg_catalog.lower(email) = pg_catalog.lower($1)
  UNION ALL
  SELECT id, 1 FROM ${own.formerUsers}
   WHERE id = $2::uuid OR email_hash = pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(id::text || ':'::text || pg_catalog.lower($1), 'UTF8')), 'hex')
  UNION ALL
  SELECT $2::uuid, 2 WHERE EXISTS (SELECT FROM ${own.events} WHERE subject ->> 'kind'::text = '${USER}' AND subject ->> 'id'::text = $2::uuid::text)
) known GROUP BY id ORDER BY pg_catalog.min(rank), id`;

/** Returns all accounts, including deleted ones, that have or had this e-mail address or id. */
export async function findPersons(pool: Queryable, named: string): Promise<Person[]> {
  const { rows } = await pool.query<Person>(KNOWN, [named, isUuid(named) ? named : null]);
  return rows;
}
