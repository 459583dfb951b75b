/** Random secrets and their hashes. Only hashes are stored. */
import { createHash, randomBytes } from 'node:crypto';

/** The prefix of static tokens, so that leaked ones can be recognized. */
const TOKEN_PREFIX = 'dps_';

/** 32 random bytes, base64url. */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** A new static token. It is shown once, and only its hash is stored. */
export function newStaticToken(): string {
  return TOKEN_PREFIX + randomSecret();
}

/**
 * The sha256 of a secret. It needs no salt or stretching, because secrets are long and random. The hash only protects
 * against a leaked table.
 */
export function secretHash(secret: string): Buffer {
  return createHash('sha256').update(secret, 'utf8').digest();
}
