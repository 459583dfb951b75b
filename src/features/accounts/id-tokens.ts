/* Verifies ID tokens of the issuers that trust rules name. */
import {
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyResult,
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  jwtVerify,
} from 'jose';
import { z } from 'zod';
import { isIssuer } from '../../kernel/networks.js';
import { ProblemError } from '../../kernel/problem.js';
import { visibleText } from '../../kernel/text.js';
import { unavailableProblem } from '../../postgres/errors.js';
import { CLOCK_TOLERANCE, PUBLIC_KEY_ALGORITHMS, providerSubject } from './oidc.js';
import { secretHash } from './secrets.js';

/** The possible reasons for rejecting an ID token. */
type Check =
  | 'format'
  | 'issuer'
  | 'algorithm'
  | 'key'
  | 'signature'
  | 'audience'
  | 'expiry'
  | 'start'
  | 'age'
  | 'claims'
  | 'exchanged';

/** The messages for clients. Clients need no token to see them, so they contain nothing from the rules. */
const SENTENCES: Readonly<Record<Check, string>> = {
  format: 'The value is not an ID token.',
  issuer: 'The issuer of the ID token is not trusted.',
  algorithm: 'The algorithm of the ID token is not allowed. It must be signed with a public key (RS, PS, ES or EdDSA).',
  key: 'The issuer has no key with the id of the ID token.',
  signature: 'The signature of the ID token is invalid.',
  audience: 'No trust rule accepts the audience of the ID token.',
  expiry: 'The ID token has expired.',
  start: 'The ID token is not valid yet.',
  age: 'The ID token is too old, or was issued in the future.',
  claims: 'No trust rule accepts the claims of the ID token. The service log contains the subject.',
  exchanged: 'The ID token was already exchanged. Request a new one.',
};

/** Rejects an ID token. */
export class IdTokenError extends Error {
  readonly check: Check;
  /** The reason in detail, only for the service log. */
  readonly detail: string;

  constructor(check: Check, detail: string, options?: ErrorOptions) {
    super(SENTENCES[check], options);
    this.check = check;
    this.detail = detail;
  }
}

export interface IdToken {
  subject: string;
  audiences: readonly string[];
  claims: Readonly<Record<string, unknown>>;
  /** The hash of the signed part. It does not depend on the encoding of the signature. */
  hash: Buffer;
  /** The ID token is too old to be accepted long before this time, even if the clocks of processes differ. */
  recordedUntil: Date;
}

export interface IdTokens {
  /**
   * Verifies everything except the audience and the claims that a rule requires.
   * @param issuers the only issuers whose keys may be fetched
   * @throws IdTokenError, or ProblemError with UNAVAILABLE if the issuer does not respond
   */
  verify(token: string, issuers: ReadonlySet<string>): Promise<IdToken>;
}

/**
 * Number of seconds after its issue in which an ID token is accepted. GitLab issues the ID token when the job starts.
 */
const LONGEST_AGE = 3_600;

/** Number of seconds after its issue in which the service remembers an exchanged ID token. */
const RECORDED_FOR = 86_400;

/** Milliseconds within which an issuer must send each of its two documents. */
const TIMEOUT = 3_000;

/** Minimum number of milliseconds between two requests for keys because of an unknown key. */
const KEY_PAUSE = 5_000;

/** Number of milliseconds after which the address of the keys is read again. */
const DISCOVERED_FOR = 3_600_000;

/** Maximum size in bytes of an issuer's document. */
const MOST_BYTES = 256 * 1024;

interface DiscoveredIssuer {
  keys: JWTVerifyGetKey;
  /** Milliseconds since 1970. The address of the keys is read again afterwards. */
  expiresAt: number;
}

/**
 * Keys are cached for ten minutes, even while their issuer does not respond. A token with an unknown key fetches them
 * again, at most every five seconds. Requests that arrive while an issuer is contacted share one connection.
 */
export function createIdTokens({ clock }: { clock: () => number }): IdTokens {
  const issuers = new Map<string, Promise<DiscoveredIssuer>>();

  async function discoverOnce(issuer: string): Promise<DiscoveredIssuer> {
    const cached = await issuers.get(issuer);
    if (cached !== undefined && cached.expiresAt > clock()) return cached;
    const discovering = discover(issuer, clock() + DISCOVERED_FOR).catch((error: unknown) => {
      if (cached === undefined) throw error;
      return { ...cached, expiresAt: clock() + KEY_PAUSE };
    });
    issuers.set(issuer, discovering);
    try {
      return await discovering;
    } catch (error) {
      if (issuers.get(issuer) === discovering) issuers.delete(issuer);
      throw error;
    }
  }

  return {
    async verify(token, trusted) {
      const issuer = readIssuer(token);
      if (!trusted.has(issuer)) throw new IdTokenError('issuer', `no rule names the issuer ${quoteStart(issuer)}`);
      for (const each of issuers.keys()) if (!trusted.has(each)) issuers.delete(each);
      let discovered: DiscoveredIssuer;
      try {
        discovered = await discoverOnce(issuer);
      } catch (error) {
        throw unavailableIssuer(issuer, error);
      }
      try {
        const verified = await jwtVerify(token, discovered.keys, {
          issuer,
          algorithms: PUBLIC_KEY_ALGORITHMS,
          requiredClaims: ['sub', 'aud', 'exp', 'iat'],
          maxTokenAge: LONGEST_AGE,
          clockTolerance: CLOCK_TOLERANCE,
          currentDate: new Date(clock()),
        });
        return toIdToken(token, verified);
      } catch (error) {
        if (error instanceof IdTokenError) throw error;
        const check = checkOf(error);
        if (check !== null) throw new IdTokenError(check, `${issuer}: ${(error as Error).message}`, { cause: error });
        // The issuer may have moved its keys to another address.
        discovered.expiresAt = 0;
        throw unavailableIssuer(issuer, error);
      }
    },
  };
}

