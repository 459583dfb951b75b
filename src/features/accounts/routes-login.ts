import { z } from 'zod';
import { jsonAnswer, noContent, unwrap, largeJsonAnswer, type Answer } from '../../http/answer/answer.js';
import type { HttpDeps } from '../../http/deps.js';
import { readCounts, count, metaMembers, pageLimit, noQuery } from '../../http/request/query.js';
import { data, page } from '../../http/openapi/answers/envelopes.js';
import { session, grant as grantSchema } from './routes-answers.js';
import { route, type Route, jsonBody } from '../../http/route.js';
import type { Request } from 'express';
import { parseCookie, stringifySetCookie } from 'cookie';
import { failedTooOften, HeldLoginError, type LoginLimit, networkOf } from './login-limit.js';
import { type Grant, type PasswordOwner, SESSION_LIFETIME, type SessionClient } from './sessions.js';
import { unauthenticated } from '../../http/serve.js';
import { RejectedError, refused } from '../../http/errors.js';
import { addressOf, userAgentOf } from '../../http/request/headers.js';

const listQuery = z.strictObject({
  user: z.string().optional().describe('Only sessions of this user, by id'),
  offset: count.default(0).describe('Number of items to skip'),
  limit: pageLimit,
  meta: metaMembers.optional(),
});

/** Routes for admins. Ending a session also invalidates its access tokens. */
export function sessionRoutes({ auth: { liveSessions } }: HttpDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/sessions',
      operationId: 'listSessions',
      summary: 'List active sessions, most recently used first',
      access: 'admin',
      query: listQuery,
      answers: { 200: page(session) },
      async handle({ query: { user, offset, limit, meta } }) {
        const sessions = await liveSessions.list({ user, offset, limit });
        const counts = await readCounts(meta, {
          total_count: () => liveSessions.count(),
          filter_count: () => liveSessions.count(user),
        });
        return largeJsonAnswer({ data: sessions, ...counts });
      },
    }),
    route({
      method: 'delete',
      path: '/sessions/:id',
      operationId: 'endSession',
      summary: 'End a session and revoke its access tokens',
      access: 'admin',
      action: 'personal',
      query: noQuery,
      headers: [],
      answers: { 204: null },
      async handle({ params: { id = '' } }) {
        unwrap(await liveSessions.end(id));
        return noContent();
      },
    }),
    route({
      method: 'delete',
      path: '/users/:id/sessions',
      operationId: 'endSessions',
      summary: 'End all sessions of a user. API tokens stay valid',
      access: 'admin',
      action: 'personal',
      query: noQuery,
      headers: [],
      answers: { 200: data(z.strictObject({ ended: z.int().min(0) })) },
      async handle({ params: { id = '' } }) {
        return jsonAnswer(200, { data: { ended: unwrap(await liveSessions.endAll(id)) } });
      },
    }),
  ];
}

/** Routes of /auth: login, refresh and logout. */

/** The refresh token is sent in bodies or in a cookie. */
const mode = z.enum(['json', 'cookie']).optional();

export const credentials = z.strictObject({
  email: z.string().min(1).max(320),
  password: z.string().min(1).max(1024),
  mode,
});
const refreshToken = z.strictObject({ refresh_token: z.string().min(1).max(512).optional(), mode });

/* Stores the refresh token in a cookie. Scripts cannot read this cookie, other sites cannot send it, and only /auth
   receives it. */

const NAME = 'dps_refresh_token';

/** Returns the refresh token in the browser's cookie, or null. */
export function cookieToken(req: Request): string | null {
  return parseCookie(req.headers.cookie ?? '')[NAME] ?? null;
}

/** Returns the origin under which the browser reaches the service. */
export const ownOrigin = (req: Request): string => `${req.protocol}://${req.host}`;

