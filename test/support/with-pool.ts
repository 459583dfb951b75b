/** A database with the service's own tables and a pool like the service's, without a service. */
import type pg from 'pg';
import { createPool } from '../../src/postgres/pool.js';
import { silent } from './instance.js';
import { createDatabase } from './postgres.js';

export interface Pooled {
  /** Empty until the hooks have run. */
  database: { connectionString: string };
  pool(): pg.Pool;
}

/** Registers the hooks. `each`: a separate database for each test. */
export function withPool({ each = false } = {}): Pooled {
  const database = { connectionString: '' };
  let pool: pg.Pool | undefined;
  let drop = (): Promise<void> => Promise.resolve();

  (each ? beforeEach : before)(async () => {
    const created = await createDatabase('migrated');
    drop = created.drop;
    const { connectionString } = created;
    Object.assign(database, { connectionString });
    pool = createPool({ connectionString, schema: 'public', serviceSchema: 'service', max: 2, logger: silent });
  });
  (each ? afterEach : after)(async () => {
    await pool?.end();
    pool = undefined;
    await drop();
  });

  return {
    database,
    pool: () => {
      if (pool === undefined) throw new Error('asked for before the hooks have run');
      return pool;
    },
  };
}
