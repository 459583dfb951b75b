/** The users of the service. */
import { isUuid } from '../kernel/uuid.js';
import { randomUUID } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { SQLSTATE, sqlState } from '../postgres/errors.js';
import { ok, refuse, type Problem, type Result } from '../kernel/problem.js';
import type { Role, UserStatus } from './caller.js';
import type { Passwords } from './passwords.js';
import { inTransaction, onlyRow, write } from './queries.js';
import { own } from '../postgres/own-tables.js';
import { toUser, USER_COLUMNS, type User, type UserRow } from './user.js';

export interface NewUser {
  email: string;
  name?: string | undefined;
  /** null: no password, so no login; static tokens work. */
  password?: string | null | undefined;
  role: Role;
  status?: UserStatus | undefined;
  /** The other user who sets the password, see `issuerOf`; absent: no other user does. */
  passwordSetBy?: string | null | undefined;
}

export type UserChanges = Partial<NewUser>;

export interface Users {
  /** By e-mail address. */
  list(page: { offset: number; limit: number }): Promise<User[]>;
  count(): Promise<number>;
  /** By id or e-mail address, in any case. */
  find(named: string): Promise<User | undefined>;
  get(id: string): Promise<Result<User>>;
  create(user: NewUser): Promise<Result<User>>;
  /** Only the members given change. Another password, and being suspended, end the user's sessions. */
  update(id: string, changes: UserChanges): Promise<Result<User>>;
  /** Removes the user with its tokens and sessions. */
  remove(id: string): Promise<Result<null>>;
}

/**
 * Refuses with NOT_FOUND, ALREADY_EXISTS for an e-mail address that is taken in any case, and IN_USE for what would
 * leave no active admin.
 */
export function createUsers({ pool, passwords }: { pool: Pool; passwords: Passwords }): Users {
  const hashOf = (password: string | null | undefined) => (password == null ? null : passwords.hash(password));

  return {
    async list({ offset, limit }) {
      const { rows } = await pool.query<UserRow>(
        `select ${USER_COLUMNS} from ${own.users} order by pg_catalog.lower(email), id offset $1 limit $2`,
        [offset, limit],
      );
      return rows.map(toUser);
    },

    async count() {
      return onlyRow(await pool.query<{ total: number }>(`select count(*)::int as total from ${own.users}`)).total;
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

    async create(user) {
      const { email, name = email, password, role, status = 'active', passwordSetBy = null } = user;
      const insert = `insert into ${own.users} (id, email, name, password_hash, role, status, password_set_by)
        values ($1, $2, $3, $4, $5, $6, $7) returning ${USER_COLUMNS}`;
      const values = [randomUUID(), email, name, await hashOf(password), role, status, passwordSetBy];
      return refusingTakenEmail(email, async () => ok(toUser(onlyRow(await write<UserRow>(pool, insert, values)))));
    },

    async update(id, changes) {
      if (!isUuid(id)) return refuse(unknownUser(id));
      const columns = await changedColumns(changes, hashOf);
      const work = async (client: PoolClient) => {
        const losesAdmin = changes.status === 'suspended' || (changes.role !== undefined && changes.role !== 'admin');
        if (losesAdmin && (await isLastAdmin(client, id))) return refuse(lastAdmin(id));
        const user = await writeColumns(client, id, columns);
        if (!user) return refuse(unknownUser(id));
        if (changes.password !== undefined || user.status !== 'active') {
          await client.query(`delete from ${own.sessions} where user_id = $1`, [id]);
        }
        return ok(user);
      };
      return refusingTakenEmail(changes.email ?? '', () => inTransaction(pool, work));
    },

    async remove(id) {
      if (!isUuid(id)) return refuse(unknownUser(id));
      return inTransaction(pool, async (client) => {
        if (await isLastAdmin(client, id)) return refuse(lastAdmin(id));
        await client.query(`delete from ${own.sessions} where user_id = $1`, [id]);
        await client.query(`delete from ${own.tokens} where user_id = $1`, [id]);
        const { rowCount } = await client.query(`delete from ${own.users} where id = $1`, [id]);
        return rowCount === 0 ? refuse(unknownUser(id)) : ok(null);
      });
    },
  };
}

type Columns = [name: string, value: unknown][];

async function changedColumns(
  changes: UserChanges,
  hashOf: (password: string | null | undefined) => Promise<string> | null,
): Promise<Columns> {
  const { email, name, role, status, password, passwordSetBy = null } = changes;
  const columns: Columns = [];
  if (email !== undefined) columns.push(['email', email]);
  if (name !== undefined) columns.push(['name', name]);
  if (role !== undefined) columns.push(['role', role]);
  if (status !== undefined) columns.push(['status', status]);
  if (password !== undefined)
    columns.push(['password_hash', await hashOf(password)], ['password_set_by', passwordSetBy]);
  return columns;
}

async function writeColumns(client: PoolClient, id: string, columns: Columns): Promise<User | undefined> {
  // The column names are the literals of changedColumns; a body's members never get here as text.
  const assignments = columns.map(([name], index) => `${name} = $${index + 2}`).join(', ') || 'id = id';
  const { rows } = await client.query<UserRow>(
    `update ${own.users} set ${assignments} where id = $1 returning ${USER_COLUMNS}`,
    [id, ...columns.map(([, value]) => value)],
  );
  return rows[0] && toUser(rows[0]);
}

/**
 * Whether `id` is the only active admin. The rows of all active admins are locked, in one order: of two processes that
 * each demote another of the last two, the second waits and then sees that it is down to one.
 */
async function isLastAdmin(client: PoolClient, id: string): Promise<boolean> {
  const { rows } = await client.query<{ id: string }>(
    `select id from ${own.users} where role = 'admin' and status = 'active' order by id for update`,
  );
  return rows.length === 1 && rows[0]?.id === id.toLowerCase();
}

async function refusingTakenEmail<T>(email: string, work: () => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await work();
  } catch (error) {
    if (sqlState(error) !== SQLSTATE.unique_violation) throw error;
    return refuse({
      code: 'ALREADY_EXISTS',
      message: `A user with the e-mail address ${email} exists.`,
      path: 'email',
    });
  }
}

/** NOT_FOUND, with the id as it was sent. */
export function unknownUser(id: string): Problem {
  return { code: 'NOT_FOUND', message: `There is no user ${JSON.stringify(id)}.` };
}

function lastAdmin(id: string): Problem {
  return {
    code: 'IN_USE',
    message: 'This is the last active admin: make another user an admin first.',
    details: { user: id },
  };
}
