import { expect } from 'chai';
import type pg from 'pg';
import { readChanges } from '../../../src/reads/history/changes.js';
import { createStoredFolds } from '../../../src/reads/stored-folds.js';
import { createTimeTravel } from '../../../src/reads/history/time-travel.js';
import { CAUSE, type Instance, command, expectDone, silent, startInstance } from '../../support/instance.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';

describe('changes of a long log', () => {
  let database: TestDatabase;
  let instance: Instance;

  before(async () => {
    database = await createDatabase('migrated');
    instance = await startInstance(database.connectionString);
    for (let batch = 0; batch < 6; batch += 1) {
      const body = Array.from({ length: 1_000 }, (_, index) => ({
        collection: `folder_${batch}_${index}`,
        schema: null,
      }));
      const folders = command('create-collections', { body, concurrentIndexes: false });
      expectDone(await instance.pipeline.apply('create-collections', folders, { cause: CAUSE }));
    }
  });

  after(async () => {
    await instance.stop();
    await database.drop();
  });

  it('are read only as far as needed', async () => {
    let pages = 0;
    const pool = {
      query: (...args: Parameters<pg.Pool['query']>) => {
        const [requested] = args as unknown as [string | { name?: string }];
        if (typeof requested === 'object' && requested.name === 'log-page') pages += 1;
        return instance.pool.query(...args) as unknown;
      },
    } as unknown as pg.Pool;
    const folds = createStoredFolds({ pool, logger: silent, secret: 'secret' });
    const travel = createTimeTravel({ pool, store: instance.store, folds });
    const shownOf = async (order: 'asc' | 'desc'): Promise<[number[], boolean]> => {
      const { batches, more } = await readChanges(pool, travel, { filter: {}, order, limit: 100 });
      return [batches.map((each) => each.last_position), more];
    };
    expect(await shownOf('asc')).to.deep.equal([[1_000, 2_000], true]);
    // The third page exceeds the limit. Meanwhile the next one may be requested.
    expect(pages).to.be.within(3, 4);
    expect(await shownOf('desc')).to.deep.equal([[6_000, 5_000], true]);
  });
});
