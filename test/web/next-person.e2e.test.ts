/** The next user of a tab sees no data of the previous user. The previous user finds everything again. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectCount, expectValue, withApp } from '../support/app.js';
import { json } from '../support/client.js';
import { until } from '../support/until.js';

describe('the next person in the same tab of the admin app', () => {
  const app = withApp();
  let then = 0;

  const send = async (path: string, body: unknown, method = 'POST') => {
    const { status, text, headers } = await app.client(path, json(body, method));
    expect(status, text).to.be.below(300);
    return Number(headers.get('x-log-position'));
  };

  before(async () => {
    const fields = [{ field: 'title', type: 'string', interface: 'input', schema: {} }];
    then = await send('/collections', { collection: 'articles', schema: {}, fields });
    await send('/collections/articles', { meta: { note: 'second' } }, 'PATCH');
  });

  const why = (page: Page) => page.getByRole('textbox', { name: 'Reason' });
  const notice = (page: Page) => page.getByRole('status', { name: 'Last change' });
  const applyButton = (page: Page) => page.locator('button:not([aria-disabled])', { hasText: /^Apply$/ });
  const goTo = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
  const signOut = async (page: Page) => {
    await page.getByRole('button', { name: /^Account menu/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).click();
    await page.getByRole('heading', { name: 'Data Platform' }).waitFor();
  };
  const signIn = async (page: Page, { email, password }: { email: string; password: string }) => {
    await page.locator('input[autocomplete=username]').fill(email);
    await page.locator('input[autocomplete=current-password]').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  const admin = () => ({ email: app.service.adminEmail, password: app.service.adminPassword });

  it('is not offered to revert changes that another user applied', async () => {
    const page = await app.visit({ path: `/review?to=${then}` });
    await applyButton(page).click();
    await page.getByRole('heading', { name: 'Applied' }).waitFor();
    await goTo(page, 'Timeline');
    await notice(page).waitFor();
    await signOut(page);
    await signIn(page, await app.user('auditor'));
    await page.getByRole('heading', { name: 'Timeline', level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await notice(page).count()).to.equal(0);
  });

  it('is not offered to revert it even if the response arrives after they have signed in', async () => {
    await send('/collections/articles', { meta: { note: 'third' } }, 'PATCH');
    const page = await app.visit({ path: `/review?to=${then}` });
    await applyButton(page).waitFor();
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route(/\/schema\/apply$/, async (route) => {
      const response = await route.fetch();
      await released;
      await route.fulfill({ response });
    });
    const pending = page.waitForRequest(/\/schema\/apply$/);
    await applyButton(page).click();
    await pending;
    await signOut(page);
    await signIn(page, await app.user('admin'));
    await page.getByRole('button', { name: /^Account menu/ }).waitFor();
    await goTo(page, 'Timeline');
    await page.getByRole('heading', { name: 'Timeline', level: 1 }).waitFor();
    const answered = page.waitForResponse(/\/schema\/apply$/);
    release();
    await (await answered).finished();
    await page.waitForLoadState('networkidle');
    expect(await notice(page).count()).to.equal(0);
  });

  it('does not see the reason that another user typed, and that user finds it again', async () => {
    await send('/collections/articles', { meta: { note: 'fourth' } }, 'PATCH');
    const page = await app.visit({ path: `/review?to=${then}` });
    await why(page).fill('Between me and me');
    await signOut(page);
    await signIn(page, await app.user('admin'));
    await applyButton(page).waitFor();
    expect(await why(page).inputValue()).not.to.equal('Between me and me');
    await signOut(page);
    await signIn(page, admin());
    await applyButton(page).waitFor();
    await expectValue(why(page), 'Between me and me');
  });

  /** As if an admin ended the sessions. The next request is rejected. */
  const endSessions = async ({ email }: { email: string }) => {
    const { data } = (await app.client('/users?limit=1000')).json as { data: { id: string; email: string }[] };
    const id = data.find((each) => each.email === email)?.id;
    expect((await app.client(`/users/${id}/sessions`, { method: 'DELETE' })).status).to.equal(200);
  };

  it('sees nothing of the open page after signing in over an ended session', async () => {
    // The session has ended, and readers may not read the accounts.
    app.mayComplain(/status of 40[13]/);
    const someone = await app.user('admin');
    const page = await app.visit({ path: '/accounts', as: someone });
    await page.getByRole('button', { name: 'New user' }).click();
    await page.getByRole('dialog').getByLabel('E-mail').fill('typed@example.com');
    await endSessions(someone);
    const ended = page.getByRole('dialog', { name: 'Your session has ended' });
    await ended.waitFor();
    await signIn(page, await app.user('reader'));
    await ended.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^Account menu/ }).waitFor();
    await expectCount(page.getByRole('dialog'), 0);
    expect(await page.locator('body').innerText()).not.to.include(someone.email);
  });

  it('never continues with the session of another user from another tab', async () => {
    app.mayComplain(/status of 401/);
    const someone = await app.user('admin');
    const page = await app.visit({ path: '/timeline', as: someone });
    await page.getByRole('heading', { name: 'Timeline', level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    // The cookie of the browser now belongs to another user.
    const { email, password } = await app.user('reader');
    const grant = json({ email, password, mode: 'cookie' });
    await page.evaluate(`fetch('/auth/login', ${JSON.stringify(grant)}).then((answer) => answer.text())`);
    await endSessions(someone);
    await page.getByText(`Sign in again as ${someone.email}`).waitFor();
    await signIn(page, someone);
    await page.getByText(`Sign in again as ${someone.email}`).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^Account menu/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out', exact: true }).waitFor();
    expect(await page.getByText(someone.email).count()).to.be.above(0);
  });

  it('finds nothing in the browser after "Sign out and delete drafts"', async () => {
    const page = await app.visit({ path: '/collections/articles' });
    const draft = page.getByRole('region', { name: 'Draft' });
    const addNote = async () => {
      await page.getByRole('button', { name: 'Actions for title', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Edit …' }).click();
      await page.getByRole('dialog').getByLabel('Max length').fill('77');
      await page.getByRole('button', { name: 'Save to draft', exact: true }).click();
      await draft.waitFor();
    };
    const kept = (): Promise<string[]> =>
      page.evaluate(`new Promise((resolve) => {
        const opened = indexedDB.open('dps');
        opened.onsuccess = () => {
          const asked = opened.result.transaction('kept').objectStore('kept').getAllKeys();
          asked.onsuccess = () => { opened.result.close(); resolve(asked.result); };
        };
      })`);
    await addNote();
    await until('the browser keeps the draft', async () => (await kept()).length === 1);
    await page.getByRole('button', { name: /^Account menu/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out and delete drafts' }).click();
    await page.getByRole('heading', { name: 'Data Platform' }).waitFor();
    expect(await kept()).deep.equal([]);
    await signIn(page, admin());
    await page.getByRole('button', { name: 'Actions for title', exact: true }).waitFor();
    expect(await draft.count()).equal(0);
  });
});
