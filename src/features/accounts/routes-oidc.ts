/* Sign-in with an OpenID provider: the redirects of the browser, the exchange for command lines, and logout. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { Request } from 'express';
import { type Answer, jsonAnswer, noContent, redirectAnswer, unwrap } from '../../http/answer/answer.js';
import { causeOf, runRecording } from '../../http/change/change.js';
import type { HttpDeps } from '../../http/deps.js';
import { RejectedError, refused } from '../../http/errors.js';
import { data } from '../../http/openapi/answers/envelopes.js';
import { addressOf, userAgentOf } from '../../http/request/headers.js';
import { noQuery } from '../../http/request/query.js';
import { type Route, formBody, jsonBody, route } from '../../http/route.js';
import { unauthenticated } from '../../http/serve.js';
import type { Cause } from '../../schema/model/events.js';
import type { Caller } from './caller.js';
import { changeAccount, createAccountCommand } from './change-account.js';
import type { LinkedIdentity } from './identities.js';
import { type Oidc, OidcError, type OidcFailure, type Profile, type Target } from './oidc.js';
import * as accounts from './routes-answers.js';
import {
  credentials,
  grantAnswer,
  ownOrigin,
  passwordOwner,
  requireOwnPage,
  setCookie,
  clientOf,
  wrongPassword,
} from './routes-login.js';

/** The path of the callback that is registered at the provider. */
const CALLBACK = '/auth/oidc/callback';

/** The cookie with the attempt of this browser, or with the profile that its user is about to link. */
const ATTEMPT_COOKIE = 'dps_sign_in';
const LINK_COOKIE = 'dps_link';

type SignInOutcome = z.output<typeof accounts.signInOutcome>;

const loginQuery = z
  .strictObject({
    to: z.string().max(2_000).default('/app').describe('The page of the app to return to'),
    port: z.coerce.number().int().min(1).max(65_535).optional().describe('For command lines: a loopback port'),
    challenge: z
      .string()
      .regex(/^[\w-]{43}$/, 'must be the base64url SHA-256 of a verifier')
      .optional()
      .describe('For command lines: the SHA-256 of a secret that only the command line knows'),
  })
  .refine(({ port, challenge }) => (port === undefined) === (challenge === undefined), {
    message: 'requires challenge, and challenge requires port',
    path: ['port'],
  });

/** The query of the callback. Providers may add parameters of their own. */
const callbackQuery = z.looseObject({
  code: z.string().optional().describe('From the provider'),
  state: z.string().optional().describe('From the provider'),
  error: z.string().optional().describe('From the provider'),
});

const exchange = z.strictObject({ code: z.string().max(4_096), verifier: z.string().min(43).max(128) });

const providers = data(
  z.strictObject({
    password: z.boolean().describe('Users can log in with a password'),
    oidc: z
      .strictObject({
        label: z.string(),
        linking: z.string().nullable().describe('The e-mail address of the account to link in this browser'),
      })
      .nullable(),
  }),
);

export type ProviderDeps = HttpDeps & { oidc: Oidc };

/** @throws RejectedError NOT_FOUND without a provider */
export function requireProvider(deps: HttpDeps): ProviderDeps {
  const { oidc } = deps.auth;
  if (oidc !== null) return { ...deps, oidc };
  throw refused('NOT_FOUND', 'Sign-in with a provider is not configured. Set OIDC_ISSUER.');
}

