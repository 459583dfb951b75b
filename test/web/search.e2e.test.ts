import { expect } from 'chai';
import { until } from '../support/until.js';
import type { Page } from 'playwright-core';
import { expectAccessible, expectValue, withApp } from '../support/app.js';
import { json } from '../support/client.js';

const field = (name: string) => ({ field: name, type: 'string', interface: 'input' });
const COLLECTIONS = ['articles', 'authors', 'chapters', 'translations'];

describe('the search of the admin app', () => {
  const app = withApp();

  before(async () => {
    const created = COLLECTIONS.map((collection) => ({ collection, schema: {}, fields: [field('title')] }));
    const { status, text } = await app.client(
      '/collections',
      json([...created, { collection: 'parts', schema: null }]),
    );
    expect(status, text).to.equal(200);
  });

  /** Without waiting in between. */
  const searchAtOnce = async (page: Page, words: string) => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type(words);
    await page.keyboard.press('Enter');
  };
  const shown = (page: Page, name: string) => page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();
  const closed = (page: Page) => page.getByRole('dialog', { name: 'Search' }).waitFor({ state: 'detached' });

  it('opens the first result when Enter is pressed immediately, every time', async () => {
    for (let visit = 0; visit < 2; visit++) {
      const page = await app.visit({ path: '/accounts' });
      await page.getByRole('navigation', { name: 'Pages' }).waitFor();
      for (const name of COLLECTIONS) {
        await searchAtOnce(page, name);
        await shown(page, name);
      }
    }
  });

  it('opens the result of Enter when it arrives late, unless more is typed', async () => {
    const page = await app.visit({ path: '/accounts' });
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    const held: (() => void)[] = [];
    for (const path of ['**/collections?*', '**/fields?*']) {
      await page.route(path, async (route) => {
        await new Promise<void>((resolve) => held.push(resolve));
        await route.continue();
      });
    }
    await searchAtOnce(page, 'authors.tit');
    await page.getByText('Loading field names …').waitFor();
    await page.keyboard.type('le');
    await page.keyboard.press('Backspace');
    expect(await page.getByRole('textbox', { name: 'Search' }).inputValue()).to.equal('authors.titl');
    await page.keyboard.press('Enter');
    for (const path of ['**/collections?*', '**/fields?*']) await page.unroute(path);
    for (const release of held) release();
    await shown(page, 'authors');
    expect(new URL(page.url()).searchParams.get('field')).to.equal('title');
    await closed(page);
  });

  it('opens what the arrow keys select, and searches the history if no name matches', async () => {
    const page = await app.visit({ path: '/accounts' });
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('.title');
    const lines = page.getByRole('dialog', { name: 'Search' }).locator('[data-action]');
    await page.getByText('translations.title').waitFor();
    // Results for part of the words may still be listed. New results select the first one again.
    const selected = () =>
      page.evaluate<number>(
        "[...document.querySelectorAll('[role=dialog] [data-action]')].findIndex((each) => each.hasAttribute('data-selected'))",
      );
    await until('the third result is selected, and stays so', async () => {
      const index = await selected();
      if (index < 2) await page.keyboard.press('ArrowDown');
      if (index > 2) await page.keyboard.press('ArrowUp');
      if (index !== 2) return false;
      await page.waitForTimeout(500);
      return (await selected()) === 2;
    });
    const third = (await lines.nth(2).innerText()).split('.')[0] ?? '';
    await page.keyboard.press('Enter');
    await shown(page, third);
    await closed(page);
    await searchAtOnce(page, 'no such thing');
    await shown(page, 'Timeline');
    await expectValue(page.getByRole('searchbox', { name: 'Reason or name' }), 'no such thing');
    await closed(page);
    await searchAtOnce(page, 'chap');
    await shown(page, 'chapters');
  });

  it('offers the actions for a collection, and opens their forms', async () => {
    const page = await app.visit();
    await page.getByRole('tree').waitFor();
    const dialog = page.getByRole('dialog');
    for (const [words, title] of [
      ['new field articles', 'New field in articles'],
      ['new relation of authors', 'New relation of authors'],
      ['edit chapters', 'chapters'],
      ['rename articles', 'Rename articles'],
      ['delete parts', 'Delete parts'],
    ] as const) {
      await searchAtOnce(page, words);
      await dialog.getByRole('heading', { name: title, exact: true }).waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
    }
    await searchAtOnce(page, 'new folder');
    await shown(page, 'New folder');
    const reader = await app.visit({ as: await app.user('reader') });
    await reader.getByRole('tree').waitFor();
    await reader.keyboard.press('Control+k');
    await reader.keyboard.type('rename articles');
    await reader.getByText('No results.').waitFor();
  });

  it('runs commands, and lists the keyboard shortcuts', async () => {
    const page = await app.visit();
    await page.getByRole('tree').waitFor();
    await searchAtOnce(page, 'dark mode');
    await page.locator('html[data-mantine-color-scheme=dark]').waitFor();
    await closed(page);
    await page.keyboard.press('?');
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await sheet.getByText('Play or pause the replay').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    await searchAtOnce(page, 'add user');
    const dialog = page.getByRole('dialog', { name: 'New user' });
    await dialog.getByLabel('E-mail').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await until('the address no longer opens the form', async () => !page.url().includes('new='));
    const download = page.waitForEvent('download');
    await searchAtOnce(page, 'download snapshot');
    expect((await download).suggestedFilename()).to.match(/^snapshot-\d+-\d+-\d+-[0-9a-f]{8}\.json$/);
  });

  it('opens a form in which users change their own password, with a generated one', async () => {
    app.mayComplain(/status of 40[01]/);
    const user = await app.user('reader');
    const page = await app.visit({ as: user });
    await page.getByRole('tree').waitFor();
    await searchAtOnce(page, 'change password');
    const dialog = page.getByRole('dialog', { name: 'Change password' });
    await dialog.getByLabel('Current password').fill('another horse battery');
    await dialog.getByRole('button', { name: 'Generate password' }).click();
    const password = await dialog.getByRole('textbox', { name: 'New password' }).inputValue();
    expect(password).to.match(/^([a-z2-9]{4}-){4}[a-z2-9]{4}$/);
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Change password' }).click();
    await dialog.getByText('The current password is wrong.').waitFor();
    await dialog.getByLabel('Current password').fill(user.password);
    await dialog.getByRole('button', { name: 'Change password' }).click();
    await dialog.waitFor({ state: 'detached' });
    // The session of this tab continues, with the new password.
    await page.reload();
    await page.getByRole('tree').waitFor();
    const login = { email: user.email, password };
    expect((await app.client('/auth/login', json(login))).status).to.equal(200);
  });
});
