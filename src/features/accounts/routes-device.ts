/* Sign-in of a command line on a machine without a browser: the user confirms a code on another device (RFC 8628). */
import type { Request } from 'express';
import { z } from 'zod';
import { type Answer, jsonAnswer } from '../../http/answer/answer.js';
import type { HttpDeps } from '../../http/deps.js';
import { refused } from '../../http/errors.js';
import { data } from '../../http/openapi/answers/envelopes.js';
import { addressOf } from '../../http/request/headers.js';
import { noQuery } from '../../http/request/query.js';
import { type Route, jsonBody, route } from '../../http/route.js';
import { unauthenticated } from '../../http/serve.js';
import { OidcError } from './oidc.js';
import * as accounts from './routes-answers.js';
import { clientOf, tooManyAttempts } from './routes-login.js';
import { type ProviderDeps, requireProvider, signInCause, userOf } from './routes-oidc.js';
import { explainOutcome } from './sign-in-outcomes.js';

const pending = {
  device: z.string().describe('Identifies the sign-in. Only the command line knows it'),
  interval: z.int().describe('Seconds to wait before the next request'),
};

const started = z.strictObject({
  ...pending,
  user_code: z.string().describe('The code that the user enters'),
  verification_uri: z.string().describe('The page where the user enters the code'),
  verification_uri_complete: z.string().nullable().describe('The same page with the code'),
  expires_in: z.int().describe('Seconds until the code expires'),
});

const body = z.strictObject({ device: z.string().max(4_096) });

export function deviceRoutes(deps: HttpDeps): Route[] {
  const open = { access: 'anyone', method: 'post', headers: [], query: noQuery } as const;
  return [
    route({
      ...open,
      path: '/auth/oidc/device',
      operationId: 'startDeviceSignIn',
      summary: 'Start a sign-in that the user confirms on another device. For command lines',
      answers: { 200: data(started) },
      errors: ['NOT_FOUND', 'UNAVAILABLE', 'INVALID_STATE', 'TOO_MANY_REQUESTS'],
      handle: ({ req, requestId }) => start(requireProvider(deps), req, requestId),
    }),
    route({
      ...open,
      path: '/auth/oidc/device/token',
      operationId: 'finishDeviceSignIn',
      summary: 'Exchange a confirmed sign-in on another device for a session',
      description: 'Responds with 202 until the user has confirmed the sign-in. Send the latest `device` each time.',
      body: jsonBody(body, { example: { device: 'eyJ…' } }),
      answers: { 200: data(accounts.grant), 202: data(z.strictObject(pending)) },
      errors: ['NOT_FOUND', 'UNAUTHENTICATED', 'UNAVAILABLE'],
      handle: ({ req, requestId, body: { device } }) => finish(requireProvider(deps), { req, requestId, device }),
    }),
  ];
}

/** Anyone can start a sign-in, which sends a request to the provider. Those that nobody confirms are limited. */
const attemptOf = (req: Request) => ({ address: addressOf(req) ?? '', email: 'device' });

async function start({ oidc, auth, logger }: ProviderDeps, req: Request, requestId: string): Promise<Answer> {
  const wait = await auth.exchangeLimit.begin(attemptOf(req), () => Promise.resolve(false));
  if (wait !== null) throw tooManyAttempts(wait);
  const begun = await oidc.beginDevice().catch((error: unknown) => {
    if (!(error instanceof OidcError)) throw error;
    logger.warn('the OpenID provider did not start a sign-in', { request_id: requestId, reason: error.message });
    if (error.reason === 'unavailable') throw refused('UNAVAILABLE', explainOutcome('unavailable'));
    throw refused(
      'INVALID_STATE',
      'The OpenID provider rejected the request. Enable the device authorization grant for the client of this service there.',
    );
  });
  if (begun === null) {
    throw refused('NOT_FOUND', 'The OpenID provider does not support sign-in on another device. Use a browser.');
  }
  const { device, userCode, page, completePage, expiresIn, interval } = begun;
  return jsonAnswer(200, {
    data: {
      device,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: completePage,
      expires_in: expiresIn,
      interval,
    },
  });
}

async function finish(
  deps: ProviderDeps,
  { req, requestId, device }: { req: Request; requestId: string; device: string },
): Promise<Answer> {
  const { oidc, auth, logger, metrics } = deps;
  const outcome = await oidc.finishDevice(device).catch((error: unknown) => {
    if (!(error instanceof OidcError)) throw error;
    metrics.signIn('device', error.reason);
    logger.warn('sign-in with the OpenID provider failed', { request_id: requestId, reason: error.message });
    if (error.reason === 'unavailable') throw refused('UNAVAILABLE', explainOutcome('unavailable'));
    throw unauthenticated(explainOutcome(error.reason));
  });
  if (outcome.kind === 'expired') throw unauthenticated('The code has expired, or was used before. Log in again.');
  if (outcome.kind === 'waiting') {
    return jsonAnswer(202, { data: { device: outcome.device, interval: outcome.interval } });
  }
  const { profile } = outcome;
  const user = await userOf(deps, profile, signInCause(req, requestId));
  if (typeof user === 'string') {
    metrics.signIn('device', user);
    throw unauthenticated(explainOutcome(user));
  }
  await auth.exchangeLimit.succeeded(attemptOf(req));
  const proof = { identity: { id: user.identity, session: profile.session } };
  const grant = await auth.sessions.begin(user.id, { ...clientOf(req), proof });
  metrics.signIn('device', grant === null ? 'failed' : 'done');
  if (grant === null) throw unauthenticated(explainOutcome('failed'));
  return jsonAnswer(200, { data: grant });
}
