import { createHmac, randomUUID, createHash } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';
import type { Pool } from 'pg';
import { ok, refuse, type Problem, type Result } from '../../kernel/problem.js';
import { isUuid } from '../../kernel/text.js';
import { own } from '../../postgres/own-tables.js';
import { write, expectOneRow } from './queries.js';
import { type Passwords, randomSecret, secretHash } from './secrets.js';
import { unknownUser } from './users.js';

/** Lifetime in milliseconds, counted from the login or the last refresh. */
export const SESSION_LIFETIME = 7 * 24 * 60 * 60 * 1000;

/** Maximum number of sessions per user. A further login ends the least recently used session. */
export const SESSIONS_PER_USER = 100;

/**
 * Milliseconds within which a used token still returns its successor, because two tabs may use the token at the same
 * time, or a response may be lost.
 */
export const REUSE_LIFETIME = 30_000;

export interface Grant {
  access_token: string;
  /** Milliseconds until the access token expires. */
  expires: number;
  /** A refresh token that can be used once. Each refresh returns the next one. */
  refresh_token: string;
}

export interface SessionClient {
  /** The client's network. At a login, it is stored as the network of the last successful login. */
  network: string;
  userAgent?: string | null;
}

/** The client and the identity that start a session. */
interface SessionStart extends SessionClient {
  /** The proof of who the user is. The session starts only if it is still valid. */
  proof: PasswordProof | IdentityProof;
}

/** The stored hash of the password that the user entered. */
interface PasswordProof {
  passwordHash: string;
}

/** The identity that signed in, and the provider's session if there is one. */
interface IdentityProof {
  identity: { id: string; session: string | null };
}

/** A user who entered the right password. */
export interface PasswordOwner extends PasswordProof {
  id: string;
  /** True if the password belongs to an invitation that has expired. */
  isExpired: boolean;
}

interface PasswordRow {
  id: string;
  password_hash: string | null;
  status: string;
  invitation_expires_at: Date | null;
}

interface Login extends SessionClient {
  email: string;
  password: string;
}

export interface Sessions {
  /**
   * Logs a user in. Returns null for an unknown address, a wrong or expired password, or a user who may not log in. All
   * of them take the same time.
   */
  login(login: Login): Promise<Grant | null>;
  /**
   * Starts a session of a user who was already authenticated. Null if the user was suspended, the password changed or
   * the identity was unlinked since then.
   */
  begin(userId: string, start: SessionStart): Promise<Grant | null>;
  /** Checks a password in the same way as `login`, but starts no session. */
  passwordOwner(login: Pick<Login, 'email' | 'password'>): Promise<PasswordOwner | null>;
  /** Ends the sessions of an identity, or those that belong to one session of its provider. */
  endProviderSessions(ended: { issuer: string; subject: string | null; session: string | null }): Promise<void>;
  /** The network of the user's last login; null if there is none or the user does not exist. */
  lastNetwork(email: string): Promise<string | null>;
  /**
   * Exchanges a refresh token. Null if the token is unknown, expired or already used. Reusing a token ends its session,
   * because the token was probably copied.
   * @param options `shared` means that several tabs share the token: for `REUSE_LIFETIME`, the previous token returns
   * the current one. `client` replaces the client that the session records
   */
  refresh(refreshToken: string, options?: { shared?: boolean; client?: SessionClient }): Promise<Grant | null>;
  /** Ends the session and its access tokens. An unknown token is accepted, because the result is the same. */
  logout(refreshToken: string): Promise<void>;
}

interface SessionsDeps {
  pool: Pool;
  passwords: Passwords;
  accessTokens: AccessTokens;
  /** The secret of the service. It is the same in all processes. */
  secret: string;
  /** Milliseconds since 1970. */
  clock: () => number;
}

/**
 * A refresh token is `<session id>.<family>.<secret>`. The secret can be used once. The family belongs to the session
 * and distinguishes an old, copied token from a forged one. The id alone has no effect, because every access token
 * contains it.
 */
interface RefreshToken {
  sessionId: string;
  family: string;
  secret: string;
}

/**
 * Creates sessions. Only hashes of their secrets are stored. A login deletes the user's expired sessions and those
 * beyond the limit.
 */
