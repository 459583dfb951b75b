/** Users and API tokens, from the log itself. */
import { own } from '../postgres/own-tables.js';
import type { Queryable } from '../postgres/pool.js';
import { type Accounts, accountEvent, foldAccount } from '../schema/fold/accounts.js';
import { readEvent } from '../schema/fold/upcasting.js';
import { USER } from '../schema/model/account-events.js';
import type { LogEvent } from '../schema/model/events.js';
import { EVENT_COLUMNS, type EventRow, toEventRecord } from './read.js';

/** Events per query. */
const PAGE = 1_000;

const QUERY = `SELECT ${EVENT_COLUMNS} FROM ${own.events}
 WHERE subject ->> 'kind'::text = '${USER}' AND position > $1 ORDER BY position LIMIT ${PAGE}`;

/**
 * The accounts as the log records them at its head. Until the first of their events, the log expects the account that the
 * first start created.
 */
export async function readAccounts(db: Queryable): Promise<Accounts> {
  const accounts: Accounts = new Map();
  for (let last: number | undefined = 0; last !== undefined;) {
    const { rows }: { rows: EventRow[] } = await db.query<EventRow>(QUERY, [last]);
    if (last === 0 && rows.length === 0) for (const event of await firstEvents(db)) foldAccount(accounts, event);
    for (const row of rows) foldAccount(accounts, readEvent(toEventRecord(row)));
    last = rows.length < PAGE ? undefined : rows.at(-1)?.position;
  }
  return accounts;
}

/** True if any account change is recorded. */
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
 * The events of the admin and the API token that the first start creates. They are appended with the first account change,
 * so that a new service begins with an empty log. Only the oldest account and its oldest token are recorded: whatever was
 * inserted beside them stays unrecorded, which verification reports.
 */
export async function firstEvents(db: Queryable): Promise<LogEvent[]> {
  const { rows } = await db.query<FirstRow>(
    `SELECT u.id AS user_id, t.id AS token_id FROM ${own.users} u LEFT JOIN ${own.tokens} t ON t.user_id = u.id
      ORDER BY u.created_at, u.id, t.created_at, t.id LIMIT 1`,
  );
  return rows.flatMap(({ user_id: user, token_id: token }) => [
    accountEvent('account.created', user, { role: 'admin', status: 'active', password_set_by: null }),
    ...(token === null ? [] : [accountEvent('token.created', user, { token, issued_by: null, expires_at: null })]),
  ]);
}
