import { expect } from 'chai';
import { expectAccessible, expectCount, expectFits, withApp } from '../support/app.js';
import { json, signIn } from '../support/client.js';
import { sql } from '../support/postgres.js';

describe('the accounts page of the admin app', () => {
  const app = withApp();

  it('creates, changes and deletes a user, and shows validation errors at the input', async () => {
    app.mayComplain(/status of 400/);
    const page = await app.visit({ path: '/accounts' });
    await page.getByRole('button', { name: 'New user' }).click();
    const dialog = page.getByRole('dialog', { name: 'New user' });
    await dialog.getByLabel('E-mail').fill('ada@example.com');
    await dialog.getByLabel('Role').selectOption('auditor');
    await dialog.getByRole('textbox', { name: 'Password' }).fill('short');
    await dialog.getByRole('button', { name: 'Create user' }).click();
    await dialog.getByRole('textbox', { name: 'Password' }).and(page.locator('[aria-invalid=true]')).waitFor();
    await dialog.getByText('must have at least 12 characters.').waitFor();
    await expectAccessible(page);
    await dialog.getByRole('textbox', { name: 'Password' }).fill('long enough for it');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'hidden' });
    const line = page.getByRole('listitem').filter({ hasText: 'ada@example.com' });
    await line.getByText('auditor').waitFor();

    await page.getByRole('button', { name: 'Edit ada@example.com' }).click();
    await page.getByLabel('Status').selectOption('suspended');
    await page.getByRole('button', { name: 'Save' }).click();
    await line.getByText('suspended').waitFor();
    await page.getByRole('button', { name: 'Edit ada@example.com' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Yes, delete user' }).click();
    await line.waitFor({ state: 'hidden' });
  });

  it('invites a user with a link, which is invalid after the user has chosen a password', async () => {
    app.mayComplain(/status of 40[01]/);
    const page = await app.visit({ path: '/accounts' });
    await page.getByRole('button', { name: 'New user' }).click();
    const dialog = page.getByRole('dialog', { name: 'New user' });
    await dialog.getByLabel('E-mail').fill('guest@example.com');
    await dialog.getByLabel('Role').selectOption('author');
    await dialog.getByLabel('Create an invitation link').check();
    expect(await dialog.getByRole('textbox', { name: 'Password' }).count()).to.equal(0);
    await dialog.getByRole('button', { name: 'Create user' }).click();
    await dialog.getByText('Copy the link now.').waitFor();
    await expectAccessible(page);
    const link = await dialog.locator('code').innerText();
    expect(link).to.match(/^http:\/\/[^/]+\/app\/#invitation=/);
    await dialog.getByText(/It expires on \w/).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'hidden' });
    const line = page
      .getByRole('list', { name: 'Users' })
      .getByRole('listitem')
      .filter({ hasText: 'guest@example.com' });
    await line.getByText(/^Invited, the link expires on \w/).waitFor();

    const path = link.slice(link.indexOf('/#'));
    const guest = await app.visit({ as: null, path, narrow: true });
    const password = guest.getByRole('textbox', { name: 'New password' });
    await guest.getByText('guest@example.com').waitFor();
    expect(guest.url()).not.to.include('invitation');
    await expectFits(guest);
    await expectAccessible(guest);
    await password.fill('short');
    await password.press('Enter');
    await password.and(guest.locator('[aria-invalid=true]')).waitFor();
    await password.fill('seven small apples');
    await password.press('Enter');
    await guest.getByRole('region', { name: 'First steps' }).waitFor();
    await guest.reload();
    await guest.getByRole('button', { name: 'Account menu of guest@example.com' }).waitFor();
    await signIn(app.client, { email: 'guest@example.com', password: 'seven small apples' });
    // The page updates itself.
    await line.getByText('Invited').waitFor({ state: 'hidden' });

    const again = await app.visit({ as: null, path });
    await again.getByRole('textbox', { name: 'New password' }).fill('eight small apples');
    await again.getByRole('button', { name: 'Choose password and sign in' }).click();
    await again.getByText('This invitation is no longer valid.').waitFor();
    await again.getByRole('button', { name: 'Sign in without the invitation' }).click();
    await again.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
  });

  it('rejects an invitation that has expired, and invites the user again', async () => {
    app.mayComplain(/status of 409/);
    const email = 'late@example.com';
    const password = 'generated for the link';
    const created = await app.client('/users', json({ email, role: 'reader', password, invitation: true }));
    expect(created.status, created.text).to.equal(200);
    await sql(
      app.service.databaseUrl,
      `update service.service_users set invitation_expires_at = '2026-01-31 12:00Z' where email = '${email}'`,
    );
    const path = `/#invitation=${encodeURIComponent(JSON.stringify([email, password]))}`;
    const guest = await app.visit({ as: null, path, narrow: true });
    await guest.getByRole('textbox', { name: 'New password' }).fill('seven small apples');
    await guest.getByRole('button', { name: 'Choose password and sign in' }).click();
    await guest.getByText('Your invitation has expired. Ask an admin for a new link.').waitFor();
    await expectFits(guest);
    await expectAccessible(guest);

    const page = await app.visit({ path: '/accounts' });
    const line = page.getByRole('list', { name: 'Users' }).getByRole('listitem').filter({ hasText: email });
    await line.getByText(/^Invitation expired on .*2026/).waitFor();
    await expectAccessible(page);
    await line.getByRole('button', { name: `Invite again: ${email}` }).click();
    const dialog = page.getByRole('dialog', { name: email });
    await dialog.getByRole('checkbox', { name: 'Create an invitation link', checked: true }).waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    const link = await dialog.locator('code').innerText();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await line.getByText(/^Invited, the link expires on/).waitFor();
    const again = await app.visit({ as: null, path: link.slice(link.indexOf('/#')) });
    await again.getByRole('textbox', { name: 'New password' }).fill('seven small apples');
    await again.getByRole('button', { name: 'Choose password and sign in' }).click();
    await again.getByRole('button', { name: `Account menu of ${email}` }).waitFor();
  });

  it('erases the personal data of a user in the log, after saying what that means', async () => {
    const login = { email: 'eve@example.com', name: 'Eve', password: 'long enough for it', role: 'admin' };
    const created = await app.client('/users', json(login));
    const { id } = (created.json as { data: { id: string } }).data;
    const token = await signIn(app.client, login);
    const renamed = await app.client(`/users/${id}`, { ...json({ name: 'Eve Again' }, 'PATCH'), token });
    expect(renamed.status, renamed.text).to.equal(200);
    const page = await app.visit({ path: '/accounts' });
    await page.getByRole('button', { name: 'Edit Eve Again' }).click();
    await page.getByLabel('Erase personal data in the event log').check();
    await page.getByText('Permanently erases the name, reasons, addresses and user agents of Eve Again').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Delete and erase' }).click();
    await page.getByRole('button', { name: 'Yes, delete and erase' }).click();
    await page.getByRole('listitem').filter({ hasText: 'eve@example.com' }).waitFor({ state: 'hidden' });
    await page.goto(`/app/timeline?actor=${id}`);
    await page
      .getByText(`erased user ${id.slice(0, 8)}`)
      .first()
      .waitFor();
    expect((await app.client('/history/export')).text).not.to.contain('"Eve');
    await page.goto('/app/verification');
    await page.getByRole('button', { name: /^Verify/ }).click();
    await page.getByText('Personal data was erased from 1 event.').waitFor();
  });

  it('keeps an admin signed in who changes their own password', async () => {
    app.mayComplain(/status of 401/);
    const login = { email: 'own@example.com', password: 'set by somebody else' };
    expect((await app.client('/users', json({ ...login, role: 'admin' }))).status).to.equal(200);
    const page = await app.visit({ path: '/accounts', as: login });
    await page.getByRole('button', { name: 'Edit own@example.com' }).click();
    const dialog = page.getByRole('dialog', { name: 'own@example.com' });
    await dialog.getByRole('textbox', { name: 'Password' }).fill('known to nobody else');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.reload();
    await page.getByRole('heading', { name: 'Accounts' }).waitFor();
  });

  it('creates a working token, shows it once, and revokes it', async () => {
    const page = await app.visit({ path: '/accounts' });
    await page.getByRole('button', { name: 'Tokens of Admin' }).click();
    const dialog = page.getByRole('dialog', { name: 'Tokens of Admin' });
    await dialog.getByLabel('Name of a new token').fill('nightly');
    await dialog.getByRole('button', { name: 'Create token' }).click();
    const token = await dialog.getByText(/^dps_/).innerText();
    expect((await app.client('/users', { token })).status).to.equal(200);
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Tokens of Admin' }).click();
    await dialog.getByRole('button', { name: 'Revoke: nightly' }).waitFor();
    expect(await dialog.getByText(/^dps_/).count()).to.equal(0);
    await dialog.getByRole('button', { name: 'Revoke: nightly' }).click();
    await dialog.getByRole('button', { name: 'Yes, revoke: nightly' }).click();
    await dialog.getByText('nightly').waitFor({ state: 'hidden' });
    expect((await app.client('/users', { token })).status).to.equal(401);
  });

  it('limits the actions, collections and networks of a token, and shows the limits and errors', async () => {
    app.mayComplain(/status of 400/);
    const page = await app.visit({ path: '/accounts' });
    await page.getByRole('button', { name: 'Tokens of Admin' }).click();
    const dialog = page.getByRole('dialog', { name: 'Tokens of Admin' });
    await dialog.getByLabel('Name of a new token').fill('pipeline');
    await dialog.getByLabel('read', { exact: true }).check();
    await dialog.getByLabel('propose', { exact: true }).check();
    await dialog.getByLabel('Collections').fill('shop_*, news');
    await dialog.getByLabel('Networks').fill('127.0.0.1, elsewhere');
    await dialog.getByRole('button', { name: 'Create token' }).click();
    await dialog.getByText(/must be an address or a network/).waitFor();
    await dialog.getByLabel('Networks').fill('127.0.0.1, 10.0.0.0/8');
    await dialog.getByRole('button', { name: 'Create token' }).click();
    const token = await dialog.getByText(/^dps_/).innerText();
    await dialog
      .getByText('at most admin: read, propose; collections shop_*, news; from 127.0.0.1, 10.0.0.0/8')
      .waitFor();
    await expectAccessible(page);
    expect((await app.client('/collections', { token })).status).to.equal(200);
    expect((await app.client('/collections', { token, ...json({ collection: 'x', schema: {} }) })).status).to.equal(
      403,
    );
  });

  it('lists sessions with their addresses, and ends one session or all sessions of a user', async () => {
    app.mayComplain(/status of 401/);
    const ada = await app.user('auditor');
    // Three, so that more than one session is left after one has ended.
    const theirs = await app.visit({ as: ada });
    const others = [await app.visit({ as: ada }), await app.visit({ as: ada })];
    for (const each of [theirs, ...others]) await each.getByRole('navigation', { name: 'Pages' }).waitFor();
    const page = await app.visit({ path: '/accounts' });
    const line = page.getByRole('listitem').filter({ hasText: ada.email }).filter({ hasText: 'End all' });
    await line.getByText('from 127.0.0.1').first().waitFor();
    await page.getByText('this session', { exact: true }).waitFor();
    await expectAccessible(page);
    const sessions = line.getByText('from 127.0.0.1');
    await expectCount(sessions, 3);
    await line
      .getByRole('button', { name: /^End: / })
      .first()
      .click();
    await line.getByRole('button', { name: /^Yes, end it/ }).click();
    await expectCount(sessions, 2);
    await line.getByRole('button', { name: /^End all/ }).click();
    await line.getByRole('button', { name: /^Yes, end all/ }).click();
    await line.waitFor({ state: 'hidden' });
    await theirs.reload();
    await theirs.getByRole('button', { name: 'Sign in' }).waitFor();
    // Each page reports the end of its session eventually.
    for (const each of [theirs, ...others]) await each.close();
  });

  it('shows the latest changes by a user, with a link to all of them', async () => {
    const { status } = await app.client('/collections', json({ collection: 'articles', schema: {} }));
    expect(status).to.equal(200);
    const page = await app.visit({ path: '/accounts' });
    await page.getByRole('button', { name: 'Activity of Admin' }).click();
    await page
      .getByText(/articles/)
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'All changes by Admin' }).click();
    await page.waitForURL(/\/timeline\?actor=/);
  });

  it('tells everyone except admins that it is for admins', async () => {
    app.mayComplain(/status of 403/);
    const page = await app.visit({ path: '/accounts', as: await app.user('auditor') });
    await page
      .getByRole('alert')
      .getByText('This request requires the role admin, and your role is auditor.')
      .waitFor();
  });

  it('shows users in pages', async () => {
    await app.api.sql(`INSERT INTO service.service_users (id, email, name, role)
      SELECT gen_random_uuid(), 'user' || lpad(n::text, 4, '0') || '@example.com', 'User ' || n, 'author' FROM generate_series(1, 150) n`);
    const page = await app.visit({ path: '/accounts' });
    const users = page.getByRole('list', { name: 'Users' }).getByRole('button', { name: /^Tokens of / });
    await users.first().waitFor();
    await expectCount(users, 100);
    await page.getByRole('button', { name: /^Show more of 1\d\d users/ }).click();
    await page.getByText('user0150@example.com').waitFor();
    await expectCount(page.getByRole('button', { name: /^Show more of/ }), 0);
  });
});
