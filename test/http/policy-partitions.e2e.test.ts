/** A rule for a table covers its partitions and the tables that inherit from it, regardless of their names. */
import { expect } from 'chai';
import { withService } from '../support/with-service.js';

const REFUSED = { status: 422, code: 'POLICY_REFUSED' } as const;

describe('a rule of the policy for a partitioned table', () => {
  const { api } = withService({ each: true, consistent: true });

  const lose = (path: string) => api.client(path, { method: 'DELETE' });
  const rename = (name: string, to: string) => api.ok('POST', `/collections/${name}/rename`, { to });
  const trashed = async (): Promise<number> =>
    (await api.ok<{ data: { position: number }[] }>('GET', '/trash?limit=1')).data[0]?.position ?? 0;
  const rule = (code: string, action = 'refuse', pattern = 'events') => ({ pattern, findings: { [code]: action } });
  const policy = (collections: object[], findings = {}) => api.ok('PUT', '/policy', { findings, collections });

  beforeEach(async () => {
    await api.sql(`
      CREATE TABLE events (v int NOT NULL) PARTITION BY RANGE (v);
      CREATE TABLE p2024 PARTITION OF events FOR VALUES FROM (0) TO (100) PARTITION BY RANGE (v);
      CREATE TABLE p2024_jan PARTITION OF p2024 FOR VALUES FROM (0) TO (10);
      CREATE TABLE p2025 PARTITION OF events FOR VALUES FROM (100) TO (200);
      CREATE TABLE other (v int NOT NULL);
      INSERT INTO events VALUES (1), (101); INSERT INTO other VALUES (1)`);
    await api.ok('POST', '/schema/adopt', { tables: ['events', 'p2024', 'p2024_jan', 'p2025', 'other'] });
  });

  it('covers its partitions of all levels, and names the partition', async () => {
    await policy([rule('LOSES_DATA')]);
    for (const name of ['p2025', 'p2024_jan']) {
      const { extensions } = await api.refused(REFUSED, 'DELETE', `/collections/${name}?purge`);
      expect(extensions).to.include({ finding: 'LOSES_DATA', action: 'refuse', place: name });
    }
    expect((await lose('/collections/other?purge')).status).to.equal(204);
    expect(await api.sql('SELECT v FROM events ORDER BY v')).to.deep.equal([{ v: 1 }, { v: 101 }]);
  });

  it('shows its action in a diff that deletes a partition', async () => {
    await policy([rule('LOSES_DATA', 'approve')]);
    const { collections, fields, ...rest } = await api.ok<Record<'collections' | 'fields', { collection: string }[]>>(
      'GET',
      '/schema/snapshot',
    );
    const isKept = ({ collection }: { collection: string }): boolean => collection !== 'p2025';
    const { warnings } = await api.ok<{ warnings: { code: string; collection: string; action: string }[] }>(
      'POST',
      '/schema/diff',
      { ...rest, collections: collections.filter(isKept), fields: fields.filter(isKept) },
    );
    const actions = warnings
      .filter(({ code }) => code === 'LOSES_DATA')
      .map(({ collection, action }) => [collection, action]);
    expect(actions).to.deep.equal([['p2025', 'approve']]);
  });

  for (const [title, evade, name = 'p2024_jan'] of [
    ['a partition is renamed', () => rename('p2024_jan', 'tmp'), 'tmp'],
    ['the partition between is renamed', () => rename('p2024', 'tmp')],
    ['the table is renamed', () => rename('events', 'tmp')],
    ['the table moves to another schema', () => rename('events', 'app.events')],
    [
      'another table takes its name',
      async () => {
        await rename('events', 'tmp');
        await rename('other', 'events');
      },
    ],
    [
      'the partition was restored from the trash under another name',
      async () => {
        await policy([]);
        await api.ok('DELETE', '/collections/p2024_jan');
        await api.ok('POST', `/trash/${await trashed()}/restore`, { as: 'tmp' });
        await policy([rule('LOSES_DATA')]);
      },
      'tmp',
    ],
  ] as [string, () => Promise<unknown>, string?][])
    it(`covers its partitions after ${title}`, async () => {
      await api.sql('CREATE SCHEMA app');
      await policy([rule('LOSES_DATA')]);
      await evade();
      await api.refused(REFUSED, 'DELETE', `/collections/${name}?purge`);
    });

  it('covers a partition that was detached by hand until the log records it', async () => {
    await policy([rule('LOSES_DATA')]);
    await api.sql('ALTER TABLE p2024 DETACH PARTITION p2024_jan');
    await api.refused(REFUSED, 'DELETE', '/collections/p2024_jan?purge');
    await api.sql('ALTER TABLE p2024 ATTACH PARTITION p2024_jan FOR VALUES FROM (0) TO (10)');
  });

  it('does not cover a table that was detached, and then adopted again', async () => {
    await api.sql('ALTER TABLE events DETACH PARTITION p2025; ALTER TABLE p2025 RENAME TO p2025_own');
    await api.ok('DELETE', '/collections/p2025?purge');
    await api.sql('ALTER TABLE p2025_own RENAME TO p2025');
    await api.ok('POST', '/schema/adopt', { tables: ['p2025'] });
    await policy([rule('LOSES_DATA')]);
    expect((await lose('/collections/p2025?purge')).status).to.equal(204);
  });

  it('covers purges of its partitions, by the names at the deletion', async () => {
    await policy([rule('DATA_NOT_KEPT')]);
    expect((await lose('/collections/p2024_jan')).status).to.equal(204);
    const position = await trashed();
    expect((await lose('/collections/other')).status).to.equal(204);
    const other = await trashed();
    await rename('p2024', 'tmp');
    await rename('events', 'events_old');
    await api.ok('POST', '/collections', { collection: 'p2024', schema: {} });
    const { extensions } = await api.refused(REFUSED, 'DELETE', `/trash/${position}`);
    expect(extensions).to.include({ finding: 'DATA_NOT_KEPT', place: 'p2024_jan' });
    expect((await lose(`/trash/${other}`)).status).to.equal(204);
  });

  it('is not loosened by a milder rule for partitions, which only loosens the general findings', async () => {
    const milder = rule('LOSES_DATA', 'note', 'p20*');
    await policy([milder, rule('LOSES_DATA')]);
    await api.refused(REFUSED, 'DELETE', '/collections/p2025?purge');
    await policy([milder], { LOSES_DATA: 'refuse' });
    await api.refused(REFUSED, 'DELETE', '/collections/other?purge');
    expect((await lose('/collections/p2025?purge')).status).to.equal(204);
  });

  it('covers tables that inherit from a table', async () => {
    await api.sql(`
      CREATE TABLE base (a int); CREATE TABLE middle (b int) INHERITS (base); CREATE TABLE low (c int) INHERITS (middle);
      INSERT INTO low VALUES (1, 2, 3)`);
    await api.ok('POST', '/schema/adopt', { tables: ['base', 'middle', 'low'] });
    await policy([rule('LOSES_DATA', 'refuse', 'base')]);
    await rename('middle', 'tmp');
    await rename('low', 'tmp2');
    for (const path of ['/collections/tmp2?purge', '/fields/tmp2/c?purge']) await api.refused(REFUSED, 'DELETE', path);
    await rename('base', 'tmp3');
    await api.refused(REFUSED, 'DELETE', '/collections/tmp2?purge');
    await api.sql('ALTER TABLE tmp2 NO INHERIT tmp');
    expect((await lose('/collections/tmp2?purge')).status).to.equal(204);
  });
});
