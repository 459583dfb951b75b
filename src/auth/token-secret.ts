/** The secret that access tokens are signed with. */
import type { Pool } from 'pg';
import { randomSecret } from './secrets.js';
import { own } from '../postgres/own-tables.js';
import { onlyRow } from './queries.js';

const KEY = 'token_secret';

/**
 * The given secret (TOKEN_SECRET), or the generated one of this database. The first process generates it, so that all
 * processes accept each other's tokens, also after a restart.
 */
export async function tokenSecret(pool: Pick<Pool, 'query'>, given: string | null): Promise<string> {
  if (given !== null) return given;
  await pool.query(
    `insert into ${own.settings} (key, value) values ($1, pg_catalog.to_jsonb($2::text)) on conflict do nothing`,
    [KEY, randomSecret()],
  );
  const found = await pool.query<{ value: string }>(`select value from ${own.settings} where key = $1`, [KEY]);
  return onlyRow(found).value;
}

/** The secret in the database; null if there is none yet. */
export async function storedSecret(pool: Pick<Pool, 'query'>): Promise<string | null> {
  const { rows } = await pool.query<{ value: string }>(`select value from ${own.settings} where key = $1`, [KEY]);
  return rows[0]?.value ?? null;
}
