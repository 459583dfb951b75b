import { expect } from 'chai';
import { withApp } from '../support/app.js';

const COLLECTIONS = 1_000;

const LARGE = JSON.stringify({
  version: 1,
  service: '0.1.0',
  vendor: 'postgres',
  collections: Array.from({ length: COLLECTIONS }, (_, index) => ({
    collection: `c${String(index).padStart(4, '0')}`,
    schema: {},
    meta: { note: `The ${index}th` },
  })),
});

describe('a review of a thousand collections in the admin app', () => {
  const app = withApp();

  it('renders only what is visible, finds any collection, and leaves one out', async () => {
    const page = await app.visit({ path: '/review?bring=true' });
    await page
      .getByLabel('Snapshot file')
      .setInputFiles({ name: 'large.json', mimeType: 'application/json', buffer: Buffer.from(LARGE) });
    await page.getByText('1,000 collections').waitFor();
    expect(await page.locator('article').count()).to.be.below(30);
    expect(await page.locator('*').count()).to.be.below(4_000);
    const outline = page.getByRole('navigation', { name: 'Changed collections' });
    await outline.getByRole('textbox', { name: 'Find a collection' }).fill('c0777');
    await outline.getByRole('button', { name: /c0777/ }).click();
    const one = page.getByRole('article', { name: 'collection c0777' });
    await one.waitFor();
    await page.getByRole('checkbox', { name: 'Include: collection c0777' }).uncheck();
    await outline.getByText('excluded', { exact: true }).waitFor();
    const changes = page.getByRole('region', { name: 'Changes', exact: true });
    await changes.focus();
    await page.keyboard.press('End');
    await page.getByRole('article', { name: 'collection c0999' }).waitFor();
    await one.waitFor({ state: 'detached' });
    await page.keyboard.press('Home');
    await page.getByRole('article', { name: 'collection c0000' }).waitFor();
  });
});
