/* Sign-in with an OpenID provider: authorization code with PKCE, state and nonce. */
import { createHmac } from 'node:crypto';
import { EncryptJWT, type JWTPayload, type JWTVerifyGetKey, createRemoteJWKSet, jwtDecrypt, jwtVerify } from 'jose';
import * as client from 'openid-client';
import { z } from 'zod';
import { sha256 } from '../../kernel/sha256.js';
import { invisibleFault } from '../../kernel/text.js';
import { checkUserName } from './account-rules.js';
import { ROLES, type Role } from './caller.js';

/** The values of the settings OIDC_…. */
export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string | null;
  /** Scopes separated by spaces. They contain `openid`. */
  scopes: string;
  /** The roles of claims by value: `{ groups: { platform: 'admin' } }`. */
  roles: Readonly<Record<string, Readonly<Record<string, Role>>>>;
  /** The label of the button on the login page. */
  label: string;
}

/** A person as described by the provider. */
export interface Profile {
  issuer: string;
  subject: string;
  /** The hash of the id of the provider's session. Null if the provider sends none. */
  session: string | null;
  /** Null if the provider sends no address, or an address that is not verified. */
  email: string | null;
  name: string | null;
  /** The highest role of all claims. Null if no claim has a role. */
  role: Role | null;
}

/** The page or the command line to which a sign-in returns. */
export interface Target {
  /** The address of the callback, as registered at the provider. */
  redirectUri: string;
  /** The path in the app; null for a command line. */
  path: string | null;
  /** The command line that waits on a loopback port, with the S256 challenge of its verifier. Null for the app. */
  cli: { port: number; challenge: string } | null;
}

/** The reason why a sign-in failed. `unavailable`: the provider did not respond. `denied`: the user did not consent. */
export type OidcFailure = 'failed' | 'unavailable' | 'denied';

export class OidcError extends Error {
  readonly reason: OidcFailure;

