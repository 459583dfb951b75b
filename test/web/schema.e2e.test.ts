import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectAccessible, expectCount, expectFits, expectTitle, withApp } from '../support/app.js';
import { json } from '../support/client.js';

const field = (name: string, type = 'string') => ({ field: name, type, interface: 'input' });
const HOSTILE = '<img src=x onerror=alert(1)>';

const table = (collection: string, meta: Record<string, unknown>) => ({
  collection,
  schema: {},
  meta,
  fields: [field('title'), field('owner', 'integer')],
});

const COLLECTIONS = [
  { collection: 'content', schema: null, meta: { sort: 1, icon: 'folder_special', collapse: 'closed' } },
  table('articles', { group: 'content', sort: 2, icon: 'article', color: '#e11d48', note: HOSTILE }),
  table('authors', { group: 'content', sort: 1, icon: 'no_such_icon_at_all' }),
  table('settings', { sort: 2, singleton: true, translations: { 'de-DE': 'Einstellungen' } }),
  table('internals', { hidden: true }),
  table(HOSTILE, { sort: 4 }),
  table('اختبار', { sort: 5 }),
  table('ä'.repeat(31), { sort: 6, note: 'n'.repeat(200_000) }),
];

describe('the schema page of the admin app', () => {
  const app = withApp();

  before(async () => {
    const created = await app.client('/collections', json(COLLECTIONS));
    expect(created.status, created.text).to.equal(200);
    const relation = { collection: 'articles', field: 'owner', related_collection: 'authors' };
    const related = await app.client('/relations', json(relation));
    expect(related.status, related.text).to.equal(200);
  });

  const names = (page: Page) => page.getByRole('treeitem').allInnerTexts();
  const item = (page: Page, name: string) => page.getByRole('treeitem', { name, exact: true });

  it('shows the tree by its metadata: groups, order, collapse, hidden, languages', async () => {
    const page = await app.visit();
    await item(page, 'content').waitFor();
    expect((await names(page)).slice(0, 2)).to.deep.equal(['content', 'settings']);
    expect(await names(page))
      .not.to.include('internals')
      .and.not.to.include('articles');
    await page.getByRole('switch', { name: 'Show hidden' }).click();
    await item(page, 'internals hidden').waitFor();
    expect(new URL(page.url()).search).to.equal('?hidden=true');
    await page.getByLabel('Name language').selectOption('de-DE');
    await item(page, 'Einstellungen singleton').waitFor();
  });

  it('is navigated with the arrow keys, Enter selects, and a double click opens', async () => {
    const page = await app.visit();
    await item(page, 'content').focus();
    await page.keyboard.press('ArrowRight');
    await item(page, 'articles').waitFor();
    expect((await names(page)).slice(0, 3)).to.deep.equal(['content', 'authors', 'articles']);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('treeitem', { name: 'articles', selected: true }).waitFor();
    await page.getByRole('complementary', { name: 'About articles' }).getByText('3 fields').waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await item(page, 'articles').waitFor({ state: 'hidden' });
    await item(page, 'content').dblclick();
    await page.getByRole('heading', { name: 'content' }).waitFor();
  });

  it('draws tables and relations at three depths, and the neighbours of one', async () => {
    const page = await app.visit({ path: '?c=articles&depth=columns' });
    const diagram = page.getByRole('region', { name: 'Diagram' });
    await diagram.getByLabel('Table articles').getByText('title').waitFor();
    await diagram
      .getByRole('img', { name: 'articles.owner references authors' })
      .or(diagram.getByLabel('articles.owner references authors'))
      .first()
      .waitFor({ state: 'attached' });
    await page.getByText('Names', { exact: true }).click();
    await diagram.getByLabel('Table articles').getByText('title').waitFor({ state: 'hidden' });
    await page.getByText('1 step').click();
    await diagram.getByLabel('Table settings').waitFor({ state: 'hidden' });
    await diagram.getByLabel('Table authors').waitFor();
    expect(new URL(page.url()).search).to.equal('?c=articles&depth=names&near=1');
    await page.reload();
    await diagram.getByLabel('Table authors').waitFor();
    await page.getByRole('button', { name: 'Clear selection' }).click();
    await diagram.getByLabel('Table settings').waitFor();
  });

  it('finds collections and fields by a few letters, including hidden ones', async () => {
    const page = await app.visit();
    await page.getByRole('tree').waitFor();
    await page.keyboard.press('Control+k');
    const dialog = page.getByRole('dialog', { name: 'Search' });
    await dialog.getByRole('textbox').fill('authors.tit');
    await dialog.getByText('authors.title').waitFor();
    await expectAccessible(page);
    await dialog.getByRole('textbox').fill('intern');
    await dialog.getByText('internals', { exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'internals' }).waitFor();
    await page.getByRole('link', { name: 'Show in diagram' }).click();
    await page.getByLabel('Table internals').waitFor();
  });

  it('shows names and notes as text', async () => {
    const page = await app.visit({ path: `?c=${encodeURIComponent(HOSTILE)}&depth=columns` });
    await page.getByLabel(`Table ${HOSTILE}`).waitFor();
    await expectTitle(page, `${HOSTILE} · Schema · Data Platform`);
    expect(await page.locator('img').count()).to.equal(0);
    await page.goto('/app?c=articles');
    await page.getByRole('complementary').getByText(HOSTILE).waitFor();
  });

  it('shows what other users change', async () => {
    const page = await app.visit();
    await page.getByRole('tree').waitFor();
    await app.client('/collections', json({ collection: 'latecomer', schema: {} }));
    await item(page, 'latecomer').waitFor();
    await app.client('/collections/latecomer', { method: 'DELETE' });
  });

  it('marks columns that differ in the database, and saves the diagram as shown', async () => {
    await app.api.sql('alter table public.authors alter column title set not null');
    const page = await app.visit({ path: '?depth=columns' });
    await page.getByRole('button', { name: 'Compare with the database' }).click();
    const authors = page.getByLabel('Table authors, differs in the database');
    await authors.waitFor();
    await expectCount(authors.getByRole('img', { name: 'differs in the database' }), 2);
    expect(new URL(page.url()).searchParams.get('drift')).to.equal('true');
    await expectAccessible(page);
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save the diagram' }).click();
    await page.getByRole('menuitem', { name: 'SVG' }).click();
    const file = await saved;
    expect(file.suggestedFilename()).to.equal('schema.svg');
    const drawing = readFileSync(await file.path(), 'utf8');
    expect(drawing).to.include('&lt;img src=x').and.include('>authors<').and.not.include('<img');
    await app.api.sql('alter table public.authors alter column title drop not null');
  });

  it('looks the same to a reader', async () => {
    const page = await app.visit({ path: '?c=articles', as: await app.user('reader') });
    await page.getByLabel('Table articles').waitFor();
  });

  for (const look of [{ dark: true }, { narrow: true }]) {
    it(`is accessible and fits the window: ${JSON.stringify(look)}`, async () => {
      const page = await app.visit({ ...look, path: '?c=articles' });
      await page.getByLabel('Table articles').waitFor();
      await expectAccessible(page);
      await expectFits(page);
      await page.getByRole('button', { name: /^Account menu/ }).click();
      await page.getByRole('menuitem', { name: 'Sign out', exact: true }).waitFor();
      await expectAccessible(page);
      await page.keyboard.press('Escape');
      if (look.narrow !== true) return;
      await page.getByText('Collections', { exact: true }).click();
      await page.getByRole('tree').waitFor();
      await expectAccessible(page);
    });
  }
});

describe('an empty service', () => {
  const app = withApp();

  it('shows admins how to begin, and others who can begin', async () => {
    const page = await app.visit();
    await page.getByRole('heading', { name: 'No collections yet' }).waitFor();
    for (const name of ['Create a collection', 'Import a snapshot', 'Adopt a database']) {
      await page.getByRole('heading', { name }).waitFor();
    }
    await expectAccessible(page);
    await page.getByRole('link', { name: 'New collection' }).click();
    await page.getByRole('heading', { name: 'New collection' }).waitFor();
    expect(new URL(page.url()).pathname).to.equal('/app/new');
    await page.goBack();
    await page.getByRole('heading', { name: 'No collections yet' }).waitFor();
    await app.client('/collections', json({ collection: 'first', schema: {} }));
    await page.getByRole('treeitem', { name: 'first' }).waitFor();
    await app.client('/collections/first', { method: 'DELETE' });
    const reader = await app.visit({ as: await app.user('reader') });
    await reader.getByText('An admin must create the first collection or apply a change request.').waitFor();
  });
});
