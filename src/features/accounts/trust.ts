/* Trust rules, and the exchange of ID tokens of pipelines for API tokens. */
import { randomUUID } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import { canonicalJson } from '../../kernel/canonical.js';
import { jsonEqual } from '../../kernel/json.js';
import { type Problem, ok, refuse } from '../../kernel/problem.js';
import { sha256 } from '../../kernel/sha256.js';
import { type TrustAt, readTrust } from '../../log/decisive-events.js';
import { own } from '../../postgres/own-tables.js';
import { accountEvent } from '../../schema/fold/accounts.js';
import type { LogEvent } from '../../schema/model/events.js';
import { TRUST_SUBJECT, type TrustRule, commonRole } from '../../schema/model/token-scope.js';
import { matchesPattern } from '../../schema/policy.js';
import { type Caller, type Role, type UserStatus, issuerOf } from './caller.js';
import { type IdToken, IdTokenError, type IdTokens } from './id-tokens.js';
import { expectOneRow } from './queries.js';
import { newStaticToken, secretHash } from './secrets.js';
import { TOKEN_COLUMNS, type Token, type TokenRow, toToken } from './tokens.js';
import type { AccountChange } from './users.js';

/** A rule that an admin submits. If the rule names no user, it issues tokens of that admin. */
type NewTrustRule = Omit<TrustRule, 'user' | 'set_by' | 'scope'> & {
  user?: string | undefined;
  scope: { role: Role; actions: string[]; collections?: string[] | undefined; networks?: string[] | undefined };
};

/** A verified ID token and the rule that accepts it. */
interface AcceptedIdToken {
  idToken: IdToken;
  rule: TrustRule;
}

export interface Trust {
  /** @param upTo a position; defaults to the head */
  read(upTo?: number): Promise<TrustAt>;
  /**
   * Replaces all rules, and revokes the API tokens of rules that are removed or changed.
   * @param expected the hash of the rules that the client read
   */
  replace(
    rules: readonly NewTrustRule[],
    set: { caller: Caller; expected?: string | undefined },
  ): AccountChange<TrustRule[]>;
  /**
   * Verifies an ID token, and finds the first rule that accepts it.
   * @throws IdTokenError, or ProblemError with UNAVAILABLE if the issuer does not respond
   */
  accept(token: string): Promise<AcceptedIdToken>;
  /** Creates the API token. The value is null if the ID token was already exchanged. */
  exchange(accepted: AcceptedIdToken): AccountChange<(Token & { token: string }) | null>;
}

/** Returns the name of a pipeline in the log: `ci:deploy repo:shop/schema:ref:refs/heads/main (https://…)`. */
export const pipelineName = ({ idToken: { subject }, rule: { name, issuer } }: AcceptedIdToken): string =>
  `ci:${name} ${subject} (${issuer})`;

/** Returns the hash in the ETag of trust rules. */
export const trustHash = (rules: readonly TrustRule[]): string => sha256(canonicalJson(rules));

interface TrustDeps {
  pool: Pool;
  idTokens: IdTokens;
  /** Milliseconds since 1970. */
  clock: () => number;
}

