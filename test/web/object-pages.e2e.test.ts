import { expect } from 'chai';
import { expectAccessible, expectAccessibleInEachLook, expectCount, withApp } from '../support/app.js';

describe('the objects page of the admin app', () => {
  const app = withApp({ settings: { OBJECTS: 'on' } });

  before(async () => {
    const fields = [{ field: 'title', type: 'string', interface: 'input' }];
    await app.api.ok('POST', '/collections', { collection: 'articles', schema: {}, fields });
    const definition = 'CREATE VIEW titles AS SELECT title FROM articles';
    await app.api.ok('POST', '/objects', { kind: 'view', definition, comment: 'What <b>readers</b> see' });
    const half = "CREATE FUNCTION half(value integer) RETURNS integer LANGUAGE sql AS 'SELECT value / 2'";
    await app.api.ok('POST', '/objects', { kind: 'function', definition: half });
    const audit =
      'CREATE TRIGGER audit BEFORE UPDATE ON articles FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()';
    await app.api.ok('POST', '/objects', { kind: 'trigger', definition: audit, enabled: 'disabled' });
  });

  it('lists the objects by kind, and shows the definition and the comment', async () => {
    const page = await app.visit({ as: await app.user('reader') });
    await page.getByRole('link', { name: 'Objects' }).click();
    const list = page.getByRole('navigation', { name: 'Objects' });
    await list.getByText('1 view').waitFor();
    await list.getByText('1 function').waitFor();
    await list.getByRole('link', { name: 'titles' }).click();
    const shown = page.getByRole('region', { name: 'titles' });
    await shown.getByText('SELECT title FROM articles').waitFor();
    await shown.getByText('What <b>readers</b> see').waitFor();
    await expectCount(shown.getByRole('button', { name: 'Edit' }), 0);
    await list.getByRole('link', { name: 'audit on articles' }).click();
    await page.getByText('trigger, disabled').waitFor();
    await list.getByLabel('Filter objects').fill('HAL');
    await expectCount(list.getByRole('link'), 1);
    await expectAccessibleInEachLook(page);
  });

  it('creates, edits and deletes an object with a reason, and shows errors at the definition', async () => {
    app.mayComplain(/status of 40[09]/);
    const page = await app.visit({ path: '/objects' });
    await page.getByRole('link', { name: 'New object' }).click();
    const form = page.getByRole('form', { name: 'New object' });
    await form.getByLabel('Definition').fill('SELECT 1');
    await form.getByRole('button', { name: 'Create object' }).click();
    await form.locator('[aria-invalid=true]').waitFor();
    await expectAccessible(page);
    await form.getByLabel('Definition').fill('CREATE VIEW short AS SELECT title FROM titles');
    await form.getByLabel('Reason').fill('For the start page');
    await form.getByRole('button', { name: 'Create object' }).click();
    const shown = page.getByRole('region', { name: 'short' });
    await shown.getByText('SELECT title FROM titles').waitFor();
    const { data } = await app.api.ok<{ data: { reason: string }[] }>('GET', '/history/events?order=desc&limit=1');
    expect(data[0]?.reason).to.equal('For the start page');

    await shown.getByRole('button', { name: 'Edit' }).click();
    const edit = page.getByRole('form', { name: 'Edit short' });
    await edit.getByLabel('Comment').fill('The start page');
    await edit.getByRole('button', { name: 'Save' }).click();
    await shown.getByText('The start page').waitFor();

    // Another view uses titles.
    await page.getByRole('link', { name: 'titles' }).click();
    const titles = page.getByRole('region', { name: 'titles' });
    await titles.getByRole('button', { name: 'Delete' }).click();
    await titles.getByRole('button', { name: 'Yes, delete titles' }).click();
    await titles.getByRole('alert').waitFor();
    await page.getByRole('link', { name: 'short' }).click();
    await shown.getByRole('button', { name: 'Delete' }).click();
    await shown.getByRole('button', { name: 'Yes, delete short' }).click();
    await page.getByText('Choose an object to see its definition.').waitFor();
    await expectCount(page.getByRole('link', { name: 'short' }), 0);
  });
});
