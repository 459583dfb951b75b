import type { Pool } from 'pg';
import {
  createAccessTokens,
  createLiveSessions,
  type LiveSessions,
  createSessions,
  type Sessions,
} from './sessions.js';
import { ensureAdmin, type FirstAdmin, type FirstAdminSettings, type RecordFirstAdmin } from './first-admin.js';
import { createIdentify, type Identify } from './identify.js';
import { createIdentities, type Identities } from './identities.js';
import { createOidc, type Oidc, type OidcSettings } from './oidc.js';
import { createLoginLimit, type LoginLimit } from './login-limit.js';
import { createDiagrams, type Diagrams } from './diagrams.js';
import { createPasswords, tokenSecret } from './secrets.js';
import { createTokens, type Tokens } from './tokens.js';
import { createTrust, type Trust } from './trust.js';
import { createIdTokens } from './id-tokens.js';
import { createUsers, type Users } from './users.js';

export interface Auth {
  users: Users;
  tokens: Tokens;
  sessions: Sessions;
  liveSessions: LiveSessions;
  loginLimit: LoginLimit;
  identities: Identities;
  diagrams: Diagrams;
  /** Null if no provider is configured. */
  oidc: Oidc | null;
  /** False if users can log in only with the provider. */
  passwordLogin: boolean;
  /** Manages trust rules, and exchanges ID tokens. */
  trust: Trust;
  /** Limits failed exchanges per client address. */
  exchangeLimit: LoginLimit;
  identify: Identify;
  /** See first-admin.ts. */
  ensureAdmin(settings: FirstAdminSettings, record?: RecordFirstAdmin): Promise<FirstAdmin>;
  /** Stops the timers. The caller closes the pool. */
  stop(): void;
}

export interface AuthDeps {
  pool: Pool;
  /** The value of TOKEN_SECRET. Null to use the generated secret of the database. */
  secret: string | null;
  /** The settings of the OpenID provider. */
  oidc?: OidcSettings | null;
  /** Default: true. */
  passwordLogin?: boolean;
  /** Milliseconds since 1970. */
  clock?: () => number;
}

/**
 * Number of failures per window that cause no delay. Only the client address counts, because an ID token names no user.
 */
const EXCHANGE_FAILURES = { pair: 20, address: Infinity, email: Infinity };

/** Creates the authentication services. The database must be migrated. */
export async function createAuth({
  pool,
  secret,
  oidc = null,
  passwordLogin = true,
  clock = Date.now,
}: AuthDeps): Promise<Auth> {
  const passwords = createPasswords();
  const key = await tokenSecret(pool, secret);
  const accessTokens = createAccessTokens({ secret: key, clock });
  const loginLimit = createLoginLimit();
  const exchangeLimit = createLoginLimit(EXCHANGE_FAILURES);
  const users = createUsers({ pool, passwords });
  return {
    users,
    identities: createIdentities({ pool, users }),
    diagrams: createDiagrams({ pool }),
    oidc: oidc === null ? null : createOidc({ settings: oidc, secret: key, clock }),
    passwordLogin,
    tokens: createTokens({ pool }),
    sessions: createSessions({ pool, passwords, accessTokens, secret: key, clock }),
    liveSessions: createLiveSessions({ pool, clock }),
    loginLimit,
    trust: createTrust({ pool, idTokens: createIdTokens({ clock }), clock }),
    exchangeLimit,
    identify: createIdentify({ pool, accessTokens, clock }),
    ensureAdmin: (settings, record) => ensureAdmin({ pool, passwords }, settings, record),
    stop() {
      loginLimit.stop();
      exchangeLimit.stop();
    },
  };
}