export function createTrust({ pool, idTokens, clock }: TrustDeps): Trust {
  return {
    read: (upTo) => readTrust(pool, upTo),

    replace:
      (submitted, { caller, expected }) =>
      async (client) => {
        const { rules: former } = await readTrust(client);
        if (expected !== undefined && expected !== trustHash(former)) return refuse(changedSinceRead());
        const admins = await readActiveAdmins(client, former);
        const valid = former.filter(({ set_by }) => admins.has(set_by));
        const rules = submitted.map((rule) => toRule(rule, valid, caller));
        if (jsonEqual(rules, former)) return ok({ value: rules, events: [] });
        const kept = rules.filter((rule) => former.some((each) => jsonEqual(each, rule)));
        const problems = await userProblems(client, rules, kept);
        if (problems.length > 0) return refuse(...problems);
        const revoked = await revokeExcept(client, kept);
        return ok({ value: rules, events: [trustUpdated(rules), ...revoked] });
      },

    async accept(token) {
      const { rules } = await readTrust(pool);
      const idToken = await idTokens.verify(token, new Set(rules.map(({ issuer }) => issuer)));
      return { idToken, rule: findRule(idToken, rules) };
    },

    exchange:
      ({ idToken, rule }) =>
      async (client) => {
        const [{ rules }, user] = [await readTrust(client), await readUser(client, rule.user)];
        if (!rules.some((each) => jsonEqual(each, rule))) return refuse(changedMeanwhile());
        if (user?.status !== 'active') return refuse(inactiveUser(rule));
        if (!(await readActiveAdmins(client, [rule])).has(rule.set_by)) return refuse(inactiveSetter(rule));
        if ((await countTokens(client, rule)) >= TOKENS_PER_RULE) return refuse(tooManyTokens(rule));
        if (!(await isFirstExchange(client, idToken))) return ok({ value: null, events: [] });
        await removeExpired(client);
        const token = newStaticToken();
        const scope = { ...rule.scope, role: commonRole(user.role, rule.scope.role as Role) };
        const expiresAt = new Date(clock() + rule.minutes * 60_000);
        const made = toToken(
          expectOneRow(
            await client.query<TokenRow>(
              `insert into ${own.tokens} (id, user_id, name, token_hash, expires_at, issued_by, scope, rule)
                values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${TOKEN_COLUMNS}`,
              [
                randomUUID(),
                rule.user,
                pipelineName({ idToken, rule }),
                secretHash(token),
                expiresAt,
                rule.set_by,
                scope,
                rule.name,
              ],
            ),
          ),
        );
        const access = { token: made.id, issued_by: rule.set_by, expires_at: made.expires_at, scope, rule: rule.name };
        return ok({ value: { ...made, token }, events: [accountEvent('token.created', rule.user, access)] });
      },
  };
}

/* Trust rules. */

/**
 * Adds the user who set the rule. An unchanged rule keeps the user who set it before.
 * @param former rules whose setter is still an active admin
 */
function toRule({ user, scope, ...rule }: NewTrustRule, former: readonly TrustRule[], caller: Caller): TrustRule {
  const { role, actions, collections, networks } = scope;
  const owner = (user ?? caller.id).toLowerCase();
  const limits = { role, actions, ...(collections && { collections }), ...(networks && { networks }) };
  const created = { ...rule, user: owner, set_by: issuerOf(caller, owner) ?? owner, scope: limits };
  return former.find((each) => jsonEqual({ ...each, set_by: created.set_by }, created)) ?? created;
}

const trustUpdated = (rules: TrustRule[]): LogEvent => ({
  type: 'trust.updated',
  version: 1,
  collection: null,
  field: null,
  subject: TRUST_SUBJECT,
  data: { rules },
});

/**
 * Checks the users of new and changed rules only, so that a rule of a deleted user does not block changes of other
 * rules.
 */
async function userProblems(
  client: ClientBase,
  rules: readonly TrustRule[],
  kept: readonly TrustRule[],
): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const [index, rule] of rules.entries()) {
    if (kept.includes(rule)) continue;
    const { user, scope, name } = rule;
    const account = await readUser(client, user);
    const path = `rules[${index}]`;
    if (account === undefined) {
      problems.push({ code: 'INVALID_PAYLOAD', message: `User "${user}" does not exist.`, path: `${path}.user` });
    } else if (commonRole(account.role, scope.role as Role) !== scope.role) {
      const message = `The rule "${name}" grants the role ${scope.role}, which exceeds the role ${account.role} of its user.`;
      problems.push({ code: 'INVALID_PAYLOAD', message, path: `${path}.scope.role` });
    }
  }
  return problems;
}

async function readUser(client: ClientBase, id: string): Promise<{ role: Role; status: UserStatus } | undefined> {
  const { rows } = await client.query<{ role: Role; status: UserStatus }>(
    `select role, status from ${own.users} where id = $1`,
    [id],
  );
  return rows[0];
}

