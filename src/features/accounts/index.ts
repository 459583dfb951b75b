import type { Pool } from 'pg';
import { type Result, ok, refuse } from '../../kernel/problem.js';
import { own } from '../../postgres/own-tables.js';
import { ensureAdmin, type FirstAdmin, type FirstAdminSettings, type RecordFirstAdmin } from './first-admin.js';
import { createIdTokens } from './id-tokens.js';
import { createIdentify, type Identify } from './identify.js';
import { createIdentities, type Identities } from './identities.js';
import { createLoginLimit, type LoginLimit } from './login-limit.js';
import { createOidc, type Oidc, type OidcSettings } from './oidc.js';
import { write } from './queries.js';
import { createPasswords, tokenSecret } from './secrets.js';
import {
  createAccessTokens,
  createLiveSessions,
  type LiveSessions,
  createSessions,
  type Sessions,
} from './sessions.js';
import { createTokens, type Tokens } from './tokens.js';
import { createTrust, type Trust } from './trust.js';
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

interface AuthDeps {
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
  const users = createUsers({ pool, passwords, clock });
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

/* The arrangements of diagrams that users have saved. They are not part of the schema, so no event records them. */

/** The arrangement of one view. */
interface SavedDiagram {
  depth: 'names' | 'keys' | 'columns';
  /** Null for the whole schema. */
  folder: string | null;
  places: { collection: string; x: number; y: number }[];
}

interface Diagrams {
  list(userId: string): Promise<SavedDiagram[]>;
  /**
   * Replaces the arrangement of one view. Without places, deletes it. Returns INVALID_STATE if the user has too many
   * others.
   */
  save(userId: string, diagram: SavedDiagram): Promise<Result<SavedDiagram>>;
}

/** Maximum number of arrangements per user. */
const DIAGRAMS_PER_USER = 100;

const createDiagrams = ({ pool }: { pool: Pool }): Diagrams => ({
  async list(userId) {
    const { rows } = await pool.query<SavedDiagram>(
      `select depth, nullif(folder, ''::text) as folder, places from ${own.presets}
        where user_id = $1 order by depth, folder collate "C"`,
      [userId],
    );
    return rows;
  },

  async save(userId, saved) {
    const { depth, folder, places } = saved;
    const view = [userId, depth, folder ?? ''];
    if (places.length === 0) {
      await write(pool, `delete from ${own.presets} where user_id = $1 and depth = $2 and folder = $3`, view);
      return ok(saved);
    }
    const { rowCount } = await write(pool, SAVE, [...view, JSON.stringify(places)]);
    return rowCount > 0 ? ok(saved) : refuse({ code: 'INVALID_STATE', message: TOO_MANY });
  },
});

const SAVE = `
insert into ${own.presets} as d (user_id, depth, folder, places)
select $1::uuid, $2, $3, $4::jsonb where (
  select count(*) from ${own.presets} where user_id = $1 and (depth, folder) <> ($2, $3)) < ${DIAGRAMS_PER_USER}
on conflict (user_id, depth, folder) do update set places = excluded.places`;

const TOO_MANY = `You have saved ${DIAGRAMS_PER_USER} arrangements, the maximum. Reset one of them first.`;
