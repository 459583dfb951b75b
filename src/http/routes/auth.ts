/** /auth: login, refresh, logout. */
import { z } from 'zod';
import { type Grant } from '../../auth/sessions.js';
import { type Answer, jsonAnswer, noContent } from '../answer.js';
import { unauthenticated } from '../authenticate.js';
import { readShape } from '../body/shape.js';
import type { HttpDeps } from '../deps.js';
import { Refused } from '../errors.js';
import { addressOf } from '../request-headers.js';
import { openRoute, type Route } from '../route.js';

const noQuery = z.strictObject({});

/** Clients of the peer say how they want their tokens; in the body is the one way there is. */
const mode = z.literal('json').optional();

export const credentials = z.strictObject({
  email: z.string().min(1).max(320),
  password: z.string().min(1).max(1024),
  mode,
});
export const refreshToken = z.strictObject({ refresh_token: z.string().min(1).max(512), mode });

export function authRoutes({ auth: { sessions, loginLimit } }: HttpDeps): Route[] {
  const login = async (address: string, body: unknown): Promise<Answer> => {
    const { email, password } = readShape(credentials, body);
    const wait = await loginLimit.begin(address, email);
    if (wait !== null) throw tooManyLogins(wait);
    const grant = await sessions.login(email, password);
    if (grant === null) throw unauthenticated('The e-mail address or the password is wrong.');
    await loginLimit.succeeded(address, email);
    return granted(grant);
  };
  const refresh = async (body: unknown): Promise<Answer> => {
    const grant = await sessions.refresh(readShape(refreshToken, body).refresh_token);
    if (grant === null) throw unauthenticated('The refresh token is unknown, expired or used already.');
    return granted(grant);
  };
  const logout = async (body: unknown): Promise<Answer> => {
    await sessions.logout(readShape(refreshToken, body).refresh_token);
    return noContent();
  };
  return [
    postForAnyone('/auth/login', ({ req, body }) => login(addressOf(req) ?? '', body)),
    postForAnyone('/auth/refresh', ({ body }) => refresh(body)),
    postForAnyone('/auth/logout', ({ body }) => logout(body)),
  ];
}

type Handle = Parameters<typeof openRoute>[0]['handle'];

function postForAnyone(path: string, handle: Handle): Route {
  return openRoute({ method: 'post', path, query: noQuery, body: 'json', handle });
}

function granted(data: Grant): Answer {
  return jsonAnswer(200, { data });
}

function tooManyLogins(seconds: number): Refused {
  const message = `Too many logins have failed: try again in ${seconds} seconds.`;
  return new Refused([{ code: 'TOO_MANY_REQUESTS', message }], ['Retry-After', String(seconds)]);
}
