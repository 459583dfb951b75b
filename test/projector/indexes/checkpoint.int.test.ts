import { expect } from 'chai';
import { advanceCheckpoint, loadCheckpoint } from '../../../src/projector/indexes/catch-up.js';
import { own } from '../../../src/postgres/own-tables.js';
import { CAUSE, expectDone, startInstance, table } from '../../support/instance.js';
import { createDatabase } from '../../support/postgres.js';

it('the index checkpoint never advances to a position that the log has lost', async () => {
  const database = await createDatabase();
  const { pool, pipeline, stop } = await startInstance(database.connectionString);
  try {
    expectDone(await pipeline.apply('create-collection', table('a'), { cause: CAUSE }));
    await pool.query(`DELETE FROM ${own.projections} WHERE name = 'indexes'`);
    expect([await loadCheckpoint(pool), await loadCheckpoint(pool)]).to.deep.equal([0, 0]);
    expect(await advanceCheckpoint(pool, 0, 2)).to.equal(false);
    const { rows } = await pool.query(`SELECT position, hash FROM ${own.projections} WHERE name = 'indexes'`);
    expect(rows).to.deep.equal([{ position: 0, hash: null }]);
    expect(await advanceCheckpoint(pool, 0, 1)).to.equal(true);
    expect(await loadCheckpoint(pool)).to.equal(1);
  } finally {
    await stop();
    await database.drop();
  }
});
