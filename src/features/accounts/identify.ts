/**
 * Finds the user of a bearer token. The first lookup is a query. Later ones use memory until users or tokens change.
 */
import type { Pool } from 'pg';
import { looksLikeAccessToken, type AccessTokens } from './sessions.js';
import type { Caller, Credential, Role } from './caller.js';
import { tokenScope } from './scope.js';
import { secretHash } from './secrets.js';
import { own } from '../../postgres/own-tables.js';
import { isUuid } from '../../kernel/text.js';
import { type TokenScope, commonRole } from '../../schema/model/token-scope.js';

/**
 * Returns the user of a token, or null if it is unknown, expired or revoked, or its user is suspended or removed.
 * `epoch` is the database's counter of account changes. Callers read it with the log's head, so a revocation applies
 * on every process from its commit on.
 */
export interface Identify {
  (token: string, epoch: number): Promise<Caller | null>;
  /**
   * Returns the last known user of a token, for requests while the database is unavailable. It does not reflect later
   * revocations.
   */
  lastKnown(token: string): Caller | null;
}

export interface IdentifyDeps {
  pool: Pick<Pool, 'query'>;
  accessTokens: AccessTokens;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Maximum number of cached tokens. */
  capacity?: number;
}

interface VerifiedCaller {
  caller: Caller;
  /** Milliseconds since 1970. Infinity if the token never expires. */
  expiresAt: number;
}

interface Row {
  id: string;
  name: string;
  role: Role;
  /** The id of the API token, or of the identity that started the session. Null if a password started it. */
  token: string | null;
  issued_by: string | null;
  expires_at: Date | null;
  scope: (TokenScope & { role: Role }) | null;
  /** The trust rule of the API token. */
  rule: string | null;
}

/**
 * Each process has its own cache. The first query with another `epoch` clears it. Tokens beyond `capacity` are queried
 * each time, and unknown tokens are never cached.
 */
export function createIdentify({ pool, accessTokens, clock, capacity = 10_000 }: IdentifyDeps): Identify {
  let callers = new Map<string, VerifiedCaller>();
  let knownEpoch = -1;
  /** Unlike the cache, this map is kept when other accounts change. The next query for a token updates its entry. */
  const last = new Map<string, VerifiedCaller>();

  async function lookUp(token: string): Promise<VerifiedCaller | null> {
    if (looksLikeAccessToken(token)) {
      const caller = await findBySession(token);
      if (caller) return caller;
    }
    return findByStaticToken(token);
  }

  async function findByStaticToken(token: string): Promise<VerifiedCaller | null> {
    const { rows } = await pool.query<Row>({
      name: 'identify-token',
      text: `select u.id, case when t.rule is null then u.name else t.name end as name, u.role, t.id as token, t.issued_by,
          t.expires_at, t.scope, t.rule
        from ${own.tokens} t join ${own.users} u on u.id = t.user_id
        where t.token_hash = $1 and u.status = 'active'`,
      values: [secretHash(token)],
    });
    const [row] = rows;
    if (row === undefined || !isReadable(row)) return null;
    return toVerifiedCaller(row, 'token', Infinity);
  }

  async function findBySession(token: string): Promise<VerifiedCaller | null> {
    const claims = await accessTokens.read(token);
    if (!claims || !isUuid(claims.userId) || !isUuid(claims.sessionId)) return null;
    const { rows } = await pool.query<Row>({
      name: 'identify-session',
      text: `select u.id, u.name, u.role, s.identity as token, s.expires_at, null as scope, null as rule,
          case when s.identity is null then u.password_set_by else i.issued_by end as issued_by
        from ${own.sessions} s join ${own.users} u on u.id = s.user_id left join ${own.identities} i on i.id = s.identity
        where s.id = $1 and u.id = $2 and u.status = 'active'`,
      values: [claims.sessionId, claims.userId],
    });
    return rows[0]
      ? toVerifiedCaller(rows[0], rows[0].token === null ? 'password' : 'identity', claims.expiresAt)
      : null;
  }

  const unexpiredCaller = (entry: VerifiedCaller | null | undefined): Caller | null =>
    entry && entry.expiresAt > clock() ? entry.caller : null;

  const keepLast = (token: string, entry: VerifiedCaller | null): void => {
    last.delete(token);
    if (entry && last.size < capacity) last.set(token, entry);
  };

  const identify = async (token: string, epoch: number): Promise<Caller | null> => {
    if (epoch !== knownEpoch) {
      callers = new Map();
      knownEpoch = epoch;
    }
    const into = callers;
    let entry = into.get(token) ?? null;
    if (!entry) {
      entry = await lookUp(token);
      keepLast(token, entry);
      // If a concurrent change has replaced the map, this entry is discarded together with the old map.
      if (entry && into.size < capacity) into.set(token, entry);
    }
    return unexpiredCaller(entry);
  };
  return Object.assign(identify, { lastKnown: (token: string) => unexpiredCaller(last.get(token)) });
}

/**
 * False if someone changed the scope in the database, or inserted a token of a trust rule without limits. A token must
 * not allow more than the service has granted.
 */
const isReadable = ({ scope, rule, expires_at }: Row): boolean =>
  (scope === null || tokenScope.safeParse(scope).success) && (rule === null || (scope !== null && expires_at !== null));

function toVerifiedCaller(row: Row, kind: Credential['kind'], expiresAt: number): VerifiedCaller {
  const { id, name, role, issued_by: issuedBy, expires_at, token, scope, rule } = row;
  const credential = {
    kind,
    issuedBy,
    ...(token !== null && { token }),
    ...(scope !== null && { scope }),
    ...(rule !== null && { rule }),
    ...(kind === 'token' && expires_at !== null && { expiresAt: expires_at.getTime() }),
  };
  return {
    caller: { id, name, role: scope === null ? role : commonRole(role, scope.role), credential },
    expiresAt: Math.min(expiresAt, expires_at?.getTime() ?? Infinity),
  };
}
