/* Identities of an OpenID provider that sign in as users. */
import { randomUUID } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import { type Problem, type Result, ok, refuse } from '../../kernel/problem.js';
import { isUuid } from '../../kernel/text.js';
import { own } from '../../postgres/own-tables.js';
import { accountEvent } from '../../schema/fold/accounts.js';
import type { LogEvent } from '../../schema/model/events.js';
import type { Role, UserStatus } from './caller.js';
import type { Profile } from './oidc.js';
import { expectOneRow } from './queries.js';
import type { PasswordOwner } from './sessions.js';
import { type AccountChange, type User, type Users, changedPassword, unknownUser } from './users.js';

interface Identity {
  id: string;
  /** The address of the provider. */
  issuer: string;
  /** The id of the user at the provider. */
  subject: string;
  /** ISO 8601, UTC. */
  created_at: string;
}

/** A linked identity and its user. */
export interface LinkedIdentity {
  id: string;
  user: { id: string; email: string; name: string; role: Role; status: UserStatus };
}

export interface Identities {
  /** Oldest first. */
  list(userId: string): Promise<Result<Identity[]>>;
  find(profile: Pick<Profile, 'issuer' | 'subject'>): Promise<LinkedIdentity | null>;
  /**
   * Creates a user with the identity.
   * @returns the id of the identity, or `ALREADY_EXISTS` if the e-mail address is in use
   */
  create(profile: Profile & { email: string; role: Role }): Promise<AccountChange<{ identity: string; user: User }>>;
  /**
   * Links the identity to a user who has just entered the password. Returns the id of the identity, or INVALID_STATE if
   * the password or the status has changed since then.
   */
  link(owner: PasswordOwner, profile: Profile): AccountChange<string>;
  /** Removes the identity and ends its sessions. */
  unlink(userId: string, identityId: string): AccountChange<null>;
}

/** Returns NOT_FOUND for unknown users and identities, and for ids that are not UUIDs. */
export function createIdentities({ pool, users }: { pool: Pool; users: Users }): Identities {
  return {
    async list(userId) {
      const account = await users.get(userId);
      if (!account.ok) return account;
      const { rows } = await pool.query<Omit<Identity, 'created_at'> & { created_at: Date }>(
        `select id, issuer, subject, created_at from ${own.identities} where user_id = $1 order by created_at, id`,
        [userId],
      );
      return ok(rows.map((row) => ({ ...row, created_at: row.created_at.toISOString() })));
    },

    async find({ issuer, subject }) {
      const { rows } = await pool.query<LinkedIdentity['user'] & { identity: string }>(
        `select i.id as identity, u.id, u.email, u.name, u.role, u.status
           from ${own.identities} i join ${own.users} u on u.id = i.user_id
          where i.issuer = $1 and i.subject = $2`,
        [issuer, subject],
      );
      const [row] = rows;
      if (row === undefined) return null;
      const { identity, ...user } = row;
      return { id: identity, user };
    },

    async create(profile) {
      const { email, name, role } = profile;
      const creating = await users.create({ email, role, ...(name !== null && { name }) });
      return async (client) => {
        const created = await creating(client);
        if (!created.ok) return created;
        const { value: user, events } = created.value;
        const linked = await insert(client, user.id, profile);
        return ok({ value: { identity: linked.id, user }, events: [...events, linked.event] });
      };
    },

    link: (owner, profile) => async (client) => {
      const { rows } = await client.query<{ password_set_by: string | null }>(
        `select password_set_by from ${own.users} where id = $1 and password_hash = $2 and status = 'active' for update`,
        [owner.id, owner.passwordHash],
      );
      if (rows[0] === undefined) return refuse(changedPassword());
      const { rowCount } = await client.query(`select from ${own.identities} where issuer = $1 and subject = $2`, [
        profile.issuer,
        profile.subject,
      ]);
      if (rowCount !== 0) return refuse(alreadyLinked());
      const linked = await insert(client, owner.id, profile, rows[0].password_set_by);
      return ok({ value: linked.id, events: [linked.event] });
    },

    unlink: (userId, identityId) => async (client) => {
      if (!isUuid(userId)) return refuse(unknownUser(userId));
      if (!isUuid(identityId)) return refuse(unknownIdentity(identityId));
      const { rows } = await client.query<{ id: string }>(
        `delete from ${own.identities} where id = $1 and user_id = $2 returning id`,
        [identityId, userId],
      );
      if (rows[0] === undefined) return refuse(unknownIdentity(identityId));
      const event = accountEvent('identity.unlinked', userId.toLowerCase(), { identity: rows[0].id });
      return ok({ value: null, events: [event] });
    },
  };
}

async function insert(
  client: ClientBase,
  userId: string,
  { issuer, subject }: Pick<Profile, 'issuer' | 'subject'>,
  issuedBy: string | null = null,
): Promise<{ id: string; event: LogEvent }> {
  const { id } = expectOneRow(
    await client.query<{ id: string }>(
      `insert into ${own.identities} (id, user_id, issuer, subject, issued_by) values ($1, $2, $3, $4, $5) returning id`,
      [randomUUID(), userId, issuer, subject, issuedBy],
    ),
  );
  return { id, event: accountEvent('identity.linked', userId, { identity: id, issuer, issued_by: issuedBy }) };
}

const alreadyLinked = (): Problem => ({
  code: 'ALREADY_EXISTS',
  message: 'This identity is already linked to a user. Sign in with it.',
});

function unknownIdentity(id: string): Problem {
  return { code: 'NOT_FOUND', message: `Identity ${JSON.stringify(id)} of this user does not exist.` };
}
