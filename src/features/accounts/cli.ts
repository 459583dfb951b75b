import { z } from 'zod';
import type { Role, UserStatus } from './caller.js';
import { ERASE_USER, type Erasure, erasePerson, findPersons } from './erase.js';
import { createPasswords, randomSecret } from './secrets.js';
import { type User, type Users, createUsers } from './users.js';
import {
  findUser,
  operatorActor,
  createOperatorRequest,
  toOperatorError,
  withAccounts,
  withPipeline,
} from '../../cli/connections/pipeline.js';
import { type ExitCode, type Invocation, UsageError, isSet, text } from '../../cli/command.js';
import { show, table } from '../../cli/output.js';

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
