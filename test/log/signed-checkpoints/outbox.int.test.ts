import { expect } from 'chai';
import { claim, insert } from '../../../src/log/signed-checkpoints/outbox.js';
import type pg from 'pg';
import { type Instance, startInstance } from '../../support/instance.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';

describe('claims of checkpoints that are to be delivered', () => {
  let database: TestDatabase;
  let instance: Instance;
  let pool: pg.Pool;

  before(async () => {
    database = await createDatabase();
    instance = await startInstance(database.connectionString);
    pool = instance.pool;
    const end = { origin: 'here', position: 1, hash: 'a'.repeat(64), note: 'a note' };
    await insert(pool, 'folder', end as Parameters<typeof insert>[2]);
  });

  after(async () => {
    await instance.stop();
    await database.drop();
  });

  const claimedAt = (when: string) => pool.query(`UPDATE service.service_checkpoints SET claimed_at = ${when}`);

  it('are not taken from a process that made them while this one began to look', async () => {
    // The clock of a statement stands still at its begin: what is committed meanwhile is of its future.
    await claimedAt(`now() + interval '2 seconds'`);
    expect(await claim(pool, 'folder')).to.equal(undefined);
    await claimedAt(`now() - interval '50 seconds'`);
    expect(await claim(pool, 'folder')).to.equal(undefined);
  });

  it('are taken over from a process that is taken for dead, and from one before the clock was set back', async () => {
    for (const when of [`now() - interval '61 seconds'`, `now() + interval '61 seconds'`, 'NULL']) {
      await claimedAt(when);
      expect((await claim(pool, 'folder'))?.position, when).to.equal(1);
    }
  });
});
