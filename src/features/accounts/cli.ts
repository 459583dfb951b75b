import { z } from 'zod';
import { type ExitCode, type Invocation, UsageError, isSet, text } from '../../cli/command.js';
import {
  findUser,
  operatorActor,
  createOperatorRequest,
  toOperatorError,
  withAccounts,
  withPipeline,
} from '../../cli/connections/pipeline.js';
import { show, table, unwrapResult } from '../../cli/output.js';
import { OperatorError } from '../../kernel/problem.js';
import { isStorableTime, TIME_RANGE } from '../../kernel/time.js';
import type { TokenScope } from '../../schema/model/token-scope.js';
import type { Role, UserStatus } from './caller.js';
import { ERASE_USER, type Erasure, erasePerson, findPersons } from './erase.js';
import { type NewScope, newScope } from './scope.js';
import { createPasswords, randomSecret } from './secrets.js';
import type { Token } from './tokens.js';
import { type User, type Users, createUsers } from './users.js';

/** Lists all users, sorted by e-mail address. */
export async function list(invocation: Invocation): Promise<ExitCode> {
  const userList = await withAccounts(invocation, ({ users }) => listAllUsers(users));
  show(invocation, userList, () =>
    table(
      ['email', 'name', 'role', 'status', 'created', 'id'],
      userList.map((user) => [user.email, user.name, user.role, user.status, user.created_at, user.id]),
    ),
  );
  return 0;
}

const PAGE = 1_000;

async function listAllUsers(users: Users): Promise<User[]> {
  const userList: User[] = [];
  for (;;) {
    const page = await users.list({ offset: userList.length, limit: PAGE });
    userList.push(...page);
    if (page.length < PAGE) return userList;
  }
}

/** Prints a generated password once. */
export async function add(invocation: Invocation): Promise<ExitCode> {
  const [email = ''] = invocation.positionals;
  // The declaration of the command requires the option and lists the valid values.
  const role = text(invocation.values, 'role') as Role;
  const { password, shown } = await choosePassword(invocation, 'generate');
  const name = text(invocation.values, 'name');
  const user = await withAccounts(invocation, async (accounts) =>
    accounts.change('create-user', await accounts.users.create({ email: checkEmail(email), name, role, password })),
  );
  showOne(invocation, user, 'added', shown);
  return 0;
}

/** @throws UsageError if there is nothing to change, OperatorError if no active admin would remain */
export async function set(invocation: Invocation): Promise<ExitCode> {
  const [named = ''] = invocation.positionals;
  const email = text(invocation.values, 'email');
  const { password, shown } = await choosePassword(invocation, 'keep');
  const changes = {
    email: email === undefined ? undefined : checkEmail(email),
    name: text(invocation.values, 'name'),
    role: text(invocation.values, 'role') as Role | undefined,
    status: text(invocation.values, 'status') as UserStatus | undefined,
    password,
  };
  if (Object.values(changes).every((value) => value === undefined)) throw new UsageError('Name at least one change.');
  const user = await withAccounts(invocation, async (accounts) => {
    const { id } = await findUser(accounts.users, named);
    return accounts.change('update-user', await accounts.users.update(id, changes));
  });
  showOne(invocation, user, 'changed', shown);
  return 0;
}

/**
 * Deletes a user with all tokens and sessions. The log keeps the user's actions.
 * @throws OperatorError for the last active admin
 */
export async function remove(invocation: Invocation): Promise<ExitCode> {
  const [named = ''] = invocation.positionals;
  const user = await withAccounts(invocation, async (accounts) => {
    const account = await findUser(accounts.users, named);
    await accounts.change('delete-user', accounts.users.remove(account.id));
    return account;
  });
  showOne(invocation, user, 'removed', null);
  return 0;
}

