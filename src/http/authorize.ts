/** Authenticates and authorizes the caller. */
import type { IncomingMessage } from 'node:http';
import { allows, type Access, type Caller } from '../auth/caller.js';
import { refused, Refused } from './errors.js';
import { bearerToken } from './request/request-headers.js';

const CHALLENGE = 'Bearer realm="data-platform-service"';

/** The caller of the bearer token. Throws `Refused`: UNAUTHENTICATED, or FORBIDDEN if the role is too low. */
export async function authorize(
  req: IncomingMessage,
  access: Access,
  identify: (token: string) => Promise<Caller | null>,
): Promise<Caller> {
  const token = bearerToken(req);
  if (token === null) throw unauthenticated('This needs a token: send Authorization: Bearer and the token.');
  if (token === undefined) throw unauthenticated('Authorization must be Bearer and a token.', 'invalid_request');
  const caller = await identify(token);
  if (caller === null) throw unauthenticated('The token is unknown, expired or revoked.', 'invalid_token');
  if (!allows(caller.role, access)) {
    throw refused('FORBIDDEN', `This needs the role ${access}; yours is ${caller.role}.`);
  }
  return caller;
}

/** `error`: the error code of RFC 6750. */
export function unauthenticated(message: string, error?: string): Refused {
  const challenge = error === undefined ? CHALLENGE : `${CHALLENGE}, error="${error}"`;
  return new Refused([{ code: 'UNAUTHENTICATED', message }], ['WWW-Authenticate', challenge]);
}
