/** The authentication services on a fresh, migrated database. */
import type pg from 'pg';
import { type Auth, createAuth } from '../../src/auth/index.js';
import { readDatabase } from '../../src/postgres/database.js';
import { migrate } from '../../src/postgres/migrate.js';
import { createPool } from '../../src/postgres/pool.js';
import { createDatabase } from '../support/postgres.js';

export interface AuthDatabase {
  auth: Auth;
  pool: pg.Pool;
  /** Another process on the same database, as far as authentication goes. */
  another(): Promise<Auth>;
  /** What freshness.check() reads. */
  epoch(): Promise<number>;
  /** Moves the clock, in milliseconds. */
  pass(milliseconds: number): void;
  close(): Promise<void>;
}

const logger = { debug() {}, info() {}, warn() {}, error() {} };

export async function openAuthDatabase(): Promise<AuthDatabase> {
  const { connectionString, drop } = await createDatabase('migrated');
  const pool = createPool({ connectionString, schema: 'public', serviceSchema: 'service', max: 5, logger });
  await migrate({ pool, schema: 'public', serviceSchema: 'service', database: await readDatabase(pool), logger });
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
      await pool.end();
      await drop();
    },
  };
}
