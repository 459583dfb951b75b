import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { withApp, expectAccessibleInEachLook } from '../support/app.js';
import { json } from '../support/client.js';

describe('a field of the admin app that becomes required', () => {
  const app = withApp();
  const column = (field: string, type = 'string') => ({ field, type, interface: 'input', schema: {} });

  before(async () => {
    const collections = [
      { collection: 'orders', schema: {}, fields: [column('title'), column('status'), column('paid', 'timestamp')] },
      { collection: 'empty', schema: {}, fields: [column('title')] },
    ];
    const { status, text } = await app.client('/collections', json(collections));
    expect(status, text).to.equal(200);
    await app.api.sql(
      `INSERT INTO orders (title, status) VALUES ('One', NULL), ('Two', 'paid'); ANALYZE orders, empty`,
    );
  });

  const values = async (name: string): Promise<unknown[]> =>
    (await app.api.sql<{ value: unknown }>(`SELECT ${name} AS value FROM orders ORDER BY id`)).map(
      ({ value }) => value,
    );
  const edit = async (page: Page, field: string) => {
    await page.getByRole('button', { name: `Actions for ${field}` }).click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
  };
  const keep = async (page: Page) => {
    await page.getByRole('button', { name: 'Save to draft' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const review = (page: Page) =>
    page.getByRole('region', { name: 'Draft' }).getByRole('link', { name: 'Review' }).click();
  const apply = async (page: Page) => {
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
  };

  it('gets a value in the rows without one, which the review shows', async () => {
    const page = await app.visit({ path: '/collections/orders' });
    await edit(page, 'status');
    const dialog = page.getByRole('dialog');
    const filling = dialog.getByLabel('Fill rows without a value with');
    expect(await filling.count()).to.equal(0);
    await dialog.getByLabel('Nullable').uncheck();
    await dialog.getByText('The table has about 2 rows. Only rows without a value get it.').waitFor();
    await filling.selectOption('a value');
    await page.getByRole('button', { name: 'Save to draft' }).click();
    await dialog.getByText('Enter a value.').waitFor();
    await dialog.getByLabel('Value', { exact: true }).fill('new');
    await expectAccessibleInEachLook(page);
    await keep(page);
    await page.reload();
    await edit(page, 'status');
    expect(await dialog.getByLabel('Value', { exact: true }).inputValue()).to.equal('new');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await review(page);
    await page.getByText('Fill status in rows without a value with “new”').waitFor();
    await page.getByText('FILLS_ROWS').first().waitFor();
    await apply(page);
    expect(await values('status')).to.deep.equal(['new', 'paid']);
  });

  it('gets the values of another field, even if that field is renamed in the same draft', async () => {
    const page = await app.visit({ path: '/collections/orders' });
    await page.getByRole('button', { name: 'New field' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('slug');
    await dialog.getByLabel('Nullable').uncheck();
    await dialog.getByLabel('Fill existing rows with').selectOption('another field in lower case');
    await dialog.getByLabel('Field with the values').selectOption('title');
    await keep(page);
    await page.getByRole('button', { name: 'Actions for title' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await dialog.getByLabel('New name of title').fill('headline');
    await keep(page);
    await review(page);
    await page.getByText('Fill slug in existing rows with headline in lower case').waitFor();
    await apply(page);
    expect(await values('slug')).to.deep.equal(['one', 'two']);
  });

  it('gets an expression that fits its type', async () => {
    const page = await app.visit({ path: '/collections/orders' });
    await edit(page, 'paid');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Nullable').uncheck();
    await dialog.getByLabel('Fill rows without a value with').selectOption('the current time');
    await keep(page);
    await review(page);
    await apply(page);
    expect(await values('paid IS NOT NULL')).to.deep.equal([true, true]);
  });

  it('needs no value in a table without rows, or in a new collection', async () => {
    const page = await app.visit({ path: '/collections/empty' });
    await edit(page, 'title');
    await page.getByRole('dialog').getByLabel('Nullable').uncheck();
    const { data } = (await app.client('/collections/empty/table')).json as { data: { rows: number | null } };
    if (data.rows === 0) expect(await page.getByLabel('Fill rows without a value with').count()).to.equal(0);
    await page.getByRole('button', { name: 'Cancel' }).click();
  });
});
