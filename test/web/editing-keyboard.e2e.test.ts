import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { withApp } from '../support/app.js';
import { json } from '../support/client.js';
import { until } from '../support/until.js';

/** More steps than any page of these tests needs. */
const MOST_STEPS = 80;

const HOSTILE = '"><img src=x onerror=alert(1)>';

describe('editing with the keyboard alone', () => {
  const app = withApp();

  before(async () => {
    const fields = [{ field: 'title', type: 'string', interface: 'input', note: HOSTILE }];
    const note = `A note ${HOSTILE}`;
    for (const collection of ['books', HOSTILE]) {
      const { status, text } = await app.client('/collections', json({ collection, schema: {}, note, fields }));
      expect(status, text).to.equal(200);
    }
    // A loss of rows asks for a second key press.
    await app.api.sql('insert into books default values');
  });

  const hasFocus = (place: Locator) =>
    place.evaluate(
      (node) => node === (node as unknown as { ownerDocument: { activeElement: unknown } }).ownerDocument.activeElement,
    );

  /** Presses Tab until the element has the focus, like a user without a mouse. */
  const stepTo = async (page: Page, place: Locator) => {
    await place.waitFor();
    for (let steps = 0; steps < MOST_STEPS && !(await hasFocus(place)); steps++) await page.keyboard.press('Tab');
    expect(await hasFocus(place), `the keyboard comes to ${place.toString()}`).to.equal(true);
    expect(
      await place.evaluate((node) => (node as unknown as { matches(by: string): boolean }).matches(':focus-visible')),
    ).to.equal(true);
  };
  const press = async (page: Page, place: Locator, key = 'Enter') => {
    await stepTo(page, place);
    await page.keyboard.press(key);
  };
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  /** Opens a menu and moves down to the wanted item. */
  const choose = async (page: Page, menu: Locator, name: string) => {
    await press(page, menu);
    const item = page.getByRole('menuitem', { name });
    await item.waitFor();
    for (let steps = 0; steps < 10 && !(await hasFocus(item)); steps++) await page.keyboard.press('ArrowDown');
    expect(await hasFocus(item), `the arrow keys come to ${name}`).to.equal(true);
    await page.keyboard.press('Enter');
  };
  const closed = (page: Page) => page.getByRole('dialog').waitFor({ state: 'detached' });
  const apply = async (page: Page, lost?: string) => {
    await press(page, page.getByRole('region', { name: 'Draft' }).getByRole('link', { name: 'Review' }));
    const applyButton = page.getByRole('button', { name: /^Apply(: delete .*)?$/ });
    await applyButton.and(page.locator(':not([aria-disabled])')).waitFor();
    await press(page, applyButton);
    if (lost !== undefined) await press(page, button(page, `Delete data: ${lost}`));
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
  };

  it('creates a collection with a field, and applies it', async () => {
    const page = await app.visit();
    await choose(page, button(page, 'New collection or folder'), 'New collection …');
    const name = page.getByLabel('Name', { exact: true });
    await name.waitFor();
    await page.keyboard.type('events');
    await press(page, page.getByLabel('Status'), 'Space');
    await press(page, button(page, 'Save to draft'));
    await page.getByRole('heading', { name: 'events' }).waitFor();
    await press(page, button(page, 'New field'));
    await page.getByRole('dialog').waitFor();
    await stepTo(page, name);
    await page.keyboard.type('price');
    await stepTo(page, page.getByLabel('Type', { exact: true }));
    await page.keyboard.type('decimal');
    await press(page, button(page, 'Save to draft'));
    await closed(page);
    await page.getByRole('row', { name: /^price/ }).waitFor();
    await until('the keyboard is back where it was', () => hasFocus(button(page, 'New field')));
    await apply(page);
    const { status, text } = await app.client('/fields/events/price');
    expect(status, text).to.equal(200);
    expect(text).to.include('"type":"decimal"');
    expect((await app.client('/fields/events/status')).status).to.equal(200);
  });

  it('edits, renames and deletes, and menus return the focus', async () => {
    const page = await app.visit({ path: '/collections/books' });
    const menu = button(page, 'Actions for title');
    await choose(page, menu, 'Edit …');
    await page.getByRole('dialog').waitFor();
    await stepTo(page, page.getByLabel('Max length'));
    await page.keyboard.press('Control+A');
    await page.keyboard.type('380');
    await page.keyboard.press('Enter');
    await closed(page);
    await page
      .getByRole('row', { name: /^title/ })
      .getByText('changed')
      .waitFor();
    await until('the keyboard is back at the menu', () => hasFocus(menu));
    await choose(page, menu, 'Rename …');
    await stepTo(page, page.getByLabel('New name of title'));
    await page.keyboard.press('Escape');
    await closed(page);
    await until('Escape leads back to the menu', () => hasFocus(menu));
    await apply(page);
    expect((await app.client('/fields/books/title')).text).to.include('"max_length":380');
    await page.goto('/app/collections/books');
    await choose(page, button(page, 'More actions for books'), 'Delete …');
    await press(page, button(page, 'Save deletion to draft'));
    await closed(page);
    await apply(page, 'books');
    expect((await app.client('/collections/books')).status).to.equal(404);
  });

  it('shows hostile names and notes as text in every form', async () => {
    const page = await app.visit();
    for (const edit of [
      'collection',
      'new-field',
      'new-relation',
      'field&of=title',
      'rename',
      'rename-field&of=title',
    ]) {
      await page.goto(`/app/collections/${encodeURIComponent(HOSTILE)}?edit=${edit}`);
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).waitFor();
      expect(await page.locator('img').count(), edit).to.equal(0);
    }
    await page.goto(`/app/collections/${encodeURIComponent(HOSTILE)}?edit=delete`);
    await page.getByRole('dialog').getByText(HOSTILE).first().waitFor();
    expect(await page.locator('img').count()).to.equal(0);
  });
});
