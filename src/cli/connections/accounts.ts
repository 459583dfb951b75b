import { createPasswords } from '../../auth/passwords.js';
import { type Tokens, createTokens } from '../../auth/tokens.js';
import type { User } from '../../auth/user.js';
import { type AccountChange, type Users, createUsers } from '../../auth/users.js';
import { changeAccount } from '../../pipeline/prepare/change-account.js';
import { OperatorError } from '../../kernel/operator-error.js';
import type { Invocation } from '../command.js';
import { accepted } from '../output.js';
import { withDatabase } from './database.js';
import { openPipeline, operatorsRequest } from './pipeline.js';

export interface Accounts {
  users: Users;
  tokens: Tokens;
  /**
   * Commits an account change together with its events.
   * @throws OperatorError if it is rejected
   */
  change<T>(command: string, change: AccountChange<T>): Promise<T>;
}

/** Waits for `work` and then closes the connections. Does not check whether the service runs. */
export function withAccounts<T>(invocation: Invocation, work: (accounts: Accounts) => Promise<T>): Promise<T> {
  const config = invocation.config();
  return withDatabase(config, (pool) =>
    work({
      users: createUsers({ pool, passwords: createPasswords() }),
      tokens: createTokens({ pool }),
      async change(command, change) {
        const pipeline = await openPipeline(pool, config);
        return accepted(await changeAccount(pipeline, change, operatorsRequest(command, invocation)));
      },
    }),
  );
}

/** Finds a user by e-mail address (in any case) or id. */
export async function findUser(users: Users, named: string): Promise<User> {
  const user = await users.find(named);
  if (!user) throw new OperatorError(`There is no user "${named}": "dps users list" shows them all.`);
  return user;
}
