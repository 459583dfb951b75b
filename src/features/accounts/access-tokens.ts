import { createHash } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';

/** 15 minutes in milliseconds. */
export const ACCESS_TOKEN_LIFETIME = 15 * 60 * 1000;

const ISSUER = 'data-platform-service';
const ALGORITHM = 'HS256';

interface AccessClaims {
  userId: string;
  sessionId: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

export interface AccessTokens {
  issue(userId: string, sessionId: string): Promise<string>;
  /** Returns the claims. Null if the token was changed, has expired, or was not issued by this service. */
  read(token: string): Promise<AccessClaims | null>;
}

/**
 * @param options `secret` may have any length, because its sha256 is the key. `clock` returns milliseconds since 1970.
 */
export function createAccessTokens({ secret, clock }: { secret: string; clock: () => number }): AccessTokens {
  const key = createHash('sha256').update(secret, 'utf8').digest();

  return {
    issue(userId, sessionId) {
      const now = Math.floor(clock() / 1000);
      return new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .setIssuer(ISSUER)
        .setSubject(userId)
        .setIssuedAt(now)
        .setExpirationTime(now + ACCESS_TOKEN_LIFETIME / 1000)
        .sign(key);
    },

    async read(token) {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: [ALGORITHM],
          issuer: ISSUER,
          currentDate: new Date(clock()),
        });
        const { sub, sid, exp } = payload;
        if (typeof sub !== 'string' || typeof sid !== 'string' || typeof exp !== 'number') return null;
        return { userId: sub, sessionId: sid, expiresAt: exp * 1000 };
      } catch (error) {
        if (error instanceof errors.JOSEError) return null;
        throw error;
      }
    },
  };
}

/** Checks whether a bearer token has the format of a JWT. Static tokens never have this format. */
export function looksLikeAccessToken(token: string): boolean {
  return /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(token);
}
