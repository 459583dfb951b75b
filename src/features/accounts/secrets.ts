/* Random secrets and their hashes. Only hashes are stored. */
import { createHash, randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import type { Pool } from 'pg';
import { SETTING_KEYS, own } from '../../postgres/own-tables.js';
import { expectOneRow } from './queries.js';

/** The prefix of static tokens, by which scanners can recognize leaked ones. */
const TOKEN_PREFIX = 'dps_';

/** 32 random bytes, base64url. */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Creates a static token. It is shown once, and only its hash is stored. */
export function newStaticToken(): string {
  return TOKEN_PREFIX + randomSecret();
}

/**
 * Returns the sha256 of a secret. Salt and stretching are not needed, because secrets are long and random. The hash
 * only protects against a leaked table.
 */
export function secretHash(secret: string): Buffer {
  return createHash('sha256').update(secret, 'utf8').digest();
}

/* Hash passwords with argon2id and the defaults of @node-rs/argon2 (19 MiB, 2 passes), as OWASP recommends. */

export interface Passwords {
  hash(password: string): Promise<string>;
  /**
   * Checks `password` against `stored`. Without a stored hash (unknown user, no password) it takes the same time, so
   * that the time reveals nothing.
   */
  matches(password: string, stored: string | null): Promise<boolean>;
}

export function createPasswords(): Passwords {
  let decoy: Promise<string> | undefined;
  // The same characters can be typed as different code points. NFKC converts them to one password.
  const normal = (password: string): string => password.normalize('NFKC');

  return {
    hash: (password) => hash(normal(password)),

    async matches(password, stored) {
      const against = stored ?? (await (decoy ??= hash(randomSecret())));
      // If the hash was altered in the database, verification may throw. No password matches such a hash.
      const same = await verify(against, normal(password)).catch(() => false);
      return same && stored !== null;
    },
  };
}

/* The secret that access tokens are signed with. */

/**
 * Returns the configured secret (TOKEN_SECRET), or the generated secret of this database. The first process generates
 * it, so that all processes accept each other's tokens, even after a restart.
 */
export async function tokenSecret(pool: Pick<Pool, 'query'>, configured: string | null): Promise<string> {
  if (configured !== null) return configured;
  await pool.query(
    `insert into ${own.settings} as s (key, value) values ($1, pg_catalog.to_jsonb($2::text))
      on conflict (key) do update set value = excluded.value where pg_catalog.jsonb_typeof(s.value) <> 'string'`,
    [SETTING_KEYS.tokenSecret, randomSecret()],
  );
  const stored = await pool.query<{ value: string }>(`select value from ${own.settings} where key = $1`, [
    SETTING_KEYS.tokenSecret,
  ]);
  return expectOneRow(stored).value;
}

/** Returns the secret in the database. Null if none was generated yet. */
export async function storedSecret(pool: Pick<Pool, 'query'>): Promise<string | null> {
  const { rows } = await pool.query<{ value: string }>(`select value from ${own.settings} where key = $1`, [
    SETTING_KEYS.tokenSecret,
  ]);
  return rows[0]?.value ?? null;
}