  /** @param message a message for the service log */
  constructor(reason: OidcFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** A sign-in that the user confirms in a browser of any device (RFC 8628). */
interface DeviceSignIn {
  /** A sealed text with the device code, which identifies the sign-in. */
  device: string;
  userCode: string;
  /** The page where the user enters the code, and the page that already contains it. */
  page: string;
  completePage: string | null;
  /** In seconds. */
  expiresIn: number;
  interval: number;
}

/** `waiting`: ask again with `device` after `interval` seconds. */
type DeviceOutcome =
  { kind: 'waiting'; device: string; interval: number } | { kind: 'expired' } | { kind: 'done'; profile: Profile };

/** A logout that the provider reports. At least one of `subject` and `session` (a hash) is set. */
interface ProviderLogout {
  issuer: string;
  subject: string | null;
  session: string | null;
}

export interface Oidc {
  label: string;
  /**
   * Starts a sign-in. @returns the provider's address, and the secrets of this attempt as a sealed text for a cookie
   */
  begin(target: Target): Promise<{ location: string; attempt: string }>;
  /**
   * Completes a sign-in.
   * @param query the query of the callback, as received
   * @throws OidcError
   */
  finish(query: string, attempt: string): Promise<{ profile: Profile; target: Target }>;
  /** Reads the target of an attempt that did not finish. Null if the text is not a valid attempt, or has expired. */
  targetOf(attempt: string): Promise<Target | null>;
  /** Starts a sign-in on another device. Null if the provider does not support that. @throws OidcError */
  beginDevice(): Promise<DeviceSignIn | null>;
  /** Asks the provider once. @throws OidcError */
  finishDevice(device: string): Promise<DeviceOutcome>;
  /** @throws OidcError */
  readLogout(token: string): Promise<ProviderLogout>;
  /** Encrypts content for a cookie or a redirect. Nobody else can read or change it. The text is valid for a limited time. */
  seal(purpose: SealPurpose, content: JWTPayload): Promise<string>;
  /** Reads a sealed text. Null if the text has a different purpose, was changed, or has expired. */
  unseal(purpose: SealPurpose, text: string): Promise<JWTPayload | null>;
}

/**
 * The purpose of a sealed text. `attempt`: the secrets of a sign-in. `link`: a profile that a user is about to link.
 * `code`: a sign-in that a command line exchanges for a session. `device`: a sign-in on another device.
 */
type SealPurpose = 'attempt' | 'link' | 'code' | 'device';

/** Lifetime of each sealed text in seconds. */
const SEALED_FOR: Readonly<Record<SealPurpose, number>> = {
  attempt: 600,
  link: 600,
  code: 60,
  device: 1_800,
};

/** Seconds by which the clocks of the provider and the service may differ. */
export const CLOCK_TOLERANCE = 30;

/** Algorithms whose signatures only the owner of a private key can create. */
export const PUBLIC_KEY_ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA'.split(' ');

/** Number of seconds within which the provider must respond. */
const TIMEOUT = 10;

/** Number of seconds after its issue in which a logout token is accepted. */
const LOGOUT_TOKEN_AGE = 600;

const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

interface OidcOptions {
  settings: OidcSettings;
  /** The secret of the service. It is the same in all processes. */
  secret: string;
  /** Milliseconds since 1970. */
  clock: () => number;
}

/** Reads the provider's configuration at the first sign-in, and again after a failed sign-in. */
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

    async beginDevice() {
      const { configuration } = await mapToUnavailable(provider);
      if (configuration.serverMetadata().device_authorization_endpoint === undefined) return null;
      try {
        const started = await client.initiateDeviceAuthorization(configuration, { scope: settings.scopes });
        const { device_code: code, interval = DEFAULT_INTERVAL, expires_in: expiresIn } = started;
        return {
          device: await seal('device', { code, interval }),
          userCode: started.user_code,
          page: started.verification_uri,
          completePage: started.verification_uri_complete ?? null,
          expiresIn,
          interval,
        };
      } catch (error) {
        throw failureOf(error);
      }
    },

    async finishDevice(device) {
      const sealed = (await unseal('device', device)) as { code: string; interval: number } | null;
      if (sealed === null) return { kind: 'expired' };
      const { code, interval } = sealed;
      const { issuer, configuration } = await mapToUnavailable(provider);
      try {
        const tokens = await client.genericGrantRequest(configuration, DEVICE_GRANT, { device_code: code });
        const claims = tokens.claims();
        if (claims === undefined) throw new OidcError('failed', 'the provider sent no ID token');
        const completeClaims = await withUserInfo(configuration, tokens, claims, settings);
        return { kind: 'done', profile: profileOf(completeClaims, issuer, settings.roles) };
      } catch (error) {
        const refusal = error instanceof client.ResponseBodyError ? error.error : undefined;
        if (refusal === 'authorization_pending') return { kind: 'waiting', device, interval };
        if (refusal === 'slow_down') {
          const longer = interval + SLOW_DOWN;
          return { kind: 'waiting', device: await seal('device', { code, interval: longer }), interval: longer };
        }
        // A provider can forget expired codes.
        if (refusal === 'expired_token' || refusal === 'invalid_grant') return { kind: 'expired' };
        // The provider may have replaced its keys since they were read. A response with an error code used no key.
        if (refusal === undefined) discovered = undefined;
        throw failureOf(error);
      }
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

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** Seconds between two requests, if the provider names no interval, and the increase after `slow_down` (RFC 8628). */
const DEFAULT_INTERVAL = 5;
const SLOW_DOWN = 5;

interface Attempt {
  target: Target;
  state: string;
  nonce: string;
  /** The PKCE code verifier. */
  verifier: string;
}

interface Provider {
  /** The issuer in the provider's metadata. Its tokens must contain the same issuer. */
  issuer: string;
  configuration: client.Configuration;
  keys: ReturnType<typeof createRemoteJWKSet>;
}

/**
 * Reads the provider's configuration and keys once, as a sign-in does.
 * @throws OidcError
 */
export async function checkProvider(settings: OidcSettings): Promise<void> {
  const { keys } = await mapToUnavailable(async () => {
    const provider = await discover(settings);
    await provider.keys.reload();
    return provider;
  });
  if (keys.jwks()?.keys.length === 0) throw new OidcError('failed', 'the provider publishes no keys');
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
        // By default, the client does not verify the signature of an ID token that arrives directly from the provider
        // over TLS.
        client.enableNonRepudiationChecks,
        ...(isPlain ? [client.allowInsecureRequests] : []),
      ],
    },
  );
  const { jwks_uri: keys, issuer: name } = configuration.serverMetadata();
  if (keys === undefined) throw new OidcError('failed', 'the provider publishes no keys');
  return { issuer: name, configuration, keys: createRemoteJWKSet(new URL(keys), { timeoutDuration: TIMEOUT * 1000 }) };
}

/** Converts an error without a known reason to `unavailable`. */
async function mapToUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw failureOf(error, 'unavailable');
  }
}

/** Error codes of openid-client for a missing response, or for one that does not follow the protocol. */
const UNANSWERED = new Set(['OAUTH_TIMEOUT', 'OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON']);

