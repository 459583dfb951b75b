/** Compares users and API tokens with the log. */
import { jsonEqual, type Json } from '../../kernel/json.js';
import { readAccounts } from '../../log/read-accounts.js';
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import type { Accounts } from '../../schema/fold/accounts.js';
import type { AccountAccess, TokenAccess } from '../../schema/model/account-events.js';
import type { Difference } from './difference.js';

/**
 * Returns the accounts that differ from the log at its head. The log contains no e-mail addresses, names or secrets.
 * A database without users was restored from a log: its next start creates an admin and records the others as
 * deleted.
 */
export async function verifyAccounts(db: Queryable): Promise<Difference[]> {
  const found = flattened(await storedAccounts(db));
  if (found.size === 0) return [];
  const expected = flattened(await readAccounts(db));
  return [...new Set([...expected.keys(), ...found.keys()])].flatMap((member) => {
    const [one = null, other = null] = [expected.get(member), found.get(member)];
    return jsonEqual(one, other) ? [] : [{ where: 'accounts', collection: '', member, expected: one, found: other }];
  });
}

function flattened(accounts: Accounts): Map<string, Json> {
  const all = new Map<string, Json>();
  for (const [user, { tokens, ...access }] of accounts) {
    all.set(`user ${user}`, access);
    for (const [token, of] of tokens) all.set(`API token ${token} of user ${user}`, { ...of });
  }
  return all;
}

async function storedAccounts(db: Queryable): Promise<Accounts> {
  const users = await db.query<{ id: string } & AccountAccess>(
    `SELECT id, role, status, password_set_by FROM ${own.users} ORDER BY created_at, id`,
  );
  const accounts: Accounts = new Map(users.rows.map(({ id, ...access }) => [id, { ...access, tokens: new Map() }]));
  const tokens = await db.query<StoredToken>(
    `SELECT id, user_id, issued_by, expires_at FROM ${own.tokens} ORDER BY created_at, id`,
  );
  for (const { id, user_id: user, issued_by, expires_at } of tokens.rows) {
    accounts.get(user)?.tokens.set(id, { issued_by, expires_at: expires_at?.toISOString() ?? null });
  }
  return accounts;
}

interface StoredToken extends Pick<TokenAccess, 'issued_by'> {
  id: string;
  user_id: string;
  expires_at: Date | null;
}