export function createSessions({ pool, passwords, accessTokens, secret: key, clock }: SessionsDeps): Sessions {
  const expiry = () => new Date(clock() + SESSION_LIFETIME);

  async function grant(userId: string, { sessionId, family, secret }: RefreshToken): Promise<Grant> {
    return {
      access_token: await accessTokens.issue(userId, sessionId),
      expires: ACCESS_TOKEN_LIFETIME,
      refresh_token: `${sessionId}.${family}.${secret}`,
    };
  }

  async function begin(userId: string, { network, userAgent, proof }: SessionStart): Promise<Grant | null> {
    const identity = 'identity' in proof ? proof.identity : undefined;
    const passwordHash = 'passwordHash' in proof ? proof.passwordHash : undefined;
    const token = { sessionId: randomUUID(), family: randomSecret(), secret: randomSecret() };
    await write(
      pool,
      `delete from ${own.sessions} where user_id = $1 and (expires_at <= $2 or id in (
         select id from ${own.sessions} where user_id = $1
          order by coalesce(rotated_at, created_at) desc, id offset ${SESSIONS_PER_USER - 1}))`,
      [userId, new Date(clock())],
    );
    // The update waits for concurrent changes to the user and compares the result. Otherwise, a login that began before
    // a new password or a suspension would start a session after those changes had ended all sessions.
    const { rowCount } = await write(
      pool,
      `with proven as (
         update ${own.users} u set login_network = $6 where u.id = $2 and u.status = 'active' and (u.password_hash = $10
             or exists (select from ${own.identities} i where i.id = $8 and i.user_id = u.id)) returning u.id)
       insert into ${own.sessions}
           (id, user_id, refresh_hash, family_hash, expires_at, network, user_agent, identity, provider_session)
         select $1, id, $3, $4, $5, $6, $7, $8, $9 from proven`,
      [
        token.sessionId,
        userId,
        secretHash(token.secret),
        secretHash(token.family),
        expiry(),
        network,
        userAgent,
        identity?.id,
        identity?.session,
        passwordHash,
      ],
    );
    return rowCount === 0 ? null : grant(userId, token);
  }

  async function passwordOwner({ email, password }: Pick<Login, 'email' | 'password'>): Promise<PasswordOwner | null> {
    const { rows } = await pool.query<PasswordRow>(
      `select id, password_hash, status, invitation_expires_at from ${own.users}
        where pg_catalog.lower(email) = pg_catalog.lower($1)`,
      [email],
    );
    const user = rows[0];
    const right = await passwords.matches(password, user?.password_hash ?? null);
    if (!right || user === undefined || user.password_hash === null || user.status !== 'active') return null;
    const { invitation_expires_at: until } = user;
    return {
      id: user.id,
      passwordHash: user.password_hash,
      isExpired: until !== null && until.getTime() <= clock(),
    };
  }

  /**
   * Returns the secret that follows `used`. It is derived from `used`, so that it can be returned again without being
   * stored.
   */
  const successor = ({ sessionId, secret: used }: RefreshToken): string =>
    createHmac('sha256', key).update(`refresh ${sessionId} ${used}`).digest('base64url');

  /** Replaces the token. The single statement decides which of two concurrent uses of a token succeeds. */
  async function rotate(token: RefreshToken, client?: SessionClient): Promise<Grant | null> {
    const { sessionId, family, secret: used } = token;
    const secret = successor(token);
    const { rows } = await write<{ user_id: string }>(
      pool,
      `update ${own.sessions} s set refresh_hash = $4, expires_at = $5, rotated_at = $6,
              network = coalesce($7::text, s.network),
              user_agent = case when $7::text is null then s.user_agent else $8::text end
         from ${own.users} u
        where s.id = $1 and s.family_hash = $2 and s.refresh_hash = $3 and s.expires_at > $6
          and u.id = s.user_id and u.status = 'active'
        returning s.user_id`,
      [
        sessionId,
        secretHash(family),
        secretHash(used),
        secretHash(secret),
        expiry(),
        new Date(clock()),
        client?.network,
        client?.userAgent,
      ],
    );
    return rows[0] ? grant(rows[0].user_id, { sessionId, family, secret }) : null;
  }

  /** Returns the response again for a token that was valid shortly before. */
  async function repeatGrant(token: RefreshToken): Promise<Grant | null> {
    const { sessionId, family } = token;
    const secret = successor(token);
    const { rows } = await pool.query<{ user_id: string }>(
      `select s.user_id from ${own.sessions} s join ${own.users} u on u.id = s.user_id
        where s.id = $1 and s.family_hash = $2 and s.refresh_hash = $3 and s.rotated_at > $4 and u.status = 'active'`,
      [sessionId, secretHash(family), secretHash(secret), new Date(clock() - REUSE_LIFETIME)],
    );
    return rows[0] ? grant(rows[0].user_id, { sessionId, family, secret }) : null;
  }

  /** Ends the session. A used token is also accepted, because its holder may end the session. */
  const end = ({ sessionId, family }: RefreshToken) =>
    write(pool, `delete from ${own.sessions} where id = $1 and family_hash = $2`, [sessionId, secretHash(family)]);

  return {
    async lastNetwork(email) {
      const { rows } = await pool.query<{ login_network: string | null }>(
        `select login_network from ${own.users} where pg_catalog.lower(email) = pg_catalog.lower($1)`,
        [email],
      );
      return rows[0]?.login_network ?? null;
    },

    begin,

    async login(login) {
      const owner = await passwordOwner(login);
      return owner === null || owner.isExpired ? null : begin(owner.id, { ...login, proof: owner });
    },

    passwordOwner,

    async endProviderSessions({ issuer, subject, session }) {
      await write(
        pool,
        `delete from ${own.sessions} s using ${own.identities} i
          where i.id = s.identity and i.issuer = $1 and ($2::text is null or i.subject = $2)
            and ($3::text is null or s.provider_session = $3)`,
        [issuer, subject, session],
      );
    },

    async refresh(refreshToken, { shared = false, client } = {}) {
      const token = readRefreshToken(refreshToken);
      if (!token) return null;
      const next = (await rotate(token, client)) ?? (shared ? await repeatGrant(token) : null);
      if (!next) await end(token);
      return next;
    },

    async logout(refreshToken) {
      const token = readRefreshToken(refreshToken);
      if (token) await end(token);
    },
  };
}