/** These routes need no authentication, except those for the identities of users. */
export function oidcRoutes(deps: HttpDeps): Route[] {
  const { auth } = deps;
  return [
    route({
      ...open,
      method: 'get',
      path: '/auth/providers',
      operationId: 'listProviders',
      summary: 'List the ways to log in',
      query: noQuery,
      answers: { 200: providers },
      async handle({ req }) {
        const { oidc } = auth;
        const way = oidc && { label: oidc.label, linking: (await profileToLink(req, oidc))?.email ?? null };
        return jsonAnswer(200, { data: { password: auth.passwordLogin, oidc: way } });
      },
    }),
    route({
      ...open,
      method: 'get',
      path: '/auth/oidc/login',
      operationId: 'startSignIn',
      summary: 'Sign in with the OpenID provider. Redirects the browser to it',
      query: loginQuery,
      answers: { 302: null },
      errors: ['NOT_FOUND', 'UNAVAILABLE'],
      handle: ({ req, query }) => startSignIn(requireProvider(deps), req, query),
    }),
    route({
      ...open,
      method: 'get',
      path: CALLBACK,
      operationId: 'finishSignIn',
      summary: 'Handle the redirect from the OpenID provider. Redirects the browser to the app or the command line',
      query: callbackQuery,
      needsPrimary: true,
      answers: { 302: null },
      errors: ['NOT_FOUND', 'INVALID_STATE'],
      handle: ({ req, requestId }) => finishSignIn(requireProvider(deps), req, requestId),
    }),
    route({
      ...open,
      method: 'post',
      path: '/auth/oidc/token',
      operationId: 'exchangeSignIn',
      summary: 'Exchange a sign-in from a command line for a session',
      query: noQuery,
      body: jsonBody(exchange, { example: { code: 'eyJ…', verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' } }),
      answers: { 200: data(accounts.grant) },
      errors: ['NOT_FOUND', 'UNAUTHENTICATED'],
      handle: ({ req, body }) => exchangeSignIn(requireProvider(deps), req, body),
    }),
    route({
      ...open,
      method: 'post',
      path: '/auth/oidc/logout',
      operationId: 'backChannelLogout',
      summary: 'End sessions that have ended at the OpenID provider. The provider sends this request',
      description: 'OpenID Connect Back-Channel Logout 1.0.',
      query: noQuery,
      body: formBody(z.looseObject({ logout_token: z.string().max(16_384) })),
      answers: { 204: null },
      errors: ['NOT_FOUND', 'INVALID_PAYLOAD'],
      async handle({ body }) {
        const { oidc } = requireProvider(deps);
        const ended = await oidc.readLogout(body.logout_token).catch((error: unknown) => {
          if (!(error instanceof OidcError)) throw error;
          throw refused('INVALID_PAYLOAD', `logout_token was not accepted: ${error.message}.`, {
            path: 'logout_token',
          });
        });
        await auth.sessions.endProviderSessions(ended);
        return noContent();
      },
    }),
    route({
      ...open,
      method: 'post',
      path: '/auth/oidc/link',
      operationId: 'linkIdentity',
      summary: 'Link the identity of this browser to an account, and log in',
      description:
        'Send this request after a sign-in with the provider that ended with `sign_in=link`: an account with the e-mail address exists, and its password proves who owns it.',
      query: noQuery,
      body: jsonBody(credentials, { example: { email: 'ada@example.com', password: 'correct horse battery' } }),
      answers: { 200: data(accounts.grant) },
      errors: ['NOT_FOUND', 'UNAUTHENTICATED', 'FORBIDDEN', 'TOO_MANY_REQUESTS', 'INVALID_STATE', 'ALREADY_EXISTS'],
      handle: ({ req, requestId, body }) => linkIdentity(requireProvider(deps), { req, requestId }, body),
    }),
    ...identityRoutes(deps),
  ];
}

const open = { access: 'anyone', headers: [] } as const;

/* The redirects to the provider and back. */

async function startSignIn(
  { oidc, metrics }: ProviderDeps,
  req: Request,
  { to, port, challenge }: z.output<typeof loginQuery>,
): Promise<Answer> {
  const target: Target = {
    redirectUri: new URL(CALLBACK, ownOrigin(req)).href,
    path: port === undefined ? appPath(req, to) : null,
    cli: port === undefined || challenge === undefined ? null : { port, challenge },
  };
  try {
    const { location, attempt } = await oidc.begin(target);
    return redirectAnswer(location, cookie(req, ATTEMPT_COOKIE, attempt));
  } catch (error) {
    if (!(error instanceof OidcError)) throw error;
    metrics.signIn('browser', error.reason);
    throw refused('UNAVAILABLE', 'The OpenID provider does not respond. Try again later.');
  }
}

async function finishSignIn(deps: ProviderDeps, req: Request, requestId: string): Promise<Answer> {
  const { oidc, logger } = deps;
  const attempt = parseCookie(req.headers.cookie ?? '')[ATTEMPT_COOKIE] ?? '';
  const forget = cookie(req, ATTEMPT_COOKIE, null);
  const url = req.url ?? '';
  try {
    const { profile, target } = await oidc.finish(url.includes('?') ? url.slice(url.indexOf('?')) : '', attempt);
    return await signInAs(deps, req, { profile, target, requestId, headers: forget });
  } catch (error) {
    if (!(error instanceof OidcError)) throw error;
    logger.warn('sign-in with the OpenID provider failed', { request_id: requestId, reason: error.message });
    return returnTo(deps, await oidc.targetOf(attempt), { outcome: error.reason, req }, forget);
  }
}

interface SignInRequest {
  profile: Profile;
  target: Target;
  requestId: string;
  /** The headers that the response needs, such as cookies. */
  headers: readonly string[];
}

/** Finds or creates the user of the profile, and starts a session. */
async function signInAs(
  deps: ProviderDeps,
  req: Request,
  { profile, target, requestId, headers }: SignInRequest,
): Promise<Answer> {
  const { oidc, auth } = deps;
  const returnOutcome = (outcome: SignInOutcome, more: readonly string[] = []) =>
    returnTo(deps, target, { outcome, req }, [...headers, ...more]);
  const user = await userOf(deps, profile, signInCause(req, requestId));
  if (typeof user === 'string') {
    if (user !== 'link') return returnOutcome(user);
    return returnOutcome('link', cookie(req, LINK_COOKIE, await oidc.seal('link', { profile })));
  }
  const proof = { identity: { id: user.identity, session: profile.session } };
  const grant = await auth.sessions.begin(user.id, { ...clientOf(req), proof });
  if (grant === null) return returnOutcome('failed');
  const { refresh_token: token } = grant;
  if (target.cli === null) return returnOutcome('done', setCookie(req, token));
  // The session starts now, so that everything that ends the sessions of the user also ends this one.
  const code = await oidc.seal('code', { token, challenge: target.cli.challenge });
  return returnTo(deps, target, { outcome: 'done', req, code }, headers);
}

type Denial = Exclude<SignInOutcome, 'done' | OidcFailure>;

type SignedIn = { id: string; identity: string } | Denial;

/** @returns the user and the id of the identity, or the reason why there is none */
export async function userOf(deps: ProviderDeps, profile: Profile, cause: Cause): Promise<SignedIn> {
  const linkedIdentity = await deps.auth.identities.find(profile);
  return linkedIdentity === null
    ? newUser(deps, profile, cause)
    : updatedUser(deps, { profile, linked: linkedIdentity }, cause);
}

/** Updates the role of a known user to that of the claims. */
async function updatedUser(
  { auth, pipeline }: ProviderDeps,
  { profile, linked }: { profile: Profile; linked: LinkedIdentity },
  cause: Cause,
): Promise<SignedIn> {
  const { user, id: identity } = linked;
  const { role } = profile;
  if (user.status !== 'active') return 'suspended';
  if (role === null) {
    await auth.sessions.endProviderSessions({ ...profile, session: null });
    return 'no-access';
  }
  if (role !== user.role) {
    const changed = await changeAccount(pipeline, await auth.users.update(user.id, { role }), { cause });
    if (!changed.ok && changed.problems[0]?.code === 'IN_USE') return 'last-admin';
    unwrap(changed);
  }
  return { id: user.id, identity };
}

async function newUser(deps: ProviderDeps, profile: Profile, cause: Cause): Promise<SignedIn> {
  const { identities } = deps.auth;
  const { role, email } = profile;
  if (role === null) return 'no-access';
  if (email === null) return 'no-email';
  const created = await changeAccount(deps.pipeline, await identities.create({ ...profile, role, email }), { cause });
  if (created.ok) return { id: created.value.user.id, identity: created.value.identity };
  if (created.problems[0]?.code !== 'ALREADY_EXISTS') throw new RejectedError(created.problems);
  // Two simultaneous sign-ins of the same person may both try to create the user.
  return (await identities.find(profile)) === null ? 'link' : userOf(deps, profile, cause);
}

/** The cause of changes at a sign-in. The service acts on behalf of the provider. */
export const signInCause = (req: Request, requestId: string): Cause => ({
  actor: { id: 'service', name: 'Data Platform Service' },
  command: 'sign-in',
  reason: 'signed in with the OpenID provider',
  request_id: requestId,
  ip: addressOf(req),
  user_agent: userAgentOf(req),
});

/* Addresses and cookies. */

/** @throws RejectedError unless `to` is a page of the app */
function appPath(req: Request, to: string): string {
  const base = ownOrigin(req);
  if (URL.canParse(to, base)) {
    const { origin, pathname, search } = new URL(to, base);
    if (origin === base && /^\/app(?:\/|$)/.test(pathname)) return pathname + search;
  }
  throw refused('INVALID_QUERY', '"to" must be the path of a page of the app, such as /app/timeline.', { path: 'to' });
}

interface Return {
  outcome: SignInOutcome;
  req: Request;
  /** The code that a command line exchanges for a session. */
  code?: string;
}

/** Redirects to the app, or to the waiting command line. */
function returnTo(
  { metrics }: ProviderDeps,
  target: Target | null,
  { outcome, req, code }: Return,
  headers: readonly string[],
): Answer {
  metrics.signIn('browser', outcome);
  if (target !== null && target.cli !== null) {
    const address = new URL(`http://127.0.0.1:${target.cli.port}/`);
    address.searchParams.set('sign_in', outcome);
    if (code !== undefined) address.searchParams.set('code', code);
    return redirectAnswer(address.href, headers);
  }
  const page = new URL(target?.path ?? '/app', ownOrigin(req));
  page.searchParams.set('sign_in', outcome);
  return redirectAnswer(page.pathname + page.search, headers);
}

/**
 * Returns the header of a cookie that scripts cannot read and that the browser sends when the provider redirects it
 * back. Null deletes the cookie.
 */
function cookie(req: Request, name: string, value: string | null): readonly [string, string] {
  const text = stringifySetCookie(name, value ?? '', {
    path: '/auth',
    httpOnly: true,
    sameSite: 'lax',
    secure: req.secure,
    maxAge: value === null ? 0 : COOKIE_LIFETIME,
  });
  return ['Set-Cookie', text];
}

/** Lifetime of the cookies in seconds. */
const COOKIE_LIFETIME = 600;

/* Links an identity to an account with the same e-mail address. The password of the account proves that it belongs
   to the user. */

/** Returns the profile that this browser's user may link. Null if there is none. */
async function profileToLink(req: Request, oidc: Oidc): Promise<Profile | null> {
  const text = parseCookie(req.headers.cookie ?? '')[LINK_COOKIE];
  const sealed = text === undefined ? null : await oidc.unseal('link', text);
  return (sealed?.['profile'] as Profile | undefined) ?? null;
}

async function linkIdentity(
  { auth, config, pipeline, oidc, metrics }: ProviderDeps,
  { req, requestId }: { req: Request; requestId: string },
  body: z.output<typeof credentials>,
): Promise<Answer> {
  requireOwnPage(req, config.corsOrigins);
  const profile = await profileToLink(req, oidc);
  if (profile === null) {
    throw refused('INVALID_STATE', 'This browser has no identity to link. Sign in with the OpenID provider first.');
  }
  const owner = await passwordOwner(auth, req, body);
  const user = unwrap(await auth.users.get(owner.id));
  const caller: Caller = { ...user, credential: { kind: 'password', issuedBy: null } };
  const cause = causeOf('link-identity', { req, requestId, caller });
  const id = unwrap(await changeAccount(pipeline, auth.identities.link(owner, profile), { cause }));
  const proof = { identity: { id, session: profile.session } };
  const grant = await auth.sessions.begin(user.id, { ...clientOf(req), proof });
  if (grant === null) throw wrongPassword();
  metrics.signIn('browser', 'done');
  const answer = grantAnswer(req, grant, body.mode === 'cookie');
  return { ...answer, headers: [...answer.headers, ...cookie(req, LINK_COOKIE, null)] };
}

/* Lets a command line exchange its code for a session. */

interface SealedSignIn {
  /** The refresh token of the session. */
  token: string;
  challenge: string;
}

async function exchangeSignIn(
  { oidc, auth }: ProviderDeps,
  req: Request,
  { code, verifier }: z.output<typeof exchange>,
): Promise<Answer> {
  const sealed = (await oidc.unseal('code', code)) as SealedSignIn | null;
  const proof = createHash('sha256').update(verifier).digest();
  if (sealed === null || !timingSafeEqual(proof, Buffer.from(sealed.challenge, 'base64url'))) {
    throw unauthenticated('The code has expired, or belongs to another command line. Log in again.');
  }
  // Until now, the session recorded the browser.
  const grant = await auth.sessions.refresh(sealed.token, { client: clientOf(req) });
  if (grant === null) throw unauthenticated('The code was used before, or its session has ended. Log in again.');
  return jsonAnswer(200, { data: grant });
}

/* The identities of a user, for admins. */

function identityRoutes({ auth, pipeline }: HttpDeps): Route[] {
  const path = '/users/:id/identities';
  return [
    route({
      method: 'get',
      path,
      operationId: 'listIdentities',
      summary: 'List the OpenID provider identities that can sign in as a user',
      access: 'admin',
      query: noQuery,
      answers: { 200: data(z.array(accounts.identity)) },
      async handle({ params: { id = '' } }) {
        return jsonAnswer(200, { data: unwrap(await auth.identities.list(id)) });
      },
    }),
    route({
      method: 'delete',
      path: `${path}/:identity`,
      operationId: 'unlinkIdentity',
      summary: 'Unlink an identity and end its sessions',
      access: 'admin',
      action: 'personal',
      query: noQuery,
      headers: ['X-Reason'],
      answers: { 204: null },
      handle(call) {
        const { id = '', identity = '' } = call.params;
        return runRecording(call, 'unlink-identity', {
          run: (context) =>
            pipeline.apply('record', createAccountCommand(auth.identities.unlink(id, identity)), context),
          render: ({ position }) => noContent(position),
        });
      },
    }),
  ];
}
