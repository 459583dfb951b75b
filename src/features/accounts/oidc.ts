/* Sign-in with an OpenID provider: authorization code with PKCE, state and nonce. */
import { createHmac } from 'node:crypto';
import { type JWTPayload, type JWTVerifyGetKey, SignJWT, createRemoteJWKSet, jwtVerify } from 'jose';
import * as client from 'openid-client';
import { z } from 'zod';
import { checkName } from './account-rules.js';
import { ROLES, type Role } from './caller.js';

/** The settings OIDC_…. */
export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string | null;
  /** Separated by spaces. Contains `openid`. */
  scopes: string;
  /** Roles by claim and value: `{ groups: { platform: 'admin' } }`. */
  roles: Readonly<Record<string, Readonly<Record<string, Role>>>>;
  /** The text of the button. */
  label: string;
}

/** A person as the provider describes them. */
export interface Profile {
  issuer: string;
  subject: string;
  /** The provider's session; null if it names none. */
  session: string | null;
  /** Null if the provider sends none, or says that it is not verified. */
  email: string | null;
  name: string | null;
  /** The highest role of the claims; null if no value has one. */
  role: Role | null;
}

/** The page or the command line that a sign-in returns to. */
export interface Target {
  /** The address of the callback, as registered at the provider. */
  redirectUri: string;
  /** The path in the app; null for a command line. */
  path: string | null;
  /** A command line that waits on a loopback port, with the S256 challenge of its verifier. */
  cli: { port: number; challenge: string } | null;
}

/** Why a sign-in did not succeed. `unavailable`: the provider did not respond. `denied`: the user did not consent. */
export type OidcFailure = 'failed' | 'unavailable' | 'denied';

export class OidcError extends Error {
  readonly reason: OidcFailure;

