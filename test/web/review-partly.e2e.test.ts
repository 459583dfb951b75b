import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { withApp } from '../support/app.js';
import { json } from '../support/client.js';

describe('a draft that is applied in part, in the admin app', () => {
  const app = withApp();
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  before(async () => {
    const fields = [{ field: 'title', type: 'string', interface: 'input', schema: {} }];
    const { status, text } = await app.client(
      '/collections',
      json([
        { collection: 'articles', schema: {}, fields },
        { collection: 'books', schema: {}, fields },
      ]),
    );
    expect(status, text).equal(200);
  });

  const lengthen = async (page: Page, collection: string) => {
    await page.goto(`/app/collections/${collection}`);
    await button(page, 'Actions for title').click();
    await page.getByRole('menuitem', { name: 'Edit …' }).click();
    await page.getByRole('dialog').getByLabel('Max length').fill('380');
    await button(page, 'Save to draft').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };
  const lengthOf = async (collection: string) =>
    ((await app.client(`/fields/${collection}/title`)).json as { data: { schema: { max_length: number } } }).data.schema
      .max_length;

  it('keeps the edit that was not ticked, even after a reload, and applies it later', async () => {
    const page = await app.visit();
    const bar = page.getByRole('region', { name: 'Draft' });
    await lengthen(page, 'articles');
    await lengthen(page, 'books');
    await bar.getByText('2 changes in 2 collections').waitFor();
    await bar.getByRole('link', { name: 'Review' }).click();
    await page.getByRole('checkbox', { name: 'Include: field books.title' }).uncheck();
    await button(page, 'Apply').click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    await bar.getByText('1 change in 1 collection').waitFor();
    expect([await lengthOf('articles'), await lengthOf('books')]).deep.equal([380, 255]);

    await page.reload();
    await bar.getByText('1 change in 1 collection').waitFor();
    await page.goto('/app/review?draft=true');
    await page.getByRole('checkbox', { name: 'Include: field books.title', checked: true }).waitFor();
    expect(await page.getByRole('article').count()).equal(1);
    await button(page, 'Apply').click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    await bar.waitFor({ state: 'detached' });
    expect(await lengthOf('books')).equal(380);
  });
});
