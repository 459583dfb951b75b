import type { Pool } from 'pg';
import { createAccessTokens } from './access-tokens.js';
import { ensureAdmin, type FirstAdmin, type FirstAdminSettings, type RecordFirstAdmin } from './first-admin.js';
import { createIdentify, type Identify } from './identify.js';
import { createLiveSessions, type LiveSessions, createSessions, type Sessions } from './sessions.js';
import { createLoginLimit, type LoginLimit } from './login-limit.js';
import { createPasswords, tokenSecret } from './secrets.js';
import { createTokens, type Tokens } from './tokens.js';
import { createUsers, type Users } from './users.js';

export interface Auth {
  users: Users;
  tokens: Tokens;
  sessions: Sessions;
  liveSessions: LiveSessions;
  loginLimit: LoginLimit;
  identify: Identify;
  /** See first-admin.ts. */
  ensureAdmin(settings: FirstAdminSettings, record?: RecordFirstAdmin): Promise<FirstAdmin>;
  /** Stops the timers. The caller closes the pool. */
  stop(): void;
}

export interface AuthDeps {
  pool: Pool;
  /** TOKEN_SECRET; null for the generated secret of the database. */
  secret: string | null;
  /** Milliseconds since 1970. */
  clock?: () => number;
}

/** The authentication services of a migrated database. */
export async function createAuth({ pool, secret, clock = Date.now }: AuthDeps): Promise<Auth> {
  const passwords = createPasswords();
  const key = await tokenSecret(pool, secret);
  const accessTokens = createAccessTokens({ secret: key, clock });
  const loginLimit = createLoginLimit();
  return {
    users: createUsers({ pool, passwords }),
    tokens: createTokens({ pool }),
    sessions: createSessions({ pool, passwords, accessTokens, secret: key, clock }),
    liveSessions: createLiveSessions({ pool, clock }),
    loginLimit,
    identify: createIdentify({ pool, accessTokens, clock }),
    ensureAdmin: (settings, record) => ensureAdmin({ pool, passwords }, settings, record),
    stop: () => loginLimit.stop(),
  };
}
