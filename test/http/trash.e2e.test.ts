/** The trash of tables: what is deleted moves there, and comes back as it was. */
import { expect } from 'chai';
import { withService } from '../support/with-service.js';

interface Entry {
  position: number;
  kind: string;
  collection: string;
  kept_until: string;
  rows: number | null;
  bytes: number;
}

const plain = (field: string, type: string, schema: object = {}) => ({ field, type, interface: 'input', schema });

describe('the trash of tables', function () {
  this.timeout(60_000);
  const { api } = withService({ each: true, consistent: true });

  const articles = (fields: object[] = [plain('title', 'string')]) =>
    api.ok('POST', '/collections', { collection: 'articles', schema: {}, fields });

  const trashed = async (): Promise<Entry[]> => (await api.ok<{ data: Entry[] }>('GET', '/trash')).data;

  it('keeps a deleted table with its rows, and says until when', async () => {
    await articles();
    await api.sql(`INSERT INTO articles (title) VALUES ('a'), ('b')`);
    await api.ok('DELETE', '/collections/articles');
    const [entry] = await trashed();
    expect(entry).to.include({ kind: 'collection', collection: 'articles' });
    const week = Date.parse(entry!.kept_until) - Date.now();
    expect(week).to.be.within(6.9 * 86_400_000, 7.1 * 86_400_000);
    const rows = await api.sql(`SELECT title FROM service_trash_${entry!.position}.articles ORDER BY 1`);
    expect(rows).to.deep.equal([{ title: 'a' }, { title: 'b' }]);
  });

  it('drops at once where it is asked to, and purges what it kept', async () => {
    await articles();
    await api.ok('DELETE', '/collections/articles?purge');
    expect(await trashed()).to.deep.equal([]);
    await articles();
    await api.ok('DELETE', '/collections/articles');
    const [entry] = await trashed();
    await api.appends(['trash.purged articles'], 'DELETE', `/trash/${entry!.position}`);
    expect(await trashed()).to.deep.equal([]);
    expect(await api.sql(`SELECT nspname FROM pg_namespace WHERE nspname ~ 'trash'`)).to.deep.equal([]);
    const again = await api.refused({ status: 404, code: 'NOT_FOUND' }, 'DELETE', `/trash/${entry!.position}`);
    expect(again.message).to.match(/purged at 20/);
  });

  it('refuses what a drop would refuse, in the same words', async () => {
    await articles();
    await api.sql('CREATE VIEW titles AS SELECT title FROM articles');
    const kept = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/collections/articles');
    const dropped = await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', '/collections/articles?purge');
    expect(kept).to.deep.equal(dropped);
    expect(kept.message).to.contain('view titles depends on table articles');
  });
});