/** Returns the header that stores `token` in the cookie. Null deletes the cookie. Over https the cookie is Secure. */
export function setCookie(req: Request, token: string | null): readonly [string, string] {
  const text = stringifySetCookie(NAME, token ?? '', {
    path: '/auth',
    httpOnly: true,
    sameSite: 'strict',
    secure: req.secure,
    maxAge: token === null ? 0 : SESSION_LIFETIME / 1000,
  });
  return ['Set-Cookie', text];
}

/**
 * Rejects pages of another origin. SameSite excludes other sites, but not another port or subdomain.
 * @throws RejectedError if the page's origin differs from that of the service and is not in CORS_ORIGINS
 */
export function requireOwnPage(req: Request, allowed: readonly string[]): void {
  const { origin } = req.headers;
  if (origin === undefined || allowed.includes(origin) || origin === ownOrigin(req)) return;
  throw refused('FORBIDDEN', 'A page from another origin cannot use this session. Add the origin to CORS_ORIGINS.');
}

/** Returns the client's network and program, which the session records. */
export const clientOf = (req: Request): SessionClient => ({
  network: networkOf(addressOf(req) ?? ''),
  userAgent: userAgentOf(req),
});

type LimitedLogins = Pick<HttpDeps['auth'], 'sessions' | 'loginLimit'>;

/**
 * Checks an e-mail address and a password, and returns the user.
 * @throws RejectedError UNAUTHENTICATED, TOO_MANY_REQUESTS, and INVALID_STATE if the invitation has expired
 */
export async function passwordOwner(
  auth: LimitedLogins,
  req: Request,
  login: { email: string; password: string },
): Promise<PasswordOwner> {
  const owner = await findPasswordOwner(auth, req, login);
  if (owner === null) throw wrongPassword();
  return owner;
}

export const wrongPassword = (): RejectedError => unauthenticated('The e-mail address or the password is wrong.');

/**
 * Checks an e-mail address and a password. Returns the user, or null.
 * @throws RejectedError TOO_MANY_REQUESTS, and INVALID_STATE if the invitation has expired
 */
export async function findPasswordOwner(
  { sessions, loginLimit }: LimitedLogins,
  req: Request,
  { email, password }: { email: string; password: string },
): Promise<PasswordOwner | null> {
  const attempt = { address: addressOf(req) ?? '', email };
  const isAtHome = async () => (await sessions.lastNetwork(email)) === networkOf(attempt.address);
  const owner = await verifyLimited(loginLimit, attempt, isAtHome, () => sessions.passwordOwner({ email, password }));
  if (owner?.isExpired === true) throw refused('INVALID_STATE', INVITATION_EXPIRED);
  return owner;
}

/** Only someone with the link receives this message. Others learn nothing about the account. */
const INVITATION_EXPIRED = 'Your invitation has expired. Ask an admin for a new link.';

/**
 * Verifies an attempt within the limit. Null if it failed.
 * @throws RejectedError TOO_MANY_REQUESTS, and the errors of the check
 */
export async function verifyLimited<T>(
  limit: LoginLimit,
  attempt: { address: string; email: string },
  isAtHome: () => Promise<boolean>,
  check: () => Promise<T | null>,
): Promise<T | null> {
  try {
    return await limit.verify(attempt, isAtHome, check);
  } catch (error) {
    throw error instanceof HeldLoginError ? tooMany(error.message, error.wait) : error;
  }
}

type RefreshToken = z.output<typeof refreshToken>;

/** A refresh token and how the client sent it. The response returns the new one in the same way. */
interface SentRefreshToken {
  token: string;
  byCookie: boolean;
}

