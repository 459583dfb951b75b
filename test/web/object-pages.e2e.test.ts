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

  it('shows the syntax, the dependents and the history of an object, with its definitions by line', async () => {
    const definition = 'CREATE VIEW lengths AS\nSELECT length(title)\nFROM articles';
    await app.api.ok('POST', '/objects', { kind: 'view', definition });
    const changed = definition.replace('length(title)', 'length(title) AS characters');
    await app.api.ok('DELETE', '/objects/view/lengths');
    await app.api.ok('POST', '/objects', { kind: 'view', definition: changed });
    await app.api.ok('POST', '/objects/view/lengths/rename', { to: 'title_lengths' });
    const longer = changed.replace('lengths', 'title_lengths').replace('FROM', "|| ' characters' AS text\nFROM");
    await app.api.ok('PATCH', '/objects/view/title_lengths', {
      definition: longer.replace(' AS characters', '::text'),
    });
    await app.api.sql('CREATE VIEW by_hand AS SELECT * FROM title_lengths');
    const page = await app.visit({ path: '/objects?kind=view&id=title_lengths' });
    const shown = page.getByRole('region', { name: 'title_lengths', exact: true });
    const syntax = shown.getByLabel('Definition of title_lengths');
    await syntax.locator('.hljs-keyword').getByText('SELECT', { exact: true }).waitFor();
    await shown.getByRole('heading', { name: 'Dependent objects' }).waitFor();
    await shown.getByText('public.by_hand').waitFor();
    await expectCount(shown.getByRole('link', { name: 'public.by_hand' }), 0);
    await shown.getByRole('heading', { name: 'History' }).waitFor();
    const events = shown
      .getByRole('listitem')
      .filter({ has: page.getByRole('link', { name: 'Show the whole change' }) });
    await events.nth(2).waitFor();
    await expectCount(events, 3);
    await events.first().getByText("+ || ' characters' AS text").waitFor();
    await events.nth(1).getByText('lengths', { exact: true }).first().waitFor();
    await expectAccessibleInEachLook(page);

    const reader = await app.visit({ as: await app.user('reader'), path: '/objects?kind=view&id=title_lengths' });
    await reader.getByLabel('Definition of title_lengths').waitFor();
    await expectCount(reader.getByRole('heading', { name: 'History' }), 0);
    await app.api.sql('DROP VIEW by_hand');
    await app.api.ok('DELETE', '/objects/view/title_lengths');
  });

  it('creates, edits and deletes an object with a reason, and shows errors at the definition', async () => {
    app.mayComplain(/status of 40[09]/);
    const page = await app.visit();
    await page.getByRole('button', { name: 'New collection or folder' }).click();
    await page.getByRole('menuitem', { name: 'New view …' }).click();
    const form = page.getByRole('form', { name: 'New object' });
    await form.getByText('The service applies this at once.').waitFor();
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
    await shown.getByText('The start page').first().waitFor();

    await shown.getByRole('button', { name: 'Rename' }).click();
    const renaming = page.getByRole('form', { name: 'Rename short' });
    await renaming.getByLabel('New name').fill('titles');
    await renaming.getByRole('button', { name: 'Rename' }).click();
    await renaming.locator('[aria-invalid=true]').waitFor();
    await expectAccessible(page);
    await renaming.getByLabel('New name').fill('brief');
    await renaming.getByRole('button', { name: 'Rename' }).click();
    const brief = page.getByRole('region', { name: 'brief' });
    await brief.getByText('SELECT title FROM titles').waitFor();

    // Another view uses titles.
    await page.getByRole('link', { name: 'titles' }).click();
    const titles = page.getByRole('region', { name: 'titles' });
    await titles.getByRole('button', { name: 'Delete' }).click();
    await titles.getByRole('button', { name: 'Yes, delete titles' }).click();
    await titles.getByRole('alert').waitFor();
    await titles.getByRole('link', { name: 'public.brief' }).click();
    await brief.getByRole('button', { name: 'Delete' }).click();
    await brief.getByRole('button', { name: 'Yes, delete brief' }).click();
    await page.getByText('Choose an object to see its definition.').waitFor();
    await expectCount(page.getByRole('link', { name: 'brief' }), 0);
    await page.goto('/app/collections/articles?tab=table');
    await page.getByRole('link', { name: 'public.titles' }).waitFor();
    await page.getByRole('link', { name: 'audit', exact: true }).click();
    await page.getByRole('region', { name: 'audit on articles' }).waitFor();
  });
});
