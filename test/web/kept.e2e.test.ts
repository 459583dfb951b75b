import { expect } from 'chai';
import pg from 'pg';
import type { Page } from 'playwright-core';
import { put } from '../../src/web/draft/edits.js';
import { draftText, type Draft, EMPTY } from '../../src/web/draft/model.js';
import { newCollection } from '../../src/web/editing/column-defaults.js';
import { primaryKey } from '../../src/web/editing/relations.js';
import { expectValue, withApp } from '../support/app.js';
import { json } from '../support/client.js';
import { until } from '../support/until.js';

const MANY = 1_000;
const NOTE = 'What it is for, and who keeps it. '.repeat(40);

describe('unsaved input in the browser', () => {
  const app = withApp();

  before(async () => {
    const fields = [{ field: 'title', type: 'string', interface: 'input' }];
    const created = ['articles', 'people', 'tags'].map((collection) => ({ collection, schema: {}, fields }));
    const { status, text } = await app.client('/collections', json(created));
    expect(status, text).to.equal(200);
  });

  const draftName = async () => {
    const { data } = (await app.client('/users/me')).json as { data: { id: string } };
    return `dps.draft.${data.id}`;
  };
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
  const dialog = (page: Page) => page.getByRole('dialog', { name: 'articles.title' });
  const offer = (page: Page) => page.getByText('You have unsaved input from an earlier visit');
  const bar = (page: Page, says: string) => page.getByRole('region', { name: 'Draft' }).getByText(says).waitFor();
  const closed = (page: Page) => page.getByRole('dialog').waitFor({ state: 'detached' });
  const endSessions = async () => {
    const database = new pg.Client({ connectionString: app.service.databaseUrl });
    await database.connect();
    await database.query('delete from service.service_sessions');
    await database.end();
  };
  const discard = async (page: Page) => {
    await button(page, 'Discard').click();
    await button(page, 'Yes, discard all').click();
    await page.getByRole('region', { name: 'Draft' }).waitFor({ state: 'detached' });
  };

  it('is offered after a reload, and forgotten once it is in the draft', async () => {
    const page = await app.visit({ path: '/collections/articles?edit=field&of=title' });
    await dialog(page).getByLabel('Max length').fill('80');
    await dialog(page).getByRole('button', { name: 'Rules' }).click();
    await dialog(page).getByLabel('Validation', { exact: true }).fill('{"title": {"_nnull": true}}');
    await page.reload();
    await offer(page).waitFor();
    await dialog(page).getByText('validation, max_length').waitFor();
    await button(page, 'Restore input').click();
    await offer(page).waitFor({ state: 'detached' });
    await expectValue(dialog(page).getByLabel('Max length'), '80');
    await dialog(page).getByRole('button', { name: 'Rules' }).click();
    const rule = dialog(page).getByLabel('Validation', { exact: true });
    await rule.waitFor();
    expect(JSON.parse(await rule.inputValue())).to.deep.equal({ title: { _nnull: true } });
    await button(page, 'Save to draft').click();
    await closed(page);
    await bar(page, '1 change in 1 collection');
    await page.goto('/app/collections/articles?edit=field&of=title');
    await dialog(page).getByLabel('Max length').waitFor();
    await expectValue(dialog(page).getByLabel('Max length'), '80');
    expect(await offer(page).count()).to.equal(0);
    await button(page, 'Cancel').click();
    await closed(page);
    await discard(page);
  });

  it('is offered in every form and for the type of a relation, until Cancel or "Forget it"', async () => {
    const page = await app.visit({ path: '/new' });
    await page.getByLabel('Name', { exact: true }).fill('events');
    await page.reload();
    await button(page, 'Restore input').click();
    await expectValue(page.getByLabel('Name', { exact: true }), 'events');
    await button(page, 'Cancel').click();
    await page.getByRole('tree').waitFor();
    await page.goto('/app/collections/articles?edit=new-relation');
    await page.getByText('Many to many').click();
    await page.getByLabel('Related collection', { exact: true }).selectOption('tags');
    await page.reload();
    await offer(page).waitFor();
    await page.getByRole('radio', { name: 'Many to many', checked: true }).waitFor();
    await button(page, 'Restore input').click();
    await expectValue(page.getByRole('textbox', { name: 'Junction collection' }), 'articles_tags');
    await page.reload();
    await offer(page).waitFor();
    await button(page, 'Discard input').click();
    await offer(page).waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('radio', { name: 'Many to one' }).waitFor();
    expect(await offer(page).count()).to.equal(0);
  });

  it('survives a session that ends while the user types', async () => {
    app.mayComplain(/status of 401/);
    const page = await app.visit({ path: '/collections/articles?edit=field&of=title' });
    await dialog(page).getByLabel('Max length').fill('90');
    await endSessions();
    await button(page, 'Save to draft').click();
    const again = page.getByRole('dialog', { name: 'Your session has ended' });
    await again.getByRole('textbox', { name: 'Password' }).fill(app.service.adminPassword);
    await again.getByRole('button', { name: 'Sign in' }).click();
    await again.waitFor({ state: 'hidden' });
    await bar(page, '1 change in 1 collection');
    await page.goto('/app/collections/articles?edit=new-field');
    await page.getByLabel('Name', { exact: true }).fill('price');
    await endSessions();
    await page.reload();
    await page.getByRole('textbox', { name: 'E-mail' }).fill(app.service.adminEmail);
    await page.getByRole('textbox', { name: 'Password' }).fill(app.service.adminPassword);
    await button(page, 'Sign in').click();
    await button(page, 'Restore input').click();
    await expectValue(page.getByLabel('Name', { exact: true }), 'price');
    await bar(page, '1 change in 1 collection');
    await button(page, 'Cancel').click();
    await closed(page);
    await discard(page);
  });

  it('is kept in all tabs for a draft of a thousand collections, even if the draft was small before', async () => {
    let many: Draft = { ...EMPTY, position: 1 };
    for (let index = 0; index < MANY; index++) {
      const name = `drafted_${String(index).padStart(4, '0')}`;
      const collection = newCollection(name, false, { note: NOTE });
      many = put(many, 'collections', { before: null, after: collection });
      many = put(many, 'fields', { before: null, after: primaryKey(name, 'integer', 'id') });
    }
    const page = await app.visit();
    await page.getByRole('tree').waitFor();
    const name = await draftName();
    await page.evaluate(`(${KEEP})(${JSON.stringify(name)}, ${JSON.stringify(draftText(many))})`);
    await page.reload();
    await bar(page, '1,000 changes in 1,000 collections');
    await page.goto('/app/new');
    await page.getByLabel('Name', { exact: true }).fill('one_more');
    await button(page, 'Save to draft').click();
    await bar(page, '1,001 changes in 1,001 collections');
    const other = await app.another(page, '/timeline');
    await bar(other, '1,001 changes in 1,001 collections');
    // The page of the undone object would report that it does not exist.
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Timeline' }).click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await button(page, 'Undo').click();
    await bar(other, '1,000 changes in 1,000 collections');
    await discard(other);
    await page.getByRole('region', { name: 'Draft' }).waitFor({ state: 'detached' });
    const one = put({ ...EMPTY, position: 1 }, 'collections', {
      before: null,
      after: newCollection('from_before', false, {}),
    });
    await page.evaluate(`localStorage.setItem(${JSON.stringify(name)}, ${JSON.stringify(draftText(one))})`);
    await page.reload();
    await bar(page, '1 change in 1 collection');
    await until('it has moved to its place', async () => {
      return (await page.evaluate(`localStorage.getItem(${JSON.stringify(name)})`)) === null;
    });
    await page.reload();
    await bar(page, '1 change in 1 collection');
    await discard(page);
  });

  it('is reported as unsaved if the browser’s storage is full', async () => {
    const page = await app.visit();
    await page.getByRole('tree').waitFor();
    await page.evaluate(
      `IDBObjectStore.prototype.put = () => { throw new DOMException('full', 'QuotaExceededError') }`,
    );
    await page.keyboard.press('Control+k');
    await page.keyboard.type('new folder');
    await page.keyboard.press('Enter');
    await page.getByLabel('Name', { exact: true }).fill('somewhere');
    await button(page, 'Save to draft').click();
    await bar(page, 'This browser cannot store the draft. Reloading the page deletes it.');
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Timeline' }).click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await discard(page);
  });
});

/** Written directly to the storage, as an earlier page would have done. */
const KEEP = `(name, text) => new Promise((resolve, reject) => {
  const opening = indexedDB.open('dps');
  opening.onerror = () => reject(opening.error);
  opening.onsuccess = () => {
    const writing = opening.result.transaction('kept', 'readwrite');
    writing.objectStore('kept').put(text, name);
    writing.oncomplete = () => { opening.result.close(); resolve(); };
    writing.onerror = () => reject(writing.error);
  };
})`;
