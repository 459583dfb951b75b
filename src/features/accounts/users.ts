import { randomUUID } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import { isUuid } from '../../kernel/text.js';
import { ok, refuse, type Problem, type Result } from '../../kernel/problem.js';
import { checkInvitation, checkPassword, checkUserName } from './account-rules.js';
import { accountEvent } from '../../schema/fold/accounts.js';
import type { AccountEventData } from '../../schema/model/service-events.js';
import type { LogEvent } from '../../schema/model/events.js';
import type { Role, UserStatus } from './caller.js';
import type { Passwords } from './secrets.js';
import { expectOneRow } from './queries.js';
import { own } from '../../postgres/own-tables.js';

/* A user in API format, and its row. */

export interface User {
  id: string;
  email: string;
  /** The user's name, or the e-mail address if no name was given. */
  name: string;
  role: Role;
  status: UserStatus;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC. Null if the user was not invited, or has chosen a password. */
  invitation_expires_at: string | null;
}

interface UserRow extends Omit<User, 'created_at' | 'invitation_expires_at'> {
  created_at: Date;
  invitation_expires_at: Date | null;
}

const USER_COLUMNS = 'id, email, name, role, status, created_at, invitation_expires_at';

/** Milliseconds: 7 days. */
export const INVITATION_LIFETIME = 7 * 24 * 60 * 60 * 1000;

/** Converts a row. Times become ISO 8601, UTC. */
function toUser(row: UserRow): User {
  const { created_at, invitation_expires_at, ...members } = row;
  return {
    ...members,
    created_at: created_at.toISOString(),
    invitation_expires_at: invitation_expires_at?.toISOString() ?? null,
  };
}

interface NewUser {
  email: string;
  name?: string | undefined;
  /** The password. If null, the user has no password and cannot log in, but API tokens work. */
  password?: string | null | undefined;
  /** True if the password belongs to an invitation. It expires unless the user chooses a new one. */
  invitation?: boolean | undefined;
  role: Role;
  status?: UserStatus | undefined;
  /** The id of another user who sets the password, see `issuerOf`. Absent if there is none. */
  passwordSetBy?: string | null | undefined;
}

interface UserChanges extends Partial<NewUser> {
  /** The stored hash at the time when the user entered the current password; see `readPasswordHash`. */
  formerHash?: string | null | undefined;
}

/**
 * Writes in the transaction of its events, under the log's lock; see `createAccountCommand` of the pipeline. If it
 * returns no events, nothing changed.
 */
export type AccountChange<T> = (client: ClientBase) => Promise<Result<{ value: T; events: LogEvent[] }>>;

export interface Users {
  /** Returns users sorted by e-mail address. */
  list(page: { offset: number; limit: number }): Promise<User[]>;
  count(): Promise<number>;
  /** Finds a user by id or e-mail address, ignoring case. */
  find(named: string): Promise<User | undefined>;
  get(id: string): Promise<Result<User>>;
  create(user: NewUser): Promise<AccountChange<User>>;
  /** Null if the user does not exist or has no password. */
  readPasswordHash(id: string): Promise<string | null>;
  /**
   * Changes only the given members. A new password or a suspension ends the user's sessions. Returns INVALID_STATE if
   * the stored hash is no longer `formerHash`, or that user is no longer active.
   */
  update(id: string, changes: UserChanges): Promise<AccountChange<User>>;
  /** Deletes the user with its tokens and sessions. */
  remove(id: string): AccountChange<null>;
}

interface UsersDeps {
  pool: Pool;
  passwords: Passwords;
  /** Milliseconds since 1970. */
  clock?: () => number;
}

/**
 * Returns NOT_FOUND, ALREADY_EXISTS for an e-mail address in use (in any case), and IN_USE if no active admin would
 * remain.
 */