function readRefreshToken(text: string): RefreshToken | null {
  const [sessionId = '', family = '', secret = '', ...more] = text.split('.');
  const isComplete = isUuid(sessionId) && family !== '' && secret !== '' && more.length === 0;
  return isComplete ? { sessionId, family, secret } : null;
}

/* Lists and ends active sessions, for admins. */

interface LiveSession {
  /** A UUID. Access tokens of the session contain it. */
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
  /** Returns sessions, most recently used first. */
  list(filter: { user?: string | undefined; offset: number; limit: number }): Promise<LiveSession[]>;
  /** @param user undefined for all users */
  count(user?: string): Promise<number>;
  /** Ends a session. Its access tokens become invalid in all processes. */
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
  // A string that is not a UUID belongs to no user. NOBODY is an id without sessions.
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
      return expectOneRow(await pool.query<{ count: number }>(text, filterOf(user))).count;
    },

    async end(id) {
      if (!isUuid(id)) return refuse(unknownSession(id));
      const { rowCount } = await write(pool, `delete from ${own.sessions} where id = $1`, [id]);
      return rowCount === 0 ? refuse(unknownSession(id)) : ok(null);
    },

    async endAll(userId) {
      if (!isUuid(userId)) return refuse(unknownUser(userId));
      const { rowCount: userCount } = await pool.query(`select from ${own.users} where id = $1`, [userId]);
      if (userCount === 0) return refuse(unknownUser(userId));
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
  return { code: 'NOT_FOUND', message: `Session ${JSON.stringify(id)} does not exist or has ended.` };
}

/** 15 minutes in milliseconds. */
export const ACCESS_TOKEN_LIFETIME = 15 * 60 * 1000;

const ISSUER = 'data-platform-service';
const ALGORITHM = 'HS256';

interface AccessClaims {
  userId: string;
  sessionId: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

export interface AccessTokens {
  issue(userId: string, sessionId: string): Promise<string>;
  /** Returns the claims. Null if the token was changed, has expired, or was not issued by this service. */
  read(token: string): Promise<AccessClaims | null>;
}

/**
 * @param options `secret` may have any length, because its sha256 is the key. `clock` returns milliseconds since 1970.
 */
export function createAccessTokens({ secret, clock }: { secret: string; clock: () => number }): AccessTokens {
  const key = createHash('sha256').update(secret, 'utf8').digest();

  return {
    issue(userId, sessionId) {
      const now = Math.floor(clock() / 1000);
      return new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setIssuer(ISSUER)
        .setSubject(userId)
        .setIssuedAt(now)
        .setExpirationTime(now + ACCESS_TOKEN_LIFETIME / 1000)
        .sign(key);
    },

    async read(token) {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: [ALGORITHM],
          issuer: ISSUER,
          currentDate: new Date(clock()),
        });
        const { sub, sid, exp } = payload;
        if (typeof sub !== 'string' || typeof sid !== 'string' || typeof exp !== 'number') return null;
        return { userId: sub, sessionId: sid, expiresAt: exp * 1000 };
      } catch (error) {
        if (error instanceof errors.JOSEError) return null;
        throw error;
      }
    },
  };
}

/** Checks whether a bearer token has the format of a JWT. Static tokens never have this format. */
export function looksLikeAccessToken(token: string): boolean {
  return /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(token);
}
