/** Indexes and constraints of a table are edited in a form. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectAccessibleInEachLook, expectFits, withApp } from '../support/app.js';
import { json } from '../support/client.js';

describe('the form of indexes and constraints in the admin app', () => {
  const app = withApp();

  before(async () => {
    const field = (name: string, type: string) => ({ field: name, type, interface: 'input', schema: {} });
    const fields = [field('title', 'string'), field('price', 'integer')];
    const created = await app.client('/collections', json({ collection: 'articles', schema: {}, fields }));
    expect(created.status, created.text).to.equal(200);
  });

  const dialog = (page: Page) => page.getByRole('dialog', { name: 'Indexes and constraints of articles' });
  const openForm = async (page: Page) => {
    await page.getByRole('button', { name: 'Indexes and constraints' }).click();
    await dialog(page).getByRole('button', { name: 'Add index' }).waitFor();
  };
  const keep = async (page: Page) => {
    await dialog(page).getByRole('button', { name: 'Save to draft', exact: true }).click();
    await dialog(page).waitFor({ state: 'detached' });
  };
  const apply = async (page: Page) => {
    await page.getByRole('region', { name: 'Draft' }).getByRole('link', { name: 'Review' }).click();
    await page.getByRole('article', { name: 'collection articles' }).waitFor();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
  };
  const definitions = async () =>
    (
      await app.api.sql(`
        SELECT indexname::text AS name FROM pg_indexes WHERE tablename = 'articles' AND indexname LIKE 'articles_by%'
        UNION ALL SELECT conname::text FROM pg_constraint WHERE conrelid = 'articles'::regclass AND contype = 'c'
        ORDER BY name`)
    ).map((row) => (row as { name: string }).name);

  it('creates and drops them through the draft, and shows what the service would reject', async () => {
    app.mayComplain(/status of 400/);
    const page = await app.visit({ path: '/collections/articles', narrow: true });
    await openForm(page);
    const form = dialog(page);
    await form.getByRole('button', { name: 'Add index' }).click();
    const columns = form.getByRole('combobox', { name: 'Columns of index 1' });
    await columns.fill('pri');
    await form.getByRole('option', { name: 'price' }).click();
    await columns.fill('t');
    await form.getByRole('option', { name: 'title' }).click();
    await columns.press('Escape');
    expect(await form.getByLabel('Name of index 1').inputValue()).to.equal('articles_price_title_idx');
    await form.getByLabel('Name of index 1').fill('articles_by_title');
    await form.getByRole('button', { name: 'Write index 1 as SQL' }).click();
    expect(await form.getByLabel('Definition of index 1').inputValue()).to.equal('USING btree ("price", "title")');
    await form.getByLabel('Definition of index 1').fill('USING btree (title, price');
    await form.getByRole('button', { name: 'Add unique index' }).click();
    await form.getByRole('button', { name: 'Write unique index 1 as SQL' }).click();
    await form.getByLabel('Name of unique index 1').fill('articles_by_lower_title');
    await form.getByLabel('Definition of unique index 1').fill('USING btree (lower((title)::text))');
    await form.getByRole('button', { name: 'Add constraint' }).click();
    await form.getByLabel('Name of constraint 1').fill('price_is_positive');
    await form.getByLabel('Definition of constraint 1').fill('CHECK (price > 0)');
    await form.getByRole('button', { name: 'Save to draft', exact: true }).click();
    await form.getByText('The service would reject this').waitFor();
    await expectFits(page);
    await expectAccessibleInEachLook(page, () => form.waitFor());
    await form.getByLabel('Definition of index 1').fill('USING btree (title, price)');
    await form.getByRole('button', { name: 'Choose the columns of index 1' }).click();
    await keep(page);
    await openForm(page);
    expect(await form.getByLabel('Definition of constraint 1').inputValue()).to.include('price > 0');
    await form.getByRole('button', { name: 'Cancel' }).click();
    await apply(page);
    expect(await definitions()).to.deep.equal(['articles_by_lower_title', 'articles_by_title', 'price_is_positive']);

    await page.goto('/app/collections/articles');
    await openForm(page);
    // Definitions that name only columns are shown as their columns.
    await form.getByRole('combobox', { name: 'Columns of index 1' }).waitFor();
    await form.getByRole('button', { name: 'Remove index articles_by_title' }).click();
    await form.getByRole('button', { name: 'Remove constraint price_is_positive' }).click();
    await keep(page);
    await apply(page);
    expect(await definitions()).to.deep.equal(['articles_by_lower_title']);
  });
});
