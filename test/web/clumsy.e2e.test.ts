/** Double clicks, held keys, retries after a lost response, and browsers without a clipboard. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { expectCount, withApp } from '../support/app.js';
import { json } from '../support/client.js';
import { until } from '../support/until.js';

describe('repeated clicks and keys in the admin app', () => {
  const app = withApp();
  let path = '';

  before(async () => {
    const created = await app.client('/collections', json({ collection: 'notes', schema: null }));
    expect(created.status, created.text).to.equal(200);
    const snapshot = (await app.client('/schema/snapshot')).json as { collections: { meta: { note?: unknown } }[] };
    for (const { meta } of snapshot.collections) meta.note = 'Noted';
    const opened = await app.client('/changes', json({ title: 'A note', snapshot }));
    expect(opened.status, opened.text).to.equal(201);
    path = `/review?change=${(opened.json as { data: { id: string } }).data.id}`;
  });

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  it('do not confirm a dialog by a double click or a held key', async () => {
    const page = await app.visit({ path });
    await button(page, 'Withdraw: notes').dblclick();
    const sure = button(page, 'Yes, withdraw it: notes');
    await sure.waitFor();
    // A held key repeats.
    await page.keyboard.press('Tab');
    await button(page, 'Withdraw: notes').focus();
    for (let times = 0; times < 3; times++) await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await sure.waitFor();
    await page.waitForLoadState('networkidle');
    await page.getByText('This request is waiting for review.').waitFor();
  });

  it('send a comment once, although it was sent again after a lost response', async () => {
    app.mayComplain(/ERR_FAILED/);
    const page = await app.visit({ path });
    let lost = 0;
    await page.route('**/comment', async (route) => {
      await route.fetch();
      lost += 1;
      await route.abort();
    });
    await page.getByLabel('Comment', { exact: true }).fill('Said once');
    await button(page, 'Comment').click();
    await page.getByText('does not respond. Check that it is running').waitFor();
    expect(lost).to.equal(1);
    await page.unroute('**/comment');
    await button(page, 'Comment').click();
    const box = page.getByLabel('Comment', { exact: true });
    await until('the answer came, and the box is empty', async () => (await box.inputValue()) === '');
    const messagesOf = (await app.client('/history/events?limit=1000')).json as { data: { type: string }[] };
    expect(messagesOf.data.filter(({ type }) => type === 'change.commented')).to.have.length(1);
    await expectCount(page.getByText('Said once', { exact: true }), 1);
  });

  it('do not need clipboard access to copy text, from a dialog too', async () => {
    const page = await app.visit({ path: '/accounts' });
    await page.addInitScript(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
    await page.reload();
    await page
      .getByRole('button', { name: /^Tokens of/ })
      .first()
      .click();
    await page.getByLabel('Name of a new token').fill('copied');
    await button(page, 'Create token').click();
    const secret = await page.getByRole('status').locator('code').innerText();
    await button(page, 'Copy the token').click();
    await button(page, 'Copied').waitFor();
    await page.getByLabel('Name of a new token').press('Control+v');
    await until(
      'the token is pasted',
      async () => (await page.getByLabel('Name of a new token').inputValue()) === secret,
    );
    // The token is shown only this once, so a click outside the dialog does not close it.
    await page.mouse.click(5, 400);
    await button(page, 'Copied').or(button(page, 'Copy the token')).waitFor();
  });
});
