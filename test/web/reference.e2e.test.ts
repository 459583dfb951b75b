import { expect } from 'chai';
import { withApp, expectAccessibleInEachLook } from '../support/app.js';

describe('the reference in the admin app', () => {
  const app = withApp();

  it('lists and finds operations, and sends requests as the current user', async () => {
    app.mayComplain(/status of 409/);
    const page = await app.visit({ path: '/api' });
    await page.getByRole('textbox', { name: 'Filter operations' }).fill('/collections');
    await page.getByRole('button', { name: /^POST \/collections Create/ }).click();
    const body = page.getByRole('textbox', { name: 'Body' });
    expect(JSON.parse(await body.inputValue()), 'an example to begin with').to.have.property('collection');
    await body.fill('{"collection": "by hand", "schema": {}}');
    await page.getByRole('button', { name: /^Send/ }).click();
    await page.getByRole('status').getByText('200', { exact: true }).waitFor();
    await page.getByLabel('Response', { exact: true }).filter({ hasText: '"by hand"' }).waitFor();
    expect((await app.client('/collections/by%20hand')).status).to.equal(200);
    await page.getByRole('button', { name: /^Send/ }).click();
    await page.getByRole('status').getByText('409', { exact: true }).waitFor();
    await body.fill('no json');
    await page.getByRole('button', { name: /^Send/ }).click();
    await page.getByRole('alert').waitFor();
  });

  it('fills paths and queries, and shows the received part of a stream', async () => {
    const page = await app.visit({ path: '/api?op=getHistoryStream' });
    const { json } = await app.client('/server/openapi.json');
    const { paths } = json as { paths: Record<string, Record<string, { operationId: string }>> };
    const [one, stream] = [
      paths['/collections/{id}']?.['get']?.operationId,
      paths['/history/stream']?.['get']?.operationId,
    ];
    await page.goto(`/app/api?op=${one}`);
    await page.getByRole('textbox', { name: 'id', exact: true }).fill('by hand');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByLabel('Response', { exact: true }).getByText('"by hand"').first().waitFor();
    await page.goto(`/app/api?op=${stream}`);
    await page.getByRole('textbox', { name: /^after/ }).fill('0');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByLabel('Response', { exact: true }).getByText('collection.created').waitFor();
  });

  it('is accessible and fits a wide light and a narrow dark window', async function () {
    this.timeout(360_000);
    const page = await app.visit({ path: '/api', as: await app.user('reader') });
    await page.getByRole('button', { name: /^POST \/collections Create/ }).click();
    await page.getByRole('textbox', { name: 'Body' }).waitFor();
    await page.getByText('NewCollection', { exact: true }).click();
    await expectAccessibleInEachLook(page);
  });
});
