import { randomUUID } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import { type Problem, ProblemError, ok, OperatorError } from '../../kernel/problem.js';
import { passwordFault } from './account-rules.js';
import { accountEvent } from '../../schema/fold/accounts.js';
import type { LogEvent } from '../../schema/model/events.js';
import { type Passwords, newStaticToken, randomSecret, secretHash } from './secrets.js';
import { own } from '../../postgres/own-tables.js';
import { inTransaction } from './queries.js';
import type { AccountChange } from './users.js';

const DEFAULT_ADMIN_EMAIL = 'admin@example.com';

export interface FirstAdminSettings {
  email?: string | null | undefined;
  password?: string | null | undefined;
  token?: string | null | undefined;
}

export interface FirstAdmin {
  /** The e-mail address of the created or an existing admin. */
  email: string;
  created: boolean;
  /** Absent unless a password was generated. It must be printed once. */
  passwordGenerated?: string;
  tokenGenerated?: string;
  /** Settings without effect, because they differ from the existing admin. */
  ignored: readonly ('ADMIN_PASSWORD' | 'ADMIN_TOKEN')[];
}

/**
 * Creates an admin with a password and a static token if no user exists yet. Otherwise, changes nothing. If several
 * processes start at once, one of them creates the admin and the others wait.
 */
export async function ensureAdmin(
  { pool, passwords }: { pool: Pool; passwords: Passwords },
  settings: FirstAdminSettings,
  record: RecordFirstAdmin = (change) => inTransaction(pool, change),
): Promise<FirstAdmin> {
  const present = await findExistingAdmin(pool);
  if (present) return compareFirstAdmin({ pool, passwords }, present, settings);

  const password = settings.password ?? randomSecret();
  const fault = passwordFault(password, { email: settings.email ?? DEFAULT_ADMIN_EMAIL });
  if (fault !== null) throw new OperatorError(`ADMIN_PASSWORD ${fault}.`);
  const hash = await passwords.hash(password);
  const result = await record(async (client) => {
    await client.query(`lock table ${own.users} in share row exclusive mode`);
    const winner = await findExistingAdmin(client);
    if (winner) return ok({ value: { ...winner, ignored: [] }, events: [] });
    const token = settings.token ?? newStaticToken();
    const email = settings.email ?? DEFAULT_ADMIN_EMAIL;
    const value: FirstAdmin = {
      email,
      created: true,
      ignored: [],
      ...(settings.password == null && { passwordGenerated: password }),
      ...(settings.token == null && { tokenGenerated: token }),
    };
    return ok({ value, events: await insertAdmin(client, { email, hash, token }) });
  });
  if (!result.ok) throw new ProblemError(result.problems[0] as Problem);
  return result.value.value;
}

/**
 * Runs the change in a transaction that records it. Without this function, the change runs in its own transaction
 * without events; see `readFirstEvents` of the log.
 */
export type RecordFirstAdmin = (change: AccountChange<FirstAdmin>) => ReturnType<AccountChange<FirstAdmin>>;

/** True if the first start was completed. */
export async function hasUsers(db: Pick<Pool, 'query'>): Promise<boolean> {
  return (await findExistingAdmin(db)) !== null;
}

async function findExistingAdmin(client: Pick<Pool | ClientBase, 'query'>): Promise<FirstAdmin | null> {
  const { rows } = await client.query<{ email: string }>(
    `select email from ${own.users} order by (role = 'admin' and status = 'active') desc, created_at, id limit 1`,
  );
  return rows[0] ? { email: rows[0].email, created: false, ignored: [] } : null;
}

/**
 * Finds settings that differ from the existing admin. An admin is created only once, so an operator who changes
 * ADMIN_TOKEN later could believe that the old token is invalid.
 */
async function compareFirstAdmin(
  { pool, passwords }: { pool: Pool; passwords: Passwords },
  present: FirstAdmin,
  { email, password, token }: FirstAdminSettings,
): Promise<FirstAdmin> {
  const ignored: ('ADMIN_PASSWORD' | 'ADMIN_TOKEN')[] = [];
  if (password != null) {
    const { rows } = await pool.query<{ password_hash: string | null }>(
      `select password_hash from ${own.users} where pg_catalog.lower(email) = pg_catalog.lower($1)`,
      [email ?? present.email],
    );
    if (!(await passwords.matches(password, rows[0]?.password_hash ?? null))) ignored.push('ADMIN_PASSWORD');
  }
  if (token != null) {
    const { rowCount } = await pool.query(
      `select from ${own.tokens} t join ${own.users} u on u.id = t.user_id
        where t.token_hash = $1 and u.role = 'admin' and u.status = 'active'
          and (t.expires_at is null or t.expires_at > now())`,
      [secretHash(token)],
    );
    if (rowCount === 0) ignored.push('ADMIN_TOKEN');
  }
  return { ...present, ignored };
}

async function insertAdmin(
  client: ClientBase,
  admin: { email: string; hash: string; token: string },
): Promise<LogEvent[]> {
  const [id, token] = [randomUUID(), randomUUID()];
  await client.query(
    `insert into ${own.users} (id, email, name, password_hash, role, status)
      values ($1, $2, 'Admin', $3, 'admin', 'active')`,
    [id, admin.email, admin.hash],
  );
  await client.query(`insert into ${own.tokens} (id, user_id, name, token_hash) values ($1, $2, $3, $4)`, [
    token,
    id,
    'first start',
    secretHash(admin.token),
  ]);
  return [
    accountEvent('account.created', id, { role: 'admin', status: 'active', password_set_by: null }),
    accountEvent('token.created', id, { token, issued_by: null, expires_at: null }),
  ];
}
