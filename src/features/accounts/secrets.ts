/* Random secrets and their hashes. Only hashes are stored. */
import { createHash, randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import type { Pool } from 'pg';
import { SETTING_KEYS, own } from '../../postgres/own-tables.js';
import { expectOneRow } from './queries.js';

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

/* Hashes passwords with argon2id and the defaults of @node-rs/argon2 (19 MiB, 2 passes: OWASP's recommendation). */

export interface Passwords {
  hash(password: string): Promise<string>;
  /**
   * Checks `password` against `stored`. Takes the same time if nothing is stored (unknown user, no password), so that
   * the time reveals nothing.
   */
  matches(password: string, stored: string | null): Promise<boolean>;
}

/** Passwords are hashed in NFKC, so that equal characters are equal in any composition. */
export function createPasswords(): Passwords {
  let decoy: Promise<string> | undefined;
  // The same characters can be typed as different code points; NFKC makes them one password.
  const normal = (password: string): string => password.normalize('NFKC');

  return {
    hash: (password) => hash(normal(password)),

    async matches(password, stored) {
      const against = stored ?? (await (decoy ??= hash(randomSecret())));
      // Someone may have changed the hash in the database. No password matches such a hash.
      const same = await verify(against, normal(password)).catch(() => false);
      return same && stored !== null;
    },
  };
}

/* The secret that access tokens are signed with. */

/**
 * The given secret (TOKEN_SECRET), or the generated one of this database. The first process generates it, so that all
 * processes accept each other's tokens, also after a restart.
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

/** The secret in the database; null if there is none yet. */
export async function storedSecret(pool: Pick<Pool, 'query'>): Promise<string | null> {
  const { rows } = await pool.query<{ value: string }>(`select value from ${own.settings} where key = $1`, [
    SETTING_KEYS.tokenSecret,
  ]);
  return rows[0]?.value ?? null;
}
