import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type Api, createApi } from '../support/api.js';
import { expectAccessible, expectAccessibleInEachLook, withApp } from '../support/app.js';
import { type TestService, startService } from '../support/service.js';

describe('the environments page of the admin app', () => {
  const app = withApp({ settings: { WEBHOOK_PRIVATE_NETWORKS: '127.0.0.1' } });
  const path = '/operations/environments';
  let there: TestService;
  let remote: Api;

  before(async () => {
    there = await startService();
    remote = createApi(there);
    for (const api of [app.api, remote])
      await api.ok('POST', '/collections', {
        collection: 'books',
        schema: {},
        fields: [{ field: 'title', type: 'string', interface: 'input' }],
      });
  });
  after(async () => {
    await remote?.stop();
    await there?.stop();
  });

  const card = (page: Page, name: string) =>
    page.getByRole('list', { name: 'Environments' }).getByRole('listitem').filter({ hasText: name }).first();

  it('connects an instance, shows both differences while they change, and brings its changes here', async () => {
    app.mayComplain(/status of (400|409)/);
    const page = await app.visit({ path });
    await page.getByText('No environments').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Connect environment' }).click();
    const dialog = page.getByRole('dialog', { name: 'New environment' });
    await dialog.getByLabel('Name').fill('staging');
    await dialog.getByLabel('Address').fill('https://10.0.0.1');
    await dialog.getByLabel('Token').and(page.locator('input')).fill('not-the-token');
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
    await dialog.getByLabel('Address').and(page.locator('[aria-invalid=true]')).waitFor();
    await expectAccessible(page);
    await dialog.getByLabel('Address').fill(there.url);
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
    await card(page, 'staging').getByText('The environment rejected the token.').waitFor();

    await page.getByRole('button', { name: 'Edit staging' }).click();
    const editing = page.getByRole('dialog', { name: 'staging' });
    await editing.getByLabel('Token').and(page.locator('input')).fill(there.adminToken);
    await expectAccessible(page);
    await editing.getByRole('button', { name: 'Save' }).click();
    await card(page, 'staging').getByText('Both schemas are equal').waitFor();
    await expectAccessibleInEachLook(page);

    await app.api.ok('PATCH', '/collections/books', { meta: { note: 'ours' } });
    await remote.ok('POST', '/fields/books', { field: 'pages', type: 'integer' });
    // The page updates itself.
    await card(page, 'staging').getByText('1 change ahead, 1 behind').waitFor();
    await page.getByRole('link', { name: 'Bring changes here from staging' }).click();
    await page.getByRole('heading', { name: 'Changes from staging' }).waitFor();
    await page.getByText('pages').first().waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: /^Apply/ }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    expect(await app.api.ok('GET', '/fields/books/pages')).to.have.nested.property('data.type', 'integer');
    await page.goto(app.service.url + '/app' + path);
    await page.getByRole('button', { name: 'Test connection to staging' }).click();
    await card(page, 'staging').getByText('1 change ahead, 0 behind').waitFor();
    const promote = page.getByRole('link', { name: 'Open this comparison on staging' });
    const link = (from: string) => `${path}?from=${encodeURIComponent(from)}`;
    expect(await promote.getAttribute('href')).to.equal(`${there.url}/app${link(app.service.url)}`);
    // This instance opens such a link like the other one.
    await page.goto(`/app${link(there.url)}`);
    await page.getByRole('heading', { name: 'Changes from staging' }).waitFor();
    await page.goto(`/app${link('https://unknown.example')}`);
    await page.getByText('This service does not know https://unknown.example.').waitFor();
    await page.getByRole('button', { name: 'Connect environment' }).click();
    expect(await dialog.getByLabel('Address').inputValue()).to.equal('https://unknown.example');
    await page.goto(`/app${path}`);

    await remote.ok('PATCH', '/collections/books', { meta: { note: 'theirs' } });
    await page.getByRole('button', { name: 'Test connection to staging' }).click();
    await card(page, 'staging').getByText('0 changes ahead, 0 behind, 1 conflict').waitFor();
    await page.getByRole('link', { name: 'Bring changes here from staging' }).click();
    await page.getByLabel('Environment: theirs').check();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: /^Apply/ }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    expect(await app.api.ok('GET', '/collections/books')).to.have.nested.property('data.meta.note', 'theirs');

    await page.goto(app.service.url + '/app' + path);
    await page.getByRole('button', { name: 'Edit staging' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Yes, delete environment' }).click();
    await page.getByText('No environments').waitFor();
  });
});
