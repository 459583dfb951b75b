import { expect } from 'chai';
import { expectAccessible, expectFits, withApp } from '../support/app.js';
import { json } from '../support/client.js';

const field = (name: string, type = 'string', schema: object = {}) => ({
  field: name,
  type,
  interface: 'input',
  schema,
});

describe('the table of a collection, as PostgreSQL has it', () => {
  const app = withApp();
  const path = '/collections/articles?tab=table';

  before(async () => {
    const created = [
      { collection: 'articles', schema: {}, fields: [field('title', 'string', { is_unique: true })] },
      { collection: 'comments', schema: {}, fields: [field('article', 'integer')] },
    ];
    expect((await app.client('/collections', json(created))).status).to.equal(200);
    const relation = { collection: 'comments', field: 'article', related_collection: 'articles' };
    expect((await app.client('/relations', json(relation))).status).to.equal(200);
    await app.api.sql(`insert into articles (title) select 'title ' || i from generate_series(1, 1200) i`);
    await app.api.sql('create view titles as select title from articles');
    await app.api.sql('analyze articles');
  });

  it('shows its size, indexes, constraints and dependents', async () => {
    const page = await app.visit({ path });
    const panel = page.getByRole('tabpanel', { name: 'Table' });
    await panel.getByText('1,200').waitFor();
    await panel.getByRole('heading', { name: '2 indexes' }).waitFor();
    await panel.getByText('primary key').first().waitFor();
    await panel.getByText('articles_title_unique').first().waitFor();
    await panel
      .getByText('titles', { exact: true })
      .or(panel.getByText('public.titles', { exact: true }))
      .waitFor();
    await expectAccessible(page);
    await panel.getByRole('link', { name: 'comments.article' }).click();
    await page.getByRole('heading', { name: 'comments' }).waitFor();
  });

  it('shows 20 rows', async () => {
    const page = await app.visit({ path: '/collections/articles?tab=rows' });
    const panel = page.getByRole('tabpanel', { name: 'Rows' });
    await panel.getByText('20 rows, in no order.').waitFor();
    await panel.getByRole('cell', { name: 'title 7', exact: true }).waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 800 });
    await expectFits(page);
  });

  it('fits a phone, and is hidden from readers', async () => {
    const page = await app.visit({ path, narrow: true, dark: true });
    await page.getByText('articles_title_unique').first().waitFor();
    await expectAccessible(page);
    await expectFits(page);
    const reader = await app.visit({ path, as: await app.user('reader') });
    await reader.getByRole('tab', { name: 'SQL' }).waitFor();
    expect(await reader.getByRole('tab', { name: /Table|Rows/ }).count()).to.equal(0);
  });
});
