/** Lists and ends active sessions, for admins. */
import type { Pool } from 'pg';
import { ok, refuse, type Problem, type Result } from '../kernel/problem.js';
import { own } from '../postgres/own-tables.js';
import { onlyRow, write } from './queries.js';
import { isUuid } from '../kernel/uuid.js';
import { unknownUser } from './users.js';

interface LiveSession {
  /** UUID; access tokens of the session contain it. */
  id: string;
  user: { id: string; name: string; email: string };
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC: the last refresh, or the login. */
  used_at: string;
  /** ISO 8601, UTC. */
  expires_at: string;
  /** An IPv4 address, or the network of an IPv6 address; null if unknown. */
  network: string | null;
  /** The User-Agent at the login. */
  user_agent: string | null;
}

export interface LiveSessions {
  /** Most recently used first; `filtered` counts the user's sessions, `total` all. */
  list(filter: { user?: string | undefined; offset: number; limit: number }): Promise<LiveSession[]>;
  /** @param user undefined for all users */
  count(user?: string): Promise<number>;
  /** Also invalidates its access tokens on every process. */
  end(id: string): Promise<Result<null>>;
  /** Ends all sessions of a user and returns their number. */
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

/** `clock` returns milliseconds since 1970. */
export function createLiveSessions({ pool, clock }: { pool: Pool; clock: () => number }): LiveSessions {
  // A text that is not a UUID names no user. NOBODY has no sessions.
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