export function createUsers({ pool, passwords, clock = Date.now }: UsersDeps): Users {
  const expiryOf = ({ invitation }: Pick<NewUser, 'invitation'>): string | null =>
    invitation === true ? new Date(clock() + INVITATION_LIFETIME).toISOString() : null;

  const hashOf = async (password: string | null | undefined): Promise<string | null> =>
    password == null ? null : passwords.hash(password);

  return {
    async list({ offset, limit }) {
      const { rows } = await pool.query<UserRow>(
        `select ${USER_COLUMNS} from ${own.users} order by pg_catalog.lower(email), id offset $1 limit $2`,
        [offset, limit],
      );
      return rows.map(toUser);
    },

    async count() {
      return expectOneRow(await pool.query<{ total: number }>(`select count(*)::int as total from ${own.users}`)).total;
    },

    async find(named) {
      const { rows } = await pool.query<UserRow>(
        `select ${USER_COLUMNS} from ${own.users} where id::text = pg_catalog.lower($1) or pg_catalog.lower(email) = pg_catalog.lower($1)`,
        [named],
      );
      return rows[0] && toUser(rows[0]);
    },

    async get(id) {
      if (!isUuid(id)) return refuse(unknownUser(id));
      const { rows } = await pool.query<UserRow>(`select ${USER_COLUMNS} from ${own.users} where id = $1`, [id]);
      return rows[0] ? ok(toUser(rows[0])) : refuse(unknownUser(id));
    },

    readPasswordHash: (id) => readHash(pool, id),

    async create(user) {
      const { email, name = email, password, role, status = 'active', passwordSetBy = null } = user;
      const checks = [
        checkUserName(user.name),
        checkPassword(password, { email, name: user.name }),
        checkInvitation(user),
      ];
      const refused = checks.find((check) => !check.ok);
      if (refused !== undefined) return () => Promise.resolve(refused);
      const hash = await hashOf(password);
      return async (client) => {
        if (await isTaken(client, email)) return refuse(takenEmail(email));
        const setBy = hash === null ? null : passwordSetBy;
        const made = expectOneRow(
          await client.query<UserRow>(
            `insert into ${own.users} (id, email, name, password_hash, role, status, password_set_by, invitation_expires_at)
              values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${USER_COLUMNS}`,
            [randomUUID(), email, name, hash, role, status, setBy, expiryOf(user)],
          ),
        );
        const event = accountEvent('account.created', made.id, { role, status, password_set_by: setBy });
        return ok({ value: toUser(made), events: [event] });
      };
    },

    async update(id, changes) {
      const invitation = checkInvitation(changes);
      if (!invitation.ok) return () => Promise.resolve(invitation);
      const hash = await hashOf(changes.password);
      return async (client) => {
        const before = isUuid(id) ? await lockUser(client, id) : undefined;
        if (before === undefined) return refuse(unknownUser(id));
        const { formerHash } = changes;
        if (formerHash !== undefined && (before.status !== 'active' || (await readHash(client, id)) !== formerHash))
          return refuse(changedPassword());
        const { columns, data } = changesOf(before, changes, { hash, expiry: expiryOf(changes) });
        if (columns.length === 0) return ok({ value: toUser(before), events: [] });
        const problem = await checkChanges(client, before, changes);
        if (problem !== null) return refuse(problem);
        const user = await writeColumns(client, id, columns);
        if (changes.password !== undefined || user.status !== 'active') {
          await client.query(`delete from ${own.sessions} where user_id = $1`, [id]);
        }
        return ok({ value: user, events: [accountEvent('account.updated', user.id, data)] });
      };
    },

    remove: (id) => async (client) => {
      const before = isUuid(id) ? await lockUser(client, id) : undefined;
      if (before === undefined) return refuse(unknownUser(id));
      if (await isLastAdmin(client, id)) return refuse(lastAdmin(id));
      await client.query(`delete from ${own.sessions} where user_id = $1`, [id]);
      await client.query(`delete from ${own.tokens} where user_id = $1`, [id]);
      await client.query(REMOVE, [id]);
      return ok({ value: null, events: [accountEvent('account.deleted', before.id, {})] });
    },
  };
}

/** Deletes a user and keeps a hash of the address. With this hash, an erasure can find the deleted account. */
const REMOVE = `
  with gone as (delete from ${own.users} where id = $1 returning id, email)
  insert into ${own.formerUsers} (id, email_hash)
  select id, pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(id::text || ':'::text || pg_catalog.lower(email), 'UTF8')), 'hex') from gone`;

function validateChanges(before: UserRow, { email, name, password }: UserChanges): Problem | null {
  const owner = { email: email ?? before.email, name: name ?? before.name };
  for (const check of [checkUserName(name), checkPassword(password, owner)])
    if (!check.ok) return check.problems[0] ?? null;
  return null;
}

