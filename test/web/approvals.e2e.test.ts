/** Approvers see the plan of a change request. Only some of them can approve it. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { diffOf, newPerson, open, without } from '../features/change-requests/people.js';
import { expectAccessible, expectAccessibleInEachLook, expectCount, expectFits, withApp } from '../support/app.js';
import { json } from '../support/client.js';

const field = (name: string) => ({ field: name, type: 'string', interface: 'input', schema: {} });

const topOf = async (element: Locator): Promise<number> => (await element.boundingBox())?.y ?? 0;

describe('approving a change request in the admin app', () => {
  const app = withApp();
  const send = async (path: string, body: unknown, method = 'POST') => {
    const { status, text } = await app.client(path, json(body, method));
    expect(status, text).to.be.below(300);
  };
  const approve = (page: Page) => page.getByRole('button', { name: 'Approve' }).click();

  before(async () => {
    await send('/collections', { collection: 'orders', schema: {}, fields: ['title', 'note', 'text'].map(field) });
    await send('/policy', { findings: { LOSES_DATA: 'approve' }, author_may_approve: false }, 'PUT');
  });

  it('shows the SQL with its locks, the findings, the deletions and the types of new fields', async () => {
    const ada = await newPerson(app.client, 'planner', 'author');
    const diff = await diffOf(app.client, (snapshot) => {
      const title = snapshot.fields.find((each) => each.collection === 'orders' && each.field === 'title');
      if (title === undefined) throw new Error('the snapshot has no field "title"');
      snapshot.fields.push({
        ...title,
        field: 'code',
        meta: { ...title.meta, field: 'code' },
        schema: { ...title.schema, name: 'code' },
      });
      without('orders', 'note')(snapshot);
    });
    const { id } = await open(ada.send, { title: 'Codes for orders', diff });

    const page = await app.visit({ path: `/review?change=${id}` });
    const created = page.getByRole('article', { name: 'field orders.code' });
    await created.getByText('character varying', { exact: true }).waitFor();
    await created.getByRole('button', { name: 'SQL' }).click();
    await created.getByText(/^ALTER TABLE .* ADD COLUMN .*"code"/).waitFor();
    await page.getByRole('article', { name: 'field orders.note' }).getByText('deleted', { exact: true }).waitFor();
    const section = (title: string) =>
      page.locator('section').filter({ has: page.getByRole('heading', { name: title }) });
    await section('Data loss').getByText('orders.note').waitFor();
    await section('Data loss').getByText('The trash keeps it for a limited time.').waitFor();
    const finding = section('Findings')
      .getByRole('listitem')
      .filter({ hasText: /(warning|danger) · LOSES_DATA/ });
    await finding.getByText('The policy requires approval.').waitFor();
    await section('Locks').getByText('ACCESS EXCLUSIVE').waitFor();
    const [approveTop = 0, ...riskTops] = await Promise.all(
      [page.getByRole('button', { name: 'Approve' }), section('Data loss'), section('Findings')].map(topOf),
    );
    expect(Math.max(...riskTops)).to.be.below(approveTop);
    await section('SQL')
      .getByText(/^ALTER TABLE .* ADD COLUMN .*"code"/)
      .waitFor();
    await section('SQL')
      .getByText(/^Locks orders: ACCESS EXCLUSIVE/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByText('The dry run succeeded. Nothing was changed.').waitFor();
    expect((await app.client('/fields/orders/note')).status).to.equal(200);
    await expectAccessibleInEachLook(page, () => created.waitFor());

    const auditor = await app.visit({ path: `/review?change=${id}`, as: await app.user('auditor'), narrow: true });
    await auditor
      .locator('section')
      .filter({ has: auditor.getByRole('heading', { name: 'SQL' }) })
      .getByText(/^ALTER TABLE .* ADD COLUMN .*"code"/)
      .waitFor();
    expect(await auditor.getByRole('button', { name: 'Dry run' }).count()).to.equal(0);
    await expectFits(auditor);
  });

  it('shows comments next to the change that they are about, and adds one with the keyboard alone', async () => {
    const { id } = await open(app.client, {
      title: 'Orders have no titles',
      diff: await diffOf(app.client, without('orders', 'title')),
    });
    const place = { part: 'fields', collection: 'orders', field: 'title' };
    await send(`/changes/${id}/comment`, { comment: 'Who prints them?', place });
    const page = await app.visit({ path: `/review?change=${id}` });
    const change = page.getByRole('article', { name: 'field orders.title' });
    await change.getByText('Who prints them?').waitFor();
    const add = change.getByRole('button', { name: 'Comment on field orders.title' });
    await add.press('Enter');
    const text = change.getByRole('textbox', { name: 'Comment on field orders.title' });
    await text.and(page.locator(':focus')).waitFor();
    await expectAccessibleInEachLook(page, () => text.waitFor());
    await page.keyboard.type('Nobody since May');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await change.getByText('Nobody since May').waitFor();
    await add.and(page.locator(':focus')).waitFor();
    const all = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Comments' }) });
    await expectCount(all.getByText('on field orders.title'), 2);
    await all.getByText('Nobody since May').waitFor();

    const auditor = await app.visit({ path: `/review?change=${id}`, as: await app.user('auditor') });
    await auditor.getByRole('article').getByText('Nobody since May').waitFor();
    expect(await auditor.getByRole('button', { name: 'Comment' }).count()).to.equal(0);
  });

  it('names the authors, and shows whether each approval counts, and why not', async () => {
    const ada = await newPerson(app.client, 'ada', 'author');
    const grace = await newPerson(app.client, 'grace', 'admin');
    const diff = await diffOf(app.client, without('orders', 'text'));
    const { id, plan } = await open(ada.send, { title: 'No texts', diff });
    const approved = await grace.send(`/changes/${id}/approve`, json({ plan }));
    expect(approved.status, approved.text).to.equal(200);

    const page = await app.visit({ path: `/review?change=${id}` });
    await page.getByText('Author: ada. Approvals by authors do not count.').waitFor();
    await page.getByText('used an API token').waitFor();
    await page.getByText('counts', { exact: true }).waitFor();
    expect(await page.getByText('The title or the reason was changed after this approval.').count()).to.equal(0);
    expect((await ada.send(`/changes/${id}`, json({ title: 'Orders without texts' }, 'PATCH'))).status).to.equal(200);
    await page.getByText('The title or the reason was changed after this approval.').waitFor();

    await send(`/users/${grace.id}`, { role: 'auditor' }, 'PATCH');
    await page.reload();
    await page.getByText('does not count: this user is no longer an admin').waitFor();
    await send(`/users/${grace.id}`, { role: 'admin' }, 'PATCH');
    await page.reload();
    await page.getByText('counts', { exact: true }).waitFor();

    await send(`/changes/${id}`, { diff, online: true }, 'PATCH');
    await page.getByText('does not count: it was given for a change that was not online').waitFor();
    await send(`/changes/${id}`, { diff: await diffOf(app.client, without('orders', 'title')) }, 'PATCH');
    await page.getByText('does not count: the plan was changed after it').waitFor();
    await page.getByText('Authors: ada, Admin.').waitFor();
    await expectAccessible(page);
  });

  it('lets an admin replace a password that another admin set, and then approve', async () => {
    app.mayComplain(/status of 40[0134]/);
    const login = { email: 'newcomer@example.com', password: 'set by somebody else' };
    await send('/users', { ...login, role: 'admin' });
    const { id } = await open(app.client, {
      title: 'No titles',
      diff: await diffOf(app.client, without('orders', 'title')),
    });
    const page = await app.visit({ path: `/review?change=${id}`, as: login });
    await approve(page);
    await page.getByText('Another user set this password, so you cannot approve with it.').waitFor();
    const form = page.getByRole('form', { name: 'Change your password' });
    await form.getByRole('textbox', { name: 'Current password' }).fill(login.password);
    const password = form.getByRole('textbox', { name: 'New password' });
    await password.fill('short');
    await form.getByRole('button', { name: 'Change password' }).click();
    await form.getByText('must have at least 12 characters.').waitFor();
    await expectAccessible(page);
    await password.fill('known to nobody else');
    await form.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Your password was changed. You can approve now.').waitFor();
    await approve(page);
    await page.getByText('This request is approved but not applied.').waitFor();
    await page.getByText('signed in with a password').waitFor();
    await page.reload();
    await page.getByText('This request is approved but not applied.').waitFor();
  });

  it('offers no new password to an author, whose approval would not count', async () => {
    app.mayComplain(/status of 403/);
    const { id } = await open(app.client, {
      title: 'Without titles',
      diff: await diffOf(app.client, without('orders', 'title')),
    });
    const page = await app.visit({ path: `/review?change=${id}` });
    await approve(page);
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('form').count()).to.equal(0);
  });
});
