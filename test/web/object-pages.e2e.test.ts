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

  const viewIds = async (): Promise<string[]> =>
    (await app.api.ok<{ data: { id: string }[] }>('GET', '/objects?kind=view')).data.map(({ id }) => id);

  it('lists the objects by kind, and shows the definition and the comment', async () => {
    const page = await app.visit({ as: await app.user('reader') });
    await page.getByRole('link', { name: 'Objects' }).click();
    const list = page.getByRole('navigation', { name: 'Objects' });
    await list.getByText('1 view').waitFor();
    await list.getByText('1 function').waitFor();
    await list.getByRole('link', { name: 'titles' }).click();
    const shown = page.getByRole('region', { name: 'titles', exact: true });
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

  it('keeps new, changed, renamed and deleted objects in the draft, and applies them with a new collection', async () => {
    app.mayComplain(/status of 40[09]/);
    const page = await app.visit();
    await page.getByRole('button', { name: 'New collection or folder' }).click();
    await page.getByRole('menuitem', { name: 'New view …' }).click();
    const form = page.getByRole('region', { name: 'New object' });
    const draft = page.getByRole('region', { name: 'Draft' });
    await form.getByLabel('Definition').fill('SELECT 1');
    await form.getByRole('button', { name: 'Save to draft' }).click();
    await form.locator('[aria-invalid=true]').waitFor();
    await form.getByLabel('Definition').fill('CREATE VIEW short AS SELECT headline FROM articles');
    await form.getByRole('button', { name: 'Save to draft' }).click();
    await form.getByText('column "headline" does not exist').waitFor();
    await expectAccessible(page);
    await form.getByLabel('Definition').fill('CREATE VIEW short AS SELECT title FROM titles');
    await form.getByRole('button', { name: 'Save to draft' }).click();
    const short = page.getByRole('region', { name: 'short', exact: true });
    await short.getByText('SELECT title FROM titles').waitFor();
    await short.getByText('new', { exact: true }).waitFor();
    await draft.getByText('1 change in 1 view').waitFor();
    expect(await viewIds()).to.deep.equal(['titles']);

    // A reload keeps the draft, and a new object can be renamed.
    await page.reload();
    await short.getByRole('button', { name: 'Rename' }).click();
    const renaming = page.getByRole('region', { name: 'Rename short' });
    await renaming.getByLabel('New name').fill('titles');
    await renaming.getByRole('button', { name: 'Save to draft' }).click();
    await renaming.locator('[aria-invalid=true]').waitFor();
    await expectAccessible(page);
    await renaming.getByLabel('New name').fill('brief');
    await renaming.getByRole('button', { name: 'Save to draft' }).click();
    const brief = page.getByRole('region', { name: 'brief', exact: true });
    await brief.getByText('VIEW brief AS SELECT title FROM titles').waitFor();

    // Another view uses titles. PostgreSQL rewrites it.
    await page.getByRole('link', { name: 'titles' }).click();
    const titles = page.getByRole('region', { name: 'titles', exact: true });
    await titles.getByRole('button', { name: 'Delete' }).click();
    const deletion = page.getByRole('dialog', { name: 'Delete view titles' });
    await deletion.getByRole('button', { name: 'Save deletion to draft' }).click();
    await deletion.getByRole('alert').waitFor();
    await deletion.getByRole('button', { name: 'Cancel' }).click();

    await titles.getByRole('button', { name: 'Edit' }).click();
    const edit = page.getByRole('region', { name: 'Edit titles' });
    await edit.getByLabel('Comment').fill('The start page');
    await edit.getByRole('button', { name: 'Save to draft' }).click();
    await titles.getByText('The start page').waitFor();
    await titles.getByText('changed', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'audit on articles' }).click();
    await page.getByRole('region', { name: 'audit on articles' }).getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Save deletion to draft' }).click();
    await page.getByRole('button', { name: 'Undo deletion' }).waitFor();
    await draft.getByText('3 changes in 3 objects').waitFor();
    await expectAccessibleInEachLook(page);
    await page.getByRole('button', { name: 'Undo deletion' }).click();
    await draft.getByText('2 changes in 2 views').waitFor();
    await draft.getByRole('button', { name: 'Undo' }).click();
    await draft.getByText('3 changes in 3 objects').waitFor();

    // A view on a collection that only the draft contains.
    await page.goto('/app/new');
    await page.getByLabel('Name', { exact: true }).fill('topics');
    await page.getByRole('button', { name: 'Save to draft' }).click();
    await page.getByRole('heading', { name: 'topics', exact: true }).waitFor();
    await page.goto('/app/objects?new=true');
    await form.getByLabel('Definition').fill('CREATE VIEW topic_ids AS SELECT id FROM topics');
    await form.getByRole('button', { name: 'Save to draft' }).click();
    await page.getByRole('region', { name: 'topic_ids', exact: true }).waitFor();
    await draft.getByRole('link', { name: 'Review' }).click();
    await page.getByRole('article', { name: 'view topic_ids' }).waitFor();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    expect(await viewIds()).to.deep.equal(['brief', 'titles', 'topic_ids']);
    expect((await app.client('/objects/trigger/audit%20on%20articles')).status).to.equal(404);
    await expectCount(draft, 0);

    await page.goto('/app/collections/articles?tab=table');
    await page.getByRole('link', { name: 'public.titles' }).waitFor();
    await page.goto('/app/collections/articles?edit=delete');
    await page.getByRole('dialog').getByRole('link', { name: 'view titles' }).waitFor();
    await expectAccessible(page);
  });

  it('renames and changes an object in one change, which keeps what depends on it', async () => {
    app.mayComplain(/status of 409/);
    await app.api.ok('POST', '/objects', {
      kind: 'view',
      definition: 'CREATE VIEW names AS SELECT title FROM articles',
    });
    await app.api.ok('POST', '/objects', { kind: 'privileges', definition: 'GRANT SELECT ON names TO public' });
    const page = await app.visit({ path: '/objects?kind=view&id=names' });
    const names = page.getByRole('region', { name: 'names', exact: true });
    await names.getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('New name').fill('headlines');
    await page.getByRole('button', { name: 'Save to draft' }).click();
    const headlines = page.getByRole('region', { name: 'headlines', exact: true });
    await headlines.getByText('renamed', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'public on headlines' }).waitFor();
    await headlines.getByRole('button', { name: 'Edit' }).click();
    const definition = page.getByLabel('Definition', { exact: true });
    expect(await definition.inputValue()).to.match(/^CREATE VIEW headlines AS/);
    // PostgreSQL cannot keep the privileges of a view that is created again.
    await definition.fill('CREATE VIEW headlines AS SELECT title FROM articles WHERE title IS NOT NULL');
    await page.getByRole('button', { name: 'Save to draft' }).click();
    await page.getByText('Apply the renames first').waitFor();
    await definition.fill('CREATE VIEW headlines AS SELECT title FROM articles');
    await page.getByLabel('Comment').fill('For the start page');
    await page.getByRole('button', { name: 'Save to draft' }).click();
    await headlines.getByText('For the start page').waitFor();
    await page.getByRole('region', { name: 'Draft' }).getByRole('link', { name: 'Review' }).click();
    await page.getByText('Rename names to headlines').waitFor();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    expect(await viewIds()).to.include('headlines');
    expect((await app.client('/objects/privileges/public%20on%20headlines')).status).to.equal(200);
  });

  it('shows three values if somebody else changes the same view, and an author proposes the change', async () => {
    app.mayComplain(/status of 409/);
    await app.api.ok('POST', '/objects', { kind: 'view', definition: 'CREATE VIEW codes AS SELECT id FROM articles' });
    const page = await app.visit({ as: await app.user('author'), path: '/objects?kind=view&id=codes' });
    const codes = page.getByRole('region', { name: 'codes', exact: true });
    await codes.getByRole('button', { name: 'Edit' }).click();
    const mine = 'CREATE VIEW codes AS SELECT id FROM articles WHERE id > 10';
    await page.getByLabel('Definition', { exact: true }).fill(mine);
    await page.getByRole('button', { name: 'Save to draft' }).click();
    await codes.getByText('id > 10').waitFor();
    await app.api.ok('PATCH', '/objects/view/codes', { definition: mine.replace('10', '20') });
    await page.getByRole('region', { name: 'Draft' }).getByRole('link', { name: 'Review' }).click();
    await page.getByRole('radio', { name: /^Mine: .*> 10/ }).click();
    await page.getByRole('button', { name: 'Propose' }).click();
    await page.getByLabel('Title', { exact: true }).fill('Fewer ids');
    await page.getByRole('button', { name: 'Open a change request' }).click();
    await page.getByRole('heading', { name: 'Fewer ids' }).waitFor();
    await page.getByRole('article', { name: 'view codes' }).waitFor();
  });
});
