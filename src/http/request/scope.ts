import type { Request } from 'express';
import type { Caller } from '../../features/accounts/caller.js';
import { type RouteAction, missingScope } from '../../features/accounts/scope.js';
import { Refused } from '../errors.js';
import { addressOf } from './headers.js';

export const CHALLENGE = 'Bearer realm="data-platform-service"';

/** @throws Refused FORBIDDEN if the scope of the caller's token does not cover the request (RFC 6750, section 3.1) */
export function requireScope(req: Pick<Request, 'ip' | 'socket'>, caller: Caller, action: RouteAction): void {
  const lack = missingScope(caller, { action, address: addressOf(req) });
  if (lack === null) return;
  const { message, missing } = lack;
  throw new Refused(
    [{ code: 'FORBIDDEN', message, details: { missing_scope: missing } }],
    ['WWW-Authenticate', `${CHALLENGE}, error="insufficient_scope", scope="${missing}"`],
  );
}
