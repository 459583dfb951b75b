import { isUuid } from '../../kernel/text.js';
import { randomUUID } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import { ok, refuse, type Problem, type Result } from '../../kernel/problem.js';
import { checkName } from './account-rules.js';
import type { Role } from './caller.js';
import { type NewScope, scopeOf } from './scope.js';
import type { TokenScope } from '../../schema/model/token-scope.js';
import { accountEvent } from '../../schema/fold/accounts.js';
import { expectOneRow } from './queries.js';
import { newStaticToken, secretHash } from './secrets.js';
import { own } from '../../postgres/own-tables.js';
import { type AccountChange, unknownUser } from './users.js';

export interface Token {
  id: string;
  name: string;
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC; null if it never expires. */
  expires_at: string | null;
  /** Null if the token has no limits besides those of its user. */
  scope: TokenScope | null;
  /** The trust rule under which the token was exchanged. Null for other tokens. */
  rule: string | null;
}

interface NewToken {
  name?: string | undefined;
  /** ISO 8601. Null if the token never expires. */
  expires_at?: string | null | undefined;
  /** Null or absent for no limits. */
  scope?: NewScope | null | undefined;
  /** A token that the operator chose (ADMIN_TOKEN). Generated if absent. */
  token?: string | undefined;
  /** The id of another user who issues the token, see `issuerOf`. Absent if there is none. */
  issuedBy?: string | null | undefined;
}

export interface Tokens {
  /** Returns the tokens, oldest first. */
  list(userId: string): Promise<Result<Token[]>>;
  /** Creates a token. Only this response contains the token itself. */
  create(userId: string, token: NewToken): AccountChange<Token & { token: string }>;
  revoke(userId: string, tokenId: string): AccountChange<null>;
}

export interface TokenRow extends Omit<Token, 'created_at' | 'expires_at'> {
  created_at: Date;
  expires_at: Date | null;
}

export const TOKEN_COLUMNS = 'id, name, created_at, expires_at, scope, rule';

/** Maximum number of API tokens per user, including expired tokens. Tokens of trust rules do not count. */
export const TOKENS_PER_USER = 100;

/** Returns NOT_FOUND for unknown users and tokens, and for ids that are not UUIDs. */
export function createTokens({ pool }: { pool: Pool }): Tokens {
  return {
    async list(userId) {
      if ((await roleOf(pool, userId)) === null) return refuse(unknownUser(userId));
      const { rows } = await pool.query<TokenRow>(
        `select ${TOKEN_COLUMNS} from ${own.tokens} where user_id = $1 order by created_at, id`,
        [userId],
      );
      return ok(rows.map(toToken));
    },

    create(userId, { name = 'token', expires_at = null, token = newStaticToken(), issuedBy = null, scope = null }) {
      return async (client) => {
        const named = checkName(name);
        if (!named.ok) return named;
        const role = await roleOf(client, userId);
        if (role === null) return refuse(unknownUser(userId));
        if ((await countTokens(client, userId)) >= TOKENS_PER_USER) return refuse(tooManyTokens());
        const limits = scope === null ? null : scopeOf(role, scope);
        const made = expectOneRow(
          await client.query<TokenRow>(
            `insert into ${own.tokens} (id, user_id, name, token_hash, expires_at, issued_by, scope)
              values ($1, $2, $3, $4, $5, $6, $7) returning ${TOKEN_COLUMNS}`,
            [randomUUID(), userId, name, secretHash(token), toMillisecond(expires_at), issuedBy, limits],
          ),
        );
        const shown = toToken(made);
        const access = {
          token: shown.id,
          issued_by: issuedBy,
          expires_at: shown.expires_at,
          ...(limits !== null && { scope: limits }),
        };
        return ok({
          value: { ...shown, token },
          events: [accountEvent('token.created', userId.toLowerCase(), access)],
        });
      };
    },

    revoke: (userId, tokenId) => async (client) => {
      if (!isUuid(userId)) return refuse(unknownUser(userId));
      if (!isUuid(tokenId)) return refuse(unknownToken(tokenId));
      const { rows } = await client.query<{ id: string }>(
        `delete from ${own.tokens} where id = $1 and user_id = $2 returning id`,
        [tokenId, userId],
      );
      if (rows[0] === undefined) return refuse(unknownToken(tokenId));
      const event = accountEvent('token.revoked', userId.toLowerCase(), { token: rows[0].id });
      return ok({ value: null, events: [event] });
    },
  };
}

/** Counts the tokens that are not revoked, including expired ones. Tokens of trust rules do not count. */
async function countTokens(client: ClientBase, userId: string): Promise<number> {
  const text = `select count(*)::int as count from ${own.tokens} where user_id = $1 and rule is null`;
  return expectOneRow(await client.query<{ count: number }>(text, [userId])).count;
}

const tooManyTokens = (): Problem => ({
  code: 'INVALID_STATE',
  message: `This user has ${TOKENS_PER_USER} API tokens, the maximum for one user. Revoke one first.`,
});

/** Returns the role of a user. Null if the user does not exist. */
async function roleOf(db: Pick<Pool | ClientBase, 'query'>, id: string): Promise<Role | null> {
  if (!isUuid(id)) return null;
  const { rows } = await db.query<{ role: Role }>(`select role from ${own.users} where id = $1`, [id]);
  return rows[0]?.role ?? null;
}

/**
 * Truncates a time to milliseconds, so that the response shows the stored value. PostgreSQL would round the last
 * nanosecond of 9999 to the year 10000.
 */
function toMillisecond(time: string | null): Date | null {
  return time === null ? null : new Date(time);
}

export function toToken({ id, name, created_at, expires_at, scope, rule }: TokenRow): Token {
  return { id, name, created_at: created_at.toISOString(), expires_at: expires_at?.toISOString() ?? null, scope, rule };
}

function unknownToken(id: string): Problem {
  return { code: 'NOT_FOUND', message: `API token ${JSON.stringify(id)} of this user does not exist.` };
}
