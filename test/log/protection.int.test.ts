import { expect } from 'chai';
import { findUnprotected } from '../../src/log/verification.js';
import { withPool } from '../support/with-pool.js';

const LOG = 'service.service_events';

describe('the append-only triggers', () => {
  const { pool } = withPool({ each: true });

  const triggers = async (): Promise<{ name: string; truncates: boolean }[]> => {
    const { rows } = await pool().query<{ name: string; truncates: boolean }>(
      `SELECT tgname AS name, tgtype & 32 > 0 AS truncates FROM pg_trigger
        WHERE tgrelid = '${LOG}'::regclass AND NOT tgisinternal AND tgtype & 56 > 0`,
    );
    return rows;
  };
  const each = async (change: (name: string) => string): Promise<void> => {
    for (const { name } of await triggers()) await pool().query(change(name));
  };
  const all = (what: string): string[] =>
    ['TRUNCATE', 'UPDATE', 'UPDATE beyond an erasure', 'DELETE'].map(
      (operation) => `The trigger that rejects ${operation} of service_events ${what}.`,
    );

  it('are accepted as the migrations create them', async () => {
    expect(await findUnprotected(pool())).to.deep.equal([]);
  });

  it('are reported as missing after they were dropped', async () => {
    await each((name) => `DROP TRIGGER ${name} ON ${LOG}`);
    expect(await findUnprotected(pool())).to.deep.equal(all('is missing'));
  });

  it('are reported disabled, completely or for replication sessions', async () => {
    for (const mode of ['DISABLE', 'ENABLE', 'ENABLE REPLICA']) {
      await each((name) => `ALTER TABLE ${LOG} ${mode} TRIGGER ${name}`);
      expect(await findUnprotected(pool()), mode).to.deep.equal(all('is disabled'));
    }
    await each((name) => `ALTER TABLE ${LOG} ENABLE ALWAYS TRIGGER ${name}`);
    expect(await findUnprotected(pool())).to.deep.equal([]);
  });

  it('are reported with another function', async () => {
    const { rows } = await pool().query<{ name: string }>(
      `SELECT DISTINCT tgfoid::regproc::text AS name FROM pg_trigger WHERE tgrelid = '${LOG}'::regclass AND tgtype & 56 > 0`,
    );
    for (const { name } of rows)
      await pool().query(
        `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
      );
    expect(await findUnprotected(pool())).to.deep.equal(all('runs an unexpected function'));
  });
});
