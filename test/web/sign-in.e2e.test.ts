import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import { expectTitle, withApp, expectAccessibleInEachLook } from '../support/app.js';
import { json } from '../support/client.js';

describe('signing in to the admin app', () => {
  const app = withApp();

  before(async () => {
    for (const collection of ['articles', 'authors']) {
      const fields = [{ field: 'title', type: 'string', interface: 'input' }];
      expect((await app.client('/collections', json({ collection, schema: {}, fields }))).status).to.equal(200);
    }
  });

  it('works with the keyboard alone, shows the service’s errors, and opens the requested page', async () => {
    app.mayComplain(/status of 401/);
    const page = await app.visit({ path: '?c=authors', as: null });
    await page.locator('input[type=email]:focus').waitFor();
    await page.keyboard.type(app.service.adminEmail);
    await page.keyboard.press('Tab');
    await page.keyboard.type('not the password');
    await page.keyboard.press('Enter');
    await page.getByText('The e-mail address or the password is wrong.').waitFor();
    await page.getByRole('textbox', { name: 'Password' }).fill(app.service.adminPassword);
    await page.keyboard.press('Enter');
    await page.getByRole('treeitem', { name: 'authors', selected: true }).waitFor();
    expect(new URL(page.url()).search).to.equal('?c=authors');
    await expectTitle(page, 'authors · Schema · Data Platform');
  });

  it('lasts after a reload and in other tabs, until one of them signs out', async () => {
    const page = await app.visit();
    await page.getByRole('tree').waitFor();
    await page.reload();
    const other = await app.another(page, '');
    await other.getByRole('tree').waitFor();
    await page.getByRole('tree').waitFor();
    await page.getByRole('button', { name: /^Account menu/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await other.getByRole('button', { name: 'Sign in' }).waitFor();
    await other.reload();
    await other.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  it('sends no more requests after signing out, however late the response', async () => {
    const page = await app.visit();
    await page.getByRole('tree').waitFor();
    let answer = (): void => undefined;
    const isAnswered = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/auth/logout', async (route) => {
      const response = await route.fetch();
      await isAnswered;
      await route.fulfill({ response });
    });
    await page.getByRole('button', { name: /^Account menu/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    // Longer than the interval at which the app checks whether the log has changed.
    await sleep(4_500);
    answer();
    await page.unrouteAll({ behavior: 'wait' });
  });

  it('accepts a token, which it does not store', async () => {
    const page = await app.visit({ as: null });
    await page.getByText('Token', { exact: true }).click();
    await page.getByRole('textbox', { name: 'Token' }).fill(app.service.adminToken);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('tree').waitFor();
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    expect(kept).not.to.contain(app.service.adminToken);
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  });

  it('keeps no token where scripts can read it', async () => {
    const page = await app.visit();
    await page.getByRole('tree').waitFor();
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    // The name of the first steps contains the id of the user, which grants nothing.
    expect(kept.replace(/dps\.tour\.[-\da-f]{36}/, '')).not.to.match(/eyJ|\w{8}-\w{4}-\w{4}/);
    expect(page.url()).not.to.contain('token');
  });

  it('is requested again when the session ends, and no input is lost', async () => {
    app.mayComplain(/status of 401/);
    const page = await app.visit();
    const filter = page.getByRole('textbox', { name: 'Filter collections' });
    await filter.fill('auth');
    const authors = page.getByRole('treeitem', { name: 'authors' });
    await authors.waitFor();
    await endSessions(app.service.databaseUrl);
    // A request of the page itself may be rejected first. Its dialog then covers the button.
    const chosen = authors.click({ timeout: 5_000 }).then(
      () => true,
      () => false,
    );
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await dialog.getByRole('textbox', { name: 'Password' }).fill(app.service.adminPassword);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'hidden' });
    expect(await filter.inputValue()).to.equal('auth');
    if (!(await chosen)) await authors.click();
    await page.getByText('2 fields').waitFor();
  });

  it('has an accessible page', async () => {
    const page = await app.visit({ as: null });
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    await expectAccessibleInEachLook(page);
  });
});

async function endSessions(databaseUrl: string): Promise<void> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    await database.query('delete from service.service_sessions');
  } finally {
    await database.end();
  }
}