  /** @param message for the log of the service */
  constructor(reason: OidcFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** A logout at the provider. `subject`, `session` or both are set. */
interface ProviderLogout {
  issuer: string;
  subject: string | null;
  session: string | null;
}

export interface Oidc {
  label: string;
  /** @returns the provider's address, and the secrets of this attempt as a signed text for a cookie */
  begin(target: Target): Promise<{ location: string; attempt: string }>;
  /**
   * @param query of the callback, as received
   * @throws OidcError
   */
  finish(query: string, attempt: string): Promise<{ profile: Profile; target: Target }>;
  /** Reads the target of an attempt that did not finish; null if the text is not one, or has expired. */
  targetOf(attempt: string): Promise<Target | null>;
  /** @throws OidcError */
  readLogout(token: string): Promise<ProviderLogout>;
  /** A signed text for the same browser or command line, valid for a limited time. */
  seal(purpose: SealPurpose, content: JWTPayload): Promise<string>;
  /** Null if the text has another purpose, was changed, or has expired. */
  unseal(purpose: SealPurpose, text: string): Promise<JWTPayload | null>;
}

/**
 * `attempt`: the secrets of a sign-in. `link`: a profile that a user is about to link. `code`: a sign-in that a command
 * line exchanges for a session.
 */
type SealPurpose = 'attempt' | 'link' | 'code';

/** In seconds. */
const SEALED_FOR: Readonly<Record<SealPurpose, number>> = { attempt: 600, link: 600, code: 60 };

/** Seconds by which the clocks of the provider and the service may differ. */
export const CLOCK_TOLERANCE = 30;

/** Algorithms whose signatures only the owner of a private key can create. */
export const PUBLIC_KEY_ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA'.split(' ');

/** Seconds that the provider has to respond. */
const TIMEOUT = 10;

/** Seconds during which a logout token is accepted after it was issued. */
const LOGOUT_TOKEN_AGE = 600;

const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

interface OidcOptions {
  settings: OidcSettings;
  /** The secret of the service, equal on all processes. */
  secret: string;
  /** Milliseconds since 1970. */
  clock: () => number;
}

/** The provider's configuration is read at the first sign-in, and again after a sign-in failed. */
export function createOidc({ settings, secret, clock }: OidcOptions): Oidc {
  let discovered: Promise<Provider> | undefined;
  const provider = (): Promise<Provider> => {
    const discovery = (discovered ??= discover(settings));
    discovery.catch(() => {
      if (discovered === discovery) discovered = undefined;
    });
    return discovery;
  };
  const { seal, unseal } = createSeals(secret, clock);

  async function attemptOf(text: string): Promise<Attempt | null> {
    return (await unseal('attempt', text)) as Attempt | null;
  }

  return {
    label: settings.label,
    seal,
    unseal,

    async begin(target) {
      const { configuration } = await mapToUnavailable(provider);
      const attempt: Attempt = {
        target,
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const location = client.buildAuthorizationUrl(configuration, {
        redirect_uri: target.redirectUri,
        scope: settings.scopes,
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      });
      return { location: location.href, attempt: await seal('attempt', { ...attempt }) };
    },

    async finish(query, text) {
      const attempt = await attemptOf(text);
      if (attempt === null) throw new OidcError('failed', 'the sign-in has expired or was started in another browser');
      const { target, state, nonce, verifier } = attempt;
      const { issuer, configuration } = await mapToUnavailable(provider);
      try {
        const tokens = await client.authorizationCodeGrant(configuration, new URL(`${target.redirectUri}${query}`), {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        });
        const claims = tokens.claims() as client.IDToken;
        const completeClaims = await withUserInfo(configuration, tokens, claims, settings);
        return { profile: profileOf(completeClaims, issuer, settings.roles), target };
      } catch (error) {
        // The provider may have replaced its keys since they were read.
        discovered = undefined;
        throw failureOf(error);
      }
    },

    async targetOf(text) {
      return (await attemptOf(text))?.target ?? null;
    },

    async readLogout(token) {
      const { issuer, keys } = await mapToUnavailable(provider);
      try {
        return await readLogoutToken(token, keys, { issuer, audience: settings.clientId, now: new Date(clock()) });
      } catch (error) {
        throw failureOf(error);
      }
    },
  };
}

interface Attempt {
  target: Target;
  state: string;
  nonce: string;
  /** The PKCE code verifier. */
  verifier: string;
}

interface Provider {
  /** The issuer in the provider's metadata, which its tokens repeat. */
  issuer: string;
  configuration: client.Configuration;
  keys: JWTVerifyGetKey;
}

async function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<Provider> {
  const address = new URL(issuer);
  const isPlain = address.protocol === 'http:';
  const configuration = await client.discovery(
    address,
    clientId,
    { [client.clockTolerance]: CLOCK_TOLERANCE },
    clientSecret === null ? client.None() : client.ClientSecretBasic(clientSecret),
    {
      timeout: TIMEOUT,
      execute: [
        // By default the signature of an ID token is not checked, because it arrives over TLS from the provider.
        client.enableNonRepudiationChecks,
        ...(isPlain ? [client.allowInsecureRequests] : []),
      ],
    },
  );
  const { jwks_uri: keys, issuer: name } = configuration.serverMetadata();
  if (keys === undefined) throw new OidcError('failed', 'the provider publishes no keys');
  return { issuer: name, configuration, keys: createRemoteJWKSet(new URL(keys), { timeoutDuration: TIMEOUT * 1000 }) };
}

/** Counts an error that has no known reason as a provider that does not respond. */
async function mapToUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw failureOf(error, 'unavailable');
  }
}

/** Codes of openid-client for a missing response, and for one that does not follow the protocol. */
const UNANSWERED = new Set(['OAUTH_TIMEOUT', 'OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON']);

function failureOf(error: unknown, otherwise: OidcFailure = 'failed'): OidcError {
  if (error instanceof OidcError) return error;
  const { message, code } = error as Error & { code?: string };
  if (error instanceof client.AuthorizationResponseError && error.error === 'access_denied')
    return new OidcError('denied', 'the user did not consent', { cause: error });
  const isUnanswered = UNANSWERED.has(code ?? '') || (error instanceof TypeError && message === 'fetch failed');
  return new OidcError(
    isUnanswered ? 'unavailable' : otherwise,
    code === undefined ? message : `${message} (${code})`,
    {
      cause: error,
    },
  );
}

/** Some providers send groups and addresses only with the user's details. */
async function withUserInfo(
  configuration: client.Configuration,
  tokens: client.TokenEndpointResponse,
  claims: client.IDToken,
  { roles }: OidcSettings,
): Promise<JWTPayload> {
  const isComplete = Object.keys(roles).some((claim) => claims[claim] !== undefined) && claims['email'] !== undefined;
  if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
  const details = await client.fetchUserInfo(configuration, tokens.access_token, claims.sub);
  return { ...details, ...claims };
}

function profileOf(claims: JWTPayload, issuer: string, roles: OidcSettings['roles']): Profile {
  const textOf = (name: string): string | null => {
    const value = claims[name];
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const name = textOf('name');
  return {
    issuer,
    subject: claims.sub as string,
    session: textOf('sid'),
    email: claims['email_verified'] === false ? null : (z.email().max(320).safeParse(claims['email']).data ?? null),
    name: checkName(name ?? undefined).ok ? name : null,
    role: roleOf(claims, roles),
  };
}

/** The highest of the roles that the claims have. A claim is a text or a list of texts. */
function roleOf(claims: JWTPayload, roles: OidcSettings['roles']): Role | null {
  const held = new Set<Role>();
  for (const [claim, byValue] of Object.entries(roles)) {
    const value = claims[claim];
    for (const each of Array.isArray(value) ? value : [value]) {
      const role = typeof each === 'string' && Object.hasOwn(byValue, each) ? byValue[each] : undefined;
      if (role !== undefined) held.add(role);
    }
  }
  return ROLES.find((role) => held.has(role)) ?? null;
}

/** Validates a logout token as section 2.6 of OpenID Connect Back-Channel Logout 1.0 requires. */
async function readLogoutToken(
  token: string,
  keys: JWTVerifyGetKey,
  { issuer, audience, now }: { issuer: string; audience: string; now: Date },
): Promise<ProviderLogout> {
  const { payload } = await jwtVerify(token, keys, {
    issuer,
    audience,
    algorithms: PUBLIC_KEY_ALGORITHMS,
    maxTokenAge: LOGOUT_TOKEN_AGE,
    clockTolerance: CLOCK_TOLERANCE,
    currentDate: now,
  });
  const { sub, sid, events, nonce } = payload;
  const isLogout = typeof events === 'object' && events !== null && Object.hasOwn(events, LOGOUT_EVENT);
  // With a nonce it could be an ID token.
  if (!isLogout || nonce !== undefined) throw new OidcError('failed', 'the token is not a logout token');
  if (typeof sub !== 'string' && typeof sid !== 'string')
    throw new OidcError('failed', 'the logout token names neither a subject nor a session');
  return { issuer, subject: sub ?? null, session: typeof sid === 'string' ? sid : null };
}

const ISSUER = 'data-platform-service';

/** Signed texts. Their key differs from that of access tokens, so that none of them is accepted as one. */
function createSeals(secret: string, clock: () => number): Pick<Oidc, 'seal' | 'unseal'> {
  const keyOf = (purpose: SealPurpose) => createHmac('sha256', secret).update(`oidc ${purpose}`).digest();
  return {
    seal: (purpose, content) =>
      new SignJWT(content)
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer(ISSUER)
        .setExpirationTime(Math.floor(clock() / 1000) + SEALED_FOR[purpose])
        .sign(keyOf(purpose)),

    async unseal(purpose, text) {
      try {
        const { payload } = await jwtVerify(text, keyOf(purpose), {
          algorithms: ['HS256'],
          issuer: ISSUER,
          currentDate: new Date(clock()),
        });
        return payload;
      } catch {
        return null;
      }
    },
  };
}
