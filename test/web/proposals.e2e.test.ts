/** A change is proposed in the review, talked about, approved and applied. */
import { expect } from 'chai';
import { expectAccessible, expectFits, withApp } from '../support/app.js';
import { json } from '../support/client.js';

describe('the admin app, change requests by people', () => {
  const app = withApp();

  it('are proposed in the review, talked about, approved and applied', async () => {
    const fields = [{ field: 'title', type: 'string', interface: 'input', schema: {} }];
    const made = await app.client('/collections', json({ collection: 'orders', schema: {}, fields }));
    const position = Number(made.headers.get('x-log-position'));
    const more = await app.client(
      '/fields/orders',
      json({ field: 'note', type: 'string', interface: 'input', schema: {} }),
    );
    expect(more.status, more.text).to.equal(200);

    const page = await app.visit({ path: `/review?to=${position}` });
    await page.getByRole('button', { name: 'Propose' }).click();
    await page.getByLabel('What it is called').fill('Orders without a note');
    await page.getByRole('button', { name: 'Open a change request' }).click();
    await page.getByRole('heading', { name: 'Orders without a note' }).waitFor();
    await page.getByText('It waits for people to look at it.').waitFor();
    await page.getByText('Loses orders.note, which the trash keeps for a while.').waitFor();
    await page.getByLabel('Comment').fill('Support agrees');
    await page.getByRole('button', { name: 'Say it' }).click();
    await page.getByText('Support agrees', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('It is approved, and not yet applied.').waitFor();
    await expectAccessible(page);

    const auditor = await app.visit({ path: '/review', as: await app.user('auditor'), narrow: true });
    await auditor.getByRole('link', { name: /Orders without a note.*approved/ }).click();
    await auditor.getByText('Support agrees').waitFor();
    expect(await auditor.getByRole('button', { name: /Apply|Approve|Say it/ }).count()).to.equal(0);
    await expectAccessible(auditor);
    await expectFits(auditor);

    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: 'Yes, apply it' }).click();
    await page.getByText('It is applied.').waitFor();
    expect((await app.client('/fields/orders/note')).status).to.equal(404);
  });
});
