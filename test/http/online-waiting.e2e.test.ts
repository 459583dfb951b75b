import { expect } from 'chai';
import pg from 'pg';
import { column, onlineOf } from '../support/online.js';
import { until } from '../support/until.js';
import { withService } from '../support/with-service.js';

describe('a prepared change that a transaction blocks', () => {
  // An attempt lasts longer than the test.
  const { api, service } = withService({ settings: { LOCK_TIMEOUT: '90s', LOCK_WAIT: '100ms' } });

  it('names the blocking session early, and none after it is applied', async () => {
    const online = onlineOf(api);
    await online.large('items', [column('code', 'integer')], 'code = i');
    const reader = new pg.Client({ connectionString: service.databaseUrl, application_name: 'a long report' });
    await reader.connect();
    try {
      // Blocks only the change itself.
      await reader.query('BEGIN; SELECT FROM items LIMIT 1');
      const { id } = await online.open('PATCH', '/fields/items/code', { schema: { is_unique: true } });
      await until('it is prepared', async () => (await online.retrieve(id)).state === 'prepared');
      const isTold = async () =>
        (await online.retrieve(id)).waiting_for.some(({ application_name: name }) => name === 'a long report');
      await until('it says whom it waits for', isTold);
      await reader.query('COMMIT');
      const { waiting_for } = await online.ended(id, 'applied');
      expect(waiting_for).to.deep.equal([]);
    } finally {
      await reader.end();
    }
  });
});
