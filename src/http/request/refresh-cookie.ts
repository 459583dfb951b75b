/** The refresh token as a cookie: scripts cannot read it, other sites cannot send it, and only /auth receives it. */
import type { Request } from 'express';
import { parseCookie, stringifySetCookie } from 'cookie';
import { SESSION_LIFETIME } from '../../auth/sessions.js';
import { refused } from '../errors.js';

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