/** These routes need no authentication. */
export function authRoutes({ auth, config }: HttpDeps): Route[] {
  const { sessions } = auth;

  const login = async (req: Request, body: z.output<typeof credentials>): Promise<Answer> => {
    if (!auth.passwordLogin) throw refused('FORBIDDEN', PASSWORD_LOGIN_OFF);
    if (body.mode === 'cookie') requireOwnPage(req, config.corsOrigins);
    const proof = await passwordOwner(auth, req, body);
    const grant = await sessions.begin(proof.id, { ...clientOf(req), proof });
    if (grant === null) throw wrongPassword();
    return grantAnswer(req, grant, body.mode === 'cookie');
  };

  const readPresentedToken = (req: Request, body: RefreshToken): SentRefreshToken => {
    const cookie = cookieToken(req);
    if (body.refresh_token !== undefined) {
      if (body.mode === 'cookie' || cookie !== null) throw duplicateRefreshToken();
      return { token: body.refresh_token, byCookie: false };
    }
    if (body.mode === 'json' || cookie === null) {
      throw refused('INVALID_PAYLOAD', 'refresh_token is required.', { path: 'refresh_token' });
    }
    requireOwnPage(req, config.corsOrigins);
    return { token: cookie, byCookie: true };
  };

  const refresh = async (req: Request, body: RefreshToken): Promise<Answer> => {
    const { token, byCookie } = readPresentedToken(req, body);
    const grant = await sessions.refresh(token, { shared: byCookie });
    if (grant === null) throw unauthenticated('The refresh token is unknown, expired or already used. Log in again.');
    return grantAnswer(req, grant, byCookie);
  };

  const logout = async (req: Request, body: RefreshToken): Promise<Answer> => {
    const { token, byCookie } = readPresentedToken(req, body);
    await sessions.logout(token);
    const { headers, ...answer } = noContent();
    return { ...answer, headers: byCookie ? [...headers, ...setCookie(req, null)] : headers };
  };

  return [
    route({
      ...open,
      path: '/auth/login',
      operationId: 'login',
      summary: 'Log in with a password',
      body: jsonBody(credentials, { example: { email: 'admin@example.com', password: 'correct horse battery' } }),
      answers: { 200: data(grantSchema) },
      errors: ['UNAUTHENTICATED', 'FORBIDDEN', 'INVALID_STATE', 'TOO_MANY_REQUESTS'],
      handle: ({ req, body }) => login(req, body),
    }),
    route({
      ...open,
      path: '/auth/refresh',
      operationId: 'refresh',
      summary: 'Refresh a session',
      body: jsonBody(refreshToken, { example: { refresh_token: '…' } }),
      answers: { 200: data(grantSchema) },
      errors: ['UNAUTHENTICATED', 'FORBIDDEN'],
      handle: ({ req, body }) => refresh(req, body),
    }),
    route({
      ...open,
      path: '/auth/logout',
      operationId: 'logout',
      summary: 'Log out',
      body: jsonBody(refreshToken, { example: { refresh_token: '…' } }),
      answers: { 204: null },
      errors: ['UNAUTHENTICATED', 'FORBIDDEN'],
      handle: ({ req, body }) => logout(req, body),
    }),
  ];
}

const open = { method: 'post', access: 'anyone', query: noQuery, headers: [] } as const;

export function grantAnswer(req: Request, grant: Grant, byCookie: boolean): Answer {
  if (!byCookie) return jsonAnswer(200, { data: grant });
  const { refresh_token, ...rest } = grant;
  return jsonAnswer(200, { data: rest }, setCookie(req, refresh_token));
}

export const PASSWORD_LOGIN_OFF =
  'Password login is turned off. Sign in with the OpenID provider, or use an API token.';

function duplicateRefreshToken(): RejectedError {
  return refused('INVALID_PAYLOAD', 'The refresh token is in a cookie and in the body. Send only one of them.', {
    path: 'refresh_token',
  });
}

const tooMany = (message: string, seconds: number): RejectedError =>
  new RejectedError([{ code: 'TOO_MANY_REQUESTS', message }], ['Retry-After', String(seconds)]);

export const tooManyAttempts = (seconds: number): RejectedError => tooMany(failedTooOften(seconds), seconds);
