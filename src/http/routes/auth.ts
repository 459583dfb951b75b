/** /auth: login, refresh, logout. */
import type { Request } from 'express';
import { parseCookie, stringifySetCookie } from 'cookie';
import { noQuery } from '../request/query.js';
import { networkOf } from '../../auth/login-limit.js';
import { type Grant, SESSION_LIFETIME } from '../../auth/sessions.js';
import { credentials, refreshToken } from '../account-bodies.js';
import { type Answer, jsonAnswer, noContent } from '../answer/answer.js';
import { unauthenticated } from '../authorize.js';
import { readShape } from '../body/shape.js';
import type { HttpDeps } from '../deps.js';
import { Refused, refused } from '../errors.js';
import { addressOf, userAgentOf } from '../request/request-headers.js';
import { openRoute, type Route } from '../route.js';

/* The refresh token as a cookie: scripts cannot read it, other sites cannot send it, and only /auth receives it. */

const NAME = 'dps_refresh_token';

/** The token of the browser, or null. */
export function cookieToken(req: Request): string | null {
  return parseCookie(req.headers.cookie ?? '')[NAME] ?? null;
}

/** The header that sets `token`; null deletes it. Over https the cookie is Secure. */
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
 * SameSite excludes other sites, but not another port or subdomain.
 * @throws Refused if the page's origin is another one and not in CORS_ORIGINS
 */
export function requireOwnPage(req: Request, allowed: readonly string[]): void {
  const { origin } = req.headers;
  if (origin === undefined || allowed.includes(origin) || origin === `${req.protocol}://${req.host}`) return;
  throw refused('FORBIDDEN', 'A page of another origin may not use the session of this one (CORS_ORIGINS).');
}

/** A refresh token and how it was sent. The new one is returned the same way. */
interface Presented {
  token: string;
  byCookie: boolean;
}

/** Public. A login attempt is counted before the password is checked. */
export function authRoutes({ auth: { sessions, loginLimit }, config }: HttpDeps): Route[] {
  const login = async (req: Request, body: unknown): Promise<Answer> => {
    const given = readShape(credentials, body);
    if (given.mode === 'cookie') requireOwnPage(req, config.corsOrigins);
    const attempt = { address: addressOf(req) ?? '', email: given.email };
    const network = networkOf(attempt.address);
    const wait = await loginLimit.begin(attempt, async () => (await sessions.lastNetwork(given.email)) === network);
    if (wait !== null) throw tooManyLogins(wait);
    const grant = await sessions.login({ ...given, network, userAgent: userAgentOf(req) });
    if (grant === null) throw unauthenticated('The e-mail address or the password is wrong.');
    await loginLimit.succeeded(attempt);
    return granted(req, grant, given.mode === 'cookie');
  };

  const presented = (req: Request, body: unknown): Presented => {
    const given = readShape(refreshToken, body);
    const cookie = cookieToken(req);
    if (given.refresh_token !== undefined) {
      if (given.mode === 'cookie' || cookie !== null) throw twice();
      return { token: given.refresh_token, byCookie: false };
    }
    if (given.mode === 'json' || cookie === null) {
      throw refused('INVALID_PAYLOAD', 'refresh_token is missing.', { path: 'refresh_token' });
    }
    requireOwnPage(req, config.corsOrigins);
    return { token: cookie, byCookie: true };
  };

  const refresh = async (req: Request, body: unknown): Promise<Answer> => {
    const { token, byCookie } = presented(req, body);
    const grant = await sessions.refresh(token, { shared: byCookie });
    if (grant === null) throw unauthenticated('The refresh token is unknown, expired or used already.');
    return granted(req, grant, byCookie);
  };

  const logout = async (req: Request, body: unknown): Promise<Answer> => {
    const { token, byCookie } = presented(req, body);
    await sessions.logout(token);
    const { headers, ...answer } = noContent();
    return { ...answer, headers: byCookie ? [...headers, ...setCookie(req, null)] : headers };
  };

  return [
    postForAnyone('/auth/login', ({ req, body }) => login(req, body)),
    postForAnyone('/auth/refresh', ({ req, body }) => refresh(req, body)),
    postForAnyone('/auth/logout', ({ req, body }) => logout(req, body)),
  ];
}

type Handle = Parameters<typeof openRoute>[0]['handle'];

function postForAnyone(path: string, handle: Handle): Route {
  return openRoute({ method: 'post', path, query: noQuery, body: 'json', heeds: [], handle });
}

function granted(req: Request, grant: Grant, byCookie: boolean): Answer {
  if (!byCookie) return jsonAnswer(200, { data: grant });
  const { refresh_token, ...data } = grant;
  return jsonAnswer(200, { data }, setCookie(req, refresh_token));
}

function twice(): Refused {
  return refused('INVALID_PAYLOAD', 'The refresh token is in a cookie and in the body: send it in one of them.', {
    path: 'refresh_token',
  });
}

function tooManyLogins(seconds: number): Refused {
  const message = `Too many logins have failed: try again in ${seconds} seconds.`;
  return new Refused([{ code: 'TOO_MANY_REQUESTS', message }], ['Retry-After', String(seconds)]);
}
