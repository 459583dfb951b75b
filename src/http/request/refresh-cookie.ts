/** The refresh token as a cookie, for pages: scripts can't read it, other sites can't send it, and only /auth gets it. */
import type { Request } from 'express';
import { parseCookie, stringifySetCookie } from 'cookie';
import { SESSION_LIFETIME } from '../../auth/sessions.js';
import { refused } from '../errors.js';

const NAME = 'dps_refresh_token';

/** The token that the browser has, or null. */
export function cookieToken(req: Request): string | null {
  return parseCookie(req.headers.cookie ?? '')[NAME] ?? null;
}

/** The header that gives the browser `token`; null takes it away. Over https it never travels otherwise. */
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
 * SameSite keeps other sites out, but not another port or subdomain of this one.
 * @throws Refused when a page of another origin asks that CORS_ORIGINS doesn't name
 */
export function requireOwnPage(req: Request, allowed: readonly string[]): void {
  const { origin } = req.headers;
  if (origin === undefined || allowed.includes(origin) || origin === `${req.protocol}://${req.host}`) return;
  throw refused('FORBIDDEN', 'A page of another origin may not use the session of this one (CORS_ORIGINS).');
}
