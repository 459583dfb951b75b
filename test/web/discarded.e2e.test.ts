/** Discards the draft on the page of an object that exists only in the draft. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { withApp } from '../support/app.js';
import { json } from '../support/client.js';

describe('discarding the draft in the admin app', () => {
  const app = withApp();

  before(async () => {
    const { status, text } = await app.client('/collections', json({ collection: 'books', schema: {} }));
    expect(status, text).to.equal(200);
  });

  const discard = async (page: Page) => {
    const bar = page.getByRole('region', { name: 'Draft' });
    await bar.getByRole('button', { name: 'Discard' }).click();
    await bar.getByRole('button', { name: 'Yes, discard all' }).click();
    await bar.waitFor({ state: 'detached' });
  };
  // The service responds that the object does not exist.
  beforeEach(() => app.mayComplain(/status of 404/));

  it('leads from a collection that was never created to the schema', async () => {
    const page = await app.visit({ path: '/new' });
    await page.getByLabel('Name', { exact: true }).fill('drafts_only');
    await page.getByRole('button', { name: 'Save to draft' }).click();
    await page.getByRole('heading', { name: 'drafts_only' }).waitFor();
    await discard(page);
    await page.waitForURL(({ pathname }) => /\/app\/?$/.test(pathname));
    await page.getByRole('treeitem', { name: 'books' }).waitFor();
  });

  it('leads from the new name of a collection to its present name', async () => {
    const page = await app.visit({ path: '/collections/books?edit=rename' });
    await page.getByRole('dialog').getByRole('textbox').first().fill('novels');
    await page.getByRole('dialog').getByRole('button', { name: 'Save to draft' }).click();
    await page.getByRole('heading', { name: 'novels' }).waitFor();
    await discard(page);
    await page.waitForURL(({ pathname }) => pathname.endsWith('/collections/books'));
    await page.getByRole('heading', { name: 'books' }).waitFor();
  });
});
