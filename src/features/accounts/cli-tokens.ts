import type { Token } from './tokens.js';
import { type NewScope, newScope } from './scope.js';
import type { TokenScope } from '../../schema/model/token-scope.js';
import { findUser, withAccounts } from '../../cli/connections/pipeline.js';
import { type ExitCode, type Invocation, UsageError, text } from '../../cli/command.js';
import { isStorableTime, TIME_RANGE } from '../../kernel/time.js';
import { OperatorError } from '../../kernel/problem.js';
import { unwrapResult, show, table } from '../../cli/output.js';

/** Lists the tokens of one user, oldest first, without the secrets. */
export async function list(invocation: Invocation): Promise<ExitCode> {
  const [named = ''] = invocation.positionals;
  const tokens = await withAccounts(invocation, async (accounts) => {
    const user = await findUser(accounts.users, named);
    return unwrapResult(await accounts.tokens.list(user.id));
  });
  const rows = tokens.map((token) => [
    token.name,
    token.created_at,
    token.expires_at ?? 'never',
    describeScope(token.scope),
    token.id,
  ]);
  show(invocation, tokens, () => table(['name', 'created', 'expires', 'scope', 'id'], rows));
  return 0;
}

/** Prints the token, which cannot be shown again. A token without --expires never expires. */
export async function add(invocation: Invocation): Promise<ExitCode> {
  const [named = ''] = invocation.positionals;
  const expiry = text(invocation.values, 'expires');
  const token = {
    name: text(invocation.values, 'name'),
    expires_at: expiry === undefined ? null : readExpiry(expiry, Date.now()),
    scope: readScope(invocation),
  };
  const made = await withAccounts(invocation, async (accounts) => {
    const user = await findUser(accounts.users, named);
    return accounts.change('create-token', accounts.tokens.create(user.id, token));
  });
  show(invocation, made, () => `${made.token}\n(shown only once; ${describe(made)})`);
  return 0;
}

/** @throws OperatorError if the user has no such token */
export async function revoke(invocation: Invocation): Promise<ExitCode> {
  const [named = '', idOrName = ''] = invocation.positionals;
  const revoked = await withAccounts(invocation, async (accounts) => {
    const user = await findUser(accounts.users, named);
    const token = pick(unwrapResult(await accounts.tokens.list(user.id)), idOrName);
    await accounts.change('revoke-token', accounts.tokens.revoke(user.id, token.id));
    return token;
  });
  show(invocation, revoked, () => `revoked ${describe(revoked)}`);
  return 0;
}

function pick(all: readonly Token[], idOrName: string): Token {
  const matches = all.filter(({ id, name }) => id === idOrName.toLowerCase() || name === idOrName);
  if (matches.length > 1) throw new OperatorError(`Several tokens are named "${idOrName}". Use the id.`);
  const [token] = matches;
  if (!token) throw new OperatorError(`This user has no token "${idOrName}". List them with "dps tokens list".`);
  return token;
}

/**
 * @param now milliseconds since 1970
 * @returns ISO 8601
 */
function readExpiry(value: string, now: number): string {
  const days = /^(\d{1,5})d$/.exec(value)?.[1];
  const time = days === undefined ? Date.parse(value) : now + Number(days) * 86_400_000;
  if (Number.isNaN(time)) throw new UsageError(`--expires must be a time or a number of days such as 90d.`);
  if (!isStorableTime(new Date(time))) throw new UsageError(`--expires must be a time ${TIME_RANGE}.`);
  if (time <= now) throw new UsageError('--expires must be in the future.');
  return new Date(time).toISOString();
}

/** @throws UsageError if the options of the scope are invalid */
function readScope({ values }: Invocation): NewScope | null {
  const limits = Object.fromEntries(
    LIMITS.flatMap((name) => {
      const list = text(values, name);
      return list === undefined ? [] : [[name, list.split(',').map((each) => each.trim())]];
    }),
  );
  if (Object.keys(limits).length === 0) return null;
  const read = newScope.safeParse(limits);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new UsageError(`--${String(issue?.path[0])}: ${issue?.message}`);
}

const LIMITS = ['actions', 'collections', 'networks'] as const;

/** Formats a scope: `actions read,propose; networks 10.0.0.0/8; as author`. */
function describeScope(scope: TokenScope | null): string {
  if (scope === null) return 'all';
  const limits = LIMITS.flatMap((name) => (scope[name] === undefined ? [] : [`${name} ${scope[name].join(',')}`]));
  return [...limits, `as ${scope.role}`].join('; ');
}

function describe({ name, expires_at, scope, id }: Token): string {
  const parts = [expires_at === null ? 'never expires' : `expires ${expires_at}`];
  if (scope !== null) parts.push(`scope: ${describeScope(scope)}`);
  return `"${name}", ${[...parts, id].join(', ')}`;
}
