import { expect } from 'chai';
import { withService } from '../../support/with-service.js';

interface Entry {
  position: number;
  kind: string;
  collection: string;
  kept_until: string;
  kept_in: number | null;
  rows: number | null;
  bytes: number;
}

const plain = (field: string, type: string, schema: object = {}) => ({ field, type, interface: 'input', schema });

/** The tables in the trash. */
const INSIDE = `SELECT relname FROM pg_class WHERE relnamespace::regnamespace::text ~ '_trash_'`;

describe('the trash of tables', () => {
  const { api } = withService({ each: true, consistent: true });

  const articles = (fields: object[] = [plain('title', 'string')]) =>
    api.ok('POST', '/collections', { collection: 'articles', schema: {}, fields });

  const trashed = async (): Promise<Entry[]> => (await api.ok<{ data: Entry[] }>('GET', '/trash')).data;

  /** All dependents of a table. */
  const shape = async (table: string): Promise<unknown> =>
    api.sql(
      `SELECT relacl::text, relrowsecurity,
              (SELECT json_agg(conname ORDER BY 1) FROM pg_constraint WHERE conrelid = c.oid) AS constraints,
              (SELECT json_agg(indexrelid::regclass::text ORDER BY 1) FROM pg_index WHERE indrelid = c.oid) AS indexes,
              (SELECT json_agg(tgname ORDER BY 1) FROM pg_trigger WHERE tgrelid = c.oid) AS triggers,
              (SELECT json_agg(polname ORDER BY 1) FROM pg_policy WHERE polrelid = c.oid) AS policies,
              (SELECT json_agg(pg_get_serial_sequence(c.oid::regclass::text, attname) ORDER BY 1) FROM pg_attribute
                WHERE attrelid = c.oid AND attnum > 0) AS sequences
         FROM pg_class c WHERE c.oid = $1::regclass`,
      [`public.${table}`],
    );

  it('keeps a deleted table with its rows, and reports how long it can be restored', async () => {
    await articles();
    await api.sql(`INSERT INTO articles (title) VALUES ('a'), ('b')`);
    await api.ok('DELETE', '/collections/articles');
    const [entry] = await trashed();
    expect(entry).to.include({ kind: 'collection', collection: 'articles' });
    const week = Date.parse(entry!.kept_until) - Date.now();
    expect(week).to.be.within(6.9 * 86_400_000, 7.1 * 86_400_000);
    const rows = await api.sql(`SELECT title FROM service_trash_s${entry!.kept_in}.articles ORDER BY 1`);
    expect(rows).to.deep.equal([{ title: 'a' }, { title: 'b' }]);
  });

  it('is listed in pages, newest first', async () => {
    for (const collection of ['a', 'b', 'c']) {
      await api.ok('POST', '/collections', { collection, schema: {} });
      await api.ok('DELETE', `/collections/${collection}`);
    }
    const names = async (query: string) => {
      const { data, meta } = await api.ok<{ data: Entry[]; meta?: object }>('GET', `/trash${query}`);
      return [data.map(({ collection }) => collection).join(''), meta];
    };
    expect(await names('')).to.deep.equal(['cba', undefined]);
    expect(await names('?limit=2&meta=*')).to.deep.equal(['cb', { total_count: 3, filter_count: 3 }]);
    expect(await names('?limit=2&offset=2&meta=total_count')).to.deep.equal(['a', { total_count: 3 }]);
    expect(await names('?offset=3')).to.deep.equal(['', undefined]);
    for (const query of ['limit=-1', 'offset=x', 'meta=all', 'page=2'])
      await api.refused({ status: 400, code: 'INVALID_QUERY' }, 'GET', `/trash?${query}`);
  });

  it('drops immediately on request, and purges kept tables', async () => {
    await articles();
    await api.ok('DELETE', '/collections/articles?purge');
    expect(await trashed()).to.deep.equal([]);
    await articles();
    await api.ok('DELETE', '/collections/articles');
    const [entry] = await trashed();
    await api.appends(['trash.purged articles'], 'DELETE', `/trash/${entry!.position}`);
    expect(await trashed()).to.deep.equal([]);
    expect(await api.sql(INSIDE)).to.deep.equal([]);
    const again = await api.refused({ status: 404, code: 'NOT_FOUND' }, 'DELETE', `/trash/${entry!.position}`);
    expect(again.message).to.match(/purged at 20/);
  });

  it('rejects what a drop would reject, in the same words', async () => {
    await articles();
    await api.sql('CREATE VIEW titles AS SELECT title FROM articles');
    const kept = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/collections/articles');
    const dropped = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/collections/articles?purge');
    expect(kept).to.deep.equal(dropped);
    expect(kept.message).to.contain('view titles depends on table articles');
  });

  it('restores a table with rows, keys, triggers, policies, comments and privileges under its identity', async () => {
    await articles([plain('title', 'string', { is_unique: true, is_indexed: true }), plain('body', 'text')]);
    await api.sql(`INSERT INTO articles (title) VALUES ('a'), ('b')`);
    await api.sql(`CREATE FUNCTION touched() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`);
    await api.sql('CREATE TRIGGER touch BEFORE INSERT ON articles FOR EACH ROW EXECUTE FUNCTION touched()');
    await api.sql('ALTER TABLE articles ENABLE ROW LEVEL SECURITY');
    await api.sql('CREATE POLICY everything ON articles USING (true)');
    await api.sql(`COMMENT ON COLUMN articles.body IS 'by hand'`);
    await api.sql('GRANT SELECT ON articles TO PUBLIC');
    await api.sql(`COMMENT ON COLUMN articles.body IS NULL`);
    const before = await shape('articles');
    const snapshot = await api.ok('GET', '/schema/snapshot');
    await api.ok('DELETE', '/collections/articles');
    const [entry] = await trashed();
    await api.appends(['collection.created articles'], 'POST', `/trash/${entry!.position}/restore`);
    expect(await shape('articles')).to.deep.equal(before);
    expect(await api.sql('SELECT title FROM articles ORDER BY id')).to.deep.equal([{ title: 'a' }, { title: 'b' }]);
    expect(await api.ok('GET', '/schema/snapshot')).to.deep.equal(snapshot);
    expect(await trashed()).to.deep.equal([]);
    expect(await api.sql(INSIDE)).to.deep.equal([]);
    const again = await api.refused({ status: 404, code: 'NOT_FOUND' }, 'POST', `/trash/${entry!.position}/restore`);
    expect(again.message).to.match(/restored at 20/);
  });
});
