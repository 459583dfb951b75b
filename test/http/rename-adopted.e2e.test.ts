import { expect } from 'chai';
import { withService } from '../support/with-service.js';
import { until } from '../support/until.js';

describe('renaming adopted objects', () => {
  const { api } = withService({ each: true, consistent: true });

  const rename = (path: string, to: string) => api.ok('POST', `${path}/rename`, { to });

  it('rewrites the SQL of checks, indexes, keys and foreign keys, even on other instances', async () => {
    await api.sql(`CREATE TABLE k (x int, y int, PRIMARY KEY (x, y), CHECK (x > 0 AND k.y < 10));
      CREATE TABLE r (id serial PRIMARY KEY, x int, y int, CONSTRAINT two FOREIGN KEY (x, y) REFERENCES k (x, y),
        g int GENERATED ALWAYS AS (x * 2) STORED);
      CREATE INDEX of_x ON r (lower(x::text), y) WHERE x > 1;
      INSERT INTO k VALUES (1, 2); INSERT INTO r (x, y) VALUES (1, 2)`);
    await api.ok('POST', '/schema/adopt', { tables: ['k', 'r'] });
    await rename('/collections/k', 'Keys');
    await rename('/fields/Keys/x', 'select');
    await rename('/fields/r/x', 'first');
    expect(await api.ok('GET', '/schema/drift')).to.deep.include({ ok: true });
    expect(await api.sql('SELECT "select", y FROM "Keys"')).to.deep.equal([{ select: 1, y: 2 }]);
    const before = await api.head();
    await rename('/collections/Keys', 'k');
    const diff = await api.ok<object>('GET', `/history/diff?to=${before}`);
    await api.ok('POST', '/schema/apply', diff);
  });

  it('renames a column of a partitioned table and of its partitions together', async () => {
    await api.sql(`CREATE TABLE m (id int, at date, v int, PRIMARY KEY (id, at), CHECK (v > 0)) PARTITION BY RANGE (at);
      CREATE TABLE m_1 PARTITION OF m FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
      INSERT INTO m VALUES (1, '2024-02-01', 3)`);
    await api.ok('POST', '/schema/adopt', { all: true });
    await api.refused({ status: 409, code: 'IN_USE' }, 'POST', '/fields/m_1/at/rename', { to: 'day' });
    await rename('/fields/m/at', 'day');
    await rename('/fields/m/v', 'amount');
    await rename('/collections/m_1', 'm 2024');
    await rename('/collections/m', 'measures');
    expect(await api.ok('GET', '/schema/drift')).to.deep.include({ ok: true });
    expect(await api.sql('SELECT id, amount FROM "m 2024"')).to.deep.equal([{ id: 1, amount: 3 }]);
  });

  it('builds a pending index under its new names', async () => {
    const field = { field: 'term', type: 'string', interface: 'input', schema: { is_indexed: true } };
    await api.ok('POST', '/collections?concurrentIndexCreation', { collection: 'a', schema: {}, fields: [field] });
    await rename('/collections/a', 'b');
    await rename('/fields/b/term', 'word');
    await until('the index is there', async () => {
      const rows = await api.sql(
        "SELECT FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname = 'b_word_index' AND i.indisvalid",
      );
      return rows.length === 1;
    });
  });
});
