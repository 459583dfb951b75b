/** Sessions: begun by a login with e-mail and password, kept alive by refresh tokens that are used once each. */
import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { ACCESS_TOKEN_LIFETIME, type AccessTokens } from './access-tokens.js';
import type { Passwords } from './passwords.js';
import { write } from './queries.js';
import { randomSecret, secretHash } from './secrets.js';
import { isUuid } from './user.js';

/** 7 days, in milliseconds, from the login or the last refresh. */
export const SESSION_LIFETIME = 7 * 24 * 60 * 60 * 1000;

export interface Grant {
  access_token: string;
  /** Milliseconds until the access token expires. */
  expires: number;
  /** For one use: a refresh answers with the next one. */
  refresh_token: string;
}

export interface Sessions {
  /** null: unknown address, wrong password, or a user who may not log in; the time taken tells nothing. */
  login(email: string, password: string): Promise<Grant | null>;
  /** null: unknown, expired, or used before. One that was used before ends its session: somebody has a copy. */
  refresh(refreshToken: string): Promise<Grant | null>;
  /** Ends the session; its access tokens end with it. Unknown tokens are fine: the outcome is the same. */
  logout(refreshToken: string): Promise<void>;
}

export interface SessionsDeps {
  pool: Pool;
  passwords: Passwords;
  accessTokens: AccessTokens;
  /** Milliseconds since 1970. */
  clock: () => number;
}

/** A refresh token is `<session id>.<secret>`: the id finds the session even when the secret is an old one. */
interface RefreshToken {
  sessionId: string;
  hash: Buffer;
}

export function createSessions({ pool, passwords, accessTokens, clock }: SessionsDeps): Sessions {
  const expiry = () => new Date(clock() + SESSION_LIFETIME);

  async function grant(userId: string, sessionId: string, secret: string): Promise<Grant> {
    return {
      access_token: await accessTokens.issue(userId, sessionId),
      expires: ACCESS_TOKEN_LIFETIME,
      refresh_token: `${sessionId}.${secret}`,
    };
  }

  async function begin(userId: string): Promise<Grant> {
    const id = randomUUID();
    const secret = randomSecret();
    await write(pool, 'delete from service_sessions where user_id = $1 and expires_at <= $2', [
      userId,
      new Date(clock()),
    ]);
    await write(pool, 'insert into service_sessions (id, user_id, refresh_hash, expires_at) values ($1, $2, $3, $4)', [
      id,
      userId,
      secretHash(secret),
      expiry(),
    ]);
    return grant(userId, id, secret);
  }

  /** One statement decides who wins when the same token is sent twice at once. */
  async function rotate({ sessionId, hash }: RefreshToken): Promise<Grant | null> {
    const secret = randomSecret();
    const { rows } = await write<{ user_id: string }>(
      pool,
      `update service_sessions s set refresh_hash = $3, expires_at = $4 from service_users u
        where s.id = $1 and s.refresh_hash = $2 and s.expires_at > $5 and u.id = s.user_id and u.status = 'active'
        returning s.user_id`,
      [sessionId, hash, secretHash(secret), expiry(), new Date(clock())],
    );
    return rows[0] ? grant(rows[0].user_id, sessionId, secret) : null;
  }

  const end = (sessionId: string) => write(pool, 'delete from service_sessions where id = $1', [sessionId]);

  return {
    async login(email, password) {
      const { rows } = await pool.query<{ id: string; password_hash: string | null; status: string }>(
        'select id, password_hash, status from service_users where lower(email) = lower($1)',
        [email],
      );
      const user = rows[0];
      const right = await passwords.matches(password, user?.password_hash ?? null);
      return user && right && user.status === 'active' ? begin(user.id) : null;
    },

    async refresh(refreshToken) {
      const token = readRefreshToken(refreshToken);
      if (!token) return null;
      const next = await rotate(token);
      if (!next) await end(token.sessionId);
      return next;
    },

    async logout(refreshToken) {
      const token = readRefreshToken(refreshToken);
      if (token) await end(token.sessionId);
    },
  };
}

function readRefreshToken(text: string): RefreshToken | null {
  const dot = text.indexOf('.');
  const sessionId = text.slice(0, dot);
  return dot > 0 && isUuid(sessionId) ? { sessionId, hash: secretHash(text.slice(dot + 1)) } : null;
}
