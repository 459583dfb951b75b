import type pg from 'pg';
import { type Auth, createAuth } from '../../../src/features/accounts/index.js';
import type { Result } from '../../../src/kernel/problem.js';
import { type AccountChange, changeAccount } from '../../../src/features/accounts/change-account.js';
import { CAUSE, startInstance } from '../../support/instance.js';
import { createDatabase } from '../../support/postgres.js';

export interface AuthDatabase {
  auth: Auth;
  pool: pg.Pool;
  /** Commits an account change with its events. */
  change<T>(change: AccountChange<T> | Promise<AccountChange<T>>): Promise<Result<T>>;
  /** Another process on the same database, for authentication. */
  another(): Promise<Auth>;
  /** The epoch that freshness.check() reads. */
  epoch(): Promise<number>;
  /** Advances the clock by milliseconds. */
  pass(milliseconds: number): void;
  close(): Promise<void>;
}

export async function openAuthDatabase(): Promise<AuthDatabase> {
  const { connectionString, drop } = await createDatabase('migrated');
  const { pool, pipeline, stop } = await startInstance(connectionString);
  let now = Date.now();
  const opened: Auth[] = [];
  const another = async () => {
    const auth = await createAuth({ pool, secret: null, clock: () => now });
    opened.push(auth);
    return auth;
  };
  return {
    auth: await another(),
    pool,
    change: async (change) => changeAccount(pipeline, await change, { cause: CAUSE }),
    another,
    async epoch() {
      const { rows } = await pool.query<{ epoch: number }>('select epoch from service.service_auth_epoch');
      return rows[0]?.epoch ?? 0;
    },
    pass(milliseconds) {
      now += milliseconds;
    },
    async close() {
      for (const auth of opened) auth.stop();
      await stop();
      await drop();
    },
  };
}