/** Returns the users who set the rules and are active admins now. */
async function readActiveAdmins(client: ClientBase, rules: readonly TrustRule[]): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ id: string }>(
    `select id from ${own.users} where id = any ($1::uuid[]) and role = 'admin' and status = 'active'`,
    [rules.map(({ set_by }) => set_by)],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Revokes all tokens of rules that are not in `kept`. @returns an event for each token that had not expired */
async function revokeExcept(client: ClientBase, kept: readonly TrustRule[]): Promise<LogEvent[]> {
  const { rows } = await client.query<{ id: string; user_id: string; has_expired: boolean }>(
    `delete from ${own.tokens} where rule is not null and rule <> all ($1::text[])
      returning id, user_id, expires_at <= now() as has_expired`,
    [kept.map(({ name }) => name)],
  );
  return rows
    .filter(({ has_expired }) => !has_expired)
    .map(({ id, user_id }) => accountEvent('token.revoked', user_id, { token: id }));
}

const changedSinceRead = (): Problem => ({
  code: 'PRECONDITION_FAILED',
  message: 'The trust rules have changed since you read them. Load them again, and repeat your change.',
});

const changedMeanwhile = (): Problem => ({
  code: 'INVALID_STATE',
  message: 'The trust rules changed during the exchange. Try again with the same ID token.',
});

const inactiveUser = ({ name }: TrustRule): Problem => ({
  code: 'FORBIDDEN',
  message: `The user of the trust rule "${name}" is suspended or deleted.`,
});

const inactiveSetter = ({ name }: TrustRule): Problem => ({
  code: 'FORBIDDEN',
  message: `The user who set the trust rule "${name}" is no longer an active admin. Another admin must set the rules again.`,
});

/** The most API tokens of a rule that have not expired. */
const TOKENS_PER_RULE = 100;

const tooManyTokens = ({ name }: TrustRule): Problem => ({
  code: 'TOO_MANY_REQUESTS',
  message: `The trust rule "${name}" has ${TOKENS_PER_RULE} API tokens that have not expired, the maximum. Try again later with the same ID token.`,
});

/* The exchange. */

/** @throws IdTokenError */
function findRule(idToken: IdToken, rules: readonly TrustRule[]): TrustRule {
  const { claims, audiences, subject } = idToken;
  const ofIssuer = rules.filter(({ issuer }) => issuer === claims['iss']);
  const ofAudience = ofIssuer.filter(({ audience }) => audiences.includes(audience));
  if (ofAudience.length === 0)
    throw new IdTokenError('audience', `no rule has the audience ${JSON.stringify(audiences)} of ${subject}`);
  const rule = ofAudience.find((each) => acceptsClaims(each, claims));
  if (rule !== undefined) return rule;
  const names = ofAudience.map(({ name }) => JSON.stringify(name)).join(', ');
  throw new IdTokenError('claims', `the rules ${names} do not accept the claims of ${subject}`);
}

const acceptsClaims = ({ claims: required }: TrustRule, claims: IdToken['claims']): boolean =>
  Object.entries(required).every(([claim, pattern]) => {
    const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
    const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    return isScalar && matchesPattern(pattern, String(value));
  });

async function countTokens(client: ClientBase, { name }: TrustRule): Promise<number> {
  const text = `select count(*)::int as count from ${own.tokens} where rule = $1 and expires_at > now()`;
  return expectOneRow(await client.query<{ count: number }>(text, [name])).count;
}

/**
 * Records the ID token. Returns false if it was recorded before. The log's lock prevents two concurrent exchanges from
 * recording it.
 */
async function isFirstExchange(client: ClientBase, { hash, recordedUntil }: IdToken): Promise<boolean> {
  const { rowCount } = await client.query(
    `insert into ${own.exchangedIdTokens} (hash, expires_at) values ($1, $2) on conflict do nothing`,
    [hash, recordedUntil],
  );
  return rowCount === 1;
}

/**
 * Removes expired tokens and records of earlier exchanges. Their expiry needs no event, because the log contains the
 * time.
 */
async function removeExpired(client: ClientBase): Promise<void> {
  await client.query(`delete from ${own.exchangedIdTokens} where expires_at < now()`);
  await client.query(`delete from ${own.tokens} where rule is not null and expires_at < now()`);
}
