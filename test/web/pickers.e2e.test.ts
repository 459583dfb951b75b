import { expect } from 'chai';
import { expectAccessible, withApp } from '../support/app.js';
import { json } from '../support/client.js';

/** More than a list shows. */
const NAMES = Array.from({ length: 14 }, (_, index) => `table_${String.fromCharCode(97 + index)}`);

describe('the pickers of the admin app', () => {
  const app = withApp();

  before(async () => {
    const collections = NAMES.map((collection) => ({ collection, schema: {} }));
    const { status, text } = await app.client('/collections', json(collections));
    expect(status, text).to.equal(200);
  });

  it('search more than twelve collections by part of the name, for a relation and for a group', async () => {
    const page = await app.visit({ path: '/collections/table_a' });
    await page.getByRole('button', { name: 'New relation' }).click();
    const related = page.getByRole('combobox', { name: 'Related collection', exact: true });
    await related.fill('no such table');
    await page.getByText('No results.').waitFor();
    await related.fill('le_k');
    expect(await page.getByRole('option', { name: /^table_/ }).allInnerTexts()).to.deep.equal(['table_k']);
    await page.getByRole('option', { name: 'table_k' }).click();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save to draft' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.goto('/app/new');
    await page.getByLabel('Name', { exact: true }).fill('child');
    await page.getByRole('combobox', { name: 'Group' }).fill('le_c');
    await page.getByRole('option', { name: 'table_c' }).click();
    await page.getByRole('button', { name: 'Save to draft' }).click();
    await page.getByRole('heading', { name: 'child' }).waitFor();
    await page.getByRole('region', { name: 'Draft' }).getByRole('link', { name: 'Review' }).click();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    const child = (await app.client('/collections/child')).json as { data: { meta: { group: string } } };
    expect(child.data.meta.group).to.equal('table_c');
    expect((await app.client('/relations/table_a/table_k')).status).to.equal(200);
  });
});
