import { expect } from 'chai';
import pg from 'pg';
import { json } from '../support/client.js';
import { until } from '../support/until.js';
import { withService } from '../support/with-service.js';

const term = (schema: object = {}) => ({ field: 'term', type: 'string', interface: 'input', schema });

describe('a rename', () => {
  const { api, client, service } = withService({
    each: true,
    consistent: true,
    settings: { LOCK_TIMEOUT: '2s', LOCK_WAIT: '100ms' },
  });

  const createA = () => api.ok('POST', '/collections', { collection: 'a', schema: {}, fields: [term()] });

  it('happens once per Idempotency-Key with the same response', async () => {
    await createA();
    const once = (to: string) =>
      client('/collections/a/rename', {
        ...json({ to }),
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'rename' },
      });
    const [first, second] = [await once('b'), await once('b')];
    expect([first.status, second.status], first.text).to.deep.equal([200, 200]);
    expect(second.text).to.equal(first.text);
    expect(second.headers.get('x-log-position')).to.equal(first.headers.get('x-log-position'));
    expect((await once('c')).status).to.equal(409);
  });

  it('can be uploaded as a YAML file', async () => {
    await createA();
    const text = (await client('/schema/snapshot?export=yaml')).text.replaceAll(/\ba$/gm, 'b');
    const form = new FormData();
    form.append('file', new Blob([text.replace('- collection: b', '- collection: b\n    renamed_from: a')]), 's.yaml');
    const answer = await client('/schema/diff', { method: 'POST', body: form });
    expect(answer.status, answer.text).to.equal(200);
    const { diff } = JSON.parse(answer.text) as { diff: { collections: object[] } };
    expect(diff.collections).to.deep.equal([
      { collection: 'b', diff: [{ kind: 'E', path: ['collection'], lhs: 'a', rhs: 'b' }] },
    ]);
  });

  it('waits for a running index build and reports it, and then both complete', async () => {
    await createA();
    const application = new pg.Client({ connectionString: service.databaseUrl, application_name: 'shop' });
    await application.connect();
    try {
      await application.query(`BEGIN; INSERT INTO a (term) VALUES ('x')`);
      await api.ok('PATCH', '/fields/a/term?concurrentIndexCreation', { schema: { is_indexed: true } });
      const building = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'CREATE INDEX CONC%' AND state = 'active'`;
      await until('the build waits for the transaction', async () => (await api.sql(building)).length === 1);
      const refused = await api.refused({ status: 503, code: 'LOCK_TIMEOUT' }, 'POST', '/collections/a/rename', {
        to: 'b',
      });
      expect(refused.extensions).to.include({ collection: 'a' });
      await application.query('COMMIT');
      await until('the rename is let through', async () => {
        const { status } = await client('/collections/a/rename', json({ to: 'b' }));
        return status === 200;
      });
    } finally {
      await application.end();
    }
    await until('the index is there', async () => {
      const rows = await api.sql(
        `SELECT FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname = 'b_term_index' AND i.indisvalid`,
      );
      return rows.length === 1;
    });
    expect(await api.sql('SELECT term FROM b')).to.deep.equal([{ term: 'x' }]);
  });
});