/** Erases a person, even if the account was deleted before. Exit code 1 if there was nothing to erase. */
export async function erase(invocation: Invocation): Promise<ExitCode> {
  const [named] = invocation.positionals;
  const operator = text(invocation.values, 'operator');
  if ((named === undefined) === (operator === undefined)) throw new UsageError('Name a user, or an --operator.');
  const erasures = await withPipeline(invocation, async ({ pool, pipeline }) => {
    const users = createUsers({ pool, passwords: createPasswords() });
    const persons = named === undefined ? [operatorActor(operator ?? '')] : await findPersons(pool, named);
    const done: Erasure[] = [];
    for (const person of persons) {
      const request = createOperatorRequest(ERASE_USER, invocation);
      const outcome = await erasePerson({ pool, pipeline, users }, person, request);
      if (outcome.kind === 'refused') throw toOperatorError(outcome);
      if (outcome.kind === 'done') done.push(outcome.command.value);
    }
    return done;
  });
  show(
    invocation,
    erasures,
    () => erasures.map(describeErasure).join('\n') || `No current or deleted user matches "${named}".`,
  );
  return erasures.some(({ deleted, erased }) => deleted || erased > 0) ? 0 : 1;
}

const describeErasure = ({ user, deleted, erased }: Erasure): string => {
  const account = deleted ? `deleted user ${user}; ` : '';
  if (erased === 0) return `${account}the log has no personal data of ${user}`;
  return `${account}erased the personal data of ${user} from ${erased} ${erased === 1 ? 'event' : 'events'}`;
};

interface ChosenPassword {
  /** Undefined leaves the password unchanged. Null removes it. */
  password: string | null | undefined;
  /** A generated password, shown only once. */
  shown: string | null;
}

async function choosePassword(
  { values, terminal }: Invocation,
  otherwise: 'generate' | 'keep',
): Promise<ChosenPassword> {
  const options = ['passwordStdin', 'newPassword'].filter((name) => isSet(values, name));
  if (options.length + (values['password'] === false ? 1 : 0) > 1) {
    throw new UsageError('--password-stdin, --new-password and --no-password exclude each other.');
  }
  if (values['password'] === false) return { password: null, shown: null };
  if (isSet(values, 'passwordStdin')) return { password: (await terminal.read()).replace(/\r?\n$/, ''), shown: null };
  if (!isSet(values, 'newPassword') && otherwise === 'keep') return { password: undefined, shown: null };
  const password = randomSecret();
  return { password, shown: password };
}

function checkEmail(email: string): string {
  if (!z.email().safeParse(email).success) throw new UsageError(`"${email}" is not an e-mail address.`);
  return email;
}

function showOne(invocation: Invocation, user: User, done: string, password: string | null): void {
  show(invocation, password === null ? user : { ...user, password }, () => {
    const line = `${done} ${user.email} (${user.role}, ${user.status}, ${user.id})`;
    return password === null ? line : `${line}\npassword, shown only once: ${password}`;
  });
}

/** Lists the tokens of one user, oldest first, without the secrets. */
export async function listTokens(invocation: Invocation): Promise<ExitCode> {
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
export async function addToken(invocation: Invocation): Promise<ExitCode> {
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
  show(invocation, made, () => `${made.token}\n(shown only once; ${describeToken(made)})`);
  return 0;
}

/** @throws OperatorError if the user has no such token */
export async function revokeToken(invocation: Invocation): Promise<ExitCode> {
  const [named = '', idOrName = ''] = invocation.positionals;
  const revoked = await withAccounts(invocation, async (accounts) => {
    const user = await findUser(accounts.users, named);
    const token = pickToken(unwrapResult(await accounts.tokens.list(user.id)), idOrName);
    await accounts.change('revoke-token', accounts.tokens.revoke(user.id, token.id));
    return token;
  });
  show(invocation, revoked, () => `revoked ${describeToken(revoked)}`);
  return 0;
}

function pickToken(all: readonly Token[], idOrName: string): Token {
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

function describeToken({ name, expires_at, scope, id }: Token): string {
  const parts = [expires_at === null ? 'never expires' : `expires ${expires_at}`];
  if (scope !== null) parts.push(`scope: ${describeScope(scope)}`);
  return `"${name}", ${[...parts, id].join(', ')}`;
}
