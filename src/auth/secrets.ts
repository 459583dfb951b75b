/** Random secrets and their hashes. Only hashes are stored. */
import { createHash, randomBytes } from 'node:crypto';

/** Static tokens start with this, so that they are recognised when they turn up where they shouldn't. */
const TOKEN_PREFIX = 'dps_';

/** 32 random bytes, base64url. */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** A new static token. It is shown once; what is kept is its hash. */
export function newStaticToken(): string {
  return TOKEN_PREFIX + randomSecret();
}

/**
 * sha256 of a secret. Without salt or stretching, because the secrets are random and long: the hash only keeps a
 * leaked table from being a list of keys.
 */
export function secretHash(secret: string): Buffer {
  return createHash('sha256').update(secret, 'utf8').digest();
}
