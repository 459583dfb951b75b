/** The sessions that are alive, for admins: whose, since when, from where; and ending them. */
import type { Pool } from 'pg';
import { ok, refuse, type Problem, type Result } from '../kernel/problem.js';
import { own } from '../postgres/own-tables.js';
import { onlyRow, write } from './queries.js';
import { isUuid } from '../kernel/uuid.js';
import { unknownUser } from './users.js';

export interface LiveSession {
  /** uuid; access tokens of the session show it. */
  id: string;
  user: { id: string; name: string; email: string };
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC: when it was last continued, or begun. */
  used_at: string;
  /** ISO 8601, UTC. */
  expires_at: string;
  /** An IPv4 address, or the network that one holder of IPv6 addresses has; null: not known. */
  network: string | null;
  /** What the client said it is when it was begun. */
  user_agent: string | null;
}

export interface LiveSessions {
  /** Those used last first; `filtered` counts those of the user, `total` all. */
  list(filter: { user?: string | undefined; offset: number; limit: number }): Promise<LiveSession[]>;
  /** @param user undefined: sessions of all users */
  count(user?: string): Promise<number>;
  /** Its access tokens end with it, on every process. */
  end(id: string): Promise<Result<null>>;
  /** All of one user; the answer counts them. */
  endAll(userId: string): Promise<Result<number>>;
}

interface Row {
  id: string;
  user_id: string;
  name: string;
  email: string;
  created_at: Date;
  used_at: Date;
  expires_at: Date;
  network: string | null;
  user_agent: string | null;
}

const NOBODY = '00000000-0000-0000-0000-000000000000';

const LIVE = `from ${own.sessions} s join ${own.users} u on u.id = s.user_id and s.expires_at > $1 and u.status = 'active'`;
const ASKED = '$2::uuid is null or s.user_id = $2';

/** `clock` gives milliseconds since 1970. */
export function createLiveSessions({ pool, clock }: { pool: Pool; clock: () => number }): LiveSessions {
  // A text that is no id names no user. NOBODY has no sessions.
  const filterOf = (user: string | undefined) => [
    new Date(clock()),
    user === undefined || isUuid(user) ? (user ?? null) : NOBODY,
  ];
  return {
    async list({ user, offset, limit }) {
      const filter = filterOf(user);
      const { rows } = await pool.query<Row>(
        `select s.id, s.user_id, u.name, u.email, s.created_at, coalesce(s.rotated_at, s.created_at) as used_at,
                s.expires_at, s.network, s.user_agent
           ${LIVE} where ${ASKED} order by used_at desc, s.id offset $3 limit $4`,
        [...filter, offset, limit],
      );
      return rows.map(toSession);
    },

    async count(user) {
      const text = `select count(*)::int as count ${LIVE} where ${ASKED}`;
      return onlyRow(await pool.query<{ count: number }>(text, filterOf(user))).count;
    },

    async end(id) {
      if (!isUuid(id)) return refuse(unknownSession(id));
      const { rowCount } = await write(pool, `delete from ${own.sessions} where id = $1`, [id]);
      return rowCount === 0 ? refuse(unknownSession(id)) : ok(null);
    },

    async endAll(userId) {
      if (!isUuid(userId)) return refuse(unknownUser(userId));
      const { rowCount: known } = await pool.query(`select from ${own.users} where id = $1`, [userId]);
      if (known === 0) return refuse(unknownUser(userId));
      const { rowCount } = await write(pool, `delete from ${own.sessions} where user_id = $1`, [userId]);
      return ok(rowCount);
    },
  };
}

function toSession({ user_id, name, email, created_at, used_at, expires_at, ...row }: Row): LiveSession {
  const { id, network, user_agent } = row;
  return {
    id,
    user: { id: user_id, name, email },
    created_at: created_at.toISOString(),
    used_at: used_at.toISOString(),
    expires_at: expires_at.toISOString(),
    network,
    user_agent,
  };
}

function unknownSession(id: string): Problem {
  return { code: 'NOT_FOUND', message: `There is no session ${JSON.stringify(id)}; it may have ended.` };
}
