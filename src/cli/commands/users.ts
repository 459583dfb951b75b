import { z } from 'zod';
import { ROLES, USER_STATUSES } from '../../auth/caller.js';
import { PASSWORD_LENGTH } from '../../auth/passwords.js';
import { randomSecret } from '../../auth/secrets.js';
import type { User } from '../../auth/user.js';
import { findUser, withAccounts } from '../accounts.js';
import { runAction } from '../actions.js';
import { type Command, type ExitCode, type Invocation, UsageError, choice, takePositionals, text } from '../command.js';
import { accepted, json, table } from '../output.js';

export const users: Command = {
  name: 'users',
  summary: 'list, add, remove and change users',
  help: `dps users: the users of the service, on its database (DATABASE_URL, or the embedded server of DATA_DIR)

  dps users list
  dps users add EMAIL --role ROLE [--name NAME] [--password-stdin | --no-password]
  dps users set USER [--email EMAIL] [--name NAME] [--role ROLE] [--status STATUS]
                     [--password-stdin | --new-password | --no-password]
  dps users remove USER

USER is an e-mail address or an id.

  --role ROLE        admin (everything), auditor (reads everything), reader (reads collections)
  --status STATUS    active, suspended
  --password-stdin   the password is read from stdin
  --new-password     a password is generated and printed once; "add" does so unless told otherwise
  --no-password      no login; tokens work
  --data-dir DIR     instead of DATA_DIR
  --json             print for machines`,
  options: {
    role: { type: 'string' },
    name: { type: 'string' },
    email: { type: 'string' },
    status: { type: 'string' },
    'password-stdin': { type: 'boolean' },
    'new-password': { type: 'boolean' },
    'no-password': { type: 'boolean' },
    'data-dir': { type: 'string' },
  },
  run: (invocation) => runAction(invocation, { list, add, set, remove }),
};

async function list(invocation: Invocation): Promise<ExitCode> {
  takePositionals(invocation);
  const found = await withAccounts(invocation, ({ users: all }) => all.list());
  show(invocation, found.users, () =>
    table(
      ['email', 'name', 'role', 'status', 'created', 'id'],
      found.users.map((user) => [user.email, user.name, user.role, user.status, user.created_at, user.id]),
    ),
  );
  return 0;
}

async function add(invocation: Invocation): Promise<ExitCode> {
  const [email = ''] = takePositionals(invocation, 'EMAIL');
  const role = choice(invocation.values, 'role', ROLES);
  if (!role) throw new UsageError('--role is missing.');
  const { password, shown } = await choosePassword(invocation, 'generate');
  const name = text(invocation.values, 'name');
  const user = await withAccounts(invocation, async (accounts) =>
    accepted(await accounts.users.create({ email: checkEmail(email), name, role, password })),
  );
  showOne(invocation, user, 'added', shown);
  return 0;
}

async function set(invocation: Invocation): Promise<ExitCode> {
  const [named = ''] = takePositionals(invocation, 'USER');
  const email = text(invocation.values, 'email');
  const { password, shown } = await choosePassword(invocation, 'keep');
  const changes = {
    email: email === undefined ? undefined : checkEmail(email),
    name: text(invocation.values, 'name'),
    role: choice(invocation.values, 'role', ROLES),
    status: choice(invocation.values, 'status', USER_STATUSES),
    password,
  };
  if (Object.values(changes).every((value) => value === undefined)) throw new UsageError('Say what to change.');
  const user = await withAccounts(invocation, async (accounts) => {
    const { id } = await findUser(accounts.users, named);
    return accepted(await accounts.users.update(id, changes));
  });
  showOne(invocation, user, 'changed', shown);
  return 0;
}

async function remove(invocation: Invocation): Promise<ExitCode> {
  const [named = ''] = takePositionals(invocation, 'USER');
  const user = await withAccounts(invocation, async (accounts) => {
    const found = await findUser(accounts.users, named);
    accepted(await accounts.users.remove(found.id));
    return found;
  });
  showOne(invocation, user, 'removed', null);
  return 0;
}

interface ChosenPassword {
  /** undefined: nothing was said about it; null: none. */
  password: string | null | undefined;
  /** The password when it was generated, for the only time it is shown. */
  shown: string | null;
}

async function choosePassword(
  { values, terminal }: Invocation,
  otherwise: 'generate' | 'keep',
): Promise<ChosenPassword> {
  const given = ['password-stdin', 'new-password', 'no-password'].filter((name) => values[name] === true);
  if (given.length > 1) throw new UsageError(`--${given.join(' and --')} exclude each other.`);
  if (values['no-password'] === true) return { password: null, shown: null };
  if (values['password-stdin'] === true) return { password: checkPassword(await terminal.read()), shown: null };
  if (values['new-password'] !== true && otherwise === 'keep') return { password: undefined, shown: null };
  const password = randomSecret();
  return { password, shown: password };
}

function checkPassword(input: string): string {
  const password = input.replace(/\r?\n$/, '');
  const { min, max } = PASSWORD_LENGTH;
  if (password.length >= min && password.length <= max) return password;
  throw new UsageError(`The password must have ${min} to ${max} characters.`);
}

function checkEmail(email: string): string {
  if (!z.email().safeParse(email).success) throw new UsageError(`"${email}" is no e-mail address.`);
  return email;
}

function show({ values, terminal }: Invocation, value: unknown, render: () => string): void {
  terminal.print(values['json'] === true ? json(value) : render());
}

function showOne(invocation: Invocation, user: User, done: string, password: string | null): void {
  show(invocation, password === null ? user : { ...user, password }, () => {
    const line = `${done} ${user.email} (${user.role}, ${user.status}, ${user.id})`;
    return password === null ? line : `${line}\npassword, shown this once: ${password}`;
  });
}