/** Reads the issuer before the signature is verified. The result is only compared with the rules. */
function readIssuer(token: string): string {
  let claims: JWTPayload;
  try {
    claims = decodeJwt(token);
  } catch (cause) {
    throw new IdTokenError('format', 'the token cannot be decoded', { cause });
  }
  if (typeof claims.iss !== 'string') throw new IdTokenError('format', 'the token names no issuer');
  return claims.iss;
}

/** The text is not signed, so its length and characters cannot be trusted. */
const quoteStart = (text: string): string => visibleText(JSON.stringify(text.slice(0, 200)));

function toIdToken(token: string, { payload, protectedHeader: { typ } }: JWTVerifyResult): IdToken {
  const { sub, aud, iat = 0 } = payload;
  // Access tokens and logout tokens have other values of `typ`. The issuer determines it, so it can be of any type.
  if (typ !== undefined && String(typ).toUpperCase() !== 'JWT')
    throw new IdTokenError('format', `the token has the type ${JSON.stringify(typ)}`);
  const subject = pipelineSubject.safeParse(sub);
  if (!subject.success)
    throw new IdTokenError('format', 'the subject is empty, too long, or contains control characters');
  const audiences = audienceList.safeParse(aud);
  if (!audiences.success) throw new IdTokenError('format', 'the audience is neither a string nor an array of strings');
  return {
    subject: subject.data,
    audiences: [audiences.data].flat(),
    claims: payload,
    hash: secretHash(token.slice(0, token.lastIndexOf('.'))),
    recordedUntil: new Date((iat + RECORDED_FOR) * 1000),
  };
}

/** Subjects of pipelines contain the names of a repository and of a branch or an environment, each up to 255 characters. */
const pipelineSubject = providerSubject(1_000);

const audienceList = z.union([z.string(), z.array(z.string())]);

/* Fetches the keys of an issuer. */

async function discover(issuer: string, expiresAt: number): Promise<DiscoveredIssuer> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const options = { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT) } as const;
  const response = await fetchLimited(address, options);
  if (response.status !== 200) throw new Error(`${address} responded with ${response.status}`);
  const { issuer: name, jwks_uri: uri } = (await response.json()) as { issuer?: unknown; jwks_uri?: unknown };
  if (name !== issuer) throw new Error(`${address} names another issuer`);
  if (typeof uri !== 'string' || !URL.canParse(uri) || !isKeyAddress(uri, issuer))
    throw new Error(`${address} does not name an https address for its keys`);
  const keys = createRemoteJWKSet(new URL(uri), {
    timeoutDuration: TIMEOUT,
    cooldownDuration: KEY_PAUSE,
    [customFetch]: fetchLimited,
  });
  return { keys, expiresAt };
}

/**
 * True if keys may be fetched from the address. Only an issuer on this machine may publish its keys without TLS, and
 * only on this machine.
 */
function isKeyAddress(uri: string, issuer: string): boolean {
  const { protocol } = new URL(uri);
  return protocol === 'https:' || (new URL(issuer).protocol === 'http:' && isIssuer(new URL(uri).origin));
}

/**
 * Reads at most `MOST_BYTES`. The body of an error response is not read. The signal also ends the reading of a slow
 * body.
 */
async function fetchLimited(address: string, options: RequestInit): Promise<Response> {
  const response = await fetch(address, options);
  const { status, body } = response;
  if (status !== 200 || body === null) {
    await body?.cancel();
    return new Response(null, { status: status >= 200 ? status : 502 });
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error(`${address} sent more than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks), { status });
}

/* Determine which check failed. */

/** Error codes of jose. All other codes mean that the keys could not be read. */
const CODES: Readonly<Record<string, Check>> = {
  ERR_JWT_EXPIRED: 'expiry',
  ERR_JWT_CLAIM_VALIDATION_FAILED: 'format',
  ERR_JOSE_ALG_NOT_ALLOWED: 'algorithm',
  ERR_JOSE_NOT_SUPPORTED: 'algorithm',
  ERR_JWKS_NO_MATCHING_KEY: 'key',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'key',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'signature',
  ERR_JWT_INVALID: 'format',
  ERR_JWS_INVALID: 'format',
};

const CLAIM_CHECKS: Readonly<Record<string, Check>> = { nbf: 'start', iat: 'age' };

/** Returns the failed check. Null if the keys could not be read. */
function checkOf(error: unknown): Check | null {
  const { code = '', claim = '', reason } = error as { code?: string; claim?: string; reason?: string };
  const byClaim = reason === 'check_failed' ? CLAIM_CHECKS[claim] : undefined;
  return byClaim ?? CODES[code] ?? null;
}

const unavailableIssuer = (issuer: string, cause: unknown): ProblemError =>
  new ProblemError(
    unavailableProblem(
      'The OpenID issuer of the ID token does not respond, or publishes no usable keys. Try again later.',
    ),
    new Error(`the keys of ${issuer} cannot be read`, { cause }),
  );