const isDenial = (error: unknown): boolean =>
  (error instanceof client.AuthorizationResponseError || error instanceof client.ResponseBodyError) &&
  error.error === 'access_denied';

function isUnanswered(error: unknown): boolean {
  if (error instanceof client.ResponseBodyError) return error.status >= 500;
  const { message, code = '' } = error as Error & { code?: string };
  return UNANSWERED.has(code) || (error instanceof TypeError && message === 'fetch failed');
}

function failureOf(error: unknown, otherwise: OidcFailure = 'failed'): OidcError {
  if (error instanceof OidcError) return error;
  const { message, code } = error as Error & { code?: string };
  if (isDenial(error)) return new OidcError('denied', 'the user did not consent', { cause: error });
  return new OidcError(
    isUnanswered(error) ? 'unavailable' : otherwise,
    code === undefined ? message : `${message} (${code})`,
    { cause: error },
  );
}

/** Adds the claims of the userinfo endpoint. Some providers send groups and addresses only there. */
async function withUserInfo(
  configuration: client.Configuration,
  tokens: client.TokenEndpointResponse,
  claims: client.IDToken,
  { roles }: OidcSettings,
): Promise<JWTPayload> {
  const isComplete = Object.keys(roles).some((claim) => Object.hasOwn(claims, claim)) && claims['email'] !== undefined;
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
    subject: subjectOf(claims) as string,
    session: sessionOf(claims),
    // Some providers send "false" as a string.
    email:
      String(claims['email_verified']) === 'false'
        ? null
        : (z.email().max(320).safeParse(claims['email']).data ?? null),
    name: checkUserName(name ?? undefined).ok ? name : null,
    role: roleOf(claims, roles),
  };
}

/** Returns the highest role of all claims. A claim is a string or an array of strings. */
function roleOf(claims: JWTPayload, roles: OidcSettings['roles']): Role | null {
  const held = new Set<Role>();
  for (const [claim, byValue] of Object.entries(roles)) {
    const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
    for (const each of Array.isArray(value) ? value : [value]) {
      const role = typeof each === 'string' && Object.hasOwn(byValue, each) ? byValue[each] : undefined;
      if (role !== undefined) held.add(role);
    }
  }
  return ROLES.find((role) => held.has(role)) ?? null;
}

/** A subject. It must be safe to store and to display: the log shows the one of a pipeline in the name of the actor. */
export const providerSubject = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .refine((text) => invisibleFault(text) === null);

/** OpenID Connect limits the subjects of people to 255 characters. */
const personSubject = providerSubject(255);

/** @throws OidcError */
function subjectOf({ sub }: JWTPayload): string | null {
  if (sub === undefined) return null;
  const subject = personSubject.safeParse(sub);
  if (subject.success) return subject.data;
  throw new OidcError('failed', 'the claim sub is empty, too long, or contains control characters');
}

/**
 * Returns the hash of the session id. OpenID Connect allows any text, and the service only compares session ids.
 * @throws OidcError
 */
function sessionOf({ sid }: JWTPayload): string | null {
  if (sid === undefined) return null;
  // JSON escapes halves of surrogate pairs. As UTF-8, all of them would be the same character.
  if (typeof sid === 'string' && sid !== '') return sha256(JSON.stringify(sid));
  throw new OidcError('failed', 'the claim sid is not a string, or is empty');
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
  const { events, nonce } = payload;
  const isLogout = typeof events === 'object' && events !== null && Object.hasOwn(events, LOGOUT_EVENT);
  // An ID token can contain a nonce, but a logout token cannot.
  if (!isLogout || nonce !== undefined) throw new OidcError('failed', 'the token is not a logout token');
  const [subject, session] = [subjectOf(payload), sessionOf(payload)];
  if (subject === null && session === null)
    throw new OidcError('failed', 'the logout token names neither a subject nor a session');
  return { issuer, subject, session };
}

const ISSUER = 'data-platform-service';

/**
 * Encrypts and decrypts strings. Their key differs from that of access tokens, so that none of them is accepted as an
 * access token.
 */
function createSeals(secret: string, clock: () => number): Pick<Oidc, 'seal' | 'unseal'> {
  const keyOf = (purpose: SealPurpose) => createHmac('sha256', secret).update(`oidc ${purpose}`).digest();
  return {
    seal: (purpose, content) =>
      new EncryptJWT(content)
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setIssuer(ISSUER)
        .setExpirationTime(Math.floor(clock() / 1000) + SEALED_FOR[purpose])
        .encrypt(keyOf(purpose)),

    async unseal(purpose, text) {
      try {
        const { payload } = await jwtDecrypt(text, keyOf(purpose), {
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
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
