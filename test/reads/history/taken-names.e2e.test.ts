/** Every revert that the service offers is possible, regardless of what reused the names. */
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

  it('restores the names of partitioned tables, partitions and referenced tables', async () => {
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

  it('restores a partition after a column of its table was renamed', async () => {
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

  it('restores a partition together with its table, unless the trash lacks the table', async () => {
    await api.sql(`
      CREATE TABLE parts (id int PRIMARY KEY) PARTITION BY RANGE (id);
      CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (9);
      INSERT INTO parts VALUES (3)`);
    await api.ok('POST', '/schema/adopt', { all: true });
    const then = await api.head();
    for (const query of ['', '?purge']) {
      await api.ok('DELETE', '/collections/part');
      await api.ok('DELETE', `/collections/parts${query}`);
      const diff = await back(then);
      const isEmpty = diff.warnings?.some(
        ({ code, collection }) => code === 'DATA_NOT_RESTORED' && collection === 'part',
      );
      expect(isEmpty === true).equal(query === '?purge');
      await apply(diff);
      expect(await api.sql('SELECT id FROM parts')).deep.equal(query === '' ? [{ id: 3 }] : []);
    }
  });

  it('restores a partition in place of another one with the same bounds', async () => {
    await api.sql(`
      CREATE TABLE parts (id int PRIMARY KEY) PARTITION BY RANGE (id);
      CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (9);
      INSERT INTO parts VALUES (3)`);
    await api.ok('POST', '/schema/adopt', { all: true });
    const then = await api.head();
    await api.ok('DELETE', '/collections/part');
    await api.sql('CREATE TABLE part2 PARTITION OF parts FOR VALUES FROM (0) TO (9)');
    await api.ok('POST', '/schema/adopt', { all: true });
    await apply(await back(then));
    expect(await api.sql('SELECT tableoid::regclass::text AS part, id FROM parts')).deep.equal([
      { part: 'part', id: 3 },
    ]);
  });

  it('creates a partition empty if its table got a constraint that the partition in the trash lacks', async () => {
    await api.sql(`
      CREATE TABLE parts (id int PRIMARY KEY) PARTITION BY RANGE (id);
      CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (9)`);
    await api.ok('POST', '/schema/adopt', { all: true });
    const then = await api.head();
    await api.ok('DELETE', '/collections/part');
    const snapshot = await api.ok<{ collections: { schema: { extras: object } }[] }>('GET', '/schema/snapshot');
    for (const { schema } of snapshot.collections)
      Object.assign(schema.extras, { constraints: [{ name: 'small', definition: 'CHECK ((id < 7))' }] });
    await apply(await api.ok<Diff>('POST', '/schema/diff', snapshot));
    const diff = await back(then);
    expect(diff.warnings?.some(({ code }) => code === 'DATA_NOT_RESTORED')).equal(true);
    await apply(diff);
  });

  it('deletes and creates a field of an unsupported type although its table was renamed', async () => {
    await api.sql('CREATE TABLE t (id int PRIMARY KEY, x point)');
    await api.ok('POST', '/schema/adopt', { all: true });
    const then = await api.head();
    await api.ok('DELETE', '/fields/t/x');
    await api.ok('POST', '/fields/t', column('x'));
    await api.ok('POST', '/collections/t/rename', { to: 's' });
    await apply(await back(then));
    expect(await api.sql(`SELECT pg_typeof(x)::text AS type FROM (SELECT NULL) e LEFT JOIN t ON true`)).deep.equal([
      { type: 'point' },
    ]);
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
    expect(message).contain('"part" is another table now').and.contain('delete the current "part" first');
    await api.ok('DELETE', '/collections/part');
    await apply(await back(then));
    expect(await api.sql('SELECT id FROM part')).deep.equal([{ id: 3 }]);
  });

  it('does not give a restored name the relations of the column that had it', async () => {
    await create('t', 'a');
    await create('s', 'b');
    const then = await api.head();
    await api.ok('POST', '/fields/t/a/rename', { to: 'c' });
    await api.ok('POST', '/fields/t', { ...column('a'), type: 'integer' });
    await api.ok('POST', '/relations', { many_collection: 't', many_field: 'a', one_collection: 't' });
    await api.ok('DELETE', '/collections/s');
    await apply(await back(then));
    expect(await api.ok('GET', '/relations')).deep.include({ data: [] });
  });

  it('does not give a restored name the relations to the table that had it', async () => {
    const key = { field: 'id', type: 'string', interface: 'input', schema: { is_primary_key: true } };
    const createWithKey = (collection: string) =>
      api.ok('POST', '/collections', { collection, schema: {}, fields: [key] });
    const relate = () => api.ok('POST', '/relations', { many_collection: 't', many_field: 'a', one_collection: 's' });
    await create('t', 'a');
    await createWithKey('s');
    await relate();
    const then = await api.head();
    await api.ok('DELETE', '/collections/s');
    await createWithKey('s');
    await relate();
    await api.ok('POST', '/collections/t/rename', { to: 'u' });
    await api.ok('POST', '/collections/s/rename', { to: 't' });
    await apply(await back(then));
    const { data } = await api.ok<{ data: { related_collection: string }[] }>('GET', '/relations/t');
    expect(data.map((each) => each.related_collection)).deep.equal(['s']);
  });

  it('deletes inheriting tables before a table that returns takes the name of their parent', async () => {
    await create('p', 'a');
    const then = await api.head();
    await api.ok('POST', '/collections/p/rename', { to: 'x' });
    await api.sql('CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE c () INHERITS (p)');
    await api.ok('POST', '/schema/adopt', { tables: ['p', 'c'] });
    const { hash, diff } = await back(then);
    await api.ok('POST', '/schema/apply?purge', { hash, diff });
    expect((await client('/fields/p/a')).status).equal(200);
  });

  it('gives a parent the name of its child after the child has its former name again', async () => {
    await api.sql('CREATE TABLE c (id int PRIMARY KEY); CREATE TABLE x () INHERITS (c)');
    await api.ok('POST', '/schema/adopt', { tables: ['c', 'x'] });
    const then = await api.head();
    await api.ok('POST', '/collections/c/rename', { to: 'q' });
    await api.ok('POST', '/collections/x/rename', { to: 'c' });
    await apply(await back(then));
    expect(await api.sql(`SELECT inhparent::regclass::text AS parent FROM pg_inherits`)).deep.equal([{ parent: 'c' }]);
  });

  it('changes a parent before its children when a table that returns has the name of the parent', async () => {
    await create('t', 'a');
    await api.sql('CREATE TABLE p (id int PRIMARY KEY, a int); CREATE TABLE c () INHERITS (p)');
    await api.ok('POST', '/schema/adopt', { tables: ['p', 'c'] });
    const then = await api.head();
    await api.ok('POST', '/fields/t/a/rename', { to: 'b' });
    await api.ok('DELETE', '/collections/t');
    await api.ok('POST', '/collections/p/rename', { to: 't' });
    await api.ok('PATCH', '/fields/t/a', { type: 'bigInteger' });
    await apply(await back(then));
    expect((await back(then)).diff).deep.equal({ collections: [], fields: [], relations: [] });
  });
});
