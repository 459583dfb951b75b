import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectAccessible, expectFits, withApp } from '../support/app.js';
import { json } from '../support/client.js';
import { until } from '../support/until.js';

describe('the order of collections and fields in the admin app', () => {
  const app = withApp();

  before(async () => {
    const text = (field: string) => ({ field, type: 'string', interface: 'input' });
    const collections = [
      { collection: 'folder', schema: null, meta: { sort: 1 } },
      { collection: 'alpha', schema: {}, meta: { sort: 2 }, fields: [text('one'), text('two'), text('three')] },
      { collection: 'beta', schema: {}, meta: { sort: 3 } },
    ];
    const { status, text: answer } = await app.client('/collections', json(collections));
    expect(status, answer).to.equal(200);
  });

  const item = (page: Page, name: string) => page.getByRole('treeitem', { name: new RegExp(`^${name}\\b`) });
  const tree = async (page: Page) => {
    const rows = await page.getByRole('treeitem').all();
    return Promise.all(
      rows.map(async (row) => `${await row.getAttribute('aria-level')} ${(await row.innerText()).split('\n')[0]}`),
    );
  };
  const expectTree = (page: Page, rows: string[]) =>
    until(`the tree is ${rows.join(', ')}`, async () => (await tree(page)).join() === rows.join());
  const expectFields = (page: Page, names: string[]) =>
    until(`the fields are ${names.join(', ')}`, async () => {
      const shown = await page.locator('tbody th[scope=row]').allInnerTexts();
      return shown.map((each) => each.split('\n')[0]).join() === names.join();
    });

  it('drags a collection before another one and into a folder', async () => {
    const page = await app.visit();
    await expectTree(page, ['1 folder', '1 alpha', '1 beta']);
    await item(page, 'beta').dragTo(item(page, 'alpha'), { targetPosition: { x: 60, y: 3 } });
    await expectTree(page, ['1 folder', '1 beta', '1 alpha']);
    await item(page, 'beta').dragTo(item(page, 'folder'), { targetPosition: { x: 60, y: 16 } });
    await expectTree(page, ['1 folder', '2 beta', '1 alpha']);
    // A folder cannot be moved into itself.
    await item(page, 'folder').dragTo(item(page, 'beta'), { targetPosition: { x: 60, y: 16 } });
    await expectTree(page, ['1 folder', '2 beta', '1 alpha']);
    await expectAccessible(page);
  });

  it('moves a collection with the keyboard: up, down, into a folder and out of it', async () => {
    const page = await app.visit();
    await expectTree(page, ['1 folder', '1 alpha', '1 beta']);
    await item(page, 'folder').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Alt+ArrowDown');
    await expectTree(page, ['1 folder', '1 beta', '1 alpha']);
    await page.keyboard.press('Alt+ArrowUp');
    await expectTree(page, ['1 folder', '1 alpha', '1 beta']);
    await page.keyboard.press('Alt+ArrowRight');
    await expectTree(page, ['1 folder', '2 alpha', '1 beta']);
    await page.keyboard.press('Alt+ArrowLeft');
    await expectTree(page, ['1 folder', '1 alpha', '1 beta']);
  });

  it('drags a field, and applies the order', async () => {
    const page = await app.visit({ path: '/collections/alpha' });
    await expectFields(page, ['id', 'one', 'two', 'three']);
    const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name}\\b`) });
    await row('three').dragTo(row('one'), { targetPosition: { x: 40, y: 3 } });
    await expectFields(page, ['id', 'three', 'one', 'two']);
    await page.getByRole('region', { name: 'Draft' }).getByRole('link', { name: 'Review' }).click();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    const three = (await app.client('/fields/alpha/three')).json as { data: { meta: { sort: number } } };
    expect(three.data.meta.sort).to.equal(2);
  });

  it('edits several fields at once', async () => {
    const page = await app.visit({ path: '/collections/alpha' });
    await page.getByRole('button', { name: 'Edit several' }).click();
    const bulk = page.getByRole('region', { name: 'Edit several fields' });
    await page.getByRole('checkbox', { name: 'Select one' }).check();
    await page.getByRole('checkbox', { name: 'Select two' }).check();
    await bulk.getByText('2 fields selected.').waitFor();
    await bulk.getByLabel('Width').selectOption('half');
    await bulk.getByLabel('Hidden').selectOption({ label: 'Yes' });
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectFits(page);
    await bulk.getByRole('button', { name: 'Save to draft' }).click();
    await bulk.waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Draft' }).getByRole('link', { name: 'Review' }).click();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    for (const [field, width] of [
      ['one', 'half'],
      ['two', 'half'],
      ['three', 'full'],
    ]) {
      const { data } = (await app.client(`/fields/alpha/${field}`)).json as {
        data: { meta: { width: string; hidden: boolean } };
      };
      expect(data.meta, field).to.include({ width, hidden: width === 'half' });
    }
  });

  it('edits several collections at once, with the mouse or the keyboard', async () => {
    const page = await app.visit();
    const list = page.getByRole('region', { name: 'Collections' });
    await list.getByRole('button', { name: 'Edit several' }).click();
    const bulk = list.getByRole('region', { name: 'Edit several collections' });
    await bulk.getByText('Select the collections to edit.').waitFor();
    await item(page, 'alpha').click();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await bulk.getByText('2 collections selected.').waitFor();
    expect(new URL(page.url()).search, 'a selection opens nothing').to.equal('');
    await bulk.getByRole('button', { name: 'Select all 3' }).click();
    await bulk.getByText('3 collections selected.').waitFor();
    await item(page, 'folder').click();
    await bulk.getByText('2 collections selected.').waitFor();
    await bulk.getByLabel('Parent group').selectOption('folder');
    await bulk.getByLabel('Accountability').selectOption({ label: 'Nothing' });
    await bulk.getByLabel('Hidden').selectOption({ label: 'No' });
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectFits(page);
    await bulk.getByRole('button', { name: 'Save to draft' }).click();
    await bulk.waitFor({ state: 'detached' });
    await expectTree(page, ['1 folder', '2 alpha', '2 beta']);
    await page.getByRole('region', { name: 'Draft' }).getByRole('link', { name: 'Review' }).click();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    for (const [name, group] of [
      ['alpha', 'folder'],
      ['beta', 'folder'],
      ['folder', null],
    ]) {
      const { data } = (await app.client(`/collections/${name}`)).json as { data: { meta: Record<string, unknown> } };
      expect(data.meta, String(name)).to.include({ group, accountability: group === null ? 'all' : null });
    }
  });
});
