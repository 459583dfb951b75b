import { expect } from 'chai';
import pg from 'pg';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';

interface Sizes {
  table: number;
}

type Snapshot = Record<'collections' | 'fields', { collection: string }[]>;

const withoutSplit = ({ collections, fields }: Snapshot): Snapshot => ({
  collections: collections.filter(({ collection }) => collection !== 'split'),
  fields: fields.filter(({ collection }) => collection !== 'split'),
});

describe('GET /collections/{id}/table', () => {
  const { service, api, client } = withService();

  const build = async (collection: string, more: object = {}) => {
    const fields = [{ field: 'title', type: 'string', interface: 'input', schema: { is_unique: true } }];
    const { status, text } = await client('/collections', json({ collection, schema: {}, fields, ...more }));
    expect(status, text).to.equal(200);
  };
  const table = async (name: string, token?: string) => {
    const reply = await client(`/collections/${encodeURIComponent(name)}/table`, token === undefined ? {} : { token });
    return { ...reply, data: (reply.json as { data: Record<string, unknown> }).data };
  };

  it('returns the sizes and objects of a table', async () => {
    await build('it\'s "large"');
    await api.sql(`insert into "it's ""large""" (title) select g::text from generate_series(1, 5000) g`);
    await api.sql(`analyze "it's ""large"""`);
    const { status, data } = await table('it\'s "large"');
    expect(status).to.equal(200);
    expect(data).to.have.property('rows', 5000);
    expect(data['bytes']).to.have.property('table').above(100_000);
    expect(data['analyzed_at']).to.be.a('string');
    const indexes = data['indexes'] as { primary: boolean; definition: string; bytes: number }[];
    expect(indexes).to.have.length(2);
    expect(indexes[0]).to.include({ primary: true, valid: true });
    expect(indexes[1]?.definition).to.contain('UNIQUE');
    expect(indexes[1]?.bytes).to.be.above(0);
    const kinds = (data['constraints'] as { kind: string }[]).map(({ kind }) => kind);
    expect(kinds).to.include.members(['primary key', 'unique']);
  });

  it('lists views, functions, triggers and foreign keys of other tables, without managed tables', async () => {
    await build('articles');
    await build('comments');
    const relation = { collection: 'comments', field: 'title', related_collection: 'articles' };
    expect(
      (await client('/fields/comments', json({ field: 'article', type: 'integer', interface: 'input' }))).status,
    ).to.equal(200);
    const related = await client('/relations', json({ ...relation, field: 'article' }));
    expect(related.status, related.text).to.equal(200);
    await api.sql('create view of_articles as select title from articles');
    await api.sql('create table beside (article integer references articles (id))');
    await api.sql(`create function asks() returns bigint language sql as 'select count(*) from articles'`);
    await api.sql(`create function takes(articles) returns text language sql as 'select $1.title'`);
    await api.sql(
      `create function noted() returns trigger language plpgsql as 'begin return new; end'; create trigger notes after insert on articles for each row execute function noted()`,
    );
    const { data } = await table('articles');
    expect(data['dependents']).to.deep.equal([
      { kind: 'foreign key', name: 'public.beside, beside_article_fkey', by: 'catalog' },
      { kind: 'function', name: 'public.takes', by: 'catalog' },
      { kind: 'trigger', name: 'notes', by: 'catalog' },
      { kind: 'view', name: 'public.of_articles', by: 'catalog' },
      { kind: 'function', name: 'public.asks', by: 'text' },
    ]);
  });

  it('includes the partitions of an adopted table', async () => {
    await api.sql(
      `create table parted (id integer primary key) partition by range (id); create table parted_1 partition of parted for values from (0) to (1000); insert into parted select g from generate_series(0, 899) g; analyze parted`,
    );
    expect((await client('/schema/adopt', json({ tables: ['parted'] }))).status).to.equal(200);
    const { data } = await table('parted');
    expect(data).to.have.property('rows', 900);
    expect(data['bytes']).to.have.property('table').above(0);
    expect(data['dependents']).to.deep.include({ kind: 'partition', name: 'public.parted_1', by: 'catalog' });
  });

  it('responds while a session has locked the table or a partition', async () => {
    await build('busy');
    await api.sql(`insert into busy (title) select g::text from generate_series(1, 5000) g`);
    await api.sql('analyze busy');
    await build('unknown');
    await api.sql(
      `create table split (id integer primary key) partition by range (id); create table split_1 partition of split for values from (0) to (1000); insert into split select g from generate_series(0, 899) g; analyze split`,
    );
    expect((await client('/schema/adopt', json({ tables: ['split'] }))).status).to.equal(200);
    const free = (await table('busy')).data;
    const holder = new pg.Client({ connectionString: service.databaseUrl });
    await holder.connect();
    try {
      await holder.query('begin; lock table busy, unknown, split_1 in access exclusive mode');
      const [busy, unknown, split] = await Promise.all(['busy', 'unknown', 'split'].map((name) => table(name)));
      for (const each of [busy, unknown, split]) expect(each?.status, each?.text).to.equal(200);
      expect(busy?.data).to.include({ rows: 5000 });
      expect(busy?.data)
        .to.have.nested.property('bytes.table')
        .within(100_000, (free['bytes'] as Sizes).table);
      expect(unknown?.data['bytes']).to.deep.equal({ table: null, indexes: null, total: null });
      expect(split?.data).to.include({ rows: 900 }).and.have.nested.property('bytes.table', 32_768);
      const indexes = busy?.data['indexes'] as { definition: null }[] | undefined;
      expect(indexes?.map(({ definition }) => definition)).to.deep.equal([null, null]);
      const snapshot = (await client('/schema/snapshot')).json as Snapshot;
      const gone = { ...snapshot, ...withoutSplit(snapshot) };
      const { json: diff, text } = await client('/schema/diff', json(gone));
      expect(diff, text).to.have.nested.property('diff.collections').with.length(1);
      const { json: plan } = await client('/schema/apply?explain', json(diff));
      expect(plan).to.have.nested.property('tables[0]').that.includes({ table: 'split', rows: 900, bytes: 32_768 });
    } finally {
      await holder.end();
    }
  });

  it('is rejected without a table, and for readers', async () => {
    expect((await table('nobody')).status).to.equal(404);
    expect((await client('/collections', json({ collection: 'folder', schema: null }))).status).to.equal(200);
    const folder = await table('folder');
    expect([folder.status, folder.text])
      .to.deep.equal([404, folder.text])
      .and.to.match(/is a folder/);
    await api.sql('drop table comments cascade');
    expect((await table('comments')).text).to.contain('is missing from the database');
    const { text } = await client('/users', json({ email: 'r@example.com', role: 'reader' }));
    const { id } = (JSON.parse(text) as { data: { id: string } }).data;
    const { json: created } = await client(`/users/${id}/tokens`, json({}));
    const { token } = (created as { data: { token: string } }).data;
    expect((await table('articles', token)).status).to.equal(403);
  });
});
