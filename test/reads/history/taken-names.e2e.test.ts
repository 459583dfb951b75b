/** Every revert that the service offers is possible, whatever reused the names. */
import { expect } from 'chai';
import { json } from '../../support/client.js';
import { withService } from '../../support/with-service.js';

interface Diff {
  hash: string;
  diff: { collections: object[]; fields: { field: string; restores?: number }[]; relations: object[] };
  warnings?: { code: string; collection: string; field?: string; message: string }[];
}

const column = (field: string) => ({ field, type: 'string', interface: 'input' });

describe('reverting past reused names', () => {
  const { api, client } = withService({ each: true, consistent: true });

  const create = (collection: string, ...fields: string[]) =>
    api.ok('POST', '/collections', { collection, schema: {}, fields: fields.map(column) });
  const back = (to: number) => api.ok<Diff>('GET', `/history/diff?to=${to}`);
  const apply = async ({ hash, diff }: Diff) => {
    for (const path of ['/schema/apply?dry_run', '/schema/apply']) {
      const { status, text } = await client(path, json({ hash, diff }));
      expect(status, `${path} ${text}`).below(300);
      if (status === 200) expect(JSON.parse(text)).include({ accepted: true });
    }
  };

  it('restores no values of an earlier table with the same name', async () => {
    await create('t', 'a', 'b');
    const then = await api.head();
    await api.ok('DELETE', '/fields/t/a');
    await api.ok('DELETE', '/collections/t');
    await create('t', 'b');
    const diff = await back(then);
    expect(diff.diff.fields.filter(({ restores }) => restores !== undefined)).deep.equal([]);
    expect(diff.warnings?.some(({ code, field }) => code === 'DATA_NOT_RESTORED' && field === 'a')).equal(true);
    await apply(diff);
    expect((await back(then)).diff).deep.equal({ collections: [], fields: [], relations: [] });
  });

  it('restores no values of a table whose name another table took by rename', async () => {
    await create('t', 'a', 'b');
    const then = await api.head();
    await api.ok('DELETE', '/fields/t/a');
    await api.ok('DELETE', '/collections/t');
    await create('s', 'b');
    await api.ok('POST', '/collections/s/rename', { to: 't' });
    const diff = await back(then);
    expect(diff.diff.fields.filter(({ restores }) => restores !== undefined)).deep.equal([]);
    await apply(diff);
  });

  it('restores a table whose name is free again after a rename back', async () => {
    await create('t', 'a');
    await create('s', 'b');
    await api.sql(`INSERT INTO t (a) VALUES ('kept')`);
    const then = await api.head();
    await api.ok('DELETE', '/collections/t');
    await api.ok('POST', '/collections/s/rename', { to: 't' });
    await apply(await back(then));
    expect(await api.sql('SELECT a FROM t')).deep.equal([{ a: 'kept' }]);
    expect((await client('/fields/s/b')).status).equal(200);
  });

  it('gives partitioned tables, partitions and referenced tables their names back', async () => {
    await create('target', 'a');
    await api.sql(`
      CREATE TABLE parts (id int PRIMARY KEY, target int REFERENCES target) PARTITION BY RANGE (id);
      CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (9)`);
    await api.ok('POST', '/schema/adopt', { all: true });
    const then = await api.head();
    for (const name of ['parts', 'part', 'target'])
      await api.ok('POST', `/collections/${name}/rename`, { to: `${name}2` });
    await apply(await back(then));
    expect(
      await api.sql(`SELECT inhparent::regclass::text AS parent FROM pg_inherits WHERE inhrelid = 'part'::regclass`),
    ).deep.equal([{ parent: 'parts' }]);
  });

  it('restores a partition although columns of its table have other names now, or had then', async () => {
    await api.sql(`
      CREATE TABLE parts (id int PRIMARY KEY, a int) PARTITION BY RANGE (id);
      CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (9);
      INSERT INTO parts VALUES (3, 4)`);
    await api.ok('POST', '/schema/adopt', { all: true });
    const ends = [await api.head()];
    const change = async (method: string, path: string, body?: object) => {
      await api.ok(method, path, body);
      ends.push(await api.head());
    };
    await change('POST', '/fields/parts/a/rename', { to: 'b' });
    await change('POST', '/fields/parts/b/rename', { to: 'a' });
    await change('DELETE', '/collections/part');
    for (const to of [ends[1], ends[0]]) {
      await apply(await back(to ?? 0));
      const column = to === ends[0] ? 'a' : 'b';
      expect(await api.sql(`SELECT id, ${column} AS value FROM part`)).deep.equal([{ id: 3, value: 4 }]);
    }
    await api.ok('DELETE', '/collections/part');
    await api.ok('POST', '/fields/parts/a/rename', { to: 'c' });
    await apply(await back(ends[0] ?? 0));
    expect(await api.sql('SELECT id, a FROM parts')).deep.equal([{ id: 3, a: 4 }]);
  });

  it('restores a partition after the table that took its name is deleted', async () => {
    await api.sql(`
      CREATE TABLE parts (id int PRIMARY KEY) PARTITION BY RANGE (id);
      CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (9);
      INSERT INTO parts VALUES (3)`);
    await api.ok('POST', '/schema/adopt', { all: true });
    const then = await api.head();
    await api.ok('DELETE', '/collections/part');
    await create('part', 'a');
    const { message } = await api.refused({ status: 400, code: 'INVALID_QUERY' }, 'GET', `/history/diff?to=${then}`);
    expect(message).contain('"part" is another table now').and.contain('delete or rename it first');
    await api.ok('DELETE', '/collections/part');
    await apply(await back(then));
    expect(await api.sql('SELECT id FROM part')).deep.equal([{ id: 3 }]);
  });
});
