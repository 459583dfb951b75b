/** Users and tokens of the service's database, and how the command line names a user. */
import { createPasswords } from '../../auth/passwords.js';
import { type Tokens, createTokens } from '../../auth/tokens.js';
import type { User } from '../../auth/user.js';
import { type Users, createUsers } from '../../auth/users.js';
import { OperatorError } from '../../kernel/operator-error.js';
import type { Invocation } from '../command.js';
import { withDatabase } from './database.js';

export interface Accounts {
  users: Users;
  tokens: Tokens;
}

/** Waits for `work`, and ends the connections then. It doesn't see whether the service runs. */
export function withAccounts<T>(invocation: Invocation, work: (accounts: Accounts) => Promise<T>): Promise<T> {
  return withDatabase(invocation.config(), (pool) =>
    work({ users: createUsers({ pool, passwords: createPasswords() }), tokens: createTokens({ pool }) }),
  );
}

/** By e-mail address (in any case) or id. */
export async function findUser(users: Users, named: string): Promise<User> {
  const user = await users.find(named);
  if (!user) throw new OperatorError(`There is no user "${named}": "dps users list" shows them all.`);
  return user;
}
