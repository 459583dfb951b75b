import { expect } from 'chai';
import type pg from 'pg';
import { queryWithin } from '../../../src/projector/catalog/table-facts.js';
import { sql } from '../../../src/projector/ddl/sql.js';
import { createPool } from '../../../src/postgres/pool.js';
import { silent } from '../../support/instance.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';

describe('an optional query with a time limit', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  before(async () => {
    database = await createDatabase();
    const { connectionString } = database;
    pool = createPool({ connectionString, schema: 'public', serviceSchema: 'service', max: 1, logger: silent });
  });
  after(async () => {
    await pool.end();
    await database.drop();
  });

  it('returns its first row', async () => {
    expect(await queryWithin(pool, sql`SELECT 1 AS one UNION ALL SELECT 2 ORDER BY 1`, 10_000)).to.deep.equal({
      one: 1,
    });
    expect(await queryWithin(pool, sql`SELECT 1 AS one WHERE false`, 10_000)).to.equal(null);
  });

  it('is cancelled on timeout, without time left, or on an error, and the limit ends with it', async () => {
    expect(await queryWithin(pool, sql`SELECT pg_catalog.pg_sleep(60)`, 20)).to.equal(null);
    for (const limit of [0, -1, 0.9]) expect(await queryWithin(pool, sql`SELECT 1 AS one`, limit)).to.equal(null);
    expect(await queryWithin(pool, sql`SELECT 1 / 0`, 10_000)).to.equal(null);
    const { rows } = await pool.query('SHOW statement_timeout');
    expect(rows).to.deep.equal([{ statement_timeout: '0' }]);
  });
});
