import { expect } from 'chai';
import { indexName } from '../../../src/schema/model/constraint-names.js';
import { indexesBuilt } from '../../support/api.js';
import { withService } from '../../support/with-service.js';

const CONFLICT = { status: 409, code: 'ALREADY_EXISTS' };

/** The service's name for the index of m.ix. */
const OWN = indexName('m', 'ix');

describe('indexes with custom names', () => {
  const { api } = withService({ each: true, consistent: true, atEnd: () => indexesBuilt(api) });

  const adopt = async (sql: string): Promise<void> => {
    await api.sql(`CREATE TABLE m (id int PRIMARY KEY, ix int, c int); ${sql}`);
    await api.ok('POST', '/schema/adopt', { all: true });
  };
  const indexes = async (): Promise<string[]> => {
    await indexesBuilt(api);
    const rows = await api.sql<{ name: string }>(
      `SELECT indexname AS name FROM pg_indexes WHERE tablename = 'm' AND indexname <> 'm_pkey' ORDER BY 1`,
    );
    return rows.map(({ name }) => name);
  };
  const setIndexed = (is_indexed: boolean, query = '', extras?: object) =>
    api.ok('PATCH', `/fields/m/ix${query}`, { schema: { is_indexed, ...(extras && { extras }) } });

  for (const [what, other] of [
    ['a unique index', 'UNIQUE INDEX $ ON m (ix)'],
    ['one of several columns', 'INDEX $ ON m (ix, c)'],
    ['a partial one', 'INDEX $ ON m (ix) WHERE c > 0'],
    ['another one of the column', 'INDEX $ ON m (ix DESC)'],
  ] as const) {
    it(`${what} with a default name is not taken for our own`, async () => {
      await adopt(`CREATE INDEX m_ixi ON m (ix); CREATE ${other.replace('$', OWN)}`);
      expect(await indexes()).to.deep.equal([OWN, 'm_ixi'].sort());
      await setIndexed(false);
      expect(await indexes()).to.deep.equal([OWN]);
      for (const query of ['', '?concurrentIndexCreation']) {
        const { message, extensions } = await api.refused(CONFLICT, 'PATCH', `/fields/m/ix${query}`, {
          schema: { is_indexed: true },
        });
        expect(message).to.include(`"${OWN}" is already the name of another index`);
        expect(extensions).to.deep.include({
          path: 'schema.is_indexed',
          taken: [{ name: OWN, kind: 'index of the table' }],
        });
      }
      expect(await indexes()).to.deep.equal([OWN]);
    });
  }

  it('are built under the requested name by change, new field and revert', async () => {
    await adopt('CREATE INDEX m_ix ON m (ix)');
    const [{ position } = { position: 0 }] = await api.sql<{ position: number }>(
      'SELECT max(position)::int AS position FROM service.service_events',
    );
    await setIndexed(false);
    expect(await indexes()).to.deep.equal([]);
    const back = await api.ok<object>('GET', `/history/diff?from=now&to=${position}`);
    await api.ok('POST', '/schema/apply', back);
    expect(await indexes()).to.deep.equal(['m_ix']);
    await setIndexed(false, '?concurrentIndexCreation');
    expect(await indexes()).to.deep.equal([]);
    await setIndexed(true, '?concurrentIndexCreation', { index_name: 'mine' });
    await api.ok('POST', '/fields/m?concurrentIndexCreation', {
      field: 'more',
      type: 'string',
      schema: { is_indexed: true, extras: { index_name: 'too' } },
    });
    expect(await indexes()).to.deep.equal(['mine', 'too']);
    await setIndexed(false, '?concurrentIndexCreation');
    expect(await indexes()).to.deep.equal(['too']);
  });

  it('can be swapped within one batch, regardless of the names of the fields', async () => {
    await api.sql('CREATE TABLE m (id int PRIMARY KEY, a int, b int)');
    await api.ok('POST', '/schema/adopt', { all: true });
    const none = { is_indexed: false, extras: null };
    const own = { is_indexed: true };
    const named = { is_indexed: true, extras: { index_name: indexName('m', 'a') } };
    for (const query of ['', '?concurrentIndexCreation']) {
      await api.ok('PATCH', `/fields/m${query}`, [{ field: 'b', schema: named }]);
      expect(await indexes()).to.deep.equal(['m_a_index']);
      await api.ok('PATCH', `/fields/m${query}`, [
        { field: 'b', schema: none },
        { field: 'a', schema: own },
      ]);
      await api.ok('PATCH', `/fields/m${query}`, [
        { field: 'a', schema: none },
        { field: 'b', schema: named },
      ]);
      expect(await indexes()).to.deep.equal(['m_a_index']);
      await api.refused(CONFLICT, 'PATCH', `/fields/m${query}`, [
        { field: 'a', schema: { ...own, extras: { index_name: 'x' } } },
        { field: 'b', schema: { extras: { index_name: 'x' } } },
      ]);
      await api.ok('PATCH', '/fields/m/b', { schema: none });
    }
  });

  it('never share a name within a table', async () => {
    await adopt('');
    await api.refused(CONFLICT, 'PATCH', '/fields/m', [
      { field: 'ix', schema: { is_indexed: true, extras: { index_name: 'both' } } },
      { field: 'c', schema: { is_unique: true, extras: { unique_name: 'both' } } },
    ]);
    expect(await indexes()).to.deep.equal([]);
  });
});
