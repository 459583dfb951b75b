/** A change is proposed in the review, discussed, approved and applied. */
import { expect } from 'chai';
import { expectAccessible, expectAccessibleInEachLook, expectCount, expectFits, withApp } from '../support/app.js';
import { json } from '../support/client.js';

describe('the admin app, change requests by people', () => {
  const app = withApp();
  const send = async (path: string, body: unknown, method = 'POST') => {
    const { status, text } = await app.client(path, json(body, method));
    expect(status, text).to.be.below(300);
  };

  it('are proposed in the review, commented, approved and applied', async () => {
    const fields = [{ field: 'title', type: 'string', interface: 'input', schema: {} }];
    const created = await app.client('/collections', json({ collection: 'orders', schema: {}, fields }));
    const position = Number(created.headers.get('x-log-position'));
    const more = await app.client(
      '/fields/orders',
      json({ field: 'note', type: 'string', interface: 'input', schema: {} }),
    );
    expect(more.status, more.text).to.equal(200);

    const page = await app.visit({ path: `/review?to=${position}` });
    await page.getByRole('button', { name: 'Propose' }).click();
    await page.getByLabel('Title', { exact: true }).fill('Orders without a note');
    await page.getByRole('button', { name: 'Open a change request' }).click();
    await page.getByRole('heading', { name: 'Orders without a note' }).waitFor();
    await page.getByText('This request is waiting for review.').waitFor();
    await page.getByText('The trash keeps it for a limited time.').waitFor();
    await page.getByLabel('Comment', { exact: true }).fill('Support agrees');
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    await page.getByText('Support agrees', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('This request is approved but not applied.').waitFor();
    await expectAccessible(page);

    const auditor = await app.visit({ path: '/review', as: await app.user('auditor'), narrow: true });
    await auditor.getByRole('link', { name: /Orders without a note.*approved/ }).click();
    await auditor.getByText('Support agrees').waitFor();
    expect(await auditor.getByRole('button', { name: /Apply|Approve|Comment/ }).count()).to.equal(0);
    await expectAccessible(auditor);
    await expectFits(auditor);

    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: 'Yes, apply it' }).click();
    await page.getByText('This request is applied.').waitFor();
    expect((await app.client('/fields/orders/note')).status).to.equal(404);
  });

  it('are rebased, scheduled, applied earlier, and reverted', async () => {
    const fields = [{ field: 'title', type: 'string', interface: 'input', schema: {} }];
    await send('/collections', { collection: 'offers', schema: {}, fields });
    const { json: snapshot } = await app.client('/schema/snapshot');
    const { fields: all } = snapshot as { fields: { collection: string; field: string; meta: { note: string } }[] };
    for (const { collection, field, meta } of all)
      if (collection === 'offers' && field === 'title') meta.note = 'Short';
    await send('/changes', { title: 'Offers have short titles', snapshot });
    // The field of the request has changed in the meantime.
    await send('/fields/offers/title', { meta: { width: 'half' } }, 'PATCH');

    const page = await app.visit({ path: '/review' });
    const apply = page.getByRole('button').filter({ hasText: /^Apply$/ });
    await page.getByRole('link', { name: /Offers have short titles/ }).click();
    await page.getByText('This request is stale').waitFor();
    await page.getByRole('button', { name: 'Rebase onto the current schema' }).click();
    await page.getByText('This request is stale').waitFor({ state: 'detached' });
    await expectAccessible(page);
    await page.getByLabel('Apply at').fill(new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 16));
    await page.getByRole('button', { name: 'Schedule' }).click();
    await page.getByText('if its approvals still count').waitFor();
    await apply.click();
    await page.getByText('This request is applied.').waitFor();
    await page.getByRole('button', { name: 'Propose a revert' }).click();
    await page.getByText('This request is waiting for review.').waitFor();
    await apply.click();
    await page.getByText('This request is applied.').waitFor();
    const { json: title } = await app.client('/fields/offers/title');
    expect(title).to.have.nested.property('data.meta.note', null);
    expect(title).to.have.nested.property('data.meta.width', 'half');
  });

  it('show first what they lose and change, and are renamed with the keyboard alone', async () => {
    await send('/collections', { collection: 'notes', schema: null });
    const snapshot = (await app.client('/schema/snapshot')).json as {
      collections: { collection: string; meta: { note: string | null } }[];
    };
    for (const { collection, meta } of snapshot.collections) if (collection === 'notes') meta.note = 'Noted';
    await send('/changes', { title: 'A note for notes', snapshot });
    const page = await app.visit({ path: '/review' });
    await page.getByRole('link', { name: /A note for notes/ }).click();
    await expectCount(page.getByRole('heading', { level: 2 }), 5);
    const order = await page.getByRole('heading', { level: 2 }).allInnerTexts();
    expect(order).to.deep.equal(['No data loss', 'Changes', 'SQL', 'Approvals', 'Comments']);
    const approve = page.getByRole('button', { name: 'Approve' });
    expect(await approve.getAttribute('data-variant')).to.equal('filled');

    const change = page.getByRole('button', { name: 'Edit title and reason' });
    const title = page.getByLabel('Title', { exact: true });
    const holds = (place: typeof title) => place.and(page.locator(':focus')).waitFor();
    await change.press('Enter');
    await holds(title);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await holds(change);
    await page.keyboard.press('Enter');
    await holds(title);
    await page.keyboard.type(' and more');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'A note for notes and more' }).waitFor();
    await holds(change);
    await expectAccessible(page);
  });

  it('come first on the page, those that wait for an approval above the others', async () => {
    const page = await app.visit({ path: '/review' });
    await page.getByRole('heading', { name: 'Other change requests' }).waitFor();
    const order = await page.getByRole('heading', { level: 2 }).allInnerTexts();
    const last = ['Other change requests', 'Import a snapshot', 'Go back to a point in time', 'Edit the schema'];
    expect(order).to.deep.equal(['Waiting for your approval', ...last]);
    const section = (title: string) =>
      page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });
    const links = (title: string) => section(title).getByRole('link').allInnerTexts();
    expect((await links('Waiting for your approval')).join()).to.contain('A note for notes and more');
    expect((await links('Other change requests')).join())
      .to.contain('Orders without a note')
      .and.not.contain('notes');
    await expectAccessibleInEachLook(page, () => section('Other change requests').waitFor());
    await section('Waiting for your approval').getByRole('link').first().press('Enter');
    await page.getByRole('heading', { name: 'A note for notes and more' }).waitFor();
    await page.goto('/app/review?bring=true');
    await page.getByRole('heading', { name: 'Other change requests' }).waitFor();
    expect(await page.getByRole('heading', { level: 2 }).first().innerText()).to.equal('Import a snapshot');
  });

  it('open from the navigation, which counts them, while the bar of a draft opens the draft', async () => {
    const page = await app.visit({ path: '/collections/orders', narrow: true });
    await page.getByRole('button', { name: 'Actions for title' }).click();
    await page.getByRole('menuitem', { name: 'Edit …' }).click();
    await page.getByLabel('Max length').fill('380');
    await page.getByRole('button', { name: 'Save to draft' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const counted = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: /request.* for your/ });
    const bar = page.getByRole('region', { name: 'Draft' });
    await counted.click();
    await page.getByRole('heading', { name: 'Waiting for your approval' }).waitFor();
    await expectFits(page);
    await bar.getByRole('link', { name: 'Review' }).click();
    await page.getByRole('heading', { name: 'Your draft' }).waitFor();
    await page.getByRole('article', { name: 'field orders.title' }).waitFor();
    expect(await bar.getByRole('link').count()).to.equal(0);
    await counted.click();
    await page.getByRole('heading', { name: 'Waiting for your approval' }).waitFor();
    await page.goto('/app/review?draft=true');
    await page.getByRole('article', { name: 'field orders.title' }).waitFor();
    await bar.getByRole('button', { name: 'Discard' }).click();
    await bar.getByRole('button', { name: 'Yes, discard all' }).click();
    await page.getByRole('heading', { name: 'Waiting for your approval' }).waitFor();
  });
});