async function checkChanges(client: ClientBase, before: UserRow, changes: UserChanges): Promise<Problem | null> {
  const { email, role, status } = changes;
  const fault = validateChanges(before, changes);
  if (fault !== null) return fault;
  const losesAdmin = status === 'suspended' || (role !== undefined && role !== 'admin');
  const { id } = before;
  if (losesAdmin && (await isLastAdmin(client, id))) return lastAdmin(id);
  return email !== undefined && (await isTaken(client, email, id)) ? takenEmail(email) : null;
}

type Columns = [name: string, value: string | null][];

interface ChangedUser {
  columns: Columns;
  /** The same changes in the form that the event records. */
  data: AccountEventData['account.updated'];
}

/** The stored form of a new password. */
interface StoredPassword {
  /** Null if the password is removed. */
  hash: string | null;
  /** ISO 8601. Null unless the password belongs to an invitation. */
  expiry: string | null;
}

/** Returns the members that differ from the row. A password always counts as changed. */
function changesOf(before: UserRow, changes: UserChanges, { hash, expiry }: StoredPassword): ChangedUser {
  const { password, passwordSetBy = null } = changes;
  const columns: Columns = [];
  const data: ChangedUser['data'] = {};
  const change = (name: 'email' | 'name' | 'role' | 'status'): string | undefined => {
    const value = changes[name];
    if (value === undefined || value === before[name]) return undefined;
    columns.push([name, value]);
    return value;
  };
  if (change('email') !== undefined) data.email = 'changed';
  if (change('name') !== undefined) data.name = 'changed';
  const [role, status] = [change('role'), change('status')];
  if (role !== undefined) data.role = role;
  if (status !== undefined) data.status = status;
  if (password !== undefined) {
    data.password = hash === null ? 'removed' : 'set';
    data.password_set_by = hash === null ? null : passwordSetBy;
    columns.push(['password_hash', hash], ['password_set_by', data.password_set_by], ['invitation_expires_at', expiry]);
  }
  return { columns, data };
}

async function readHash(db: Pick<Pool | ClientBase, 'query'>, id: string): Promise<string | null> {
  const { rows } = await db.query<{ password_hash: string | null }>(
    `select password_hash from ${own.users} where id = $1`,
    [id],
  );
  return rows[0]?.password_hash ?? null;
}

export const changedPassword = (): Problem => ({
  code: 'INVALID_STATE',
  message: 'The password or the status of your account changed during the request. Sign in again.',
});

async function lockUser(client: ClientBase, id: string): Promise<UserRow | undefined> {
  const { rows } = await client.query<UserRow>(`select ${USER_COLUMNS} from ${own.users} where id = $1 for update`, [
    id,
  ]);
  return rows[0];
}

async function writeColumns(client: ClientBase, id: string, columns: Columns): Promise<User> {
  // The column names are literals in changesOf, so names from the request body never reach the SQL.
  const assignments = columns.map(([name], index) => `${name} = $${index + 2}`).join(', ');
  const result = await client.query<UserRow>(
    `update ${own.users} set ${assignments} where id = $1 returning ${USER_COLUMNS}`,
    [id, ...columns.map(([, value]) => value)],
  );
  return toUser(expectOneRow(result));
}

/**
 * True if `id` is the only active admin. The log's lock prevents two concurrent changes from removing the last two
 * admins.
 */
async function isLastAdmin(client: ClientBase, id: string): Promise<boolean> {
  const { rows } = await client.query<{ id: string }>(
    `select id from ${own.users} where role = 'admin' and status = 'active' limit 2`,
  );
  return rows.length === 1 && rows[0]?.id === id.toLowerCase();
}

async function isTaken(client: ClientBase, email: string, except: string | null = null): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from ${own.users} where pg_catalog.lower(email) = pg_catalog.lower($1) and id is distinct from $2::uuid`,
    [email, except],
  );
  return rowCount !== 0;
}

const takenEmail = (email: string): Problem => ({
  code: 'ALREADY_EXISTS',
  message: `A user with the e-mail address ${email} already exists.`,
  path: 'email',
});

/** Creates the problem NOT_FOUND. @param id as the client sent it */
export function unknownUser(id: string): Problem {
  return { code: 'NOT_FOUND', message: `User ${JSON.stringify(id)} does not exist.` };
}

function lastAdmin(id: string): Problem {
  return {
    code: 'IN_USE',
    message: 'This is the last active admin. Make another user an admin first.',
    details: { user: id },
  };
}
